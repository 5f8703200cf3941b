"""How well recall finds the lesson that answers a question.

Two sets: paraphrases, whose question is the new side of each pair labelled `same` and whose answer is the old one, among the
old sides of them all; and foreign runbooks (`evals.retrieval`), where they lie beside the project. A judge by decree keeps every
lesson, since the search is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from evals import runbooks
from evals.bench import Bench
from evals.figures import Measured, Metric, Wrong, share
from evals.retrieval.library import BATCH, NoConflicts, fill
from evals.retrieval.measures import DEPTH, FIRST, figures, place
from evals.retrieval.questions import load
from evals.retrieval.report import before, missed, now, sheets
from evals.retrieval.suite import HYBRID, Report
from evals.retrieval.suite import run as ask
from evals.suites.classification import Pair, load_pairs
from tributary.core.decision import Learned
from tributary.core.evaluation import Better
from tributary.core.lesson import Draft, How, Source
from tributary.core.requests import Question
from tributary.service import Memory

NAME = "retrieval"
RUNBOOKS = "runbooks"
OTHER_WEIGHTS = 0.03
"""Tolerance of what depends on vectors: other processors run the embedder with other weights, so close calls may differ."""


def run(bench: Bench, folder: Path = runbooks.FOLDER) -> Measured:
    with bench.ground.memory(bench.models.embedder, connections=4, judge=NoConflicts(), screen=bench.models.screen) as memory:
        metrics, wrong = _paraphrases(bench, memory)
        if not folder.is_dir():
            reason = f"{runbooks.ABSENT}: lay them at {folder}"
            return Measured(suite=NAME, metrics=metrics, wrong=wrong, not_measured={RUNBOOKS: reason})
        if bench.limit is not None:
            reason = "foreign runbooks are asked about with all questions or none, so not under --limit"
            return Measured(suite=NAME, metrics=metrics, wrong=wrong, not_measured={RUNBOOKS: reason})
        report = _runbooks(bench, memory, folder)
    return Measured(
        suite=NAME,
        metrics=(*metrics, *_of_runbooks(report)),
        sheets=sheets(report),
        wrong=(*wrong, *missed(report)),
        pictures={"retrieval": lambda file: _draw(report, file)},
    )


def _draw(report: Report, file: Path) -> None:
    from evals.retrieval.plot import draw  # noqa: PLC0415  (matplotlib is for whoever draws)

    draw(report, file)


def _paraphrases(bench: Bench, memory: Memory) -> tuple[tuple[Metric, ...], tuple[Wrong, ...]]:
    tribe = bench.ground.create_tribe("paraphrases")
    pairs = bench.some([pair for pair in load_pairs() if pair.label == "same"], lambda pair: pair.split)
    ids: list[UUID] = []
    batches = [pairs[at : at + BATCH] for at in range(0, len(pairs), BATCH)]
    for batch in bench.each(batches, f"learning {len(pairs)} lessons"):
        for attempt in memory.learn_all(tribe.curator, [_draft(pair) for pair in batch]):
            if not isinstance(attempt, Learned):
                raise attempt
            assert attempt.lesson is not None
            ids.append(attempt.lesson.lesson_id)
    asked = list(zip(pairs, ids, strict=False))
    places = []
    for pair, right in bench.each(asked, "asking in other words"):
        hits = memory.recall(tribe.curator, Question(query=pair.new.text, limit=DEPTH)).hits
        places.append(place([hit.lesson.lesson_id for hit in hits], {right}))
    return _of_paraphrases(places), tuple(
        Wrong(id=pair.id, split=pair.split, said=f"at {found or '-'}: {pair.new.text}  [{pair.old.text}]")
        for (pair, _), found in zip(asked, places, strict=False)
        if found is None or found > FIRST
    )


def _draft(pair: Pair) -> Draft:
    old = pair.old
    source = Source(how=How.OBSERVED, ref=f"eval:{pair.id}")
    return Draft(text=old.text, situation=old.situation, subject=old.subject, source=source)


def _of_paraphrases(places: Sequence[int | None]) -> tuple[Metric, ...]:
    found = figures(places)
    firsts = sum(one is not None and one <= FIRST for one in places)
    return (
        share(f"paraphrases_recall@{FIRST}", firsts, len(places), tolerance=OTHER_WEIGHTS),
        Metric(name="paraphrases_mrr", value=found.mrr, n=len(places), tolerance=OTHER_WEIGHTS),
    )


def _runbooks(bench: Bench, memory: Memory, folder: Path) -> Report:
    tribe = bench.ground.create_tribe("runbooks")
    importer = bench.ground.create_writer(tribe, "importer")
    found = list(runbooks.sections(folder))
    library = fill(memory, importer=importer, curator=tribe.curator, sections=found, progress=bench.progress)
    return ask(library, load(), bench.models.embedder, bench.progress)


def _of_runbooks(report: Report) -> tuple[Metric, ...]:
    compared = report.compared
    hybrid = compared.of(HYBRID, "test")
    sides = [compared.of(name, "test") for name in compared.alone]
    far = [one for one in report.emptiness if one.kind == "far" and one.split == "test"]
    empty = [one for one in report.emptiness if one.kind == "answerable" and one.split == "test"]
    changed = report.changed
    shown = sum(bool(one.old_now) + bool(one.new_before) for one in changed)
    return (
        share(f"{RUNBOOKS}_recall@{FIRST}", round(hybrid.recall * hybrid.questions), hybrid.questions, tolerance=OTHER_WEIGHTS),
        Metric(name=f"{RUNBOOKS}_mrr", value=hybrid.mrr, n=hybrid.questions, tolerance=OTHER_WEIGHTS),
        Metric(
            name=f"{RUNBOOKS}_recall_above_best_side",
            value=hybrid.recall - max(one.recall for one in sides),
            n=hybrid.questions,
            tolerance=OTHER_WEIGHTS,
        ),
        Metric(
            name=f"{RUNBOOKS}_mrr_above_best_side",
            value=hybrid.mrr - max(one.mrr for one in sides),
            n=hybrid.questions,
            tolerance=OTHER_WEIGHTS,
        ),
        share(f"{RUNBOOKS}_far_empty", sum(one.empty for one in far), sum(one.questions for one in far), tolerance=0.05),
        share(
            f"{RUNBOOKS}_answerable_empty",
            sum(one.empty for one in empty),
            sum(one.questions for one in empty),
            better=Better.LOWER,
        ),
        share(f"{RUNBOOKS}_replaced_shown", shown, 2 * len(changed), better=Better.LOWER, tolerance=0.0),
        Metric(name=f"{RUNBOOKS}_replacement_mrr", value=now(changed).mrr, n=len(changed), tolerance=0.05),
        Metric(name=f"{RUNBOOKS}_as_of_mrr", value=before(changed).mrr, n=len(changed), tolerance=0.05),
    )
