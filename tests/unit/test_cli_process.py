"""The command line as a process: locales, pipes, terminals, missing packages."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import tributary
from tests.unit.cli_fakes import http_server
from tests.unit.client_fakes import ONE, TOKEN, Tribe, hit, learned, lesson, receipt
from tests.unit.test_cli_verbs import REPLIES, TOKEN_ID

RUN = "from tributary.edges.cli import main; main()"
LOCALES = {
    "UTF-8 mode by the C locale": {"LC_ALL": "C"},
    "ASCII streams": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "Latin-1 streams": {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1"},
}
TEXT = "Größe 日本 🚀"


@pytest.fixture
def tribe() -> Tribe:
    return Tribe()


@pytest.fixture
def environment(tribe: Tribe, tmp_path: Path) -> Iterator[dict[str, str]]:
    with http_server(tribe) as url:
        yield {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(Path(tributary.__file__).parents[1]),
            "TRIBUTARY_HOME": str(tmp_path / "home"),
            "TRIBUTARY_URL": url,
            "TRIBUTARY_TOKEN": TOKEN,
        }


def run(environment: dict[str, str], *arguments: str | bytes, program: str = RUN) -> subprocess.CompletedProcess[bytes]:
    command: Sequence[str | bytes] = [sys.executable, "-W", "error", "-c", program, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, check=False)


def on_terminal(environment: dict[str, str], columns: int, *arguments: str) -> str:
    """Returns what the command shows on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    terminal = {**environment, "COLUMNS": str(columns), "LINES": "40", "TERM": "xterm-256color"}
    command = [sys.executable, "-c", RUN, *arguments]
    process = subprocess.Popen(command, env=terminal, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        ready, _, _ = select.select([ours], [], [], 60)
        assert ready, "the command fell silent"
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.wait() == 0, shown
    return shown.decode()


@pytest.mark.parametrize("locale", LOCALES.values(), ids=LOCALES)
def test_any_text_goes_in_and_out_as_utf8_whatever_the_locale(
    environment: dict[str, str], tribe: Tribe, locale: dict[str, str]
) -> None:
    tribe.replies["learn"] = learned(reason=TEXT)
    options = ("--situation", "s", "--source", "told", "--ref", "ü".encode())
    done = run({**environment, **locale}, "learn", TEXT.encode(), *options)
    assert done.returncode == 0, done.stderr
    assert TEXT in done.stdout.decode()
    assert json.loads(tribe.requests[0].content)["text"] == TEXT
    tribe.replies["recall"] = {"hits": [hit(lesson=lesson(text=TEXT))], "receipt": receipt(1)}
    as_json = run({**environment, **locale}, "recall", TEXT.encode(), "--json")
    assert json.loads(as_json.stdout.decode())["hits"][0]["lesson"]["text"] == TEXT
    assert json.loads(tribe.requests[1].content)["query"] == TEXT


def test_bytes_that_are_no_utf8_are_refused_and_told_of(environment: dict[str, str], tribe: Tribe) -> None:
    done = run(environment, "recall", b"caf\xe9")
    assert done.returncode == 3
    assert b"query" in done.stderr
    assert b"Traceback" not in done.stderr
    assert not tribe.requests


def test_json_on_standard_output_is_pure_even_when_others_speak(environment: dict[str, str]) -> None:
    done = run(environment, "lessons", "--json")
    assert done.returncode == 0
    assert [one["id"] for one in json.loads(done.stdout)["lessons"]] == [ONE]
    failed = run({**environment, "TRIBUTARY_TOKEN": "wrong"}, "lessons", "--json")
    assert (failed.returncode, failed.stdout) == (4, b"")
    assert json.loads(failed.stderr)["error"]["code"] == "unauthenticated"


@pytest.mark.parametrize("command", [("version",), ("lessons", "--limit", "100")], ids=["short output", "long output"])
def test_a_reader_that_goes_away_ends_the_command_quietly(
    environment: dict[str, str], tribe: Tribe, command: tuple[str, ...]
) -> None:
    tribe.replies["lessons"] = {"lessons": [lesson(text="x" * 8000)] * 100, "next": None, "receipt": receipt(1)}
    whole = [sys.executable, "-c", RUN, *command]
    with subprocess.Popen(whole, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_without_a_server_the_error_says_how_to_start_one(environment: dict[str, str]) -> None:
    bare = {name: value for name, value in environment.items() if name not in ("TRIBUTARY_URL", "TRIBUTARY_TOKEN")}
    done = run(bare, "recall", "q")
    assert done.returncode == 7
    assert b"tributary serve" in done.stderr
    dead = run({**bare, "TRIBUTARY_URL": "http://127.0.0.1:1", "TRIBUTARY_TOKEN": "t"}, "recall", "q")
    assert dead.returncode == 6
    assert b"http://127.0.0.1:1" in dead.stderr


@pytest.mark.parametrize("module", ["typer", "rich", "pydantic_settings"])
def test_without_a_package_the_command_names_the_extra_that_brings_it(environment: dict[str, str], module: str) -> None:
    without = f"import sys; sys.modules['{module}'] = None; {RUN}"
    done = run(environment, "tribe", "list", program=without)
    if module == "rich":
        assert run(environment, "recall", "q", program=without).returncode == 0
        return
    assert done.returncode == 7
    assert b"pip install 'tributary-memory[" in done.stderr
    assert b"Traceback" not in done.stderr


def test_help_imports_nothing_that_is_slow(environment: dict[str, str]) -> None:
    slow = "('rich', 'httpx', 'psycopg', 'numpy', 'uvicorn', 'alembic', 'onnxruntime', 'tributary.client')"
    program = f"import atexit, sys; atexit.register(lambda: print([m for m in {slow} if m in sys.modules])); {RUN}"
    for arguments in (["--help"], ["recall", "--help"], ["version"]):
        done = run(environment, *arguments, program=program)
        assert done.stdout.decode().splitlines()[-1] == "[]"


def test_a_wide_terminal_gets_a_table_without_markup_or_colour_when_none_is_wanted(
    environment: dict[str, str], tribe: Tribe
) -> None:
    bad = lesson(text="[red]x[/red] :skull: \x1b[2J")
    challenge = {"id": "dis_7", "lesson": ONE, "text": "no"}
    tribe.replies["recall"] = {"hits": [hit(lesson=bad, challenges=[challenge])], "receipt": receipt(1)}
    shown = on_terminal({**environment, "NO_COLOR": "1"}, 100, "recall", "q")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", shown)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert re.search(r"#\s+lesson\s+conf\s+score", plain)
    assert "[red]x[/red] :skull: \\x1b[2J" in plain
    assert "challenged by dis_7: no" in plain
    assert max(len(line) for line in plain.splitlines()[:-1]) <= 100
    assert "\x1b[2J" not in on_terminal(environment, 100, "recall", "q")


def test_a_narrow_terminal_gets_a_list(environment: dict[str, str]) -> None:
    shown = on_terminal(environment, 40, "recall", "q")
    assert "1. The deploy API needs X-Batch: true" in shown
    assert "─" not in shown


def test_a_wide_terminal_gets_a_table_of_lessons(environment: dict[str, str], tribe: Tribe) -> None:
    long: dict[str, Any] = lesson(text="[red]x[/red] " + "word " * 200)
    tribe.replies["lessons"] = {"lessons": [long], "next": None, "receipt": receipt(1)}
    shown = on_terminal(environment, 120, "lessons")
    assert ONE in shown.replace("\r\n", "\n")
    assert "..." in shown
    assert "[red]x[/red]" in shown


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command", [("lessons",), ("curate", "tokens", "agent-a")])
def test_ids_and_times_are_whole_on_a_terminal_of_any_width(
    environment: dict[str, str], tribe: Tribe, columns: int, command: tuple[str, ...]
) -> None:
    tribe.replies |= REPLIES
    tribe.replies["lessons"] = {"lessons": [lesson(text="a long text " * 30)], "next": None, "receipt": receipt(1)}
    shown = on_terminal(environment, columns, *command)
    for whole in [ONE] if command == ("lessons",) else [TOKEN_ID, "2026-03-01 12:00:00 UTC"]:
        assert whole in shown
