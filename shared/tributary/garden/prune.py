"""Rule 9: first replies, counts, spent pace, ended sessions, single calls of models and files go once nobody needs them."""

from __future__ import annotations

from collections import Counter

from tributary.evidence import sweep
from tributary.garden.visit import Tally, Visit
from tributary.store import rows, statement

AT_ONCE = 1_000
"""Rows of each table between two looks at the clock."""
COUNTED = 1_000_000
"""How far a dry run counts."""


def prune(visit: Visit, tally: Tally) -> None:
    """Deletes what is old, a batch at a time."""
    if not visit.survey.prunable:
        return
    while True:
        if visit.budget.spent:
            tally.leave(1)
            return
        gone = _batch(visit)
        tally.kinds.update(gone)
        if visit.dry_run or max(gone.values(), default=0) < AT_ONCE:
            return


def prune_files(visit: Visit, tally: Tally) -> None:
    """Removes evidence files that nothing refers to, as far as the time goes."""
    store = visit.tools.evidence
    if store is None:
        return
    gone = sweep(
        visit.tools.database, store, visit.tribe_id, now=visit.now, dry_run=visit.dry_run, stop=lambda: visit.budget.spent
    )
    tally.did("evidence_file", gone)


def _batch(visit: Visit) -> Counter[str]:
    found = visit.tools.database.value(
        statement("garden", "prune"),
        {
            "tribe_id": visit.tribe_id,
            "limit": COUNTED if visit.dry_run else AT_ONCE,
            "delete": not visit.dry_run,
            **visit.tools.keeping.cutoffs(visit.now),
        },
    )
    return Counter({table: count for table, count in rows.document(found).items() if count})
