"""A process that learns one lesson, to be killed while it does, run by path: `python crashing.py`.

It takes one order as a line of JSON on stdin, and says on stdout, as JSON, what it was answered.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import psycopg

from tests.doubles import RuledJudge, WordScreen, within_a_subject
from tests.tribes import SEEN
from tributary.core.decision import Learned, ScreenFinding
from tributary.core.errors import TributaryError
from tributary.core.ids import new_id
from tributary.core.lesson import Draft
from tributary.core.ports import Vector
from tributary.models.embedders import HashedEmbedder
from tributary.service import Settings, open_memory
from tributary.service.wiring import Adapters


class Death(StrEnum):
    """Where the process ends itself. Elsewhere, whoever ordered the learn kills it."""

    SCREENING = "screening"
    EMBEDDING = "embedding"
    JUDGING = "judging"
    BETWEEN_TWO_COMMITS = "between_two_commits"
    """For the control: the lesson's row is committed, what belongs to it is not."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """One learn. `death` is None when the process is to be killed by another, or to live."""

    url: str
    token: str
    key: str
    text: str
    situation: str
    subject: str
    death: Death | None = None

    @property
    def draft(self) -> Draft:
        return Draft(text=self.text, situation=self.situation, source=SEEN, subject=self.subject)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a caller is told of a learn; equal for every try with the same key."""

    outcome: str
    lesson_id: str
    replaced: tuple[str, ...]
    dispute_id: str | None
    reason: str
    decision_id: str
    tick: int

    @classmethod
    def of(cls, result: Learned) -> Answer:
        assert result.lesson is not None
        return cls(
            outcome=result.outcome.value,
            lesson_id=str(result.lesson.lesson_id),
            replaced=tuple(str(one) for one in result.replaced),
            dispute_id=None if result.dispute_id is None else str(result.dispute_id),
            reason=result.reason,
            decision_id=str(result.decision_id),
            tick=result.tick,
        )

    @property
    def document(self) -> dict[str, object]:
        """The answer as JSON gives it back."""
        return {**dataclasses.asdict(self), "replaced": list(self.replaced)}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DyingScreen(WordScreen):
    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        die()
        return super().screen(fields)


class DyingEmbedder(HashedEmbedder):
    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        die()
        return super().embed(texts)


def adapters(death: Death | None) -> Adapters:
    return Adapters(
        screen=DyingScreen() if death is Death.SCREENING else WordScreen(),
        embedder=DyingEmbedder() if death is Death.EMBEDDING else HashedEmbedder(),
        judge=RuledJudge(within_a_subject, before=die if death is Death.JUDGING else None),
    )


def learn(order: Order) -> dict[str, object]:
    """Returns the answer, or the code of the error."""
    settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": order.url})
    with open_memory(settings, adapters=adapters(order.death)) as memory:
        try:
            result = memory.learn(memory.authenticate(order.token), order.draft, idempotency_key=order.key)
        except TributaryError as error:
            return {"error": error.code}
        return Answer.of(result).document


def write_half(order: Order) -> None:
    """Commits the lesson's row by hand, as a learn in two transactions would, and dies before the second one."""
    with psycopg.connect(order.url, autocommit=True) as connection:
        connection.execute(
            """INSERT INTO tributary.lesson (tribe_id, lesson_id, agent_id, kind, status, text, situation, source_how, confidence,
                                             content_hash, learned_tick, learned_at, activated_tick, activated_at)
               SELECT t.tribe_id, %s, a.agent_id, 'gotcha', 'active', %s, %s, 'observed', 0.7,
                      decode(repeat('ab', 32), 'hex'), t.clock + 1, now(), t.clock + 1, now()
               FROM tributary.tribe t JOIN tributary.agent a USING (tribe_id) LIMIT 1""",
            (new_id(), order.text, order.situation),
        )
        die()


def main() -> None:
    given = json.loads(sys.stdin.readline())
    order = Order(**{**given, "death": given["death"] and Death(given["death"])})
    if order.death is Death.BETWEEN_TWO_COMMITS:
        write_half(order)
    sys.stdout.write(json.dumps(learn(order)) + "\n")


if __name__ == "__main__":
    main()
