"""The whole demo, over a real server with a real database and real embeddings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from evals.gauntlet.results import DemoReport
from tests.providers import openai
from tests.providers.mind import answering
from tests.providers.server import ProviderServer

ROOT = Path(__file__).parents[2]


@contextmanager
def demo(folder: Path, *arguments: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """Yields the running demo, whose temporary files go into `folder`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "evals.gauntlet", *arguments],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder), "COLUMNS": "140", **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with process:
        try:
            yield process
        finally:
            process.terminate()


@pytest.fixture
def folder() -> Iterator[Path]:
    # not pytest's own: under root the server runs as a user of its own, whom another pytest's start would lock out of it
    with tempfile.TemporaryDirectory(prefix="tributary-demo-", ignore_cleanup_errors=True) as made:
        yield Path(made)


def left_behind(folder: Path) -> list[str]:
    """Returns what still runs in, or on, the demo's folder, and what still lies there."""
    processes = []
    for process in psutil.process_iter():
        try:
            if str(folder) in " ".join([*process.cmdline(), process.cwd()]):
                processes.append(f"{process.pid} {process.name()}")
        except psutil.Error:
            continue
    # onnxruntime keeps a session id of its own in the folder for temporary files
    return processes + [str(path) for path in folder.iterdir() if path.name != ".ses"]


def test_agent_b_walks_into_no_trap_and_the_controls_into_all(folder: Path, tmp_path: Path) -> None:
    plot = tmp_path / "steps.png"
    with demo(folder, "--seed", "11", "--json", "--plot", str(plot)) as process:
        printed, said = process.communicate()
    assert process.returncode == 0, said
    report = DemoReport.model_validate_json(printed)
    assert [claim for claim in report.claims if not claim.holds] == []
    assert [len(agent.traps_hit) for agent in report.agents] == [4, 0, 4, 4]
    assert report.second.steps < report.first.steps
    assert {citation.lesson for citation in report.second.citations} == {lesson.lesson for lesson in report.first.learned}
    assert all(citation.after > citation.before for citation in report.second.citations)
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert left_behind(folder) == []


def test_what_a_model_finds_in_the_transcript_of_agent_a_keeps_agent_b_from_every_trap(folder: Path) -> None:
    with ProviderServer(openai.chat_routes(answering)) as model:
        settings = {
            "TRIBUTARY_DISTILLER": "openai",
            "TRIBUTARY_DISTILLER_MODEL": openai.MODEL,
            "TRIBUTARY_OPENAI_URL": f"{model.url}/v1",
            "TRIBUTARY_OPENAI_API_KEY": openai.KEY,
        }
        with demo(folder, "--distil", "--json", **settings) as process:
            printed, said = process.communicate()
        asked = [openai.read(one.body) for one in model.asked]
    assert process.returncode == 0, said
    report = DemoReport.model_validate_json(printed)
    assert report.distilled
    assert report.first.memory_calls == 6, "four recalls, one distil, one batch"
    assert [claim for claim in report.claims if not claim.holds] == []
    assert [len(agent.traps_hit) for agent in report.agents] == [4, 0, 4, 4]
    assert {citation.lesson for citation in report.second.citations} == {lesson.lesson for lesson in report.first.learned}
    assert len(asked) == 2, "agent-a and the stranger, who each hand in a transcript"
    assert all(lesson.text not in asked[0][1] for lesson in report.first.learned), "it was told the lesson"
    assert said.count("(left to the distiller)") == 4
    assert left_behind(folder) == []


def test_a_distiller_that_is_set_up_wrongly_ends_the_demo_with_the_variable(folder: Path) -> None:
    with demo(folder, "--distil", TRIBUTARY_DISTILLER="openai") as process:
        _, said = process.communicate()
    assert process.returncode == 3
    assert "TRIBUTARY_DISTILLER_MODEL: must name the model" in said
    assert left_behind(folder) == []


def test_an_interrupted_demo_leaves_nothing_behind(folder: Path) -> None:
    with demo(folder) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "agent-a starts," in line:
                break
        assert left_behind(folder) != []
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode == 130
    assert left_behind(folder) == []


def test_a_demo_whose_server_is_killed_says_so_and_leaves_nothing_behind(folder: Path) -> None:
    with demo(folder) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "agent-a starts," in line:
                break
        (server,) = (child for child in psutil.Process(process.pid).children() if "serve" in child.cmdline())
        server.kill()
        _, said = process.communicate()
    assert process.returncode == 3
    assert "the memory failed" in said
    assert left_behind(folder) == []
