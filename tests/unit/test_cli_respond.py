"""`tributary respond`: one turn, or a conversation line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.unit.cli_fakes import Surroundings
from tests.unit.client_fakes import problem
from tributary.edges.cli.app import app

REPLY: dict[str, Any] = {
    "text": "I rebooted it.\nIt is \x1b[31mup.",
    "withheld": False,
    "stopped": "time",
    "incident": "INC-1",
    "receipts": [],
    "unsearched": ["unavailable"],
    "learned": [],
    "actions": [
        {"action": "act_1", "key": "k", "verb": "reboot_db_instance", "target": "db-7", "outcome": "done", "detail": "once\x1b"}
    ],
    "rounds": 2,
    "tool_calls": 1,
    "model": "made/1",
}


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    opened = Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")})
    opened.tribe.replies["respond"] = REPLY
    return opened


def run(around: Surroundings, *arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["respond", *arguments], obj=around.doors(), input=stdin)


def sent(around: Surroundings, index: int = 0) -> Any:
    return json.loads(around.tribe.requests[index].content)


def test_one_turn_is_asked_for_and_told_in_words_that_a_terminal_does_not_obey(around: Surroundings) -> None:
    result = run(around, "--once", "db-7 is down", "--incident", "INC-1", "--deadline", "5")
    assert result.exit_code == 0, result.output
    assert sent(around) == {"message": "db-7 is down", "conversation": [], "incident": "INC-1", "deadline_s": 5.0}
    assert result.stdout.splitlines()[0] == "I rebooted it."
    assert "reboot_db_instance of db-7: done (act_1)" in result.stdout
    assert "\x1b" not in result.output
    assert "stopped by time" in result.stderr
    assert "1 recall failed (unavailable)" in result.stderr


def test_each_line_is_a_turn_that_takes_along_what_was_said(around: Surroundings) -> None:
    result = run(around, stdin="db-7 is down\n\nand now?\n")
    assert result.exit_code == 0, result.output
    assert [sent(around, index)["message"] for index in (0, 1)] == ["db-7 is down", "and now?"]
    assert [one["role"] for one in sent(around, 1)["conversation"]] == ["user", "agent"]


def test_json_is_one_value_a_turn(around: Surroundings) -> None:
    result = run(around, "--json", "--once", "-", stdin="db-7 is down")
    assert json.loads(result.stdout)["actions"][0]["outcome"] == "done"
    assert sent(around)["message"] == "db-7 is down"


def test_what_is_blank_is_refused_and_a_refusal_is_told(around: Surroundings) -> None:
    assert run(around, "--once", " ").exit_code == 2
    around.tribe.before = lambda _: problem("rate_limited")
    refused = run(around, "--once", "db-7 is down")
    assert refused.exit_code != 0
    assert len(around.tribe.requests) == 1, "a turn is never asked for twice"
