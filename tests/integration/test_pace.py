"""How much may be written by an agent in a minute and by a tribe on a day; what is beyond is refused, and no model asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx
import psycopg
import pytest

from tests.doubles import RuledJudge, WordScreen, all_unrelated
from tests.tribes import SEEN, Tribal, open_tribal
from tests.unit.client_fakes import Hands
from tributary.client import Memory as Sdk
from tributary.client import RateLimited as SdkRateLimited
from tributary.client import observed
from tributary.core.agent import Principal, Role
from tributary.core.curation import RetireCause
from tributary.core.decision import ScreenFinding
from tributary.core.errors import NotMigrated, Overloaded, RateLimited, TributaryError
from tributary.core.ids import new_id
from tributary.core.lesson import CounterClaim, Draft
from tributary.core.ports import Vector
from tributary.edges.gateway import running
from tributary.models.embedders import HashedEmbedder

BURST = 4
"""Writes a minute in most tests: each costs 15 seconds, which no test takes."""


class Models(WordScreen):
    """Counts how often a screen, an embedder or a judge is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = RuledJudge(all_unrelated)
        self._embedder = HashedEmbedder()
        self.space = self._embedder.space
        self.used = 0

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        self.used += 1
        return super().screen(fields)

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        self.used += 1
        return self._embedder.embed(texts)

    @property
    def asked(self) -> int:
        return self.used + len(self.judge.asked)


@contextmanager
def paced(url: str, *, writes_per_minute: int = 1_000_000, writes_per_day: int = 1_000_000) -> Iterator[tuple[Tribal, Models]]:
    """Opens a tribe whose clock stands at noon (UTC), so that no test sees a day end that it does not end itself."""
    models = Models()
    with open_tribal(
        url,
        embedder=models,
        judge=models.judge,
        screen=models,
        writes_per_minute=writes_per_minute,
        writes_per_day=writes_per_day,
    ) as tribal:
        now = datetime.now(UTC)
        tribal.clock.advance(seconds=(now.replace(hour=12, minute=0, second=0) - now).total_seconds())
        yield tribal, models


@pytest.fixture
def slow(database_url: str) -> Iterator[tuple[Tribal, Models]]:
    with paced(database_url, writes_per_minute=BURST) as opened:
        yield opened


def learn(tribal: Tribal, agent: Principal, number: int) -> None:
    """Learns a lesson that a judge has to compare with its like."""
    tribal.learn(agent, f"Flag {number} of the deploy API is on.", subject="deploy-api")


def spend(tribal: Tribal, agent: Principal, writes: int = BURST) -> None:
    for _ in range(writes):
        learn(tribal, agent, new_id().int)


def passed(calls: Sequence[Callable[[], object]]) -> int:
    """Runs calls at once; returns how many were not refused as too many."""

    def one(call: Callable[[], object]) -> bool:
        try:
            call()
        except RateLimited:
            return False
        return True

    with ThreadPoolExecutor(len(calls)) as pool:
        return sum(pool.map(one, calls))


def counted(tribal: Tribal) -> tuple[int, int]:
    """Returns how many writes the tribe's day and its agents' usage say there were."""
    (row,) = tribal.rows(
        """SELECT (SELECT coalesce(sum(writes), 0) FROM tributary.tribe_day) AS day,
                  (SELECT coalesce(sum(calls), 0) FROM tributary.usage) AS used"""
    )
    return int(str(row["day"])), int(str(row["used"]))


# an agent's pace


def test_a_burst_passes_and_what_is_beyond_is_told_how_long_to_wait(slow: tuple[Tribal, Models]) -> None:
    tribal, _ = slow
    spend(tribal, tribal.curator)
    with pytest.raises(RateLimited, match="4 times a minute") as caught:
        learn(tribal, tribal.curator, 9)
    assert 1 <= caught.value.retry_after_s <= 15
    assert tribal.status_counts() == {"active": BURST}
    tribal.clock.advance(seconds=caught.value.retry_after_s)
    learn(tribal, tribal.curator, 9)
    with pytest.raises(RateLimited):
        learn(tribal, tribal.curator, 10)
    assert tribal.status_counts() == {"active": BURST + 1}


def test_a_refused_write_is_not_counted_and_asks_no_model(slow: tuple[Tribal, Models]) -> None:
    tribal, models = slow
    spend(tribal, tribal.curator)
    asked = models.asked
    assert models.judge.asked, "the control: what passes is judged"
    for number in range(10):
        with pytest.raises(RateLimited) as caught:
            learn(tribal, tribal.curator, number)
    assert models.asked == asked
    assert counted(tribal) == (BURST, BURST)
    tribal.clock.advance(seconds=caught.value.retry_after_s)
    learn(tribal, tribal.curator, 0)
    assert counted(tribal) == (BURST + 1, BURST + 1)


def test_the_pace_recovers_and_saves_up_no_more_than_a_minute(slow: tuple[Tribal, Models]) -> None:
    tribal, _ = slow
    spend(tribal, tribal.curator)
    tribal.clock.advance(hours=1)
    spend(tribal, tribal.curator)
    with pytest.raises(RateLimited):
        learn(tribal, tribal.curator, 9)


