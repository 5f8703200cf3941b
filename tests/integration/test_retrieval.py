"""Recall on foreign runbooks finds more than either side of the search alone; the whole suite is `make eval-retrieval`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evals.bars import Bars
from evals.retrieval.library import NoConflicts, fill
from evals.retrieval.questions import SPLITS, Set, load
from evals.retrieval.report import sheets
from evals.retrieval.suite import HYBRID, Report, run
from evals.runbooks import ABSENT, present, sections
from tests.tribes import Tribal, open_tribal
from tributary.models.embedders import MiniLmEmbedder

FOLDERS = ("etcd/", "node/", "prometheus/")
"""A part of the runbooks: embedding all of them takes long."""

pytestmark = [pytest.mark.skipif(not present(), reason=ABSENT), pytest.mark.timeout(200)]


@pytest.fixture
def tribal_with_vectors(database_url: str) -> Iterator[Tribal]:
    with open_tribal(database_url, embedder=MiniLmEmbedder(), judge=NoConflicts()) as opened:
        yield opened


def test_hybrid_finds_more_than_each_side_alone_and_never_what_was_replaced(tribal_with_vectors: Tribal) -> None:
    tribal = tribal_with_vectors
    held = [one for one in sections() if one.ref.startswith(FOLDERS)]
    names = {one.name for one in held}
    asked = [one for one in load() if names.issuperset(one.right)]
    library = fill(tribal.memory, importer=tribal.agent("importer"), curator=tribal.curator, sections=held, progress=Bars())
    report = run(library, asked, MiniLmEmbedder(), Bars())

    assert {one.set for one in asked} == set(Set)
    compared = report.compared
    assert len(compared.alone) == 3
    for split in SPLITS:
        for name in compared.alone:
            hybrid, side = compared.of(HYBRID, split), compared.of(name, split)
            assert hybrid.recall >= side.recall, (split, name)
            assert hybrid.mrr >= side.mrr, (split, name)
    assert not any(one.old_now or one.new_before for one in report.changed)
    assert sum(one.new_now is not None for one in report.changed) >= 0.8 * len(report.changed)
    assert sum(one.old_before is not None for one in report.changed) >= 0.8 * len(report.changed)
    assert {one.kind for one in report.emptiness} == {"answerable", "near", "far"}
    assert all(one.share >= 0.8 for one in report.emptiness if one.kind == "far")
    assert all(one.empty == 0 for one in report.emptiness if one.kind == "answerable")
    _shown_whole(report)


def _shown_whole(report: Report) -> None:
    """Every figure of the report reaches its reader."""
    compared = next(iter(sheets(report)))
    cells = {row[0]: row[1:] for row in compared.rows}
    for name in report.compared.places:
        for split in SPLITS:
            found = report.compared.of(name, split)
            assert {str(found.questions), f"{found.recall:.3f}", f"{found.mrr:.3f}"} <= set(cells[name])
