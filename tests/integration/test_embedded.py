"""The embedded PostgreSQL's life and death, with real processes that are really killed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from tributary.core.errors import Unavailable
from tributary.store._embedded_keeper import Layout, is_held, stop_server
from tributary.store.embedded import EmbeddedPostgres

CHILDREN = Path(__file__).with_name("embedded_children.py")
DEADLINE_S = 60.0


class Member:
    """A child process, see embedded_children.py."""

    def __init__(self, what: str, *words: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", CHILDREN, what, *map(str, words)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def hears(self) -> str:
        """Returns the next word that the child says."""
        assert self.process.stdout is not None
        word = self.process.stdout.readline().strip()
        assert word, "the child ended without a word"
        return word

    def goes_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go on\n")
        self.process.stdin.flush()

    def dies(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)
        self.process.wait(DEADLINE_S)

    def ends(self) -> str:
        """Returns what the child had still to say, after its end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if self.process.stdout.closed:
            return ""
        with self.process:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
            try:
                self.process.wait(DEADLINE_S / 6)
            except subprocess.TimeoutExpired:
                self.process.kill()
            return self.process.stdout.read()


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder of its own: pytest closes the one above its folders anew whenever another run begins, to root's server too."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def member() -> Iterator[Callable[..., Member]]:
    members: list[Member] = []

    def begin(what: str, *words: object) -> Member:
        members.append(Member(what, *words))
        return members[-1]

    yield begin
    for one in members:
        one.ends()


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A home with data, so that not every test pays for making some."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home"
        EmbeddedPostgres.join(home, fast=True).close()
        yield home


@pytest.fixture
def home(made: Path) -> Iterator[Path]:
    yield made
    eventually(lambda: stopped(made))