def test_who_looked_at_the_clock_before_another_and_is_counted_after_him_gains_nothing(slow: tuple[Tribal, Models]) -> None:
    """Of writes that come at once one waits for the row that the other counts in, with the time that it has seen before."""
    tribal, _ = slow
    spend(tribal, tribal.curator)
    tribal.clock.advance(seconds=-20)
    with pytest.raises(RateLimited):
        learn(tribal, tribal.curator, 9)
    assert tribal.status_counts() == {"active": BURST}


def test_one_agents_pace_slows_no_other(slow: tuple[Tribal, Models]) -> None:
    tribal, _ = slow
    other = tribal.agent("other")
    spend(tribal, tribal.curator)
    with pytest.raises(RateLimited):
        learn(tribal, tribal.curator, 9)
    spend(tribal, other)
    with pytest.raises(RateLimited):
        learn(tribal, other, 9)


def test_of_an_agents_writes_that_come_at_once_exactly_its_burst_passes(slow: tuple[Tribal, Models]) -> None:
    tribal, _ = slow
    assert passed([lambda n=n: learn(tribal, tribal.curator, n) for n in range(16)]) == BURST  # type: ignore[misc]  # a bound number
    assert tribal.status_counts() == {"active": BURST}
    assert counted(tribal) == (BURST, BURST)


def test_every_write_of_knowledge_is_held_to_the_pace_and_no_read_is(slow: tuple[Tribal, Models]) -> None:
    tribal, _ = slow
    curator, memory = tribal.curator, tribal.memory
    taught = tribal.learn(curator, "Flag 0 is on.")
    spend(tribal, curator, BURST - 1)
    assert taught.lesson is not None
    lesson_id = taught.lesson.lesson_id
    writes: list[Callable[[], object]] = [
        lambda: learn(tribal, curator, 9),
        lambda: memory.contest(curator, lesson_id, CounterClaim(text="Flag 0 is off.", source=SEEN)),
        lambda: memory.reinforce(curator, lesson_id),
        lambda: memory.curate.retire(curator, lesson_id, RetireCause.OUTDATED),
        lambda: memory.curate.erase(curator, lesson_id),
    ]
    for write in writes:
        with pytest.raises(RateLimited):
            write()
    (attempt,) = memory.learn_all(curator, [Draft(text="Flag 9 is on.", situation="deploying", source=SEEN)])
    assert isinstance(attempt, RateLimited)
    assert memory.lesson(curator, lesson_id).lesson.believed
    assert tribal.recall("flag").hits
    assert len(memory.lessons(curator).lessons) == BURST
    assert counted(tribal) == (BURST, BURST)


# replays


def test_a_replay_costs_nothing_and_passes_however_far_ahead_its_agent_is(slow: tuple[Tribal, Models]) -> None:
    tribal, models = slow
    draft = Draft(text="The deploy API needs X-Batch.", situation="deploying", source=SEEN)
    first = tribal.memory.learn(tribal.curator, draft, idempotency_key="k")
    asked = models.asked

    def replay() -> None:
        again = tribal.memory.learn(tribal.curator, draft, idempotency_key="k")
        assert (again.replayed, again.tick) == (True, first.tick)

    for _ in range(3 * BURST):
        replay()
    assert (models.asked, counted(tribal)) == (asked, (1, 1))
    spend(tribal, tribal.curator, BURST - 1)
    with pytest.raises(RateLimited):
        learn(tribal, tribal.curator, 9)
    replay()
    assert counted(tribal) == (BURST, BURST)


# a tribe's day


def test_of_a_tribes_writes_that_come_at_once_exactly_its_day_passes(database_url: str) -> None:
    with paced(database_url, writes_per_day=5) as (tribal, models):
        agents = [tribal.agent(f"agent-{number}") for number in range(12)]
        assert passed([lambda a=a, n=n: learn(tribal, a, n) for n, a in enumerate(agents)]) == 5  # type: ignore[misc]  # as above
        assert tribal.status_counts() == {"active": 5}
        assert counted(tribal) == (5, 5)
        asked = models.asked
        with pytest.raises(RateLimited, match="5 times a day") as caught:
            learn(tribal, agents[0], 99)
        assert models.asked == asked
        now = tribal.clock()
        again = now + timedelta(seconds=caught.value.retry_after_s)
        assert again.date() == now.date() + timedelta(days=1)
        tribal.clock.advance(seconds=caught.value.retry_after_s)
        learn(tribal, agents[0], 99)
        assert len(tribal.rows("SELECT 1 FROM tributary.tribe_day")) == 2


