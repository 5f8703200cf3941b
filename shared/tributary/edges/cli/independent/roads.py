"""What a road to the database is: it carries statements there and gives back rows, or the cause why it has none."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from tributary.edges.cli.independent.catalogue import Ask, Row

TIMEOUT_S = 30.0
"""How long one statement, and how long the opening of a road, may take."""


class Cause(StrEnum):
    """Why something cannot be told. Codes, never the words of whatever failed."""

    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    NOT_PERMITTED = "not_permitted"
    NOT_MIGRATED = "not_migrated"
    """The database has not the views that are asked."""
    FAILED = "failed"
    BAD_ANSWER = "bad_answer"
    """What came back has not the form that the statement declares."""
    REFUSED = "refused"
    """It is not on the list of what may be asked, and was not sent."""
    BEHIND = "behind"
    """A replica answers that has not come to the tick yet."""
    NOT_SHOWN = "not_shown"
    """The API does not show this lesson to the agent that asks."""


Answer = Sequence[Row] | Cause
"""The rows as the road gave them, or why there are none."""


class Road(Protocol):
    """Another way to the database than the API's. One that is closed cannot be used again."""

    channel: str
    """Its name, as `--via` gives it."""
    tool: str
    """What carries the statements on the other side."""

    def answers(self, asked: Sequence[Ask]) -> list[Answer]:
        """Returns an answer to each statement, in their order. Never raises for what the other side does."""
        ...


def is_gone(answer: Answer) -> bool:
    """Tells whether the next statement would fare no better, and would only be waited for."""
    return answer in (Cause.UNREACHABLE, Cause.TIMED_OUT)


def through_to_the_end(asked: Sequence[Ask], found: list[Answer]) -> list[Answer]:
    """Returns `found` with what broke the road as the answer to everything that was not asked any more."""
    last = found[-1] if found else Cause.FAILED
    cause = last if isinstance(last, Cause) else Cause.FAILED
    return [*found, *[cause] * (len(asked) - len(found))]
