"""`tributary watch`: the feed as it happens, on a terminal and elsewhere, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

import tributary
from tests.unit.cli_fakes import Surroundings, http_server
from tests.unit.client_fakes import TOKEN, Tribe, change, changes, problem
from tests.unit.test_cli_verbs import REPLIES
from tributary.client import Change
from tributary.edges.cli.app import app
from tributary.edges.cli.watching import heading, line

RUN = "from tributary.edges.cli import main; main()"
HOSTILE = "[bold red]x[/bold red] \x1b[2J\x1b]0;owned\x07 \u202egnp.exe\nsecond"


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    found = Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")})
    found.tribe.replies["stats"] = REPLIES["stats"]
    return found


def watched(around: Surroundings, *arguments: str, pages: list[object]) -> Result:
    """Runs the command with these answers to each question about changes: a page, a failure, and in the end Ctrl-C."""

    def answer(request: httpx.Request) -> httpx.Response | None:
        if request.url.path != "/v1/changes":
            return None
        if not pages:
            raise KeyboardInterrupt
        page = pages.pop(0)
        return page if isinstance(page, httpx.Response) else httpx.Response(200, json=page)

    around.tribe.before = answer
    return CliRunner().invoke(app, ["watch", *arguments], obj=around.doors())


def asked_after(around: Surroundings) -> list[str]:
    return [one.url.params["after"] for one in around.tribe.requests if one.url.path == "/v1/changes"]


def test_it_begins_with_what_comes_and_ends_cleanly_where_it_can_go_on(around: Surroundings) -> None:
    result = watched(around, pages=[changes(8), changes(9)])
    assert result.exit_code == 0
    heading_line, *rows = result.stdout.splitlines()
    assert heading_line.split("\t") == ["tick", "when", "who", "what", "outcome", "text"]
    assert rows[0].split("\t") == ["8", "12:00:00", "agent-a", "learned", "active", "needs X-Batch"]
    assert asked_after(around)[0] == "7"
    assert "tick 7: 1 active; 0 open disputes, 0 open challenges; 1 agent" in result.stderr
    assert "--after 9 goes on from there" in result.stderr


def test_it_begins_after_the_tick_that_is_given(around: Surroundings) -> None:
    watched(around, "--after", "3", pages=[])
    assert asked_after(around) == ["3"]


def test_a_server_that_is_away_for_a_while_is_waited_for(around: Surroundings) -> None:
    result = watched(around, pages=[changes(8), problem("unavailable"), problem("overloaded"), changes(9)])
    assert [row.split("\t")[0] for row in result.stdout.splitlines()[1:]] == ["8", "9"]
    assert asked_after(around)[-2:] == ["8", "9"]


def test_with_json_each_line_is_a_change_and_nothing_else_is_said_there(around: Surroundings) -> None:
    result = watched(around, "--json", pages=[changes(8, 9)])
    assert [json.loads(row)["tick"] for row in result.stdout.splitlines()] == [8, 9]


def test_a_server_that_is_not_there_is_told_at_once(around: Surroundings) -> None:
    around.tribe.before = lambda _: problem("unauthenticated")
    assert CliRunner().invoke(app, ["watch"], obj=around.doors()).exit_code == 4


@pytest.mark.parametrize("columns", [72, 80, 120])
@pytest.mark.parametrize("text", ["short", "a long text " * 40, "日本語の長い文章 " * 40, HOSTILE])
def test_a_line_fits_the_terminal_and_its_columns_stand_below_their_headings(columns: int, text: str) -> None:
    one = Change.model_validate(change(123456, text=text, by="an agent with a very long name", event="dispute_settled"))
    shown = line(one, columns)
    assert cell_len(shown) <= columns
    assert shown.isprintable()
    outcome = "active       " if columns >= 100 else ""
    assert heading(columns).index("text") == len(f"123456   12:00:00  an agent wit..  dispute s..  {outcome}")


def test_what_is_about_no_lesson_says_what_happened(around: Surroundings) -> None:
    page = changes(8)
    page["changes"] = [change(8, lesson=None, kind=None, text=None, status=None, event="space_switched", space="minilm")]
    assert watched(around, pages=[page]).stdout.splitlines()[1].split("\t")[3:] == ["space switched", "", "space minilm"]


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    tribe = Tribe()
    tribe.replies["stats"] = REPLIES["stats"]
    pages = [changes(8), {**changes(9), "changes": [change(9, text=HOSTILE)]}]

    def answer(request: httpx.Request) -> httpx.Response | None:
        if request.url.path != "/v1/changes":
            return None
        return httpx.Response(200, json=pages.pop(0) if pages else changes(tick=9))

    tribe.before = answer
    with http_server(tribe) as url:
        yield {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(Path(tributary.__file__).parents[1]),
            "TRIBUTARY_HOME": str(tmp_path / "home"),
            "TRIBUTARY_URL": url,
            "TRIBUTARY_TOKEN": TOKEN,
            "TERM": "xterm-256color",
            "COLUMNS": "100",
            "LINES": "30",
        }


def test_on_a_terminal_ctrl_c_ends_it_cleanly_and_no_text_is_obeyed(environment: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", RUN, "watch"], env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown, end, told = b"", time.monotonic() + 60, False
    while time.monotonic() < end:
        ready, _, _ = select.select([ours], [], [], 60)
        assert ready, shown
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        shown += piece
        if b"[bold red]" in shown and not told:
            told = True
            process.send_signal(signal.SIGINT)
    os.close(ours)
    assert process.wait(timeout=30) == 0, shown
    assert b"needs X-Batch" in shown
    assert re.search(rb"--after [89] goes on from there", shown)  # it may have come between the line and its tick
    assert b"\x1b[2J" not in shown
    assert b"\x1b]0;owned" not in shown
    assert b"tick 7: 1 active" in shown