def test_what_the_day_refuses_is_not_held_against_the_agents_pace(database_url: str) -> None:
    with paced(database_url, writes_per_minute=BURST, writes_per_day=1) as (tribal, _):
        learn(tribal, tribal.curator, 0)
        for number in range(BURST):
            with pytest.raises(RateLimited, match="a day"):
                learn(tribal, tribal.curator, number)
        for _ in range(BURST - 1):
            tribal.rows("UPDATE tributary.tribe_day SET writes = 0")
            learn(tribal, tribal.curator, new_id().int)
        tribal.rows("UPDATE tributary.tribe_day SET writes = 0")
        with pytest.raises(RateLimited, match="a minute"):
            learn(tribal, tribal.curator, 9)


def test_one_tribes_day_ends_no_others(database_url: str) -> None:
    with paced(database_url, writes_per_day=1) as (full, _), open_tribal(database_url, name="other", writes_per_day=1) as other:
        learn(full, full.curator, 0)
        with pytest.raises(RateLimited):
            learn(full, full.curator, 1)
        learn(other, other.curator, 0)


# failing closed


@pytest.mark.parametrize("table", ["pace", "tribe_day", "usage"])
def test_what_cannot_be_counted_is_not_written(database_url: str, table: str) -> None:
    impatient = f"{database_url}&options=-c%20lock_timeout%3D200"
    with paced(impatient) as (tribal, models):
        learn(tribal, tribal.curator, 0)
        asked = models.asked
        with psycopg.connect(database_url) as holder:
            holder.execute(f"LOCK TABLE tributary.{table} IN ACCESS EXCLUSIVE MODE".encode())
            with pytest.raises(Overloaded):
                learn(tribal, tribal.curator, 1)
            holder.rollback()
        learn(tribal, tribal.curator, 2)
        passing = models.asked - asked
        tribal.rows(f"DROP TABLE tributary.{table}")
        for number in range(3):
            with pytest.raises(NotMigrated):
                learn(tribal, tribal.curator, number)
        assert models.asked == asked + passing
        assert tribal.status_counts() == {"active": 2}


# over HTTP

LESSON = {"text": "Flag 0 is on.", "situation": "deploying", "source": {"how": "observed"}}


@pytest.mark.parametrize(("settings", "most_s"), [({"writes_per_minute": 1}, 60), ({"writes_per_day": 1}, 86400)])
def test_retry_after_is_when_the_same_request_passes(database_url: str, settings: dict[str, int], most_s: int) -> None:
    with (
        paced(database_url, **settings) as (tribal, _),
        running(tribal.memory) as gateway,
        httpx.Client(base_url=gateway.url, headers={"Authorization": f"Bearer {tribal.curator_token}"}, timeout=30) as http,
    ):

        def post() -> httpx.Response:
            return http.post("/v1/lessons", json=LESSON)

        assert post().status_code == 200
        refused = post()
        assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
        seconds = int(refused.headers["retry-after"])
        assert most_s / 2 - 60 <= seconds <= most_s
        tribal.clock.advance(seconds=seconds - 30)
        assert post().status_code == 429
        tribal.clock.advance(seconds=30)
        assert post().status_code == 200


@contextmanager
def sdk(tribal: Tribal, hands: Hands, *, timeout_s: float) -> Iterator[Sdk]:
    """Opens the SDK on the real gateway; its waits move its own clock and the tribe's."""

    def sleep(seconds: float) -> None:
        hands.sleep(seconds)
        tribal.clock.advance(seconds=seconds)

    with (
        running(tribal.memory) as gateway,
        Sdk(
            gateway.url,
            tribal.curator_token,
            timeout_s=timeout_s,
            environment={},
            clock=hands.clock,
            sleep=sleep,
            jitter=lambda: 0.0,
        ) as memory,
    ):
        yield memory


def test_the_sdk_waits_as_long_as_it_is_told_and_is_let_through(slow: tuple[Tribal, Models]) -> None:
    tribal, _ = slow
    spend(tribal, tribal.curator)
    hands = Hands()
    with sdk(tribal, hands, timeout_s=60) as memory:
        assert memory.learn("Flag 0 is on.", situation="deploying", source=observed()).outcome == "learned"
    (waited,) = hands.waits
    assert 1 <= waited <= 16


def test_the_sdk_tells_at_once_what_it_has_no_time_to_wait_for(database_url: str) -> None:
    hands = Hands()
    with paced(database_url, writes_per_day=1) as (tribal, _), sdk(tribal, hands, timeout_s=60) as memory:
        memory.learn("Flag 0 is on.", situation="deploying", source=observed())
        with pytest.raises(SdkRateLimited, match="a day") as caught:
            memory.learn("Flag 1 is on.", situation="deploying", source=observed())
    assert (caught.value.code, caught.value.status, hands.waits) == ("rate_limited", 429, [])
    assert caught.value.retry_after is not None
    assert caught.value.retry_after > 60


def test_a_reader_is_refused_by_its_role_and_not_counted(slow: tuple[Tribal, Models]) -> None:
    tribal, _ = slow
    reader = tribal.agent("reader", Role.READER)
    with pytest.raises(TributaryError) as caught:
        learn(tribal, reader, 0)
    assert (caught.value.code, counted(tribal)) == ("forbidden", (0, 0))
