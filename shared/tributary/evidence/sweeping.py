"""Removes files that nothing refers to: those of erased lessons, and those that no lesson came to refer to in a day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import cast
from uuid import UUID

from tributary.core.evidence import EvidenceStore
from tributary.evidence.keeper import GRACE
from tributary.store import Database, statement

AT_ONCE = 100
"""Files between two looks at what is left."""


def sweep(
    database: Database,
    store: EvidenceStore,
    tribe_id: UUID,
    *,
    now: datetime,
    dry_run: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Removes a tribe's loose files and returns how many; a dry run counts, as far as `AT_ONCE`. Safe to kill and to repeat.

    A file is released first, so that nobody is given what is being removed, and forgotten last, so that no bytes are left that
    nobody knows of. Raises what the store raises.
    """
    removed = 0
    while True:
        asked = {"tribe_id": tribe_id, "before": now - GRACE, "now": now, "limit": AT_ONCE, "release": not dry_run}
        found = cast(list[str], database.value(statement("evidence", "loose"), asked))
        if dry_run:
            return len(found)
        for sha256 in found:
            if stop():
                return removed
            store.delete(tribe_id, sha256)
            database.value(statement("evidence", "forget"), {"tribe_id": tribe_id, "sha256": bytes.fromhex(sha256)})
            removed += 1
        if len(found) < AT_ONCE:
            return removed
