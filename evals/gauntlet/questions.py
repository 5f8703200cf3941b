"""Tasks of four kinds: three in which memory must not be used, though it has something to say, and one that it alone can do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from evals.gauntlet.names import HEADER_ENDS, HEADER_FRONTS, Draw
from evals.gauntlet.terminal import Command, Observation, failed, quoted, quoted_commands, succeeded
from evals.gauntlet.world import estate_of

OF_EACH_KIND = 4
UNKNOWN = "unknown"


class Kind(StrEnum):
    """What the answer rests on."""

    ARITHMETIC = "arithmetic"
    STATED = "stated fact"
    LIVE = "live state"
    KNOWN = "tribe's knowledge"


@dataclass(frozen=True, kw_only=True)
class Question:
    """A task, its right answer, and a lesson that the tribe holds about it: true only where memory is what it takes.

    `shows` is what looking shows, for the live kind.
    """

    kind: Kind
    text: str
    answer: str
    lesson: str | None
    situation: str
    shows: str | None = None


def questions_of(seed: int, *, of_each: int = OF_EACH_KIND) -> list[Question]:
    """Returns as many questions of each kind; a lesson speaks to every second sum, and to all of the others."""
    draw = Draw(seed)
    services = [names.service for names in estate_of(seed, of_each)]
    made: list[Question] = []
    for at, service in enumerate(services):
        makers: tuple[Callable[[Draw, str, int], Question], ...] = (_sum, _stated, _live, _known)
        made += [make(draw, service, at) for make in makers]
    return made


@dataclass(frozen=True)
class Shown:
    """A terminal that shows how things stand: `primary SERVICE`."""

    questions: tuple[Question, ...]

    def run(self, command: Command, /) -> Observation:
        for question in self.questions:
            if question.shows is not None and quoted_commands(question.text) == (command,):
                return succeeded(command, question.shows)
        return failed(command, "there is nothing to see", exit_code=127)


def work_out(text: str, terminal: Shown) -> str:
    """Returns the answer as it follows from the words of the task, or from what looking shows; else `unknown`."""
    if product := re.search(r"(\d+) times (\d+)", text):
        return str(int(product.group(1)) * int(product.group(2)))
    if shared := re.search(r"has (\d+) connections and (\d+) workers", text):
        return str(int(shared.group(1)) // int(shared.group(2)))
    for look in quoted_commands(text):
        shown = terminal.run(look)
        if shown.ok:
            return quoted(shown.output)[0]
    return UNKNOWN


def _sum(draw: Draw, service: str, at: int) -> Question:
    a, b = draw.number(12, 49), draw.number(12, 49)
    lesson = f"In the report of {service}, {a} times {b} came to `{a * b - draw.number(1, 9)}` rows." if at % 2 == 0 else None
    return Question(
        kind=Kind.ARITHMETIC, text=f"What is {a} times {b}?", answer=str(a * b), lesson=lesson, situation=f"{a} times {b}"
    )


def _stated(draw: Draw, service: str, _at: int) -> Question:
    workers, each = draw.number(3, 9), draw.number(11, 40)
    return Question(
        kind=Kind.STATED,
        text=f"{service} has {workers * each} connections and {workers} workers, who share them evenly. How many does each get?",
        answer=str(each),
        lesson=f"Each worker of {service} gets `{each - draw.number(1, 9)}` connections.",
        situation=f"sharing the connections of {service} among its workers",
    )


def _live(draw: Draw, service: str, _at: int) -> Question:
    before, now = draw.some([f"db-{number}" for number in range(2, 97)], 2)
    return Question(
        kind=Kind.LIVE,
        text=f"On which host does the primary database of {service} run right now? `primary {service}` shows it.",
        answer=now,
        lesson=f"The primary database of {service} runs on `{before}`.",
        situation=f"finding the primary database of {service}",
        shows=f"primary of {service}: `{now}`",
    )


def _known(draw: Draw, service: str, _at: int) -> Question:
    header = f"X-{draw.one(HEADER_FRONTS)}-{draw.one(HEADER_ENDS)}"
    return Question(
        kind=Kind.KNOWN,
        text=f"Which header does the deploy API want for {service}?",
        answer=header,
        lesson=f"The deploy API wants the header `{header}` for {service}.",
        situation=f"deploying {service}",
    )
