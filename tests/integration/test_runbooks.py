"""Foreign material: runbooks that nobody here wrote, imported with the real embedder, judge and screen.

They say different things that are all true, so that nearly nothing of them may be held back, disputed or replaced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from evals.runbooks import ABSENT, present, sections
from tests.tribes import Tribal, open_tribal
from tributary.core.decision import Outcome
from tributary.core.lesson import How, Source
from tributary.core.limits import TEXT_BYTES
from tributary.models.embedders import MiniLmEmbedder
from tributary.models.judges import LocalJudge
from tributary.models.screens import LocalScreen

MOST_CONTESTED = 0.02
"""Share of the lessons that may end up disputed, challenged, replaced, or taken for another one's repetition in error."""
PORTION = 2
"""Every so manieth section is learned: all of them take a minute."""
LEAST_LESSONS = 300 // PORTION

pytestmark = pytest.mark.skipif(not present(), reason=ABSENT)


@pytest.fixture
def real(database_url: str) -> Iterator[Tribal]:
    """A tribe whose models are the ones that a laptop runs."""
    with open_tribal(database_url, embedder=MiniLmEmbedder(), judge=LocalJudge(), screen=LocalScreen()) as opened:
        yield opened


def test_no_section_of_a_runbook_is_quarantined() -> None:
    screen = LocalScreen()
    held = [one.ref for one in sections() if screen.screen({"text": one.text, "situation": one.situation}).quarantined]
    assert not held


@pytest.mark.timeout(400)  # about 20 s on two idle cores, most of it embedding
def test_imported_runbooks_are_nearly_all_believed_and_unchallenged(real: Tribal) -> None:
    writer = real.agent("importer")
    found = list(sections())[::PORTION]
    assert len(found) >= LEAST_LESSONS
    assert max(len(one.text.encode()) for one in found) <= TEXT_BYTES
    outcomes: Counter[Outcome] = Counter()
    contested: list[str] = []
    for one in found:
        source = Source(how=How.IMPORTED, ref=one.ref)
        learned = real.learn(writer, one.text, one.situation, source=source)
        outcomes[learned.outcome] += 1
        if learned.challenges or learned.replaced or learned.outcome not in (Outcome.LEARNED, Outcome.UNCHANGED):
            contested.append(f"{learned.outcome.value} {one.ref}: {learned.reason}")
    open_disputes = real.rows("SELECT dispute_id FROM tributary.dispute WHERE tribe_id = %s AND state = 'open'", real.tribe_id)
    counted = f"{dict(outcomes)}, {len(open_disputes)} disputes open; " + "; ".join(contested)
    assert len(contested) <= MOST_CONTESTED * len(found), counted
    assert len(open_disputes) <= MOST_CONTESTED * len(found), counted
