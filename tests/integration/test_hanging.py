"""A database, or the way to it, that hangs: connections stay open, new ones are accepted, and nothing is ever answered.

Whoever asks it is told that it is unavailable, others are served meanwhile, and the process ends when it is to.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

import tributary
from tests.conftest import new_database
from tests.doubles import WordScreen
from tests.integration.test_cli_serve import Serving
from tests.network import Network
from tests.tribes import SEEN, Tribal
from tributary.core.decision import Outcome
from tributary.core.errors import Unavailable
from tributary.core.garden import GardenReport, Rule
from tributary.core.lesson import Draft
from tributary.edges.lambda_http.settling import settled
from tributary.models.embedders import HashedEmbedder
from tributary.queues.message import PendingMessage
from tributary.service import Cells, Settings, open_cells, open_operator
from tributary.service.wiring import Adapters
from tributary.store import RUNTIME, Database, Target, within

GENEROUS_S = 27.0
"""Less than a statement or a process was waited for, were it not for what is tested."""
ASK = "SELECT pg_backend_pid()"


def behind(url: str) -> Network:
    """Returns a relay to the server that a URL names."""
    parts = conninfo_to_dict(url)
    host, port = str(parts["host"]), parts.get("port") or 5432
    return Network(f"{host}/.s.PGSQL.{port}" if host.startswith("/") else f"postgresql://{host}:{port}")


def through(network: Network, url: str) -> str:
    parts = conninfo_to_dict(url)
    password = f":{parts['password']}" if parts.get("password") else ""
    user = parts.get("user") or "postgres"
    return f"postgresql://{user}{password}@127.0.0.1:{network.port}/{parts['dbname']}?sslmode=disable&gssencmode=disable"


class Asked:
    """A call in a thread of its own, which may never come back."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._found: Any = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found = self._call()
        except Exception as error:
            self._found = error

    def answer(self) -> Any:
        self._thread.join(GENEROUS_S)
        assert not self._thread.is_alive(), "it waits for ever"
        return self._found


@dataclass
class Ending:
    """A Lambda's context: when it ends."""

    ends_at: float

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.ends_at - time.monotonic()) * 1000))


@dataclass(frozen=True, kw_only=True)
class Hung:
    """What was asked, all at the same moment, of cells whose own database hangs; the connections had been used before."""

    health: Asked
    gardened: Asked
    settled: Asked
    closed: Asked
    statement: Asked
    afterwards: Asked
    """By the same pool, once the statement was given up."""


@pytest.fixture(scope="module")
def hung(server_url: str, template: str) -> Iterator[Hung]:
    adapters = Adapters(embedder=HashedEmbedder(), screen=WordScreen())
    with ExitStack() as stack:
        urls = [stack.enter_context(new_database(server_url, template)) for _ in range(2)]
        network = stack.enter_context(behind(urls[0]))
        settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": through(network, urls[0]), "cells": f"eu={urls[1]}"})
        made = {}
        for cell in (None, "eu"):
            with open_operator(settings.in_cell(cell), adapters=adapters) as operator:
                made[cell] = operator.create_tribe("payments")
                token = operator.create_tribe("search").token.secret

        def used() -> Cells:
            cells = stack.enter_context(open_cells(settings, adapters=adapters))
            for name in cells.names:
                cells.named(name).health()
            return cells

        asked, gardened, messages, closed = used(), used(), used(), used()
        eu = gardened.named("eu")
        draft = Draft(text="the index is warm", situation="searching", source=SEEN)
        assert eu.learn(eu.authenticate(token), draft, wait=False).outcome is Outcome.PENDING
        closed.home.lessons(closed.authenticate(made[None].token.secret))  # which is counted, and not handed over yet
        database = Database(Target(url=through(network, urls[0]), statement_timeout_s=1))
        stack.callback(database.close)
        at_once = threading.Barrier(2)
        two = [Asked(lambda: (at_once.wait(10), database.value("SELECT pg_sleep(0.5)", {}))) for _ in range(2)]
        assert not any(isinstance(one.answer(), Exception) for one in two)
        records = [
            {"messageId": str(cell), "body": PendingMessage(tribe_id=new.tribe.tribe_id, cell=cell).body()}
            for cell, new in made.items()
        ]
        network.hang()

        def statement() -> object:
            try:
                return database.value(ASK, {})
            finally:
                given_up.set()

        def afterwards() -> object:
            given_up.wait(GENEROUS_S)
            before = network.connections
            try:
                return database.value(ASK, {})
            except Unavailable as error:
                return error, network.connections - before

        given_up = threading.Event()
        yield Hung(
            health=Asked(asked.health),
            gardened=Asked(lambda: gardened.gardener.run_all(budget_s=5)),
            settled=Asked(lambda: settled({"Records": records}, messages, Ending(time.monotonic() + 10))),
            closed=Asked(closed.close),
            statement=Asked(statement),
            afterwards=Asked(afterwards),
        )
        network.mend()


