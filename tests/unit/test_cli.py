"""The command line in one process: what it says, to people and to machines, and with which exit code it ends."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from tests.unit.cli_fakes import Surroundings
from tests.unit.client_fakes import ONE, TWO, hit, learned, lesson, problem, receipt
from tributary import __version__
from tributary.client import errors as sdk_errors
from tributary.contract.home import Connection, read_connection, write_connection
from tributary.contract.problems import PROBLEMS
from tributary.core import errors as core_errors
from tributary.core.agent import Role
from tributary.edges.cli.app import app
from tributary.edges.cli.exits import EXITS, exit_for

LEARN = ("learn", "The text", "--situation", "deploying", "--source", "observed", "--ref", "run:88")


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    return Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")})


def run(around: Surroundings, *arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, obj=around.doors(), input=stdin)


def said(result: Result, code: int = 0) -> Any:
    """Returns the JSON value on standard output, of which there must be exactly one and nothing else."""
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_learn_says_what_became_of_the_lesson(around: Surroundings) -> None:
    around.tribe.replies["learn"] = learned(
        outcome="superseded", replaced=[TWO], challenges=["dis_1"], reason="its source outranks"
    )
    result = run(around, *LEARN, "--tag", "env=prod", "--evidence", "log=s3://x=y", "--valid-from", "2026-01-01T00:00:00Z")
    assert result.exit_code == 0
    assert f"superseded: {ONE} (active)" in result.stdout
    assert f"replaced {TWO}" in result.stdout
    assert "its source outranks" in result.stdout
    sent = json.loads(around.tribe.requests[0].content)
    assert sent["tags"] == {"env": "prod"}
    assert sent["evidence"] == [{"type": "log", "ref": "s3://x=y"}]
    assert sent["source"] == {"how": "observed", "ref": "run:88"}
    assert sent["valid_from"] == "2026-01-01T00:00:00Z"


def test_learn_reads_the_text_from_standard_input(around: Surroundings) -> None:
    assert run(around, "learn", "-", *LEARN[2:], stdin="zwei\nZeilen ü\n").exit_code == 0
    assert json.loads(around.tribe.requests[0].content)["text"] == "zwei\nZeilen ü"


def test_learn_speaks_json_as_the_api_does(around: Surroundings) -> None:
    document = said(run(around, *LEARN, "--json"))
    assert (document["outcome"], document["lesson"]["id"], document["tick"]) == ("learned", ONE, 7)


def test_recall_lists_hits_with_what_speaks_against_them_and_what_was_searched(around: Surroundings) -> None:
    challenge = {"id": "dis_7", "lesson": ONE, "text": "the header is X-Bulk"}
    excluded = [{"rule": "superseded", "count": 3}]
    around.tribe.replies["recall"] = {
        "hits": [hit(challenges=[challenge], label="tried, did not help"), hit(TWO)],
        "receipt": receipt(2, excluded=excluded),
    }
    filters = ("--kind", "gotcha", "--kind", "resolution", "--source", "told", "--agent", "a")
    result = run(around, "recall", "deploy", "--as-of", "7", *filters)
    assert result.exit_code == 0
    assert f"1. {lesson()['text']} [tried, did not help]" in result.stdout
    assert f"   {ONE}; when deploying a service; about deploy-api" in result.stdout
    assert "confidence 0.74, score 0.81" in result.stdout
    assert "challenged by dis_7: the header is X-Bulk" in result.stdout
    assert "The search was complete; these are the best matches." in result.stdout
    figures = result.stdout.splitlines()[-1]
    assert figures.startswith("coverage complete; by vector:exact, terms; 57 considered; left out: superseded 3; tick 7 (")
    sent = json.loads(around.tribe.requests[0].content)
    assert (sent["kinds"], sent["as_of"]) == (["gotcha", "resolution"], 7)
    assert (sent["sources"], sent["agent"]) == (["told"], "a")


def test_recall_that_could_not_be_completed_warns_people(around: Surroundings) -> None:
    lame = receipt(0, coverage="unknown", causes=["embedder_failed"], may_assert_absence=False)
    around.tribe.replies["recall"] = {"hits": [], "receipt": lame}
    result = run(around, "recall", "deploy")
    assert "do not conclude that nothing is known" in result.stdout


def test_recall_gives_machines_the_receipt_as_it_was_signed(around: Surroundings) -> None:
    signed = receipt(1, of_a_later_version=True)
    around.tribe.replies["recall"] = {"hits": [hit()], "receipt": signed}
    document = said(run(around, "recall", "deploy", "--json"))
    assert document["receipt"] == signed
    assert document["hits"][0]["lesson"]["id"] == ONE


def test_verify_takes_what_recall_printed_and_says_in_words_what_is_not_so(around: Surroundings, tmp_path: Path) -> None:
    printed = tmp_path / "found.json"
    printed.write_text(run(around, "recall", "deploy", "--json").stdout)
    result = run(around, "verify", str(printed), "--query", "deploy")
    assert (result.exit_code, result.stdout) == (0, "agrees\n  the lessons beside it, 1, are as the tribe shows them\n")
    sent = next(one for one in around.tribe.requests if one.url.path == "/v1/receipts/verify")
    assert json.loads(sent.content) == {"receipt": receipt(1), "query": "deploy"}
    around.tribe.replies["verify"] = {
        "verdict": "diverges",
        "causes": ["embedder_failed", "of_a_later_version"],
        "differences": [
            {"aspect": "signature", "lesson": None, "said": None, "found": None},
            {"aspect": "score", "lesson": ONE, "said": 0.9, "found": 0.5},
        ],
        "erased": [TWO],
        "missed": [ONE],
    }
    result = run(around, "verify", "-", "--query", "deploy", stdin=json.dumps(receipt(1)))
    assert result.exit_code == 9
    assert result.stdout.splitlines() == [
        "diverges",
        "  it is not as it was signed",
        f"  {ONE}: the score is another one (it says 0.9; found: 0.5)",
        "  the query could not be embedded now",
        "  of_a_later_version",
        f"  erased since: {TWO}",
        f"  passed over by the search, which did not call itself complete: {ONE}",
    ]


@pytest.mark.parametrize("content", ["{", "[]", '{"receipt": 3}[', "3"])
def test_verify_refuses_what_holds_no_receipt(around: Surroundings, tmp_path: Path, content: str) -> None:
    file = tmp_path / "found.json"
    file.write_text(content)
    for name in (str(file), str(tmp_path / "absent.json")):
        assert run(around, "verify", name, "--query", "deploy").exit_code == 2
    assert not around.tribe.requests


def test_recall_gives_language_models_a_prompt(around: Surroundings) -> None:
    result = run(around, "recall", "deploy", "--prompt")
    assert re.search(r"^<tributary-lessons-[0-9a-f]{16}>$", result.stdout, re.MULTILINE)
    assert run(around, "recall", "deploy", "--prompt", "--json").exit_code == 2


HOSTILE = "[bold red]x[/bold red] :skull: \x1b[2J\x1b]0;owned\x07 \u202egnp.exe\nsecond\r\nthird \x9b1A"


@pytest.mark.parametrize("command", [("recall", "q"), ("lessons",), LEARN, ("reinforce", ONE)])
def test_nothing_that_a_lesson_says_is_obeyed_by_a_terminal(around: Surroundings, command: tuple[str, ...]) -> None:
    bad = lesson(text=HOSTILE, situation=HOSTILE, subject=HOSTILE)
    challenge = {"id": "dis_\x1b[2J", "lesson": ONE, "text": HOSTILE}
    around.tribe.replies.update(
        recall={"hits": [hit(lesson=bad, label=HOSTILE, challenges=[challenge])], "receipt": receipt(1)},
        lessons={"lessons": [bad], "next": None, "receipt": receipt(1)},
        learn=learned(lesson=bad, reason=HOSTILE),
        reinforce={"outcome": "reinforced", "lesson": bad, "reason": HOSTILE, "tick": 8, "replayed": False},
    )
    result = run(around, *command)
    assert result.exit_code == 0
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", result.stdout)
    assert "[bold red]x[/bold red] :skull: \\x1b[2J" in result.stdout


def test_errors_do_not_let_a_server_speak_to_the_terminal(around: Surroundings) -> None:
    around.tribe.before = lambda _: problem("not_found", detail="gone \x1b[2J")
    result = run(around, "reinforce", ONE)
    assert "\x1b" not in result.stderr
    assert "gone \\x1b[2J" in result.stderr


def test_reinforce_says_how_sure_the_tribe_is_now(around: Surroundings) -> None:
    result = run(around, "reinforce", ONE)
    assert f"reinforced: {ONE}" in result.stdout
    assert "confidence 0.74" in result.stdout
    assert said(run(around, "reinforce", ONE, "--json"))["outcome"] == "reinforced"


def test_lessons_stops_at_its_limit_and_says_that_there_are_more(around: Surroundings) -> None:
    pages = {
        None: {"lessons": [lesson(ONE)], "next": "7", "receipt": receipt(1)},
        "7": {"lessons": [lesson(TWO)], "next": "6", "receipt": receipt(1)},
    }
    around.tribe.before = lambda request: httpx.Response(200, json=pages[request.url.params.get("before")])
    result = run(around, "lessons", "--limit", "2", "--status", "any")
    assert [line[: len(ONE)] for line in result.stdout.splitlines()[1:]] == [ONE, TWO]
    assert "There are more" in result.stderr
    document = said(run(around, "lessons", "--limit", "2", "--json"))
    assert [one["id"] for one in document["lessons"]] == [ONE, TWO]
    assert document["more"] is True
    assert len(document["receipts"]) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "Usage"),
        (("recal",), 2, "recal"),
        (("learn", "x"), 2, "situation"),
        (("learn", "x", "--situation", "s"), 2, "source"),
        ((*LEARN, "--tag", "novalue"), 2, "KEY=VALUE"),
        ((*LEARN, "--valid-from", "yesterday"), 2, "time with an offset"),
        ((*LEARN, "--valid-from", "2026-01-01T00:00:00"), 2, "time with an offset"),
        (("recall", "q", "--as-of", "-1"), 2, "as-of"),
        (("recall", "q", "--limit", "0"), 3, "limit"),
        (("recall", " "), 3, "query"),
        ((*LEARN, "--confidence", "2"), 3, "confidence"),
        (("reinforce", "les_1"), 3, "les_"),
        (("tribe", "index", "nowhere"), 5, "nowhere"),
        (("agent", "create", "a", "--role", "king"), 2, "king"),
        (("agent", "create", "a", "--role", "writer", "--days", "0"), 2, "days"),
        (("agent", "rotate", "a", "--days", "0"), 2, "days"),
        (("agent", "revoke-token", "trb_secret-1"), 3, "tok_"),
    ],
)
def test_a_users_mistake_is_named_without_a_traceback(
    around: Surroundings, arguments: tuple[str, ...], code: int, words: str
) -> None:
    result = run(around, *arguments)
    assert result.exit_code == code
    assert words in result.stderr + (result.stdout if not arguments else "")
    assert "Traceback" not in result.output
    assert not around.tribe.requests


ASK_THE_LOG = {"model_failed", "internal", "bad_setting", "unavailable", "corrupt"}


@pytest.mark.parametrize("code", ["internal", "bad_setting", "corrupt"])
def test_a_reply_that_points_at_the_log_itself_is_only_given_its_operation(around: Surroundings, code: str) -> None:
    detail = f"{PROBLEMS[code].title}; the server's log tells more under the operation's id."
    around.tribe.before = lambda _: problem(code, detail, operation="op-1")
    assert run(around, *LEARN).stderr == f"Error: {detail}\n  Operation op-1.\n"


@pytest.mark.parametrize("code", sorted(PROBLEMS))
def test_a_refusal_ends_with_the_exit_code_of_its_kind_and_says_so_on_standard_error_alone(
    around: Surroundings, code: str
) -> None:
    field = {"field": "text", "rule": "is too long"}
    around.tribe.before = lambda _: problem(code, operation="op-1", errors=[field, field])
    result = run(around, *LEARN)
    assert result.exit_code == exit_for(code)
    assert result.stdout == ""
    assert "Error: what was wrong" in result.stderr
    assert "text: is too long" in result.stderr
    assert ("op-1" in result.stderr) == (code in ASK_THE_LOG)
    as_json = run(around, *LEARN, "--json")
    assert as_json.stdout == ""
    told = json.loads(as_json.stderr)["error"]
    assert (told["code"], told["exit"], told["operation"]) == (code, exit_for(code), "op-1")


def test_every_error_code_of_library_and_sdk_has_its_place_in_the_one_table() -> None:
    def codes(root: type[Any], name: str) -> set[str]:
        return {getattr(root, name)} | {code for kind in root.__subclasses__() for code in codes(kind, name)}

    listed = {code for row in EXITS for code in row.codes}
    known = codes(sdk_errors.TributaryError, "default_code") | codes(core_errors.TributaryError, "code") | set(PROBLEMS)
    assert known <= listed
    assert len([code for row in EXITS for code in row.codes]) == len(listed)


def test_help_has_the_table_of_exit_codes_and_each_command_an_example(around: Surroundings) -> None:
    top = run(around, "--help").stdout
    for row in EXITS:
        assert f"{row.value:>3}  {row.meaning}" in top
    commands = [
        *(("serve",), ("learn",), ("recall",), ("reinforce",), ("lessons",), ("migrate",), ("version",)),
        *(("tribe", "create"), ("tribe", "list"), ("tribe", "index")),
        *(("agent", "create"), ("agent", "list"), ("agent", "revoke"), ("agent", "tokens"), ("agent", "rotate")),
        *(("agent", "revoke-token"), ("agent", "bind"), ("agent", "unbind")),
    ]
    for command in commands:
        shown = run(around, *command, "--help").stdout
        assert "Example:" in shown
        assert f"tributary {' '.join(command)}" in shown
        assert "--json" in shown


def test_an_unforeseen_error_is_one_line_and_its_traceback_is_kept_without_what_it_said(
    around: Surroundings, tmp_path: Path
) -> None:
    around.operator.failure = RuntimeError("holds a lesson's text")
    result = run(around, "migrate")
    assert result.exit_code == 70
    assert result.stderr.count("\n") == 1
    kept = tmp_path / "home" / "cli-errors.log"
    assert str(kept) in result.stderr
    assert "--debug" in result.stderr
    assert "RuntimeError" in kept.read_text()
    assert "cli_fakes.py" in kept.read_text()
    assert "lesson's text" not in kept.read_text() + result.output
    assert kept.stat().st_mode & 0o077 == 0
    debugged = run(around, "--debug", "migrate")
    assert "Traceback" in debugged.stderr
    assert "holds a lesson's text" in debugged.stderr


def test_a_folder_that_cannot_be_used_is_named(around: Surroundings, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    result = run(around, "serve", "--port", "0")
    assert result.exit_code == 7
    assert str(tmp_path / "home") in result.stderr


def test_a_missing_package_is_told_with_the_extra_that_brings_it(around: Surroundings) -> None:
    around.operator.failure = ModuleNotFoundError("No module named 'psycopg'", name="psycopg")
    result = run(around, "migrate")
    assert result.exit_code == 7
    assert "pip install 'tributary-memory[server]'" in result.stderr
    around.operator.failure = ModuleNotFoundError("No module named 'ours'", name="ours")
    assert run(around, "migrate").exit_code == 70


def test_an_interrupt_ends_a_command_with_its_own_code(around: Surroundings) -> None:
    def interrupt(_: httpx.Request) -> None:
        raise KeyboardInterrupt

    around.tribe.before = interrupt
    result = run(around, "recall", "q")
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")


def test_operator_commands_speak_to_people_and_machines(around: Surroundings) -> None:
    made = run(around, "tribe", "create", "payments", "--curator", "alice")
    assert "trb_secret-1" in made.stdout
    assert said(run(around, "tribe", "create", "ops", "--json"))["token"] == "trb_secret-2"
    assert run(around, "tribe", "create", "ops").exit_code == 5
    assert [one["name"] for one in said(run(around, "tribe", "list", "--json"))] == ["payments", "ops"]
    assert "payments" in run(around, "tribe", "list").stdout
    writer = said(run(around, "agent", "create", "w", "--role", "writer", "--tribe", "ops", "--days", "1", "--json"))
    assert (writer["agent"], writer["role"], writer["expires_at"]) == ("w", "writer", "2026-03-02T12:00:00+00:00")
    assert [one["name"] for one in said(run(around, "agent", "list", "--tribe", "ops", "--json"))] == ["curator", "w"]
    assert said(run(around, "agent", "revoke", "w", "--tribe", "ops", "--json"))["revoked_at"]
    assert "exact search" in run(around, "tribe", "index", "ops").stdout
    assert said(run(around, "tribe", "index", "ops", "--json")) == {"tribe": "ops", "index": False}
    assert run(around, "migrate").exit_code == 0
    assert around.operator.migrated == 1
    assert run(around, "migrate", "--sql").stdout == around.operator.migration_sql()
    assert said(run(around, "migrate", "--sql", "--json")) == {"sql": around.operator.migration_sql()}


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_a_terminal_would_obey_in_a_functions_script_is_shown_as_text(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    monkeypatch.setattr(around.operator, "migration_sql", lambda: "SELECT 1;\n-- \x1b]0;owned\x07 \x9b31m \x7f\n")
    monkeypatch.setattr("typer.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    shown = run(around, "migrate", "--sql", *form).stdout
    assert "owned" in shown
    assert not set(shown) & set("\x1b\x07\x9b\x7f")
    build = said(run(around, "version", "--json"))
    assert (build["version"], build["build"]) == (__version__, "source")
    assert run(around, "version").stdout == f"tributary {__version__}\n"
    assert run(around, "--version").stdout == f"tributary {__version__}\n"


def test_tokens_are_listed_rotated_and_revoked_without_a_secret_but_the_new_one(around: Surroundings) -> None:
    around.operator.create_tribe("default")
    (first,) = said(run(around, "agent", "tokens", "curator", "--json"))
    assert (first["id"], first["last_used_at"]) == ("tok_00000000000000000000000000000001", None)
    assert "trb_" not in run(around, "agent", "tokens", "curator").stdout
    assert "\tnever\t" in run(around, "agent", "list").stdout
    assert said(run(around, "agent", "list", "--json"))[0]["last_used_at"] is None
    kept = said(run(around, "agent", "rotate", "curator", "--keep-others", "--days", "1", "--json"))
    assert (kept["token"], kept["expires_at"]) == ("trb_secret-2", "2026-03-02T12:00:00+00:00")
    ended = run(around, "agent", "revoke-token", first["id"])
    assert first["id"] in ended.stdout
    assert ended.stderr == ""
    assert "trb_secret-3" in run(around, "agent", "rotate", "curator").stdout
    standing = [one["revoked_at"] is None for one in said(run(around, "agent", "tokens", "curator", "--json"))]
    assert standing == [False, False, True]


def test_aws_principals_are_bound_listed_and_unbound(around: Surroundings) -> None:
    around.operator.create_tribe("default")
    role, user = "arn:aws:iam::123456789012:role/a", "arn:aws:iam::123456789012:user/b"
    assert run(around, "agent", "list").stdout.endswith("\tnone\n")
    assert role in run(around, "agent", "bind", "curator", "--principal", role).stdout
    assert said(run(around, "agent", "bind", "curator", "--principal", user, "--json"))["principals"] == [role, user]
    assert run(around, "agent", "list").stdout.endswith(f"\t{role}, {user}\n")
    assert said(run(around, "agent", "list", "--json"))[0]["principals"] == [role, user]
    assert said(run(around, "agent", "unbind", "curator", "--principal", role, "--json"))["principals"] == [user]
    assert "by: none." in run(around, "agent", "unbind", "curator", "--principal", user).stdout
    assert run(around, "agent", "bind", "curator").exit_code == 2


@pytest.mark.parametrize("what", [("revoke", "curator"), ("revoke-token", "tok_00000000000000000000000000000001")])
def test_taking_the_last_curator_is_done_and_warned_about(around: Surroundings, what: tuple[str, str]) -> None:
    around.operator.create_tribe("default")
    result = run(around, "agent", *what, "--json")
    assert (result.exit_code, said(result)["revoked_at"] is None) == (0, False)
    assert "no curator left" in result.stderr


def test_revoking_a_curator_beside_whom_there_is_another_is_not_warned_about(around: Surroundings) -> None:
    around.operator.create_tribe("default")
    around.operator.create_agent("default", "second", Role.CURATOR)
    assert run(around, "agent", "revoke", "curator").stderr == ""


def test_a_kept_token_takes_the_place_of_the_old_one_which_is_set_aside(around: Surroundings, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    write_connection(home, Connection(url="http://127.0.0.1:9001", token="before"))
    around.operator.create_tribe("default")
    run(around, "agent", "create", "me", "--role", "curator", "--keep")
    assert read_connection(home) == Connection(url="http://127.0.0.1:9001", token="trb_secret-2")
    (aside,) = home.glob("connection-*.json")
    assert json.loads(aside.read_text())["token"] == "before"
    assert aside.stat().st_mode & 0o077 == 0


def test_the_command_line_adds_no_handler_to_the_root_logger(around: Surroundings) -> None:
    before = list(logging.getLogger().handlers)
    run(around, "version")
    assert logging.getLogger().handlers == before


def test_a_time_as_it_is_printed_can_be_given_back() -> None:
    from datetime import UTC, datetime

    from tributary.edges.cli.options import time_or_tick
    from tributary.edges.cli.words import moment

    when = datetime(2026, 3, 1, 12, 30, 5, tzinfo=UTC)
    assert time_or_tick(moment(when), "--as-of") == when
    assert time_or_tick("418", "--as-of") == 418
