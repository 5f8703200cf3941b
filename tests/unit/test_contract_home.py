"""Where things are kept on this computer, and how clients find the server that runs here."""

from __future__ import annotations

import json
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tributary.contract.home import CONNECTION_FILE, Connection, home, read_connection, write_connection

HERE = Connection(url="http://127.0.0.1:8377", token="trb_x")


def test_home_is_the_folder_given_with_the_users_own_spelled_out() -> None:
    assert home({"TRIBUTARY_HOME": "/srv/t"}) == Path("/srv/t")
    assert home({"TRIBUTARY_HOME": "~/t"}) == Path.home() / "t"


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="the place is another one there")
def test_home_is_else_under_the_users_data() -> None:
    assert home({"XDG_DATA_HOME": "/data"}) == Path("/data/tributary")
    assert home({"TRIBUTARY_HOME": "", "XDG_DATA_HOME": ""}) == Path.home() / ".local" / "share" / "tributary"


def test_a_connection_is_read_back_and_only_its_owner_can_read_the_file(tmp_path: Path) -> None:
    path = write_connection(tmp_path, HERE)
    assert path == tmp_path / CONNECTION_FILE
    assert read_connection(tmp_path) == HERE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == [CONNECTION_FILE]


def test_a_connection_replaces_the_one_before_it(tmp_path: Path) -> None:
    write_connection(tmp_path, Connection(url="http://127.0.0.1:" + "1" * 200, token="trb_old"))
    write_connection(tmp_path, HERE)
    assert read_connection(tmp_path) == HERE


def test_many_that_write_at_once_all_succeed_and_a_reader_never_meets_half_a_file(tmp_path: Path) -> None:
    written = [Connection(url=f"http://127.0.0.1:{number}", token="trb_" + str(number) * 500) for number in range(1, 9)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            list(pool.map(lambda one: write_connection(tmp_path, one), written))
            assert read_connection(tmp_path) in written
    assert [one.name for one in tmp_path.iterdir()] == [CONNECTION_FILE]


def test_a_connection_that_cannot_be_put_in_its_place_leaves_nothing_of_it_behind(tmp_path: Path) -> None:
    (tmp_path / CONNECTION_FILE).mkdir()
    with pytest.raises(OSError, match=CONNECTION_FILE):
        write_connection(tmp_path, HERE)
    assert [one.name for one in tmp_path.iterdir()] == [CONNECTION_FILE]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"3", b'"x"', b'{"url": "u"}', b'{"token": "t"}', b"\xff\xfe", b'[["url"]]', b"[" * 100_000],
)
def test_a_file_that_holds_no_connection_counts_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CONNECTION_FILE).write_bytes(content)
    assert read_connection(tmp_path) is None


def test_no_file_and_a_folder_in_its_place_count_as_none(tmp_path: Path) -> None:
    assert read_connection(tmp_path / "nowhere") is None
    (tmp_path / CONNECTION_FILE).mkdir()
    assert read_connection(tmp_path) is None


def test_what_a_later_version_adds_is_passed_over(tmp_path: Path) -> None:
    document = {"url": HERE.url, "token": HERE.token, "since": "later"}
    (tmp_path / CONNECTION_FILE).write_text(json.dumps(document), encoding="utf-8")
    assert read_connection(tmp_path) == HERE
