"""What an agent of the gauntlet needs of a shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A lesson about to be learned; `run` and `step` say where it was observed, `log` what was seen there."""

    text: str
    situation: str
    subject: str
    rationale: str
    run: str
    step: int
    log: str


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What became of a finding; `lesson` is None when no lesson was kept for it."""

    lesson: str | None
    outcome: str


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A recalled lesson: its id, what it says, and how sure the tribe is of it (0..1)."""

    lesson: str
    text: str
    confidence: float


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """A lesson that was found in a transcript: what it says, and what became of it when it was handed to the tribe."""

    text: str
    learned: Learned


class Tribe(Protocol):
    """A shared memory, as one agent sees it."""

    def recall(self, query: str, /) -> Sequence[Hit]:
        """Returns the lessons that bear on `query`, best first."""
        ...

    def learn(self, finding: Finding, /) -> Learned: ...

    def reinforce(self, lesson: str, /) -> float:
        """Confirms that `lesson` held and returns the confidence in it from now on."""
        ...


class Disputing(Protocol):
    """A shared memory to which an agent may say that a believed lesson does not hold."""

    def contest(self, lesson: str, finding: Finding, /) -> Learned:
        """Says what holds instead of `lesson`, with what showed it."""
        ...


class Forgetful:
    """No memory at all: recalls nothing and keeps nothing. The control."""

    def recall(self, _query: str, /) -> Sequence[Hit]:
        return ()

    def learn(self, _finding: Finding, /) -> Learned:
        return Learned(lesson=None, outcome="forgotten")

    def reinforce(self, lesson: str, /) -> float:
        raise LookupError(f"nothing was recalled, so there is no {lesson} to reinforce")


class Unspoken:
    """A tribe that is recalled from as ever, and told nothing: what an agent found is left to whoever reads its transcript."""

    def __init__(self, tribe: Tribe) -> None:
        self._tribe = tribe

    def recall(self, query: str, /) -> Sequence[Hit]:
        return self._tribe.recall(query)

    def learn(self, _finding: Finding, /) -> Learned:
        return Learned(lesson=None, outcome="left to the distiller")

    def reinforce(self, lesson: str, /) -> float:
        return self._tribe.reinforce(lesson)


class Holding:
    """A tribe whose agent stands still once that many lessons are committed: the point at which it can be killed."""

    def __init__(self, tribe: Tribe, *, after: int, hold: Callable[[], None]) -> None:
        self._tribe = tribe
        self._left = after
        self._hold = hold

    def recall(self, query: str, /) -> Sequence[Hit]:
        return self._tribe.recall(query)

    def learn(self, finding: Finding, /) -> Learned:
        learned = self._tribe.learn(finding)
        self._left -= learned.lesson is not None
        if self._left == 0:
            self._hold()
        return learned

    def reinforce(self, lesson: str, /) -> float:
        return self._tribe.reinforce(lesson)


class Counted:
    """A tribe that knows how often it was asked or told something, and how much it gave to read."""

    def __init__(self, tribe: Tribe) -> None:
        self._tribe = tribe
        self.calls = 0
        self.shown = 0
        self.characters = 0

    def recall(self, query: str, /) -> Sequence[Hit]:
        self.calls += 1
        return self.read(self._tribe.recall(query))

    def read(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Counts lessons that came before the agent's eyes, and returns them."""
        self.shown += len(hits)
        self.characters += sum(len(hit.text) for hit in hits)
        return hits

    def learn(self, finding: Finding, /) -> Learned:
        self.calls += 1
        return self._tribe.learn(finding)

    def reinforce(self, lesson: str, /) -> float:
        self.calls += 1
        return self._tribe.reinforce(lesson)
