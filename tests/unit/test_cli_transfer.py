"""`tributary export` and `restore`: what they write, read and say."""

from __future__ import annotations

import signal
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.cli_fakes import FakeOperator, Surroundings
from tests.unit.test_cli import run, said
from tributary.transfer.tribes import Progress, Summary


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    operator = FakeOperator(kept={"payments": {}})
    return Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")}, operator=operator)


def test_an_export_is_a_file_that_its_owner_alone_may_read(around: Surroundings, tmp_path: Path) -> None:
    file = tmp_path / "payments.jsonl"
    done = run(around, "export", "payments", "--output", str(file))
    assert (done.exit_code, "300 lesson(s), 301 rows, tick 418" in done.stdout) == (0, True)
    assert file.read_bytes() == b"".join(around.operator.exported)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_export_to_standard_output_is_nothing_else(around: Surroundings) -> None:
    done = run(around, "export", "payments")
    assert done.stdout_bytes == b"".join(around.operator.exported)
    assert "tick 418" in done.stderr
    assert run(around, "export", "payments", "--json").exit_code == 2


def test_a_file_that_is_there_is_not_written_over(around: Surroundings, tmp_path: Path) -> None:
    file = tmp_path / "payments.jsonl"
    file.write_text("mine")
    refused = run(around, "export", "payments", "--output", str(file))
    assert (refused.exit_code, "is there already" in refused.stderr, file.read_text()) == (5, True, "mine")


def test_an_export_that_fails_leaves_no_file(around: Surroundings, tmp_path: Path) -> None:
    file = tmp_path / "payments.jsonl"
    assert run(around, "export", "nobody", "--output", str(file)).exit_code == 5
    assert list(tmp_path.glob("*.jsonl*")) == []
    assert run(around, "export", "payments", "--output", str(tmp_path / "no" / "folder")).exit_code == 3


def test_an_export_that_is_told_to_stop_leaves_no_file(around: Surroundings, tmp_path: Path) -> None:
    class Ended(FakeOperator):
        def export(self, tribe: str, write: Callable[[bytes], object], *, progress: Progress) -> Summary:
            write(b"a part of it")
            signal.raise_signal(signal.SIGTERM)
            raise AssertionError("it went on")

    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # else a command without a handler ends these tests
    try:
        stopped = run(
            replace(around, operator=Ended(kept={"payments": {}})), "export", "payments", "--output", str(tmp_path / "a")
        )
    finally:
        signal.signal(signal.SIGTERM, before)
    assert stopped.exit_code == 130
    assert not (tmp_path / "a").exists()


def test_a_restore_says_what_it_made_and_that_tokens_are_to_be_made(around: Surroundings, tmp_path: Path) -> None:
    file = tmp_path / "payments.jsonl"
    file.write_bytes(b"a\nb\n")
    done = run(around, "restore", str(file), "--as", "billing")
    assert around.operator.exported == [b"a\n", b"b\n"]
    assert "Tribe 'billing' was restored" in done.stdout
    assert "tributary agent rotate AGENT --tribe billing" in done.stdout
    assert said(run(around, "restore", str(file), "--json"))["rows"] == {"tribe": 1, "lesson": 300}


def test_a_file_that_is_not_there_is_named(around: Surroundings, tmp_path: Path) -> None:
    refused = run(around, "restore", str(tmp_path / "gone"))
    assert (refused.exit_code, "gone' cannot be read" in refused.stderr) == (3, True)


def test_files_are_told_and_lost_ones_end_the_command_otherwise(around: Surroundings, tmp_path: Path) -> None:
    for verb in ("export", "restore"):
        told = run(around, "evidence", verb, "payments", str(tmp_path / "whole"))
        assert (told.exit_code, "2 file(s), 30 bytes" in told.stdout, "1 were there before" in told.stdout) == (0, True, True)
        lost = run(around, "evidence", verb, "payments", str(tmp_path / "part"))
        assert (lost.exit_code, f"lost or damaged: sha256:{'5f' * 32}" in lost.stdout) == (5, True)


def test_every_tribe_is_told_that_the_database_was_restored(around: Surroundings) -> None:
    told = run(around, "after-restore")
    assert told.exit_code == 0
    assert "payments: restored as of tick 418, goes on from tick 1000419" in told.stdout
    assert "tributary action list --state in_doubt" in told.stdout
    document = said(run(around, "after-restore", "--tribe", "payments", "--ticks", "5", "--json"))
    assert document == [{"tribe": "payments", "before": 418, "tick": 424, "in_doubt": 2, "sessions": 1}]
    assert run(around, "after-restore", "--tribe", "nobody").exit_code == 5
    assert run(around, "after-restore", "--ticks", "0").exit_code == 2


def test_neither_goes_through_the_function(around: Surroundings, tmp_path: Path) -> None:
    for command in (
        *(("export", "payments"), ("restore", str(__file__))),
        *(("evidence", verb, "payments", str(tmp_path)) for verb in ("export", "restore")),
    ):
        refused = run(around, "--via", "lambda", "--function", "operator", *command)
        assert (refused.exit_code, "leave --via out" in refused.stderr) == (7, True)


def test_the_demo_is_told_lesson_by_lesson_and_refused_the_second_time(around: Surroundings) -> None:
    told = run(around, "seed", "demo", "--tribe", "payments")
    assert told.exit_code == 0
    assert told.stdout.splitlines()[0].startswith("learned: During the sale")
    assert "tributary curate disputes" in told.stdout
    again = run(around, "seed", "demo", "--tribe", "payments")
    assert (again.exit_code, "was taught the demo already" in again.stderr) == (5, True)
    around.seeded = False
    document = said(run(around, "seed", "demo", "--tribe", "payments", "--json"))
    assert [(one["outcome"], one["dispute"]) for one in document["lessons"]] == [("learned", None), ("disputed", f"dis_{9:032x}")]
