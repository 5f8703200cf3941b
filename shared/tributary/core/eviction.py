"""How beliefs end without anybody's word: time ends them, or there is no room for all.

Between two writes the beliefs of a tribe are a function of time alone: lessons lapse, graces end, keep_until passes. `endings`
goes through those instants in their order and evicts at each what the capacity demands by the confidence of that instant: the
lowest of all, of which those that are protected are refused and not passed on to the next. So whoever applies them now and then
comes to the same lessons as who applies them once at the end, as long as they are applied in order. What is applied up to an
instant is missed at no later one, and at earlier ones it only makes room.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from math import log2
from uuid import UUID

from tributary.core.confidence import WITHERED_BELOW, half_life, posterior, shown_confidence, withered
from tributary.core.lesson import Kind

GRACE = timedelta(hours=24)
"""For so long after it was learned no lesson is evicted."""
STEP = timedelta(hours=1)
"""A protection ends at the next full step (UTC): lessons that were learned together are weighed against each other, too."""
_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class EndCause(StrEnum):
    """Why a belief ended: its validity was over, nobody confirmed it for too long, or the tribe keeps no more lessons."""

    EXPIRED = "expired"
    WITHERED = "withered"
    CAPACITY = "capacity"


class Protection(StrEnum):
    """What keeps a lesson from being evicted: it was learned just now, or its writer asked to keep it for longer."""

    GRACE = "in_grace"
    KEEP_UNTIL = "kept_until"


@dataclass(frozen=True, kw_only=True)
class Belief:
    """A believed lesson without what it says: all that its end without a word depends on."""

    lesson_id: UUID
    kind: Kind
    confidence: float
    confirmations: int
    contradictions: int
    learned_at: datetime
    activated_at: datetime
    last_confirmed_at: datetime
    valid_until: datetime | None
    keep_until: datetime | None

    @property
    def free_at(self) -> datetime:
        """From when on it may be evicted: a full step."""
        grace_over = self.learned_at + GRACE
        return _next_step(grace_over if self.keep_until is None else max(grace_over, self.keep_until))

    @property
    def counted_at(self) -> datetime:
        """From when on its arrival is looked at: a full step."""
        return _next_step(self.activated_at)

    def protection(self, *, at: datetime) -> Protection | None:
        """Returns what keeps it from being evicted at `at`; None when it may go."""
        if at >= self.free_at:
            return None
        return Protection.GRACE if at < _next_step(self.learned_at + GRACE) else Protection.KEEP_UNTIL


@dataclass(frozen=True, kw_only=True)
class End:
    """The end of one belief, at the instant from which on it was due."""

    lesson_id: UUID
    cause: EndCause
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Endings:
    """What ended up to an instant, in its order. `refused` are those for which there is no room and that may not go yet.

    `next_at` is the next instant at which anything ends if nothing is written; None when time alone ends nothing more.
    """

    ends: tuple[End, ...]
    refused: Mapping[UUID, Protection] = field(default_factory=dict)
    next_at: datetime | None = None


def lapse_of(belief: Belief) -> End:
    """Returns when and why time ends the belief, if it is not confirmed again: the first instant at which `lapsed` holds."""
    withers_at = _withers_at(belief)
    if belief.valid_until is not None and belief.valid_until <= withers_at:
        return End(lesson_id=belief.lesson_id, cause=EndCause.EXPIRED, at=belief.valid_until)
    return End(lesson_id=belief.lesson_id, cause=EndCause.WITHERED, at=withers_at)


def endings(beliefs: Iterable[Belief], *, capacity: int | None, since: datetime, until: datetime) -> Endings:
    """Returns what ends up to `until`, when nothing was written after `since`.

    A lesson counts from its activation to its end. `capacity` None evicts nothing. What ends at one instant is in an order in
    which any part of it can be applied alone: lowest first, and last those by which the instant is known.
    """
    walk = _Walk(list(beliefs), capacity)
    for instant in walk.instants(since=min(since, until), until=until) if capacity is not None else ():
        walk.go_to(instant)
        walk.evict(instant)
    walk.go_to(until)
    return Endings(ends=tuple(walk.ends), refused=walk.refused(until), next_at=walk.next_after(until))


class _Walk:
    """The tribe's beliefs while time goes on."""

    def __init__(self, beliefs: Sequence[Belief], capacity: int | None) -> None:
        self.beliefs = beliefs
        self.ends: list[End] = []
        self._capacity = capacity
        lapses = [lapse_of(one) for one in beliefs]
        self._lapsed_at = {end.lesson_id: end.at for end in lapses}
        self._lapses = sorted(lapses, key=lambda end: (end.at, end.lesson_id), reverse=True)
        self._arriving = sorted(beliefs, key=lambda one: one.activated_at, reverse=True)
        self._alive: dict[UUID, Belief] = {}
        self._gone: set[UUID] = set()

    def instants(self, *, since: datetime, until: datetime) -> list[datetime]:
        """Returns when there may be too many lessons, or more that may go: at first, on an arrival, and when a protection ends.

        A lapse is none of them, and neither is what comes after it. It makes room, and is forgotten once it is stamped: later
        walks must not miss it.
        """
        changes = {
            moment
            for one in self.beliefs
            for moment in (one.counted_at, one.free_at)
            if since < moment <= until and moment < self._lapsed_at[one.lesson_id]
        }
        return [since, *sorted(changes)]

    def go_to(self, instant: datetime) -> None:
        """Lets lessons arrive and lapse up to `instant`."""
        while self._lapses and self._lapses[-1].at <= instant:
            end = self._lapses.pop()
            if end.lesson_id not in self._gone:
                self._end(end)
        while self._arriving and self._arriving[-1].activated_at <= instant:
            one = self._arriving.pop()
            if one.lesson_id not in self._gone:
                self._alive[one.lesson_id] = one

    def evict(self, instant: datetime) -> None:
        """Evicts what capacity demands, the lowest by the confidence shown at `instant`, but for those that may not go."""
        if (excess := self._excess()) <= 0:
            return
        lowest = heapq.nsmallest(excess, self._alive.values(), key=lambda one: _rank(one, instant))
        going = [one for one in lowest if one.free_at <= instant]
        for one in sorted(going, key=lambda one: instant in (one.free_at, one.counted_at)):
            self._end(End(lesson_id=one.lesson_id, cause=EndCause.CAPACITY, at=instant))

    def refused(self, until: datetime) -> dict[UUID, Protection]:
        if (excess := self._excess()) <= 0:
            return {}
        protected = [one for one in self._alive.values() if one.free_at > until]
        lowest = heapq.nsmallest(excess, protected, key=lambda one: _rank(one, until))
        return {one.lesson_id: protection for one in lowest if (protection := one.protection(at=until)) is not None}

    def next_after(self, until: datetime) -> datetime | None:
        coming = [end.at for end in reversed(self._lapses) if end.lesson_id not in self._gone][:1]
        every = (*self._alive.values(), *self._arriving)
        if self._capacity is not None and len(every) > self._capacity:
            coming += [moment for one in every for moment in (one.counted_at, one.free_at) if moment > until]
        return min(coming, default=None)

    def _excess(self) -> int:
        return 0 if self._capacity is None else len(self._alive) - self._capacity

    def _end(self, end: End) -> None:
        self._gone.add(end.lesson_id)
        self._alive.pop(end.lesson_id, None)
        self.ends.append(end)


def _rank(belief: Belief, at: datetime) -> tuple[float, datetime, UUID]:
    """Orders beliefs by what is lost least; of equals the older one goes first."""
    return shown_confidence(belief, at=at), belief.learned_at, belief.lesson_id


def _next_step(moment: datetime) -> datetime:
    """Returns the first full step that is not before `moment`."""
    return moment + (_EPOCH - moment) % STEP


def _withers_at(belief: Belief) -> datetime:
    """Returns the first instant, to the microsecond, at which `withered` holds."""
    half_lives = max(1.0, log2(max(posterior(belief), WITHERED_BELOW) / WITHERED_BELOW))
    found = belief.last_confirmed_at + half_lives * half_life(belief.kind)
    while not withered(belief, at=found):
        found += _MICROSECOND
    while withered(belief, at=found - _MICROSECOND):
        found -= _MICROSECOND
    return found
