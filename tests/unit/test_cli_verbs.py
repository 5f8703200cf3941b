"""Every verb of the API is a command, and every command can speak JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from tests.unit.activity_fakes import ACTIVITY, EVALUATION
from tests.unit.cli_fakes import Surroundings
from tests.unit.client_fakes import AT, ONE, receipt
from tests.unit.curation_fakes import DECISION, DISPUTE, REVIEW, curated, policy
from tributary.contract.routes import ROUTES
from tributary.edges.cli.app import app

AGENT = {"id": "agt_" + "6" * 32, "name": "agent-a", "role": "writer", "created_at": AT, "revoked_at": None, "last_used_at": None}
TOKEN_ID = "tok_" + "7" * 32
SECRET = "trb_new-and-shown-once"
MADE = {"agent": AGENT, "id": TOKEN_ID, "token": SECRET, "expires_at": AT}
KEPT = {"id": TOKEN_ID, "agent": AGENT["id"], "created_at": AT, "expires_at": AT, "revoked_at": None, "last_used_at": None}
ACTION = "act_" + "8" * 32
LEASE = "lease_" + "9" * 64
CALLS: dict[str, dict[str, int]] = {"today": {}, "last_7_days": {}}
LEARN = ("--situation", "deploying", "--source", "observed", "--ref", "run:88")

REPLIES: dict[str, dict[str, Any]] = {
    "agents": {"agents": [AGENT], "next": None, "receipt": receipt(1)},
    "create_agent": MADE,
    "agent": AGENT,
    "tokens": {"tokens": [KEPT], "next": None, "receipt": receipt(1)},
    "new_token": MADE,
    "set_role": AGENT,
    "revoke_agent": AGENT,
    "revoke_token": KEPT,
    "stats": {
        **{"tick": 7, "at": AT, "lessons": {"active": 1}, "open_disputes": 0, "open_challenges": 0, "spaces": []},
        **{"agents": {"writer": 1}, "calls": CALLS, "by_agent": None},
    },
    "activity": ACTIVITY,
    "evaluations": {"runs": [EVALUATION]},
    "status": {"usable": True, "paths": [{"path": "terms", "usable": True}], "observations": [], "gardening": None},
}

VERBS: dict[str, tuple[str, ...]] = {
    "learn": ("learn", "The text", *LEARN),
    "learn_batch": ("distill", "FILE", "--learn"),
    "distill": ("distill", "FILE"),
    "reinforce": ("reinforce", ONE),
    "contest": ("contest", ONE, "It takes X-Bulk", "--source", "observed"),
    "recall": ("recall", "deploy"),
    "verify": ("verify", "RECEIPT", "--query", "deploy"),
    "lessons": ("lessons",),
    "lesson": ("show", ONE),
    "timeline": ("timeline", ONE),
    "changes": ("changes",),
    "diff": ("diff", "3", "7"),
    "retire": ("retire", ONE),
    "release": ("curate", "release", ONE),
    "erase": ("curate", "erase", ONE, "--yes"),
    "disputes": ("curate", "disputes"),
    "challenges": ("curate", "challenges"),
    "dispute": ("curate", "show", DISPUTE),
    "accept_dispute": ("curate", "accept", DISPUTE),
    "reject_dispute": ("curate", "reject", DISPUTE, "--why", "80 was measured"),
    "both_stand": ("curate", "both-stand", DISPUTE),
    "quarantine": ("curate", "quarantine"),
    "decisions": ("curate", "decisions"),
    "decision": ("curate", "decision", DECISION),
    "report": ("curate", "report", DECISION, "--should-be", "unrelated"),
    "reviews": ("curate", "reviews"),
    "accept_review": ("curate", "accept-review", REVIEW, "--golden", "pair-1"),
    "reject_review": ("curate", "reject-review", REVIEW),
    "policy": ("curate", "policy"),
    "set_policy": ("curate", "policy", "set", "POLICY"),
    "audit": ("curate", "audit"),
    "agents": ("curate", "agents"),
    "create_agent": ("curate", "add-agent", "agent-a", "--role", "writer"),
    "agent": ("curate", "agent", str(AGENT["id"])),
    "tokens": ("curate", "tokens", "agent-a"),
    "new_token": ("curate", "new-token", str(AGENT["id"])),
    "set_role": ("curate", "set-role", "agent-a", "--role", "curator"),
    "revoke_agent": ("curate", "revoke-agent", "agent-a"),
    "revoke_token": ("curate", "revoke-token", TOKEN_ID),
    "stats": ("stats",),
    "activity": ("activity",),
    "evaluations": ("evaluations",),
    "status": ("status",),
    "health": ("status",),
    "costs": ("costs",),
    "announce_evidence": ("evidence", "put", "FILE"),
    "evidence": ("evidence", "get", "sha256:" + "0" * 64),
    "respond": ("respond", "--once", "db-7 is slow"),
    "actions": ("action", "list"),
    "action": ("action", "show", ACTION),
    "begin_action": ("action", "begin", "reboot:db-7"),
    "complete_action": ("action", "complete", ACTION, "--lease", LEASE),
    "fail_action": ("action", "fail", ACTION, "--lease", LEASE, "--why", "it was not there"),
    "renew_action": ("action", "renew", ACTION, "--lease", LEASE),
    "reconcile_action": ("action", "reconcile", ACTION, "--happened", "--why", "seen in the console"),
}
"""Each operation of the API, and a command that asks for it. Words in capitals are files that the test makes."""

WITHOUT_A_COMMAND = {
    "openapi": "a description for programs: curl fetches it, and docs/api holds it",
    "docs": "a page for a browser",
    "me": "`tributary doctor` asks it, among all else",
    "mcp": "a protocol for programs: `tributary mcp` speaks it on this computer",
    "put_evidence": "`tributary evidence put` sends the bytes where the announcement says: here, or to S3",
}

NOT_IN_JSON = {
    "tributary screen": "reads and writes JSON lines, and nothing else",
    "tributary judge": "reads and writes JSON lines, and nothing else",
    "tributary evidence get": "gives the bytes of a file",
    "tributary hook session-start": "speaks with Claude Code, in JSON",
    "tributary mcp": "speaks with an agent's program, in JSON",
    "tributary postgres": "prints what the program prints",
    "tributary completion": "prints a script for a shell",
}


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    found = Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")})
    curated(found.tribe)
    found.tribe.replies |= {name: reply for name, reply in REPLIES.items() if name not in found.tribe.replies or name == "stats"}
    return found


def written(arguments: tuple[str, ...], folder: Path) -> list[str]:
    """Returns the arguments with each file that they name in capitals made, and its path in their place."""
    contents = {"RECEIPT": receipt(1), "FILE": [{"role": "tool", "text": "429"}], "POLICY": policy()}
    found = []
    for one in arguments:
        if one in contents:
            file = folder / one.lower()
            file.write_text(json.dumps(contents[one]))
            found.append(str(file))
        else:
            found.append(one)
    return found


def operation_of(request: httpx.Request) -> str:
    for route in ROUTES:
        pattern = re.sub(r"{\w+}", "", route.path).split("/")
        asked = request.url.path.split("/")
        fits = len(pattern) == len(asked) and all(one in ("", other) for one, other in zip(pattern, asked, strict=True))
        if fits and route.method == request.method and ("{" in route.path or route.path == request.url.path):
            return route.operation
    raise AssertionError(request.url)


def test_every_operation_of_the_api_has_a_command_or_a_reason_not_to() -> None:
    assert {route.operation for route in ROUTES} == set(VERBS) | set(WITHOUT_A_COMMAND)
    assert not set(VERBS) & set(WITHOUT_A_COMMAND)


@pytest.mark.parametrize("operation", sorted(VERBS))
def test_the_command_of_an_operation_asks_for_it(around: Surroundings, operation: str, tmp_path: Path) -> None:
    if operation not in around.tribe.replies:
        around.tribe.before = lambda _: httpx.Response(500, json={})  # what is asked is enough to know
    CliRunner().invoke(app, written(VERBS[operation], tmp_path), obj=around.doors())
    assert operation in {operation_of(one) for one in around.tribe.requests}


@pytest.mark.parametrize("operation", sorted(REPLIES))
def test_what_the_api_replied_is_said_to_people_and_to_machines(around: Surroundings, operation: str) -> None:
    said = CliRunner().invoke(app, [*VERBS[operation]], obj=around.doors())
    assert said.exit_code == 0, said.output
    assert said.stdout
    in_json = CliRunner().invoke(app, [*VERBS[operation], "--json"], obj=around.doors())
    assert in_json.exit_code == 0, in_json.output
    assert json.loads(in_json.stdout)


def test_a_secret_is_shown_once_where_it_was_made(around: Surroundings) -> None:
    made = CliRunner().invoke(app, [*VERBS["create_agent"]], obj=around.doors())
    assert f"  {SECRET}\n" in made.stdout
    assert SECRET not in CliRunner().invoke(app, [*VERBS["tokens"]], obj=around.doors()).output


def test_making_an_agent_is_asked_once_though_the_reply_was_lost(around: Surroundings) -> None:
    around.tribe.losing = 1
    lost = CliRunner().invoke(app, [*VERBS["create_agent"]], obj=around.doors())
    assert lost.exit_code == 6
    assert len(around.tribe.requests) == 1


def test_an_agent_that_nobody_knows_by_that_name_is_told(around: Surroundings) -> None:
    found = CliRunner().invoke(app, ["curate", "revoke-agent", "nobody"], obj=around.doors())
    assert found.exit_code == 5
    assert "no agent named 'nobody'" in found.stderr


def commands() -> Iterator[tuple[str, Any]]:
    waiting: list[tuple[str, Any]] = [("tributary", get_command(app))]
    while waiting:
        path, command = waiting.pop()
        inner: dict[str, Any] = getattr(command, "commands", {})
        waiting += [(f"{path} {word}", one) for word, one in inner.items()]
        if not inner or (command.invoke_without_command and path != "tributary"):
            yield path, command


def test_every_command_speaks_json_or_has_a_reason_not_to() -> None:
    silent = {path for path, command in commands() if not any("--json" in one.opts for one in command.params)}
    assert silent == set(NOT_IN_JSON)


def groups() -> Iterator[tuple[str, ...]]:
    yield ()
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]  # the root is a group
        if getattr(command, "commands", None):
            yield (name,)


@pytest.mark.parametrize("group", list(groups()), ids=" ".join)
def test_a_list_of_commands_says_what_each_does_in_words_that_are_not_cut_off(group: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*group, "--help"], terminal_width=110).stdout
    listed = shown.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert listed
    assert [line for line in listed if line.endswith("...")] == []
