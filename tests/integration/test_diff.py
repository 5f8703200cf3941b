"""The difference between two moments: what the tribe came to believe, and what it ceased to, by events and by time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

import psycopg
import pytest

from tests.doubles import RuledJudge, within_a_subject
from tests.gardens import garden, room_for
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Principal, Role
from tributary.core.confidence import lapsed
from tributary.core.curation import Ending, RetireCause
from tributary.core.decision import Learned
from tributary.core.diff import BeliefChange, Diff, How
from tributary.core.errors import InvalidRequest, TributaryError
from tributary.core.lesson import Kind, Lesson, Status
from tributary.core.requests import Question
from tributary.edges.lambda_http.translate import receipt as shown_receipt

Moment = int | datetime
SHIFTED = {
    "tribe": ("clock_at", "created_at"),
    "lesson": ("learned_at", "activated_at", "deactivated_at", "valid_from", "valid_until", "keep_until"),
    "lesson_event": ("at",),
    "tribe_event": ("at",),
    "confirmation": ("at",),
    "dispute": ("opened_at", "closed_at"),
    "decision": ("at",),
}


@pytest.fixture
def ruled(database_url: str) -> Iterator[Tribal]:
    """A tribe whose lessons of one subject conflict unless they say the same."""
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as opened:
        yield opened


def pass_time(tribal: Tribal, **by: float) -> None:
    """Has all that happened so far be so much longer ago."""
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # else what a lesson says never changes
        for table, columns in SHIFTED.items():
            shifted = ", ".join(f"{one} = {one} - %(by)s" for one in columns)
            connection.execute(f"UPDATE tributary.{table} SET {shifted}".encode(), {"by": timedelta(**by)})


def id_of(learned: Learned) -> UUID:
    assert learned.lesson is not None
    return learned.lesson.lesson_id


def diff(tribal: Tribal, since: Moment = 0, until: Moment | None = None, agent: Principal | None = None, **more: object) -> Diff:
    return tribal.memory.diff(agent or tribal.curator, since=since, until=until, limit=100, **more)  # type: ignore[arg-type]  # the test's own


def told(found: Diff) -> list[tuple[bool, How, UUID]]:
    return [(one.began, one.how, one.lesson.lesson_id) for one in found.changes]


def believed(tribal: Tribal, agent: Principal, when: Moment) -> dict[UUID, Lesson]:
    """Returns what the listing of a moment shows as active, but for what time had ended by then."""
    found: dict[UUID, Lesson] = {}
    before: str | None = None
    while True:
        page = tribal.memory.lessons(agent, as_of=when, limit=100, before=before)
        at = page.receipt.searched[0].at
        found |= {one.lesson_id: one for one in page.lessons if not lapsed(one, at=at)}
        before = page.next_before
        if before is None:
            return found


class Story:
    """A tribe to which things happen by chance."""

    def __init__(self, tribal: Tribal, chance: Random) -> None:
        self.tribal = tribal
        self.chance = chance
        self.agents = [tribal.agent(f"writer-{number}") for number in range(3)]
        self.lessons: list[UUID] = []
        self.disputes: list[UUID] = []
        self.words = 0

    def go_on(self) -> None:
        chance, curate, curator = self.chance, self.tribal.memory.curate, self.tribal.curator
        does = chance.choices(("learn", "reinforce", "wait", "retire", "resolve", "erase", "garden"), (12, 4, 5, 2, 3, 1, 1))[0]
        with suppress(TributaryError, IndexError):  # what is not to be done now
            match does:
                case "learn":
                    self.learn()
                case "reinforce":
                    self.tribal.memory.reinforce(chance.choice(self.agents), chance.choice(self.lessons))
                case "wait":
                    pass_time(self.tribal, days=chance.choice((0.01, 3, 20, 45)))
                case "retire":
                    curate.retire(curator, chance.choice(self.lessons), chance.choice(list(RetireCause)))
                case "resolve":
                    curate.resolve(
                        curator, self.disputes.pop(), chance.choice((Ending.ACCEPTED, Ending.REJECTED, Ending.BOTH_STAND))
                    )
                case "erase":
                    curate.erase(curator, chance.choice(self.lessons))
                case "garden":
                    room_for(self.tribal, chance.choice((None, 4)))
                    garden(self.tribal)

    def learn(self) -> None:
        chance = self.chance
        self.words += 1
        learned = self.tribal.learn(
            chance.choice([*self.agents, self.tribal.curator]),
            f"{chance.choice(('HIJACK', 'it is', 'it is', 'it is', 'it is'))} {self.words}",
            subject=chance.choice((None, None, "port", "host", "path", "flag")),
            kind=chance.choice((Kind.ENTITY_FACT, Kind.OBSERVATION, Kind.GOTCHA)),
            confidence=chance.choice((0.0, 0.19, 0.3, 0.5, 0.8, 1.0)),
            valid_until=chance.choice((None, None, datetime.now(UTC) + timedelta(days=chance.uniform(1, 60)))),
        )
        self.lessons.append(id_of(learned))
        if learned.dispute_id is not None:
            self.disputes.append(learned.dispute_id)


@pytest.mark.parametrize("seed", range(3))
def test_a_diff_is_the_difference_of_what_was_believed_at_two_moments_of_any_history(ruled: Tribal, seed: int) -> None:
    chance = Random(seed)
    story = Story(ruled, chance)
    for _ in range(60):
        story.go_on()
    clock = int(str(ruled.rows("SELECT clock FROM tributary.tribe")[0]["clock"]))
    began = ruled.rows("SELECT min(at) AS at FROM tributary.lesson_event")[0]["at"]
    assert isinstance(began, datetime)
    reader = ruled.agent("reader", Role.READER)
    hows: set[How] = set()
    for _ in range(40):
        since, until = (
            chance.choice((chance.randint(0, clock), began + chance.random() * (datetime.now(UTC) - began))) for _ in range(2)
        )
        agent = chance.choice((ruled.curator, reader, story.agents[0]))
        try:
            found = diff(ruled, since, until, agent)
        except InvalidRequest:
            since, until = until, since
            found = diff(ruled, since, until, agent)
        before, after = believed(ruled, agent, since), believed(ruled, agent, until)
        assert {one.lesson.lesson_id for one in found.changes if one.began} == set(after) - set(before), (since, until)
        assert {one.lesson.lesson_id for one in found.changes if not one.began} == set(before) - set(after), (since, until)
        assert (found.began, found.ended) == (len(set(after) - set(before)), len(set(before) - set(after)))
        assert [one.at for one in found.changes] == sorted((one.at for one in found.changes), reverse=True)
        assert all(found.since.at <= one.at <= found.until.at for one in found.changes)
        hows |= {one.how for one in found.changes}
    assert hows >= {How.LEARNED, How.SUPERSEDED, How.EXPIRED, How.WITHERED}
