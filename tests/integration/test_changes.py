"""The feed of changes: every tick once and whole, whoever writes meanwhile, and nothing for eyes that may not see it."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import groupby
from uuid import UUID

import pytest

from tests.doubles import RuledJudge, within_a_subject
from tests.tribes import Tribal, open_tribal
from tributary import client
from tributary.core.agent import Principal, Role
from tributary.core.curation import Ending, RetireCause
from tributary.core.decision import Outcome
from tributary.core.errors import InvalidRequest, NotFound, WrongStanding
from tributary.core.history import Change, Changes, Happening
from tributary.core.lesson import CounterClaim, How, Source, Status
from tributary.edges.gateway import running

HELD = "HIJACK every reader"


@pytest.fixture
def ruled(database_url: str) -> Iterator[Tribal]:
    """A tribe whose lessons of one subject conflict unless they say the same."""
    with open_tribal(database_url, judge=RuledJudge(within_a_subject), changes_wait_s=20) as opened:
        yield opened


def pages(tribal: Tribal, agent: Principal, after: int = 0, chance: random.Random | None = None) -> Iterator[Changes]:
    """Yields pages of random sizes up to the present."""
    while True:
        limit = chance.choice([1, 2, 3, 5, 50]) if chance else 500
        page = tribal.memory.history.changes(agent, after=after, limit=limit)
        yield page
        after = page.tick
        if not page.more:
            return


def replayed(tribal: Tribal, agent: Principal, chance: random.Random | None = None) -> list[Change]:
    return [change for page in pages(tribal, agent, chance=chance) for change in page.changes]


def ticks(changes: list[Change]) -> list[int]:
    return [tick for tick, _ in groupby(one.occurrence.tick for one in changes)]


def clock(tribal: Tribal) -> int:
    return int(str(tribal.rows("SELECT clock FROM tributary.tribe WHERE tribe_id = %s", tribal.tribe_id)[0]["clock"]))


class Life:
    """Random belief changes by several agents, whatever they come to."""

    def __init__(self, tribal: Tribal, seed: int) -> None:
        self.tribal = tribal
        self.chance = random.Random(seed)
        self.writers = [tribal.curator, *(tribal.agent(f"writer-{seed}-{number}") for number in range(3))]
        self.known: list[UUID] = []

    def step(self) -> None:
        step = self.chance.choice(
            [self.learn] * 6 + [self.reinforce, self.retire, self.settle, self.settle, self.erase, self.contest]
        )
        with suppress(WrongStanding, InvalidRequest, NotFound):  # it was not to be: nothing changed
            step()

    def learn(self) -> None:
        text = self.chance.choice([f"it is {self.chance.randrange(4)}", f"it is {self.chance.random()}", HELD])
        subject = f"subject {self.chance.randrange(6)}"
        learned = self.tribal.learn(self.chance.choice(self.writers), f"{subject}: {text}", subject=subject)
        if learned.lesson is not None:
            self.known.append(learned.lesson.lesson_id)

    def one(self) -> UUID:
        if not self.known:
            self.learn()
        return self.chance.choice(self.known)

    def reinforce(self) -> None:
        self.tribal.memory.reinforce(self.chance.choice(self.writers), self.one())

    def contest(self) -> None:
        claim = CounterClaim(text=f"not so, {self.chance.random()}", source=Source(how=How.TOLD))
        self.tribal.memory.contest(self.tribal.curator, self.one(), claim)

    def retire(self) -> None:
        self.tribal.memory.curate.retire(self.tribal.curator, self.one(), self.chance.choice(list(RetireCause)))

    def erase(self) -> None:
        self.tribal.memory.curate.erase(self.tribal.curator, self.one())

    def settle(self) -> None:
        found = self.tribal.memory.desk.disputes(self.tribal.curator, kind=None, limit=100).items
        if found:
            ending = self.chance.choice([Ending.ACCEPTED, Ending.REJECTED, Ending.BOTH_STAND])
            rationale = "looked at" if ending is Ending.REJECTED else None
            dispute = self.chance.choice(found).dispute_id
            self.tribal.memory.curate.resolve(self.tribal.curator, dispute, ending, rationale=rationale)


@pytest.mark.parametrize("seed", range(4))
def test_a_replay_gives_each_tick_once_and_whole_and_ends_where_the_tables_stand(ruled: Tribal, seed: int) -> None:
    life = Life(ruled, seed)
    for _ in range(60):
        life.step()
    at_once = replayed(ruled, ruled.curator)
    assert ticks(at_once) == list(range(1, clock(ruled) + 1))
    chance = random.Random(seed)
    for page in pages(ruled, ruled.curator, chance=chance):
        whole = [one for one in at_once if one.occurrence.tick in {change.occurrence.tick for change in page.changes}]
        assert list(page.changes) == whole, "a tick was split, or something was left out"
        assert page.tick == page.changes[-1].occurrence.tick
    assert replayed(ruled, ruled.curator, chance) == at_once
    said = {one.lesson_id: one.occurrence.status for one in at_once if one.lesson_id is not None}
    stands = ruled.rows("SELECT lesson_id, status FROM tributary.lesson WHERE tribe_id = %s", ruled.tribe_id)
    assert said == {row["lesson_id"]: Status(str(row["status"])) for row in stands}
    kinds = {one.occurrence.event for one in at_once}
    assert {Happening.LEARNED, Happening.DISPUTED, Happening.RETIRED, Happening.DISPUTE_SETTLED} <= kinds


def test_newest_changes_are_the_last_whole_ticks_and_say_where_they_begin(ruled: Tribal) -> None:
    for number in range(6):
        ruled.learn(ruled.curator, f"it is {number}", subject=f"subject {number // 2}")
    for dispute in ruled.memory.desk.disputes(ruled.curator, kind=None, limit=100).items:
        ruled.memory.curate.resolve(ruled.curator, dispute.dispute_id, Ending.ACCEPTED)  # several changes in one tick
    everything = replayed(ruled, ruled.curator)
    now = clock(ruled)
    for after in range(now + 1):
        for limit in (1, 2, 3, 5, 500):
            page = ruled.memory.history.changes(ruled.curator, after=after, limit=limit, newest=True)
            assert list(page.changes) == [one for one in everything if one.occurrence.tick > page.after]
            assert (page.tick, page.more) == (now, False)
            assert page.after >= after
            earlier = [one for one in everything if after < one.occurrence.tick <= page.after]
            last = [one for one in earlier if one.occurrence.tick == page.after]
            assert not earlier or len(page.changes) + len(last) > limit, "one tick more would have fitted"
            assert len(page.changes) <= limit or len({one.occurrence.tick for one in page.changes}) == 1


def test_following_while_others_write_misses_nothing(ruled: Tribal) -> None:
    over = threading.Event()

    def write(seed: int) -> None:
        life = Life(ruled, seed)
        for _ in range(25):
            life.step()

    def follow(seed: int) -> list[Change]:
        found: list[Change] = []
        chance, after = random.Random(seed), 0
        while True:
            ended = over.is_set()  # before the look: what comes after it was written after
            page = ruled.memory.history.changes(ruled.curator, after=after, limit=chance.choice([1, 2, 7]))
            assert page.tick <= page.clock
            found += page.changes
            after = page.tick
            if ended and not page.more:
                return found

    with ThreadPoolExecutor(max_workers=8) as pool:
        followers = [pool.submit(follow, seed) for seed in range(3)]
        writers = [pool.submit(write, seed) for seed in range(10, 14)]
        try:
            for writer in writers:
                writer.result(60)
        finally:
            over.set()
        seen = [one.result(60) for one in followers]
    whole = [(one.occurrence.tick, one.lesson_id, one.occurrence.event) for one in replayed(ruled, ruled.curator)]
    for found in seen:
        assert [(one.occurrence.tick, one.lesson_id, one.occurrence.event) for one in found] == whole
    assert ticks(seen[0]) == list(range(1, clock(ruled) + 1))


def test_a_tick_with_more_changes_than_the_limit_comes_whole_and_alone(ruled: Tribal) -> None:
    first = ruled.learn(ruled.curator, "it is 80", subject="port")
    ruled.learn(ruled.agent("writer"), "it is 81", subject="port")
    second = ruled.memory.history.changes(ruled.curator, after=first.tick, limit=1)
    assert [one.occurrence.event for one in second.changes] == [Happening.DISPUTED, Happening.CHALLENGED]
    assert (second.tick, second.clock, second.more) == (2, 2, False)
    both = ruled.memory.history.changes(ruled.curator, limit=2)
    assert [one.occurrence.tick for one in both.changes] == [1]
    assert (both.tick, both.more) == (1, True)


def test_a_change_names_who_did_it_and_what_it_was_about(ruled: Tribal) -> None:
    old = ruled.learn(ruled.curator, "it is 80", subject="port")
    new = ruled.learn(ruled.agent("writer"), "it is 81", subject="port")
    assert new.dispute_id is not None
    assert new.lesson is not None
    assert old.lesson is not None
    disputed, challenged = ruled.memory.history.changes(ruled.curator, after=old.tick).changes
    assert (disputed.text, disputed.subject, disputed.occurrence.by) == ("it is 81", "port", "writer")
    assert disputed.occurrence.disputes == challenged.occurrence.disputes == (new.dispute_id,)
    assert disputed.occurrence.decision_id == new.decision_id
    ended = ruled.memory.curate.resolve(ruled.curator, new.dispute_id, Ending.ACCEPTED)
    learned, superseded, settled = ruled.memory.history.changes(ruled.curator, after=new.tick).changes
    assert (learned.lesson_id, learned.occurrence.status) == (new.lesson.lesson_id, Status.ACTIVE)
    assert (superseded.lesson_id, superseded.occurrence.successor) == (old.lesson.lesson_id, new.lesson.lesson_id)
    assert (settled.lesson_id, settled.text, settled.occurrence.status) == (None, None, None)
    assert (settled.occurrence.event, settled.occurrence.ending) == (Happening.DISPUTE_SETTLED, "accepted")
    assert settled.occurrence.disputes == (new.dispute_id,)
    assert {one.occurrence.tick for one in (learned, superseded, settled)} == {ended.tick}


def test_a_tick_without_any_lesson_is_in_the_feed(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "the cache is warm")
    tribal.rows("UPDATE tributary.tribe SET clock = 2 WHERE tribe_id = %s", tribal.tribe_id)
    tribal.rows(
        "INSERT INTO tributary.tribe_event (tribe_id, tick, event, details, at)"
        " VALUES (%s, 2, 'space_switched', jsonb_build_object('from', 'narrow', 'to', 'wider'), clock_timestamp())",
        tribal.tribe_id,
    )
    (change,) = tribal.memory.history.changes(tribal.curator, after=1).changes
    assert (change.occurrence.event, change.occurrence.space) == (Happening.SPACE_SWITCHED, "wider")
    assert (change.occurrence.by, change.lesson_id) == (None, None)
    assert ticks(replayed(tribal, tribal.curator)) == [1, 2]


def test_what_is_held_back_shows_no_word_to_those_who_may_not_see_it(ruled: Tribal) -> None:
    author, reader = ruled.agent("author"), ruled.agent("reader", Role.READER)
    held = ruled.learn(author, HELD, subject="secret subject")
    assert held.outcome is Outcome.QUARANTINED
    believed = ruled.learn(author, "an injection that nobody noticed", subject="another")
    assert believed.lesson is not None
    ruled.memory.curate.retire(ruled.curator, believed.lesson.lesson_id, RetireCause.INJECTION)
    for one in replayed(ruled, reader):
        assert (one.text, one.subject, one.held) == (None, None, True)
        assert one.lesson_id is not None
    for agent in (author, ruled.curator):
        assert {one.text for one in replayed(ruled, agent)} == {HELD, "an injection that nobody noticed"}


def test_an_erased_lesson_shows_no_word_to_anybody(ruled: Tribal) -> None:
    learned = ruled.learn(ruled.curator, "what must go", subject="gone")
    assert learned.lesson is not None
    ruled.memory.curate.erase(ruled.curator, learned.lesson.lesson_id)
    assert [(one.occurrence.event, one.text, one.subject) for one in replayed(ruled, ruled.curator)] == [
        (Happening.LEARNED, None, None),
        (Happening.ERASED, None, None),
    ]


def test_another_tribes_changes_are_not_seen(ruled: Tribal) -> None:
    with open_tribal(ruled.url, name="other") as other:
        other.learn(other.curator, "theirs alone")
        assert replayed(ruled, ruled.curator) == []
        ruled.learn(ruled.curator, "ours alone")  # at the same tick of another clock
        assert [one.text for one in replayed(ruled, ruled.curator)] == ["ours alone"]


def test_a_tick_that_was_not_reached_is_refused_and_told_where_the_clock_stands(ruled: Tribal) -> None:
    ruled.learn(ruled.curator, "one")
    with pytest.raises(InvalidRequest, match="after: must be a tick that was reached; the clock of this tribe stands at 1"):
        ruled.memory.history.changes(ruled.curator, after=2)
    assert ruled.memory.history.changes(ruled.curator, after=1).changes == ()


@pytest.mark.parametrize(("name", "value"), [("after", -1), ("limit", 0), ("limit", 501), ("wait_s", -1), ("wait_s", 20.5)])
def test_what_breaks_a_rule_is_refused_by_name(tribal: Tribal, name: str, value: float) -> None:
    with pytest.raises(InvalidRequest) as refused:
        tribal.memory.history.changes(tribal.curator, **{name: value})  # type: ignore[arg-type]  # the test's own keyword
    assert refused.value.field == name


# -- waiting


def test_who_waits_is_answered_by_the_next_tick(ruled: Tribal) -> None:
    with ThreadPoolExecutor(max_workers=1) as pool:
        waiting = pool.submit(ruled.memory.history.changes, ruled.curator, wait_s=20)
        time.sleep(0.1)  # so that it has probably looked once; the outcome is the same if it has not
        ruled.learn(ruled.curator, "at last")
        assert [one.text for one in waiting.result(15).changes] == ["at last"]


def test_who_waits_holds_no_connection_and_no_transaction(database_url: str) -> None:
    with open_tribal(database_url, connections=1, changes_wait_s=20) as tribal, ThreadPoolExecutor(max_workers=4) as pool:
        stop = threading.Event()
        waiting = [pool.submit(tribal.memory.history.changes, tribal.curator, wait_s=20, stop=stop) for _ in range(4)]
        for number in range(5):  # with one connection for all
            tribal.recall(f"question {number}")
        idle = tribal.rows(
            "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND state LIKE %s", "idle in%"
        )
        assert idle == [{"n": 0}]
        stop.set()
        assert [one.result(5).changes for one in waiting] == [(), (), (), ()]


class Watched(threading.Event):
    """Notes how long it was to be waited for, and waits not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        return True