def test_a_server_that_accepts_and_never_answers_is_dialled_once_and_then_spared(server_url: str) -> None:
    with behind(server_url) as network:
        network.hang()
        url = f"postgresql://postgres@127.0.0.1:{network.port}/none"
        database = Database(Target(url=url, assume=RUNTIME, connect_timeout_s=2))
        for _ in range(3):
            with pytest.raises(Unavailable):
                database.value(ASK, {})
            assert network.connections == 1


def test_a_cell_that_hangs_does_not_hide_that_another_one_is_well(hung: Hung) -> None:
    assert hung.health.answer() is None


def test_the_gardener_tends_the_other_cell_though_one_took_all_the_time(hung: Hung) -> None:
    report: GardenReport = hung.gardened.answer()
    assert {one.cell: one.failed for one in report.cells} == {None: "unavailable", "eu": None}
    tended = [one for one in report.tribes if one.cell == "eu"]
    assert [(one.name, one.failed, one.rule(Rule.SETTLE).done) for one in tended] == [("payments", None, 0), ("search", None, 1)]


def test_messages_of_the_other_cell_are_settled_beside_one_that_hangs(hung: Hung) -> None:
    assert hung.settled.answer() == {"batchItemFailures": [{"itemIdentifier": "None"}]}


def test_what_was_counted_keeps_a_memory_from_closing_for_no_longer_than_a_moment(hung: Hung) -> None:
    assert hung.closed.answer() is None


def test_a_statement_on_an_old_connection_is_given_up_and_no_further_one_is_waited_for(hung: Hung) -> None:
    assert isinstance(hung.statement.answer(), Unavailable)
    error, dialled = hung.afterwards.answer()
    assert isinstance(error, Unavailable)
    assert error.__cause__ is None  # nothing was tried
    assert dialled == 0


def test_what_is_left_of_a_callers_time_bounds_no_later_statement_of_the_connection(tribal: Tribal) -> None:
    database = Database(Target(url=tribal.url))
    with within(0.3):
        first = database.value(ASK, {})
    assert database.value("SELECT pg_backend_pid() FROM pg_sleep(0.6)", {}) == first
    with pytest.raises(Unavailable), within(0.3):
        database.value("SELECT pg_sleep(60)", {})
    with pytest.raises(Unavailable), within(0):
        database.value(ASK, {})
    assert database.value(ASK, {}) != first  # the one that was cut off is gone, and the server is not taken to be away
    database.close()


def test_serve_ends_though_a_cell_hangs(server_url: str, template: str) -> None:
    with (
        new_database(server_url, template) as own,
        new_database(server_url, template) as eu,
        behind(eu) as network,
        tempfile.TemporaryDirectory(prefix="tributary-hanging-", ignore_cleanup_errors=True) as folder,
    ):
        environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
            "HOME": folder,
            "PYTHONPATH": str(Path(tributary.__file__).parents[1]),
            "TRIBUTARY_HOME": folder,
            "TRIBUTARY_DATABASE_URL": own,
            "TRIBUTARY_CELLS": f"eu={through(network, eu)}",
        }
        server = Serving(environment)
        until = time.monotonic() + 30
        while not _settles(eu):
            assert time.monotonic() < until
            time.sleep(0.05)
        network.hang()
        time.sleep(1.5)  # a beat or more: it asks, and hangs
        try:
            code, said = server.stop(signal.SIGTERM, within_s=GENEROUS_S)
        finally:
            server.discard()
            network.mend()
        assert code == 0, said
        assert "service.left" in said


def _settles(url: str) -> bool:
    with psycopg.connect(url) as connection:
        query = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tributary'"
        return connection.execute(query).fetchone() is not None
