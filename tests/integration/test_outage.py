"""The database goes away in the middle: nothing acknowledged is lost, nothing is done twice, and the next call works."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from tests.chaos.killing import kill_server
from tests.conftest import database_at
from tests.doubles import RuledJudge, all_unrelated
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.decision import Learned, Outcome
from tributary.core.errors import Unavailable
from tributary.core.lesson import Draft
from tributary.store import Target
from tributary.store.embedded import EmbeddedPostgres
from tributary.store.migrate import migrate


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tributary-outage-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


CUTS = 60
"""Bounded: on a slow machine, cuts without end would let no write through."""


def test_a_killed_server_is_unavailable_and_after_its_restart_all_is_there(home: Path) -> None:
    with EmbeddedPostgres.join(home) as server:
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("CREATE DATABASE outage")
        url = database_at(server.url(), "outage")
        migrate(Target(url=url))
        with open_tribal(url, judge=RuledJudge(all_unrelated)) as tribal:
            acknowledged = [tribal.learn(tribal.curator, f"fact {n} holds", situation=f"place {n}") for n in range(5)]
            kill_server(home)
            for call in (lambda: tribal.recall("fact"), lambda: tribal.learn(tribal.curator, "another fact")):
                with pytest.raises(Unavailable):
                    call()
            with EmbeddedPostgres.join(home):
                assert tribal.status_counts() == {"active": 5}
                assert tribal.learn(tribal.curator, "another fact").tick == acknowledged[-1].tick + 1
                assert tribal.recall("another fact").hits[0].lesson.text == "another fact"


def _cut_backends(tribal: Tribal, stop: threading.Event) -> None:
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        for _ in range(CUTS):
            if stop.wait(0.05):
                return
            connection.execute(
                """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'tributary'
                   ORDER BY random() LIMIT 2"""
            )


def test_backends_killed_at_any_moment_cost_no_write_and_double_none(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(all_unrelated)) as tribal:
        agents = [tribal.agent(f"writer-{index}") for index in range(8)]

        def work(index: int) -> list[Learned]:
            done = []
            for number in range(12):
                draft = Draft(text=f"fact {index}.{number} holds", situation=f"place {index}.{number}", source=SEEN)
                while True:
                    try:
                        done.append(tribal.memory.learn(agents[index], draft, idempotency_key=f"k{number}"))
                        break
                    except Unavailable:
                        continue  # as a client would: the same key again
            return done

        stop = threading.Event()
        cutter = threading.Thread(target=_cut_backends, args=(tribal, stop))
        cutter.start()
        try:
            with ThreadPoolExecutor(8) as pool:
                results = [one for many in pool.map(work, range(8)) for one in many]
        finally:
            stop.set()
            cutter.join()
        assert {one.outcome for one in results} == {Outcome.LEARNED}
        assert len({one.lesson.lesson_id for one in results if one.lesson}) == 96
        assert tribal.status_counts() == {"active": 96}
        ticks = tribal.rows("SELECT count(DISTINCT tick) AS ticks FROM tributary.lesson_event")
        assert tribal.rows("SELECT clock AS ticks FROM tributary.tribe") == ticks == [{"ticks": 96}]


def test_a_killed_embedded_server_is_started_again_by_whoever_uses_it(home: Path) -> None:
    from tests.doubles import WordScreen
    from tributary.models.embedders import HashedEmbedder
    from tributary.service import Settings, open_memory, open_operator
    from tributary.service.wiring import Adapters

    settings = Settings(home=home)
    adapters = Adapters(embedder=HashedEmbedder(), screen=WordScreen())
    draft = Draft(text="the cache must be warm", situation="deploying", source=SEEN)
    with open_operator(settings, adapters=adapters) as operator:
        operator.migrate()
        token = operator.create_tribe("tribe").token.secret
        with open_memory(settings, adapters=adapters) as memory:
            agent = memory.authenticate(token)
            first = memory.learn(agent, draft)
            kill_server(home)
            again = memory.learn(agent, draft)
            assert (first.outcome, again.outcome) == (Outcome.LEARNED, Outcome.UNCHANGED)
    assert not list(home.glob("postgres-*/postmaster.pid"))
