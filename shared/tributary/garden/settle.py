"""Rule 1: lessons that were kept as pending are judged, as their authors'."""

from __future__ import annotations

from tributary.garden.visit import Tally, Visit

AT_ONCE = 8
"""Lessons between two looks at the clock."""
MOST = 100


def settle(visit: Visit, tally: Tally) -> None:
    """Settles pending lessons until none is left or none can be settled now."""
    if not visit.survey.pending:
        return
    if visit.dry_run:
        tally.did("settled", visit.survey.pending)
        return
    at_once = AT_ONCE
    while not visit.budget.spent:
        settled = visit.tools.learner.settle(visit.tribe_id, most=at_once)
        tally.did("settled", settled)
        if settled == 0 and at_once == MOST:
            break
        if settled == 0:
            at_once = MOST  # past those at the head that cannot be settled now
    visit.look_again()
    tally.leave(visit.survey.pending)
