"""What tests of the gardener share: a judge that can be away, lessons made older, a dump of every table, a lesson's end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

import psycopg

from tests.tribes import Tribal
from tributary.core.agent import Principal
from tributary.core.decision import Verdict, VerdictKind
from tributary.core.errors import ModelFailed
from tributary.core.garden import GardenReport, Rule, RuleReport
from tributary.core.lesson import Lesson
from tributary.core.ports import JudgedText

HEADER = "The deploy API of payments needs the header X-Batch: true"
OTHER = "The deploy API of payments needs the header X-Batch: false"


@dataclass
class AwayJudge:
    """A judge by a rule, that can be away, or away for pairs with a word in them."""

    rule: Callable[[JudgedText, JudgedText], VerdictKind]
    away: bool = True
    silent_about: str | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)
    before: Callable[[], None] | None = None
    version: str = "away/1"

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        if self.away:
            raise ModelFailed("the judge is away")
        self.asked += [(new.text, one.text) for one in candidates]
        if self.before is not None:
            self.before()
        return [
            Verdict(lesson_id=one.lesson_id, kind=self.rule(new, one), confidence=0.9, judge=self.version, reason="by rule")
            for one in candidates
            if self.silent_about is None or self.silent_about not in one.text
        ]


def garden(tribal: Tribal, *, dry_run: bool = False, budget_s: float | None = None) -> GardenReport:
    report = tribal.memory.gardener.run(tribal.tribe_id, dry_run=dry_run, budget_s=budget_s)
    assert [one.failed for one in report.total] == [None] * len(Rule)
    assert report.failed is None
    return report


def learned(tribal: Tribal, agent: Principal, text: str, **fields: object) -> Lesson:
    lesson = tribal.learn(agent, text, **fields).lesson  # type: ignore[arg-type]  # the test's own keywords
    assert lesson is not None
    return lesson


def status(tribal: Tribal, lesson: Lesson) -> str:
    return tribal.memory.lesson(tribal.curator, lesson.lesson_id).lesson.status.value


def kinds(report: RuleReport) -> Mapping[str, int]:
    return dict(report.kinds)


def room_for(tribal: Tribal, capacity: int | None) -> None:
    policy = tribal.memory.curate.policy(tribal.curator)
    tribal.memory.curate.set_policy(tribal.curator, replace(policy, capacity=capacity))


def backdate(tribal: Tribal, lesson_id: UUID, **ago: float) -> None:
    """Makes a lesson older than it is, with its confirmations: learned, activated and confirmed by so much earlier."""
    by = timedelta(**ago)
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # else what a lesson says never changes
        connection.execute(
            "UPDATE tributary.lesson SET learned_at = learned_at - %s, activated_at = activated_at - %s WHERE lesson_id = %s",
            (by, by, lesson_id),
        )
        connection.execute("UPDATE tributary.confirmation SET at = at - %s WHERE lesson_id = %s", (by, lesson_id))


def dump(url: str, *, but_turns: bool = False) -> dict[str, list[str]]:
    """Returns every row of every table of ours, as text; `but_turns` without when the gardener last ran, and asked about what."""
    row = "(to_jsonb(t) - 'tried_at')::text" if but_turns else "t::text"
    with psycopg.connect(url, autocommit=True) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'tributary' ORDER BY 1").fetchall()
        return {
            table: [row[0] for row in connection.execute(f"SELECT {row} FROM tributary.{table} t ORDER BY 1".encode())]
            for (table,) in tables
            if not (but_turns and table == "gardening")
        }


def how_it_ended(tribal: Tribal, lesson_id: UUID) -> tuple[str, Mapping[str, object]]:
    """Returns a lesson's status and the details of its last event."""
    found = tribal.rows(
        """SELECT l.status, e.details FROM tributary.lesson l JOIN tributary.lesson_event e USING (tribe_id, lesson_id)
           WHERE l.lesson_id = %s ORDER BY e.tick DESC, e.seq DESC LIMIT 1""",
        lesson_id,
    )
    details = found[0]["details"]
    assert isinstance(details, dict)
    return str(found[0]["status"]), details


def ticks(tribal: Tribal) -> int:
    return int(str(tribal.rows("SELECT clock FROM tributary.tribe WHERE tribe_id = %s", tribal.tribe_id)[0]["clock"]))


def in_utc(text: object) -> datetime:
    return datetime.fromisoformat(str(text))