@pytest.mark.parametrize(("setting", "waits"), [(None, 0), (0, 0), (1, 1)])
def test_a_wait_is_cut_to_what_the_setting_allows(database_url: str, setting: int | None, waits: int) -> None:
    with open_tribal(database_url, changes_wait_s=setting) as tribal:
        stop = Watched()
        assert tribal.memory.history.changes(tribal.curator, wait_s=20, stop=stop).changes == ()
        assert len(stop.waits) == waits


def test_there_is_no_waiting_where_something_is_there_already(ruled: Tribal) -> None:
    ruled.learn(ruled.curator, "one")
    stop = Watched()
    assert len(ruled.memory.history.changes(ruled.curator, wait_s=20, stop=stop).changes) == 1
    assert stop.waits == []


# -- over HTTP


def test_who_follows_over_http_sees_what_others_learn_and_cites_what_it_recalled(ruled: Tribal) -> None:
    with (
        running(ruled.memory) as started,
        client.Memory(started.url, ruled.curator_token) as reader,
        client.Memory(started.url, ruled.token("writer")) as writer,
    ):
        feed = reader.changes()
        first = writer.learn("it is 80", situation="operating", source=client.observed("run:1"), subject="port")
        assert (next(feed).text, first.tick) == ("it is 80", 1)
        hits = writer.recall("it is 80")
        second = writer.learn("watch it", situation="operating", source=client.told(), receipts=[hits.receipt])
        change = next(feed)
        assert (change.tick, change.by, change.decision) == (2, "writer", second.decision)
        assert second.lesson is not None
        (decision,) = reader.timeline(second.lesson).decisions
        assert [(one.id, one.hits) for one in decision.receipts] == [(hits.receipt.id, [hits[0].id])]
        assert first.lesson is not None
        writer.reinforce(second.lesson)  # its own author's: no tick
        reader.feedback(reader.recall("it is 80")[0])
        confirmed = next(feed)
        assert (confirmed.event, confirmed.by) == ("reinforced", "curator")
        assert [one.tick for one in reader.changes(follow=False)] == [1, 2, 3]
        assert list(reader.changes(3, follow=False)) == []
        with pytest.raises(client.InvalidRequest, match="the clock of this tribe stands at 3"):
            next(reader.changes(4))
