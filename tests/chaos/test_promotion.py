"""A standby is promoted under a crowd while its primary is killed, and the two change places, again and again.

Where commits wait for the standby, nothing acknowledged is lost. Where they do not, what is lost is found to be, and nothing
untrue is said of it. TRIBUTARY_CHAOS_ROUNDS says how often (once by default).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.chaos.crowd import gathered
from tests.chaos.invariants import broken
from tests.chaos.rounds import rounds
from tests.conftest import CHOSEN
from tests.standby import PORT, Pair, copy_standby, replicating
from tests.tribes import open_tribal
from tributary.core.errors import Unavailable
from tributary.service import open_memory

ROUNDS = rounds(1)


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
            assert elsewhere.learn(tribal.curator, "the cache is warm").tick == 1
