"""What a process remembers of tribes in which time alone ends nothing for a while."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tributary.core.eviction import Protection
from tributary.garden.visit import Visit


@dataclass(frozen=True, kw_only=True)
class _Known:
    tick: int
    policy_version: int
    since: datetime
    next_at: datetime | None
    refused: Mapping[Protection, int]


class Quiet:
    """Until when nothing is due in a tribe that stands at a tick: what ends then is a function of time alone.

    Saves reading its beliefs again and again; a write, a change of policy and a new process make it read anew.
    """

    def __init__(self) -> None:
        self._known: dict[UUID, _Known] = {}
        self._lock = threading.Lock()

    def refused(self, visit: Visit) -> Mapping[Protection, int] | None:
        """Returns how many evictions are refused while nothing can be due at the visit's instant; None when something may be."""
        with self._lock:
            known = self._known.get(visit.tribe_id)
        holds = (
            known is not None
            and (known.tick, known.policy_version) == (visit.survey.tick, visit.survey.policy.version)
            and known.since <= visit.now
            and (known.next_at is None or visit.now < known.next_at)
        )
        return known.refused if known is not None and holds else None

    def note(self, visit: Visit, next_at: datetime | None, refused: Mapping[Protection, int] | None = None) -> None:
        """Notes that nothing ends in the tribe, as the visit found it, before `next_at` (None: ever)."""
        known = _Known(
            tick=visit.survey.tick,
            policy_version=visit.survey.policy.version,
            since=visit.now,
            next_at=next_at,
            refused=refused or {},
        )
        with self._lock:
            self._known[visit.tribe_id] = known
