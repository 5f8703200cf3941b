"""Rule 8: actions whose lease ran out are in doubt. They count as that from the moment on; here it is written down."""

from __future__ import annotations

from typing import cast

from tributary.garden.visit import Tally, Visit
from tributary.store import statement

AT_ONCE = 500
"""Actions between two looks at the clock."""


def doubt(visit: Visit, tally: Tally) -> None:
    """Puts actions in doubt, a batch at a time."""
    if not visit.survey.overdue:
        return
    if visit.dry_run:
        tally.did("lease_ran_out", visit.survey.overdue)
        return
    parameters = {"tribe_id": visit.tribe_id, "limit": AT_ONCE, "now": visit.tools.now_for(visit.now)}
    while True:
        if visit.budget.spent:
            tally.leave(1)
            return
        done = cast(int, visit.tools.database.value(statement("garden", "doubt"), parameters))
        tally.did("lease_ran_out", done)
        if done < AT_ONCE:
            return
