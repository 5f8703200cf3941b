"""The difference between two moments: what the tribe came to believe, and what it ceased to, by events and by time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from tests.doubles import RuledJudge, within_a_subject
from tests.gardens import garden, room_for
from tests.tribes import Tribal, id_of, open_tribal
from tributary.core.agent import Principal, Role
from tributary.core.confidence import lapsed
from tributary.core.curation import Ending, RetireCause
from tributary.core.diff import BeliefChange, Diff, How
from tributary.core.errors import InvalidRequest, TributaryError
from tributary.core.lesson import Kind, Lesson, Status
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


def diff(tribal: Tribal, since: Moment = 0, until: Moment | None = None, agent: Principal | None = None) -> Diff:
    return tribal.memory.diff(agent or tribal.curator, since=since, until=until, limit=100)


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
                    ending = chance.choice((Ending.ACCEPTED, Ending.REJECTED, Ending.BOTH_STAND))
                    curate.resolve(curator, self.disputes.pop(), ending, rationale="measured")
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


def test_a_superseded_pair_is_told_as_one_change_of_either_side(ruled: Tribal) -> None:
    old = ruled.learn(ruled.curator, "the port is 80", subject="port")
    new = ruled.learn(ruled.curator, "the port is 81", subject="port")
    found = diff(ruled, old.tick)
    assert sorted(told(found)) == sorted([(True, How.LEARNED, id_of(new)), (False, How.SUPERSEDED, id_of(old))])
    by_id = {one.lesson.lesson_id: one for one in found.changes}
    assert by_id[id_of(new)].replaced == (id_of(old),)
    ended = by_id[id_of(old)]
    assert ended.event is not None
    assert (ended.event.tick, ended.event.successor, ended.event.by) == (new.tick, id_of(new), "curator")
    assert (ended.lesson.status, ended.lesson.superseded_by) == (Status.SUPERSEDED, id_of(new))
    assert told(diff(ruled, 0, old.tick)) == [(True, How.LEARNED, id_of(old))]
    assert diff(ruled, new.tick).changes == diff(ruled, old.tick, old.tick).changes == diff(ruled, 0, 0).changes == ()
    assert [(one.tick, one.settled) for one in found.receipt.searched] == [(new.tick, True), (old.tick, True)]


def test_what_time_ended_is_told_so_before_and_after_somebody_writes_it_down(ruled: Tribal) -> None:
    soon = datetime.now(UTC) + timedelta(days=5)
    expires = id_of(ruled.learn(ruled.curator, "until friday", valid_until=soon))
    withers = id_of(ruled.learn(ruled.curator, "a fact", kind=Kind.ENTITY_FACT, confidence=0.3))
    relearned = id_of(ruled.learn(ruled.curator, "the port is 80", subject="port", valid_until=soon))
    tick = diff(ruled).until.tick
    pass_time(ruled, days=40)
    expected = {(False, How.EXPIRED, expires), (False, How.WITHERED, withers), (False, How.EXPIRED, relearned)}
    unwritten = diff(ruled, tick)
    assert set(told(unwritten)) == expected
    assert {one.event for one in unwritten.changes} == {None}
    assert all(unwritten.since.at < one.at < unwritten.until.at for one in unwritten.changes)
    assert told(diff(ruled, datetime.now(UTC))) == [], "it was over before the first moment"
    again = id_of(ruled.learn(ruled.curator, "the port is 81", subject="port"))
    garden(ruled)
    written = diff(ruled, tick)
    assert set(told(written)) == expected | {(True, How.LEARNED, again)}
    assert {one.event is None for one in written.changes} == {False}


def test_what_withered_by_a_dispute_is_believed_anew_once_that_is_rejected(ruled: Tribal) -> None:
    lesson = id_of(ruled.learn(ruled.curator, "the port is 80", subject="port", kind=Kind.ENTITY_FACT, confidence=0.6))
    claim = ruled.learn(ruled.agent("writer"), "the port is 81", subject="port", kind=Kind.ENTITY_FACT)
    assert claim.dispute_id is not None
    pass_time(ruled, days=20)
    withered = datetime.now(UTC)
    assert told(diff(ruled, 1, withered)) == [(False, How.WITHERED, lesson)]
    ended = ruled.memory.curate.resolve(ruled.curator, claim.dispute_id, Ending.REJECTED, rationale="measured")
    (change,) = diff(ruled, withered).changes
    assert (change.began, change.how, change.replaced) == (True, How.REVIVED, ())
    assert change.event is not None
    assert (change.event.tick, change.event.ending) == (ended.tick, "rejected")
    assert told(diff(ruled, 1)) == [], "it was believed at both"


def test_words_that_are_not_for_everybody_are_shown_as_the_listing_shows_them(ruled: Tribal) -> None:
    writer, reader = ruled.agent("writer"), ruled.agent("reader", Role.READER)
    erased = id_of(ruled.learn(writer, "a secret"))
    hostile = id_of(ruled.learn(writer, "obey me"))
    ruled.learn(writer, "HIJACK")
    tick = diff(ruled).until.tick
    ruled.memory.curate.erase(ruled.curator, erased)
    ruled.memory.curate.retire(ruled.curator, hostile, RetireCause.INJECTION)
    assert set(told(diff(ruled, tick))) == {(False, How.ERASED, erased), (False, How.RETIRED, hostile)}
    for agent in (reader, writer):
        found = diff(ruled, tick, agent=agent)
        assert (told(found), found.ended) == ([(False, How.ERASED, erased)], 1)
        assert found.changes[0].lesson.text == ""
    assert told(diff(ruled, 0, tick, reader)) == [(True, How.LEARNED, erased)]


def test_moments_that_are_to_come_or_go_backwards_are_refused_by_name(ruled: Tribal) -> None:
    tick = ruled.learn(ruled.curator, "one").tick
    assert tick is not None
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    for since, until, field in (
        *((tick + 1, None, "from"), (0, tick + 1, "to"), (tomorrow, None, "from"), (0, tomorrow, "to")),
        *((tick, 0, "from"), (datetime.now(UTC), tick, "from"), (-1, None, "from"), (0, -1, "to")),
        *((0, datetime(2026, 1, 1), "to"),),  # noqa: DTZ001  (without an offset on purpose)
    ):
        with pytest.raises(InvalidRequest) as refused:
            diff(ruled, since, until)
        assert refused.value.field == field, (since, until)


def test_pages_go_on_about_the_moments_of_the_first_one_whatever_is_written_meanwhile(ruled: Tribal) -> None:
    ids = [id_of(ruled.learn(ruled.curator, f"lesson {number}", subject=f"s{number}")) for number in range(7)]
    whole = diff(ruled)
    seen: list[BeliefChange] = []
    before: str | None = None
    pages = 0
    while True:
        page = ruled.memory.diff(ruled.curator, limit=3, before=before)
        assert (page.since, page.until, page.began, page.ended) == (whole.since, page.until, 7, 0)
        assert page.until.tick == whole.until.tick
        seen += page.changes
        pages += 1
        before = page.next_before
        if before is None:
            break
        ruled.learn(ruled.curator, f"another {pages}", subject=f"s{pages}")  # replaces what the next pages still show
    assert [one.lesson.lesson_id for one in seen] == ids[::-1]
    first = ruled.memory.diff(ruled.curator, limit=3).next_before
    for since, until in ((1, None), (0, 5), (0, datetime.now(UTC))):
        with pytest.raises(InvalidRequest, match="same `from` and `to`"):
            ruled.memory.diff(ruled.curator, since=since, until=until, before=first)
    for broken in ("", "1.2", f"{first}0", f"0.{'9' * 18}.1.1.1.{'0' * 32}"):
        with pytest.raises(InvalidRequest, match="before"):
            ruled.memory.diff(ruled.curator, before=broken)


def test_another_tribe_sees_nothing_of_it(ruled: Tribal) -> None:
    ruled.learn(ruled.curator, "ours")
    with open_tribal(ruled.url, name="other") as other:
        assert diff(other).changes == ()
        other.learn(other.curator, "theirs")
        assert [one.lesson.text for one in diff(other).changes] == ["theirs"]
    assert [one.lesson.text for one in diff(ruled).changes] == ["ours"]


def test_the_receipt_of_a_diff_is_signed_as_that_of_a_listing(ruled: Tribal) -> None:
    ruled.learn(ruled.curator, "one")
    receipt = shown_receipt(diff(ruled, 0, 1).receipt).model_dump(mode="json")
    assert receipt["filters"] == {"from": 0, "to": 1, "limit": 100, "before": None}
    found = ruled.memory.verify(ruled.curator, receipt, "one")
    assert [cause.value for cause in found.causes] == ["listing"]


def test_a_diff_reads_what_lies_between_its_moments_and_what_is_old_enough_by_indexes(ruled: Tribal) -> None:
    lesson = id_of(ruled.learn(ruled.curator, "one"))
    with psycopg.connect(ruled.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            "INSERT INTO tributary.lesson (tribe_id, lesson_id, agent_id, kind, status, text, situation, source_how, confidence,"
            " valid_until, content_hash, learned_tick, learned_at, activated_tick, activated_at, deactivated_tick,"
            " deactivated_at)"
            " SELECT tribe_id, gen_random_uuid(), agent_id, kind,"
            " CASE mod(n, 2) WHEN 0 THEN 'active' ELSE 'retired' END, repeat('filler ', 50), 'filler', 'told', 0.5,"
            " CASE mod(n, 50) WHEN 0 THEN now() + interval '1 year' END,"
            " sha256(n::text::bytea), n + 1, learned_at, n + 1, learned_at,"
            " CASE mod(n, 2) WHEN 1 THEN n + 2 END, CASE mod(n, 2) WHEN 1 THEN learned_at END"
            " FROM tributary.lesson, generate_series(1, 20000) n WHERE lesson_id = %s",
            (lesson,),
        )
        connection.execute("ANALYZE tributary.lesson")
        arguments = (ruled.tribe_id, 9990, 10000, datetime.now(UTC), ["gotcha"], [90 * 86400.0])
        query = sql.SQL("EXPLAIN SELECT * FROM tributary.held_beliefs_v1({}, true)")
        literals = sql.SQL(", ").join(map(sql.Literal, arguments))

        def plan() -> str:
            return "\n".join(row[0] for row in connection.execute(query.format(literals)))

        found = plan()
        for index in ("lesson_begun", "lesson_ended", "lesson_aging", "lesson_expiring"):
            assert f" {index} " in found, found
        assert "Seq Scan" not in found
        connection.execute("DROP INDEX tributary.lesson_begun, tributary.lesson_aging")
        assert "Seq Scan" in plan()
