"""The demo's child processes report, fail and end in an orderly way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evals.gauntlet.processes import ProcessFailed, clean_environment, end, run_json, running, uninterrupted
from evals.gauntlet.server import distiller_settings, waiting_for_the_database

ROOT = Path(__file__).parents[2]
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
HOLDS_A_CHILD = """
import os, subprocess, sys
from evals.gauntlet.processes import running
with running([sys.executable, "-c", "import time; time.sleep(600)"], os.environ, stdout=None, stderr=None) as child:
    print(child.pid, flush=True)
    child.wait()
"""


def script(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_child_that_prints_an_object_hands_it_over_and_says_its_progress() -> None:
    said: list[str] = []
    code = "import sys; print('one', file=sys.stderr); print('{\"a\": \"é\"}'); print('two', file=sys.stderr)"
    assert run_json(script(code), clean_environment(os.environ, ROOT), say=said.append) == {"a": "é"}
    assert said == ["one", "two"]


def test_a_long_report_does_not_block_the_child() -> None:
    printed = run_json(script("import json; print(json.dumps({'a': 'x' * 300_000}))"), os.environ, say=lambda _line: None)
    assert printed == {"a": "x" * 300_000}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; print('why it failed', file=sys.stderr); sys.exit(4)", r"exit code 4:\n  why it failed"),
        ("import sys; print('on the wrong stream'); sys.exit(4)", "on the wrong stream"),
        ("print('no json')", r"printed no JSON object:\n  no json"),
        ("print('[1]')", "printed no JSON object"),
    ],
)
def test_a_child_that_fails_is_reported_with_what_it_said(code: str, message: str) -> None:
    with pytest.raises(ProcessFailed, match=message):
        run_json(script(code), os.environ, say=lambda _line: None)


def test_a_child_ends_with_the_block_that_runs_it() -> None:
    with running(script("import time; time.sleep(600)"), os.environ, stdout=None, stderr=None) as process:
        assert process.poll() is None
    assert process.returncode == -signal.SIGTERM


def test_a_child_that_does_not_listen_is_killed() -> None:
    with running(script(STUBBORN), os.environ, stdout=subprocess.PIPE, stderr=None) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        end(process, grace_s=0.1)
        assert process.returncode == -signal.SIGKILL


def test_ctrl_c_leaves_no_child_behind() -> None:
    with running(script(HOLDS_A_CHILD), os.environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert alive(child)
        parent.send_signal(signal.SIGINT)
        parent.wait()
        assert not alive(child)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_does_not_interrupt_the_clearing_away(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with uninterrupted():
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


def stopping(trace: Path, stopped: list[str]) -> threading.Timer:
    """Returns a timer that removes `trace`, as a database's keeper does in the end."""

    def stop() -> None:
        stopped.append(trace.name)
        trace.unlink()

    return threading.Timer(0.3, stop)


def test_a_database_that_still_stops_is_waited_for(tmp_path: Path) -> None:
    trace = tmp_path / "postgres-18" / "postmaster.pid"
    trace.parent.mkdir()
    trace.write_text(f"{os.getpid()}\n/data\n")
    stopped: list[str] = []
    timer = stopping(trace, stopped)
    with waiting_for_the_database(tmp_path):
        timer.start()
    assert stopped == ["postmaster.pid"]


def test_the_folder_of_its_socket_is_waited_for(tmp_path: Path) -> None:
    trace = tmp_path / "postgres-18.run" / "socket"
    trace.parent.mkdir()
    trace.symlink_to(tmp_path)
    stopped: list[str] = []
    timer = stopping(trace, stopped)
    with waiting_for_the_database(tmp_path):
        timer.start()
    assert stopped == ["socket"]


@pytest.mark.parametrize("text", ["", "no number\n", f"{2**22 + 1}\n/data\n"])
def test_a_database_that_crashed_is_not_waited_for(tmp_path: Path, text: str) -> None:
    trace = tmp_path / "postgres-18" / "postmaster.pid"
    trace.parent.mkdir()
    trace.write_text(text)
    stopped: list[str] = []
    timer = threading.Timer(60, lambda: stopped.append("too late"))
    timer.start()
    with waiting_for_the_database(tmp_path):
        pass
    timer.cancel()
    assert stopped == []


def test_the_servers_distiller_is_the_only_setting_of_the_users_that_is_handed_on() -> None:
    handed_on = {"TRIBUTARY_DISTILLER": "openai", "TRIBUTARY_DISTILLER_MODEL": "m", "TRIBUTARY_OPENAI_API_KEY": "key"}
    others = {"TRIBUTARY_DATABASE_URL": "postgresql://production", "TRIBUTARY_JUDGE": "jev", "TRIBUTARY_TOKEN": "t", "PATH": "/"}
    assert distiller_settings({**handed_on, **others}) == handed_on


def test_nothing_of_the_users_own_memory_reaches_the_demo(tmp_path: Path) -> None:
    given = {
        "TRIBUTARY_TOKEN": "secret",
        "TRIBUTARY_URL": "https://memory.example.org",
        "DATABASE_URL": "postgresql://production",
        "PGHOST": "production",
        "PATH": "/usr/bin",
    }
    given |= {"TRIBUTARY_OPENAI_API_KEY": "key", "TRIBUTARY_DISTILLER": "openai"}
    assert clean_environment(given, tmp_path) == {"PATH": "/usr/bin", "TRIBUTARY_HOME": str(tmp_path), "PYTHONUTF8": "1"}
