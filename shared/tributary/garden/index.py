"""Rule 7: new vectors go into the tribe's index, and a tribe that has outgrown exact search without one is told of."""

from __future__ import annotations

from tributary.garden.visit import GATE_LESSONS, Tally, Visit
from tributary.spaces import index_fresh

OUTGROWN = "needs_an_index"
FEWEST = 100
"""Vectors that wait before the index is extended. What waits is compared one by one, so fewer cost next to nothing; and a lesson
that is soon replaced, and replaced again, never comes into the graph, where what it leaves until VACUUM hides its neighbours."""


def index(visit: Visit, tally: Tally) -> None:
    """Extends the index in batches, without the gate: vectors that wait are found as well, but compared one by one.

    Only the owner of the schema can build an index (`Operator.build_index`); here it is reported that one is needed.
    """
    if visit.survey.outgrown:
        tally.leave(1, OUTGROWN)
    waiting = visit.survey.unindexed if visit.survey.unindexed >= FEWEST else 0
    if visit.dry_run:
        tally.did("indexed", waiting)
        return
    while waiting > 0:
        if visit.budget.spent:
            tally.leave(waiting)
            return
        done = index_fresh(visit.tools.database, visit.tribe_id, most=GATE_LESSONS)
        if not done:
            return  # those that a commit is just changing are for the next run
        tally.did("indexed", done)
        waiting -= done
