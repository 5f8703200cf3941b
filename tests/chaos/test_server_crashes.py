"""The PostgreSQL server is killed under a learner: what was committed is there after the restart, and only that."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from tests.chaos.interception import Interceptor, When
from tests.chaos.killing import kill_server
from tests.chaos.scene import LEARNS, Child, Learn, gate_held, set_scene, socket_of, through
from tests.conftest import database_at
from tests.doubles import RuledJudge, within_a_subject
from tests.tribes import Tribal, open_tribal
from tributary.store import Target
from tributary.store.embedded import EmbeddedPostgres
from tributary.store.migrate import migrate

SOME = ("fresh", "superseding", "quarantined")
some_learns = pytest.mark.parametrize("learn", [LEARNS[name] for name in SOME], ids=SOME)


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A durable server with a migrated database in it, named chaos."""
    with (
        tempfile.TemporaryDirectory(prefix="tributary-chaos-", ignore_cleanup_errors=True) as folder,
        EmbeddedPostgres.join(Path(folder)) as server,
    ):
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("CREATE DATABASE chaos")
        migrate(Target(url=database_at(server.url(), "chaos")))
        yield Path(folder)


@pytest.fixture
def tribal(home: Path) -> Iterator[Tribal]:
    """A tribe of each test's own; the server runs again when it begins."""
    with (
        EmbeddedPostgres.join(home) as server,
        open_tribal(database_at(server.url(), "chaos"), name=uuid4().hex, judge=RuledJudge(within_a_subject)) as opened,
    ):
        yield opened


@some_learns
def test_a_server_killed_while_the_commit_waits_at_the_gate_has_nothing(
    home: Path, tribal: Tribal, child: Child, learn: Learn
) -> None:
    scene = set_scene(tribal, learn)
    with gate_held(tribal) as gate:
        child.is_told(scene.order())
        gate.has_waiting(1)
        kill_server(home)
        assert child.answer() == {"error": "unavailable"}
    with EmbeddedPostgres.join(home):
        assert not scene.was_committed()
        scene.ends_well()


@some_learns
def test_a_server_killed_after_the_commit_and_before_its_reply_has_all_of_it(
    home: Path, tribal: Tribal, child: Child, learn: Learn
) -> None:
    scene = set_scene(tribal, learn)
    with (
        tempfile.TemporaryDirectory(prefix="relay") as folder,
        Interceptor(
            Path(folder),
            socket_of(tribal.url),
            name="commit",
            when=When.ONCE_IT_IS_ANSWERED,
            act=lambda: kill_server(home),
        ) as relay,
    ):
        child.is_told(scene.order(url=through(folder, tribal.url)))
        assert child.answer() == {"error": "unavailable"}
    assert relay.acted
    with EmbeddedPostgres.join(home):
        assert scene.was_committed()
        scene.ends_well()
