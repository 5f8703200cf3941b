"""`tributary action`: what it says to people and to machines, and what it asks of the server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.unit.action_fakes import ACTION, LEASE, acting, action
from tests.unit.cli_fakes import Surroundings
from tests.unit.client_fakes import learned
from tributary.edges.cli.app import app

HOSTILE = "[bold red]x[/bold red] \x1b[2J\nsecond"


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    surroundings = Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")})
    acting(surroundings.tribe)
    return surroundings


def run(around: Surroundings, *arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["action", *arguments], obj=around.doors(), input=stdin)


def said(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.stdout


def sent(around: Surroundings) -> Any:
    return json.loads(around.tribe.requests[-1].content)


def test_begin_shows_the_lease_of_a_grant(around: Surroundings) -> None:
    assert LEASE in said(run(around, "begin", "reboot:db-7", "--description", "reboot db-7", "--seconds", "90"))
    assert sent(around) == {"key": "reboot:db-7", "description": "reboot db-7", "lease_s": 90}
    assert json.loads(said(run(around, "begin", "reboot:db-7", "--json")))["lease"] == LEASE
    assert sent(around)["description"] == "reboot:db-7"


def test_begin_shows_the_result_of_what_was_done(around: Surroundings) -> None:
    done = action(state="done", result={"rebooted": True})
    around.tribe.replies["begin_action"] = {"outcome": "done", "action": done, "lease": None}
    assert 'result {"rebooted": true}' in said(run(around, "begin", "reboot:db-7"))


@pytest.mark.parametrize(("outcome", "state", "exit_code"), [("in_doubt", "in_doubt", 5), ("busy", "begun", 6)])
def test_begin_ends_with_a_code_of_its_own_when_nothing_may_be_done(
    around: Surroundings, outcome: str, state: str, exit_code: int
) -> None:
    around.tribe.replies["begin_action"] = {"outcome": outcome, "action": action(state=state), "lease": None}
    result = run(around, "begin", "reboot:db-7", "--json")
    assert result.exit_code == exit_code
    assert json.loads(result.stderr)["error"]["code"] == outcome


def test_complete_takes_a_result_a_lesson_and_the_lease_from_standard_input(around: Surroundings, tmp_path: Path) -> None:
    around.tribe.replies["complete_action"] |= {"learned": learned()}
    file = tmp_path / "lesson.json"
    lesson = {"text": "t", "situation": "s", "source": {"how": "observed"}}
    file.write_text(json.dumps(lesson))
    shown = said(
        run(around, "complete", ACTION, "--lease", "-", "--result", '{"a": null}', "--lesson", str(file), stdin=f"{LEASE}\n")
    )
    assert sent(around) == {"lease": LEASE, "result": {"a": None}, "lesson": lesson}
    assert shown.startswith(f"done: {ACTION}")
    assert "learned: les_" in shown


def test_complete_tells_why_a_lesson_was_refused(around: Surroundings) -> None:
    problem = {"type": "t", "title": "t", "status": 409, "code": "wrong_standing", "detail": "a curator erased it"}
    around.tribe.replies["complete_action"] |= {"problem": problem}
    assert "the lesson was refused: a curator erased it" in said(run(around, "complete", ACTION, "--lease", LEASE))
    assert sent(around) == {"lease": LEASE, "result": None}


def test_a_result_that_is_no_json_and_a_lesson_that_is_none_are_told(around: Surroundings, tmp_path: Path) -> None:
    assert run(around, "complete", ACTION, "--lease", LEASE, "--result", "{").exit_code == 2
    file = tmp_path / "lesson.json"
    for text in ("[]", "{"):
        file.write_text(text)
        assert run(around, "complete", ACTION, "--lease", LEASE, "--lesson", str(file)).exit_code == 3
    assert not around.tribe.requests


def test_fail_renew_and_reconcile_send_what_they_are_told(around: Surroundings) -> None:
    said(run(around, "fail", ACTION, "--lease", LEASE, "--why", "no", "--unsure"))
    assert sent(around) == {"lease": LEASE, "failure": "no", "unsure": True}
    said(run(around, "renew", ACTION, "--lease", LEASE, "--seconds", "30", "--key", "k1"))
    assert (sent(around), around.tribe.requests[-1].headers["idempotency-key"]) == ({"lease": LEASE, "lease_s": 30}, "k1")
    shown = said(run(around, "reconcile", ACTION, "--happened", "--why", "it was seen", "--result", "1"))
    assert sent(around) == {"happened": True, "result": 1, "rationale": "it was seen"}
    assert "its lease ran out" in shown
    assert "reconciled by curator: it was seen" in shown
    said(run(around, "reconcile", ACTION, "--did-not-happen", "--why", "no"))
    assert sent(around) == {"happened": False, "result": None, "rationale": "no"}


def test_list_and_show_obey_nothing_that_an_agent_wrote(around: Surroundings) -> None:
    hostile = action(state="in_doubt", key=HOSTILE, description=HOSTILE, failure=HOSTILE, doubt="holder_unsure", agent="a")
    around.tribe.replies["actions"]["actions"] = [hostile]
    around.tribe.replies["actions"]["next"] = "1." + "0" * 32
    around.tribe.replies["action"] = hostile
    listed = run(around, "list", "--state", "in_doubt", "--limit", "1")
    assert "--before 1." in listed.stderr
    assert len(said(listed).splitlines()) == 2
    assert dict(around.tribe.requests[-1].url.params) == {"state": "in_doubt", "limit": "1"}
    shown = said(run(around, "show", ACTION))
    assert "its holder could not tell" in shown
    for text in (listed.stdout, shown):
        assert "\x1b" not in text
    assert json.loads(said(run(around, "list", "--json")))["actions"][0]["key"] == HOSTILE
    around.tribe.replies["actions"]["actions"] = []
    assert "There is no such action." in run(around, "list").stderr
