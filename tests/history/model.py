"""The serial model: what a tribe believes, one tick after another, kept in plain dictionaries.

It knows the state machine of DESIGN 1 and 2 and nothing of the schema's functions. Each transition is remembered with its tick,
so that the model can be asked for any past one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

ACTIVE, PENDING, DISPUTED, QUARANTINED = "active", "pending", "disputed", "quarantined"
SUPERSEDED, RETIRED, ERASED = "superseded", "retired", "erased"

NEXT: Mapping[str | None, frozenset[str]] = {
    None: frozenset({ACTIVE, PENDING, DISPUTED, QUARANTINED}),
    PENDING: frozenset({ACTIVE, DISPUTED, QUARANTINED, RETIRED, ERASED}),
    DISPUTED: frozenset({ACTIVE, PENDING, RETIRED, ERASED}),
    QUARANTINED: frozenset({ACTIVE, PENDING, DISPUTED, RETIRED, ERASED}),
    ACTIVE: frozenset({SUPERSEDED, RETIRED, ERASED}),
    SUPERSEDED: frozenset({ERASED}),
    RETIRED: frozenset({ERASED}),
    ERASED: frozenset(),
}
MOVES: Mapping[str, str] = {
    "learned": ACTIVE,
    "pended": PENDING,
    "disputed": DISPUTED,
    "quarantined": QUARANTINED,
    "superseded": SUPERSEDED,
    "retired": RETIRED,
    "erased": ERASED,
}
"""The status that each event brings; the other events bring none."""


@dataclass(kw_only=True)
class Standing:
    """How one lesson stands, and stood. `confirmed` tells since which tick each agent other than its author counts for it.

    `held` tells that it is held back and was not released, `rejections` what a curator rejected it as, from which tick on.
    """

    lesson_id: UUID
    agent_id: UUID
    learned: int
    past: list[tuple[int, str]] = field(default_factory=list)
    activated: int | None = None
    deactivated: int | None = None
    successor: UUID | None = None
    held: bool = False
    rejections: list[tuple[int, str | None]] = field(default_factory=list)
    confirmed: dict[UUID, int] = field(default_factory=dict)

    @property
    def status(self) -> str | None:
        return self.past[-1][1] if self.past else None

    @property
    def believed(self) -> bool:
        return self.status == ACTIVE

    @property
    def rejected_as(self) -> str | None:
        return self.rejections[-1][1] if self.rejections else None

    def reject(self, tick: int, cause: str | None) -> None:
        self.rejections.append((tick, cause))

    def hijacks_at(self, tick: int) -> bool:
        """Tells whether a curator called it an injection, and still did: then readers are not shown its past either."""
        return next((cause for since, cause in reversed(self.rejections) if since <= tick), None) == "injection"

    def status_at(self, tick: int) -> str | None:
        return next((status for since, status in reversed(self.past) if since <= tick), None)

    def confirmations_at(self, tick: int) -> int:
        return sum(since <= tick for since in self.confirmed.values())

    def move(self, tick: int, status: str) -> bool:
        """Takes a transition; tells whether the state machine has it."""
        allowed = status in NEXT.get(self.status, frozenset())
        if status == ACTIVE:
            self.activated = tick
        elif self.believed:
            self.deactivated = tick
        if status not in (RETIRED, ERASED):
            self.held = status == QUARANTINED
        self.past.append((tick, status))
        return allowed


@dataclass(kw_only=True)
class Quarrel:
    """A dispute or challenge: who came into it, at which tick."""

    kind: str
    contender: UUID
    decision_id: UUID
    precedent: UUID | None
    opened: int
    about: dict[UUID, int]
    closed: int | None = None
    ending: str | None = None
    closed_by: UUID | None = None

    def is_about(self, lesson_id: UUID, tick: int) -> bool:
        return self.about.get(lesson_id, tick + 1) <= tick

    def open_at(self, tick: int) -> bool:
        return self.opened <= tick and (self.closed is None or self.closed > tick)

    def close(self, tick: int, ending: str, by: UUID | None = None) -> None:
        self.closed, self.ending, self.closed_by = tick, ending, by


@dataclass(kw_only=True)
class Model:
    """`stand_together` are pairs that a curator found not to contradict each other, `now` is the tick that it has come to."""

    lessons: dict[UUID, Standing] = field(default_factory=dict)
    rivals: dict[UUID, set[UUID]] = field(default_factory=lambda: defaultdict(set))
    quarrels: dict[UUID, Quarrel] = field(default_factory=dict)
    stand_together: set[frozenset[UUID]] = field(default_factory=set)
    now: int = 0
    _sides: dict[UUID, set[UUID]] = field(default_factory=lambda: defaultdict(set))
    """The quarrels that a lesson is, or was, in."""

    def status(self, lesson_id: UUID) -> str | None:
        known = self.lessons.get(lesson_id)
        return known.status if known else None

    def opponents(self, lesson_id: UUID) -> frozenset[UUID]:
        """Returns the believed rivals of a lesson."""
        return frozenset(one for one in self.rivals.get(lesson_id, ()) if self.status(one) == ACTIVE)

    def counts_for(self, agent_id: UUID, lesson_id: UUID) -> bool:
        known = self.lessons[lesson_id]
        return known.agent_id == agent_id or agent_id in known.confirmed

    def dispute_of(self, lesson_id: UUID) -> UUID | None:
        """Returns the open dispute whose contender a lesson is."""
        for key in self._sides.get(lesson_id, ()):
            one = self.quarrels[key]
            if one.contender == lesson_id and one.kind == "conflict" and one.closed is None:
                return key
        return None

    def disputed_by(self, lesson_id: UUID) -> set[UUID]:
        """Returns what the open disputes of a contender are about."""
        found = (self.quarrels[key] for key in self._sides.get(lesson_id, ()))
        return {about for one in found if one.contender == lesson_id and one.closed is None for about in one.about}

    def contradictions_at(self, lesson_id: UUID, tick: int) -> int:
        """Returns how many agents' disputes were open against a lesson. What a curator rejected before weighs nothing."""
        found = [self.quarrels[key] for key in self._sides.get(lesson_id, ())]
        against = [
            one
            for one in found
            if one.kind == "conflict" and one.precedent is None and one.open_at(tick) and one.is_about(lesson_id, tick)
        ]
        return len({self.lessons[one.contender].agent_id for one in against})

    def challenges_at(self, lesson_id: UUID, tick: int) -> set[tuple[UUID, UUID]]:
        """Returns (dispute, other lesson) of all that was open against a lesson; of an unsure pair each is shown the other."""
        found: set[tuple[UUID, UUID]] = set()
        for key in self._sides.get(lesson_id, ()):
            one = self.quarrels[key]
            if not one.open_at(tick):
                continue
            if one.is_about(lesson_id, tick):
                found.add((key, one.contender))
            if one.contender == lesson_id and one.kind == "unsure":
                found.update((key, about) for about in one.about if one.is_about(about, tick))
        return found

    def quarrelling(self, a: UUID, b: UUID, tick: int) -> bool:
        """Tells whether something was open between two lessons."""
        return any(other == b for _, other in self.challenges_at(a, tick)) or any(
            other == a for _, other in self.challenges_at(b, tick)
        )

    def doubted(self, a: UUID, b: UUID) -> bool:
        """Tells whether a challenge between two lessons is open, whichever of them was the newer one."""
        found = (self.quarrels[key] for key in self._sides.get(a, ()))
        return any(one.kind == "unsure" and one.closed is None and {a, b} <= {one.contender, *one.about} for one in found)

    def unopposed(self, ended: Iterable[UUID]) -> set[UUID]:
        """Returns the disputed lessons that nothing believed speaks against any more, after an agent ended what did.

        Not those that a curator rejected before.
        """
        keys = {key for one in ended for key in self._sides.get(one, ()) if one in self.quarrels[key].about}
        found = [self.quarrels[key] for key in keys]
        return {
            one.contender
            for one in found
            if one.kind == "conflict"
            and one.closed is None
            and one.precedent is None
            and self.status(one.contender) == DISPUTED
            and not any(self.status(about) == ACTIVE for about in one.about)
            and not self.opponents(one.contender)
        }

    def open(self, dispute_id: UUID, quarrel: Quarrel) -> None:
        self.quarrels[dispute_id] = quarrel
        for lesson_id in (quarrel.contender, *quarrel.about):
            self._sides[lesson_id].add(dispute_id)

    def bring_into(self, dispute_id: UUID, lesson_id: UUID, tick: int) -> None:
        self.quarrels[dispute_id].about.setdefault(lesson_id, tick)
        self._sides[lesson_id].add(dispute_id)

    def settle(self, tick: int) -> None:
        """Closes what lost its point: a challenge one of whose two lessons is not believed, a dispute without a contender."""
        for one in self.quarrels.values():
            if one.closed is not None or one.opened >= tick:
                continue
            contender = self.status(one.contender)
            if one.kind == "conflict":
                pointless = contender != DISPUTED
            else:
                pointless = contender != ACTIVE or not any(self.status(about) == ACTIVE for about in one.about)
            if pointless:
                one.close(tick, "moot")

    def make_rivals(self, lesson_id: UUID, others: Iterable[UUID]) -> None:
        for other in others:
            self.rivals[lesson_id].add(other)
            self.rivals[other].add(lesson_id)

    def annul_rivals(self, lesson_id: UUID, others: Iterable[UUID]) -> None:
        for other in others:
            self.rivals[lesson_id].discard(other)
            self.rivals[other].discard(lesson_id)
