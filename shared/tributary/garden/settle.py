"""Rule 1: lessons that were kept as pending are judged, as their authors'."""

from __future__ import annotations

from tributary.garden.visit import Tally, Visit


def settle(visit: Visit, tally: Tally) -> None:
    """Settles pending lessons until none is left or none can be settled now."""
    if not visit.survey.pending:
        return
    if visit.dry_run:
        tally.did("settled", visit.survey.pending)
        return
    settled = visit.tools.learner.settle(visit.tribe_id, stopped=lambda: visit.budget.spent)
    tally.did("settled", settled.done)
    visit.look_again()
    tally.leave(visit.survey.pending)
