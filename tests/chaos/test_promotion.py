"""A standby is promoted under a crowd while its primary is killed, and the two change places, again and again.

Where commits wait for the standby, nothing acknowledged is lost. Where they do not, what is lost is found to be, and nothing
untrue is said of it. TRIBUTARY_CHAOS_ROUNDS says how often: a tenth of it, once at least.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.chaos.crowd import gathered
from tests.chaos.invariants import broken
from tests.chaos.rounds import rounds
from tests.chaos.scene import eventually
from tests.conftest import CHOSEN
from tests.standby import PORT, Pair, copy_standby, replicating
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.decision import Outcome
from tributary.core.errors import InvalidRequest, Unavailable
from tributary.core.lesson import Draft
from tributary.core.requests import Recalled
from tributary.core.verification import Doubt, Verdict, Verification
from tributary.service import open_memory

ROUNDS = rounds(1, costly=True)


@pytest.fixture(scope="module")
def servers() -> Iterator[Pair]:
    with replicating(int(CHOSEN) if CHOSEN in ("16", "18") else 18) as pair:
        yield pair


@pytest.fixture
def pair(servers: Pair) -> Iterator[Pair]:
    """A primary whose commits wait for nobody, and a standby that is up to date, as they were when the module began."""
    yield servers
    servers.standby.kill()
    servers.primary.start()
    if servers.primary.ask("SELECT pg_is_in_recovery()"):
        servers.primary.ask("SELECT pg_promote()")
    servers.primary.waits_for_standby(False)
    copy_standby(servers.primary, servers.standby)


def whichever_takes_writes(pair: Pair, database: str) -> str:
    """Returns a URL that leads to the server of the two which takes writes."""
    hosts = f"{pair.primary.folder},{pair.standby.folder}"
    return f"postgresql://postgres@/{database}?host={hosts}&port={PORT}&target_session_attrs=read-write"


@pytest.mark.timeout(120 + 30 * ROUNDS)
def test_what_was_acknowledged_is_there_after_the_synchronous_standby_was_promoted(pair: Pair) -> None:
    database = pair.new_database()
    url = whichever_takes_writes(pair, database)
    primary, standby = pair.primary, pair.standby
    with gathered(url) as crowd:
        for _ in range(ROUNDS):
            primary.waits_for_standby(True)
            with crowd.busy():
                crowd.goes_on()
                primary.kill()
                standby.promote()
                crowd.goes_on()
            crowd.settle()
            assert crowd.complaints() == []
            assert broken(url) == []
            copy_standby(standby, primary)
            primary, standby = standby, primary


def test_a_repeat_of_what_the_standby_does_not_have_yet_is_not_acknowledged_either(pair: Pair) -> None:
    """A commit whose wait for the standby is cut off stays, and is seen; whoever asks again must wait as the first one did."""
    url = whichever_takes_writes(pair, pair.new_database())
    draft = Draft(text="the cache is warm", situation="deploying", source=SEEN)
    with open_tribal(url) as tribal, ThreadPoolExecutor(2) as pool:
        tribal.learn(tribal.curator, "the first learn of all also keeps what the embedder is known by")
        pair.primary.waits_for_standby(True)
        pair.cut()
        learning = pool.submit(tribal.memory.learn, tribal.curator, draft, idempotency_key="k")
        eventually(lambda: bool(waiting(tribal)))
        cut_off = waiting(tribal)
        tribal.rows("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS pid", list(cut_off))
        eventually(lambda: len(waiting(tribal) - cut_off) == 1)  # it asks again by itself
        repeating = pool.submit(tribal.memory.learn, tribal.curator, draft, idempotency_key="k")
        eventually(lambda: repeating.done() or len(waiting(tribal) - cut_off) > 1)
        assert not repeating.done(), "it was acknowledged, and the standby does not have it"
        pair.primary.kill()
        for one in (learning, repeating):
            with pytest.raises(Unavailable):
                one.result()
        pair.standby.promote()
        again = tribal.memory.learn(tribal.curator, draft, idempotency_key="k")
        assert (again.outcome, again.replayed, again.tick) == (Outcome.LEARNED, False, 2)


def waiting(tribal: Tribal) -> set[object]:
    """Returns the sessions whose commit waits for the standby."""
    return {row["pid"] for row in tribal.rows("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")}


def test_what_was_not_replicated_is_lost_and_nothing_untrue_is_said_of_it(pair: Pair) -> None:
    """The asynchronous standby: what it had not heard of when it was promoted is lost, whoever it was acknowledged to."""
    url = whichever_takes_writes(pair, pair.new_database())
    with open_tribal(url) as tribal:
        kept = tribal.learn(tribal.curator, "the cache is warm")
        old = document(tribal.recall("cache"))
        pair.cut()
        lost = [tribal.learn(tribal.curator, f"shard {n} is slow", situation=f"reading shard {n}") for n in range(3)]
        of_the_lost = document(tribal.recall("shard"))
        pair.primary.kill()
        pair.standby.promote()
        eventually(lambda: answers(tribal))
        assert verified(tribal, old, "cache").verdict is Verdict.AGREES
        # whoever saw the lost ticks is told that they were not reached, and that what they saw cannot be checked
        with pytest.raises(InvalidRequest, match=f"stands at {kept.tick}"):
            tribal.recall("shard", at_least=lost[-1].tick)
        with pytest.raises(InvalidRequest, match=f"stands at {kept.tick}"):
            tribal.memory.history.changes(tribal.curator, after=lost[-1].tick)
        told = verified(tribal, of_the_lost, "shard")
        assert (told.verdict, told.causes) == (Verdict.UNKNOWN, (Doubt.TICK_LOST,))
        # which numbers new ticks take up again: what was seen then is not what is found now
        for n in range(3):
            tribal.learn(tribal.curator, f"queue {n} is long", situation=f"reading queue {n}")
        assert tribal.recall("shard", at_least=lost[-1].tick).receipt.searched[0].tick == lost[-1].tick
        assert verified(tribal, of_the_lost, "shard").verdict is Verdict.DIVERGES
        assert broken(url) == []


def test_a_crowd_before_an_asynchronous_standby_finds_what_was_lost(pair: Pair) -> None:
    """The control: takes out the waiting for the standby, which is cut off before it is promoted."""
    url = whichever_takes_writes(pair, pair.new_database())
    with gathered(url) as crowd:
        with crowd.busy():
            crowd.goes_on()
            pair.cut()
            crowd.goes_on()
            pair.primary.kill()
            pair.standby.promote()
            crowd.goes_on()
        crowd.settle()
        assert any("was acknowledged at tick" in one and "its key is lost" in one for one in crowd.complaints())
        assert broken(url) == []


def answers(tribal: Tribal) -> bool:
    with suppress(Unavailable):
        return bool(tribal.recall("cache").hits)
    return False


def document(found: Recalled) -> dict[str, object]:
    return {**found.receipt.document(), "signature": found.receipt.signature}


def verified(tribal: Tribal, receipt: dict[str, object], query: str) -> Verification:
    return tribal.memory.verify(tribal.curator, receipt, query)


def test_an_address_that_led_to_a_replica_for_a_while_takes_writes_again_without_a_restart(pair: Pair, tmp_path: Path) -> None:
    """As the writer's address does that leads to the old writer, a replica by now, for some time after a failover."""
    database = pair.new_database()
    address = tmp_path / f".s.PGSQL.{PORT}"
    with open_tribal(pair.primary.url(database)) as tribal:
        pair.catch_up()
        address.symlink_to(pair.standby.folder / address.name)
        moving = tribal.settings.model_copy(
            update={"database_url": f"postgresql://postgres@/{database}?host={tmp_path}&port={PORT}"}
        )
        with open_memory(moving, adapters=tribal.adapters) as memory:
            elsewhere = replace(tribal, memory=memory)
            assert elsewhere.recall("cache").hits == ()
            with pytest.raises(Unavailable):
                elsewhere.learn(tribal.curator, "the cache is warm")
            address.unlink()
            address.symlink_to(pair.primary.folder / address.name)
            try:
                learned = elsewhere.learn(tribal.curator, "the cache is warm")
            except Unavailable as still:
                raise AssertionError("the connection to the replica was kept") from still
            assert learned.tick == 1
