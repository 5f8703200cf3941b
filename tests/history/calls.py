"""What agents ask of a memory, and what came of it: requests that can be made again, and the record of each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tributary.core.agent import Principal
from tributary.core.errors import Forbidden, IdempotencyConflict, InvalidRequest, NotFound, TributaryError, WrongStanding
from tributary.core.lesson import Lesson, Status
from tributary.core.requests import Question, Recalled
from tributary.service import Memory

EXPECTED = (WrongStanding, NotFound, Forbidden, IdempotencyConflict)
"""Refusals that a sound memory gives when agents get into each other's way; anything else fails the run."""
MAY_SAY_NOTHING = ("contest", "report")
"""Operations whose random words may be those that the lesson says itself, or what the decision found: an invalid request."""
PAGE = 100


@dataclass(frozen=True, kw_only=True)
class Request:
    """One call of the face. `given` are the keywords that it takes, the idempotency key among them."""

    agent: Principal
    operation: str
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str | None:
        return self.given.get("idempotency_key")


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A listing, all of its pages, as of one tick."""

    tick: int
    lessons: tuple[Lesson, ...]


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request with its reply, or the code of its refusal. `before` and `after` are ticks read around it."""

    request: Request
    before: int
    after: int
    reply: Any = None
    refused: str | None = None
    broke: str | None = None

    @property
    def operation(self) -> str:
        return self.request.operation


def perform(memory: Memory, request: Request) -> Any:
    return _OPERATIONS[request.operation](memory, request.agent, **request.given)


def recorded(memory: Memory, request: Request, clock: Callable[[], int]) -> Call:
    """Makes a request and returns the record of it, with what `clock` read around it; raises nothing that a memory may raise."""
    before = clock()
    reply: Any = None
    refused = broke = None
    try:
        reply = perform(memory, request)
    except EXPECTED as error:
        refused = error.code
    except TributaryError as error:
        if isinstance(error, InvalidRequest) and request.operation in MAY_SAY_NOTHING:
            refused = error.code
        else:
            broke = f"{error.code}: {error} ({repr(error.__cause__)[:200]})"
    return Call(request=request, before=before, after=clock(), reply=reply, refused=refused, broke=broke)


def _recall(memory: Memory, agent: Principal, *, question: Question) -> Recalled:
    return memory.recall(agent, question)


def _listed(memory: Memory, agent: Principal, *, status: Status | None, as_of: int) -> Shown:
    found: list[Lesson] = []
    before: str | None = None
    while True:
        page = memory.lessons(agent, status=status, limit=PAGE, before=before, as_of=as_of)
        found += page.lessons
        before = page.next_before
        if before is None:
            return Shown(tick=page.receipt.searched[0].tick, lessons=tuple(found))


_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "learn": Memory.learn,
    "learn_all": Memory.learn_all,
    "contest": Memory.contest,
    "reinforce": Memory.reinforce,
    "retire": lambda memory, agent, **given: memory.curate.retire(agent, **given),
    "release": lambda memory, agent, **given: memory.curate.release(agent, **given),
    "erase": lambda memory, agent, **given: memory.curate.erase(agent, **given),
    "resolve": lambda memory, agent, **given: memory.curate.resolve(agent, **given),
    "report": lambda memory, agent, **given: memory.curate.report(agent, **given),
    "set_policy": lambda memory, agent, **given: memory.curate.set_policy(agent, **given),
    "settle": lambda memory, _: memory.settle_pending(),
    "recall": _recall,
    "listing": _listed,
}