def eventually(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < until, "it never came to pass"
        time.sleep(0.01)


def stopped(home: Path) -> bool:
    """Tells whether the server was shut down in order: a killed one leaves its file."""
    return not (home / "postgres-18" / "postmaster.pid").exists()


def ask(postgres: EmbeddedPostgres, query: str) -> str:
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return str(row[0])


def started_at(postgres: EmbeddedPostgres) -> str:
    return ask(postgres, "SELECT extract(epoch FROM pg_postmaster_start_time())::text")


def processes(*words: object) -> list[int]:
    """Returns the pids of the living processes whose command line has all the words."""
    listed = subprocess.run(["ps", "-eww", "-o", "pid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = (line.split(maxsplit=2) for line in listed.splitlines())
    return [int(row[0]) for row in rows if row[1][0] != "Z" and all(str(word) in row[2] for word in words)]


def kill_keeper(home: Path) -> None:
    (pid,) = processes("_embedded_keeper.py", home, 18)
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not processes("_embedded_keeper.py", home, 18))


def kill_server(home: Path) -> None:
    os.kill(int((home / "postgres-18" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)


def test_the_first_member_starts_the_server_and_the_last_one_stops_it(home: Path, member: Callable[..., Member]) -> None:
    first = member("hold", home)
    server = first.hears()
    last = EmbeddedPostgres.join(home)
    assert started_at(last) == server
    first.goes_on()
    first.ends()
    assert started_at(last) == server
    last.close()
    assert stopped(home)


def test_memberships_of_one_process_share_a_server_until_the_last_is_closed(home: Path) -> None:
    first, second, third = (EmbeddedPostgres.join(home, fast=True) for _ in range(3))
    server = started_at(first)
    first.close()
    first.close()
    assert started_at(second) == server
    second.close()
    assert started_at(third) == server
    third.close()
    assert stopped(home)


def test_the_server_outlives_a_killed_starter_while_another_is_a_member(home: Path, member: Callable[..., Member]) -> None:
    starter = member("hold", home)
    server = starter.hears()
    with EmbeddedPostgres.join(home) as other:
        starter.dies()
        with EmbeddedPostgres.join(home) as late:
            assert started_at(other) == started_at(late) == server
    assert stopped(home)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_stops_by_itself_when_its_only_member_is_killed_and_keeps_what_was_committed(
    home: Path, member: Callable[..., Member], number: int
) -> None:
    only = member("insert", home)
    assert only.hears() == "committed"
    only.dies(number)
    eventually(lambda: stopped(home))
    eventually(lambda: not processes("_embedded_keeper.py", home))
    with EmbeddedPostgres.join(home) as postgres:
        assert ask(postgres, "SELECT word FROM kept") == "committed"


def test_a_member_killed_while_it_makes_the_data_leaves_nothing_to_trip_over(
    tmp_path: Path, member: Callable[..., Member]
) -> None:
    home = tmp_path / "home"
    killed = member("hold", home)
    eventually(lambda: bool(processes("initdb", home)))
    initdb = processes("initdb", home)
    for pid in initdb:
        os.kill(pid, signal.SIGSTOP)
    killed.dies()
    (home / "postgres-18.new" / "untouched").touch()
    with pytest.raises(Unavailable):
        EmbeddedPostgres.join(home, fast=True, timeout_s=0.5)
    assert (home / "postgres-18.new" / "untouched").exists(), "a process may still write there"
    for pid in initdb:
        os.kill(pid, signal.SIGCONT)
    with EmbeddedPostgres.join(home, fast=True) as postgres:
        assert ask(postgres, "SELECT 1") == "1"
    assert sorted(path.name for path in home.glob("postgres-18*")) == [
        "postgres-18",
        "postgres-18.log",
        "postgres-18.run",
    ]


def test_half_made_data_is_made_anew(tmp_path: Path) -> None:
    unfinished = tmp_path / "home" / "postgres-18.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    with EmbeddedPostgres.join(tmp_path / "home", fast=True) as postgres:
        assert ask(postgres, "SELECT 1") == "1"
    assert not unfinished.exists()


def test_processes_that_join_an_empty_home_at_once_share_one_server(tmp_path: Path, member: Callable[..., Member]) -> None:
    home = tmp_path / "home"
    members = [member("race", home) for _ in range(8)]
    assert {one.hears() for one in members} == {"here"}
    for one in members:
        one.goes_on()
    assert len({one.hears() for one in members}) == 1
    assert (home / "postgres-18.log").read_text().count("starting PostgreSQL") == 1
    assert len(processes("_embedded_keeper.py", home)) == 1
    for one in members:
        one.dies()
    eventually(lambda: stopped(home))


def test_no_question_fails_while_members_come_and_go(home: Path, member: Callable[..., Member]) -> None:
    members = [member("churn", home, 8) for _ in range(4)]
    assert [one.hears() for one in members] == ["done"] * 4


def test_the_next_join_heals_a_killed_server(home: Path, member: Callable[..., Member]) -> None:
    only = member("insert", home)
    only.hears()
    kill_server(home)
    with EmbeddedPostgres.join(home) as postgres:
        assert ask(postgres, "SELECT word FROM kept") == "committed"


@pytest.mark.parametrize("left", ["", "nonsense\n", "{living}\n", "{living}\n{data}\n1700000000\n5432\n{socket}\n\n\nready\n"])
def test_the_next_join_heals_what_a_killed_server_left_even_if_its_pid_is_used_again(home: Path, left: str) -> None:
    data, folder = home / "postgres-18", home / "postgres-18.run" / "socket"
    with subprocess.Popen(["sleep", "600"], user=data.stat().st_uid) as living:
        lines = left.format(living=living.pid, data=data, socket=folder)
        (data / "postmaster.pid").write_text(lines)
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / ".s.PGSQL.5432.lock").write_text(lines)
        try:
            with EmbeddedPostgres.join(home, fast=True) as postgres:
                assert ask(postgres, "SELECT 1") == "1"
        finally:
            living.kill()


def test_a_server_that_somebody_else_runs_on_the_data_is_left_alone(home: Path, tmp_path: Path) -> None:
    pid_file = home / "postgres-18" / "postmaster.pid"
    folder = Path(os.path.relpath(tmp_path))  # short enough for a socket
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(folder / ".s.PGSQL.6543"))
        listener.listen()
        pid_file.write_text(f"4242\n{home}\n1700000000\n6543\n{folder}\n\n\nready\n")
        with pytest.raises(Unavailable, match=r"pid 4242.*stop it first"):
            EmbeddedPostgres.join(home)
        assert pid_file.exists()
    pid_file.unlink()


def test_the_last_member_stops_the_server_when_the_keeper_was_killed(home: Path) -> None:
    with EmbeddedPostgres.join(home, fast=True):
        kill_keeper(home)
    assert stopped(home)


def test_the_next_member_brings_a_new_keeper(home: Path, member: Callable[..., Member]) -> None:
    first = member("hold", home)
    server = first.hears()
    kill_keeper(home)
    second = member("hold", home)
    assert second.hears() == server
    first.dies()
    second.dies()
    eventually(lambda: stopped(home))


def test_a_forked_child_keeps_its_parents_membership(home: Path, member: Callable[..., Member]) -> None:
    forked = member("fork", home)
    server = forked.hears()
    forked.process.wait(DEADLINE_S)
    with EmbeddedPostgres.join(home) as postgres:
        assert started_at(postgres) == server
    assert not stopped(home)
    forked.goes_on()
    eventually(lambda: stopped(home))


def test_a_child_forked_amid_a_start_does_not_keep_the_locks_of_it(tmp_path: Path, member: Callable[..., Member]) -> None:
    forking = member("fork_amid_a_lock", tmp_path)
    assert {forking.hears(), forking.hears()} == {"forked", "let go"}
    assert not is_held(tmp_path / "some.lock")
    forking.goes_on()


def test_a_server_that_heeds_no_fast_shutdown_is_told_to_quit(tmp_path: Path, member: Callable[..., Member]) -> None:
    stubborn = member("pretend_to_serve", tmp_path)
    assert stubborn.hears() == "serving"
    assert stop_server(Layout(home=tmp_path, major=18), patience_s=0.2)
    assert [stubborn.hears(), stubborn.hears()] == ["SIGINT", "SIGQUIT"]


@pytest.mark.parametrize("listening", [False, True] if sys.platform == "linux" else [False])
def test_stopping_signals_no_process_but_the_one_that_listens(
    tmp_path: Path, member: Callable[..., Member], listening: bool
) -> None:
    stubborn, innocent = member("pretend_to_serve", tmp_path / "a"), member("pretend_to_serve", tmp_path / "b")
    assert stubborn.hears() == innocent.hears() == "serving"
    layout = Layout(home=tmp_path / "a", major=18)
    layout.postmaster_file.write_text(f"{innocent.process.pid}\n")
    if not listening:
        layout.socket.unlink()
    assert not stop_server(layout, patience_s=0.1, quit_s=0.1)
    innocent.dies()
    assert innocent.ends() == "", "it was sent a signal"
    stubborn.dies()


def test_a_member_of_a_removed_home_leaves_the_new_homes_server_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    old, older = EmbeddedPostgres.join(home, fast=True), EmbeddedPostgres.join(home)
    (keeper,) = processes("_embedded_keeper.py", home)
    home.rename(tmp_path / "removed")
    older.close()
    with EmbeddedPostgres.join(home, fast=True) as new:
        server = started_at(new)
        old.close()
        eventually(lambda: keeper not in processes("_embedded_keeper.py"))
        with EmbeddedPostgres.join(home) as late:
            assert started_at(late) == server
    kill_server(tmp_path / "removed")


def test_a_home_with_a_long_or_odd_path_works_and_leaves_no_folder_behind(tmp_path: Path, made: Path) -> None:
    for name in ("long" * 30, 'odd, "ö" 100%'):
        home = tmp_path / name
        home.mkdir(mode=0o700)
        subprocess.run(["cp", "-a", made / "postgres-18", home], check=True)
        with EmbeddedPostgres.join(home, fast=True) as postgres:
            folder = Path(ask(postgres, "SHOW unix_socket_directories"))
            assert ask(postgres, "SELECT 1") == "1"
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            url = postgres.url()
            kill_server(home)
            with EmbeddedPostgres.join(home, fast=True) as healed:
                assert healed.url() == url
        assert not folder.exists()
        shutil.rmtree(home)


def test_nothing_listens_on_a_network_and_the_owner_alone_is_let_in(home: Path, member: Callable[..., Member]) -> None:
    with EmbeddedPostgres.join(home, fast=True) as postgres:
        assert ask(postgres, "SHOW listen_addresses") == ""
        assert ask(postgres, "SELECT string_agg(type || ' ' || auth_method, ',') FROM pg_hba_file_rules") == "local peer"
        assert ask(postgres, "SELECT count(*) FROM pg_ident_file_mappings") == "1"
        folder = Path(ask(postgres, "SHOW unix_socket_directories"))
        assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE((home / "postgres-18").stat().st_mode) == 0o700
        if os.geteuid() == 0:
            assert member("ask_as_another", folder).hears() == "Pong(server_version=None, refusal=None)"
            folder.chmod(0o777)  # takes the first guard away, to see the second one
            (folder / ".s.PGSQL.5432").chmod(0o777)
            assert member("ask_as_another", folder).hears() == "Pong(server_version=None, refusal='28000')"
            folder.chmod(0o700)
