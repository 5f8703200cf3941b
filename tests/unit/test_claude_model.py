"""What is Claude Code's own: a program that is run, sees little, and leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from tests.providers import claude
from tests.providers.brain import agreeing
from tests.providers.claude import MODEL, claude_routes, failed, option, result, write_program
from tests.providers.server import ProviderServer, Reply, wait_for
from tests.unit.test_language_models import ANSWER, PROMPT, SCHEMA, Book
from tributary.core.errors import (
    BadSetting,
    ModelFailed,
    ModelMalformed,
    ModelRefused,
    ModelThrottled,
    ModelTimedOut,
    ModelUnreachable,
)
from tributary.core.spending import on_account
from tributary.models.llms import ClaudeModel

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nowhere/home",
    "LC_ALL": "C.UTF-8",
    "ANTHROPIC_API_KEY": "sk-ant-own",
    "CLAUDE_CONFIG_DIR": "/nowhere/config",
    "CLAUDE_CODE_USE_BEDROCK": "1",
    "AWS_REGION": "eu-central-1",
    "TRIBUTARY_OPENAI_API_KEY": "hush",
    "TRIBUTARY_DATABASE_URL": "postgresql://hush",
    "DATABASE_URL": "postgresql://hush",
    "PGPASSWORD": "hush",
    "OPENAI_API_KEY": "hush",
    "CLAUDECODE": "1",
    "NODE_OPTIONS": "--require=/nowhere/hush.js",
}


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(claude_routes(agreeing)) as server:
        yield server


def made(
    server: ProviderServer,
    folder: Path,
    *,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = 20.0,
    attempts: int = 1,
) -> ClaudeModel:
    return ClaudeModel(
        model=MODEL,
        command=write_program(folder, server.url),
        environment=environment or ENVIRONMENT,
        timeout_s=timeout_s,
        attempts=attempts,
        max_output_tokens=512,
        sleep=lambda _: None,
    )


def gone(process: int) -> bool:
    """Tells whether the process is no more, or only waits to be reaped by whoever adopted it."""
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_the_program_sees_its_own_credentials_and_nothing_else_of_ours(server: ProviderServer, tmp_path: Path) -> None:
    assert made(server, tmp_path).answer(PROMPT, timeout_s=None) == ANSWER
    seen = server.asked[0].body["environment"]
    assert "hush" not in str(seen)
    assert set(seen) - {"CLAUDE_CODE_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "MAX_THINKING_TOKENS"} == {
        "PATH",
        "HOME",
        "LC_ALL",
        "ANTHROPIC_API_KEY",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_USE_BEDROCK",
        "AWS_REGION",
    }
    assert seen["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "512"


@pytest.mark.parametrize("switch", [None, "", "0", "false", "No", "off"])
def test_the_credentials_of_a_cloud_stay_out_where_it_does_not_need_them(
    server: ProviderServer, tmp_path: Path, switch: str | None
) -> None:
    off = {name: value for name, value in ENVIRONMENT.items() if name != "CLAUDE_CODE_USE_BEDROCK"}
    if switch is not None:
        off["CLAUDE_CODE_USE_BEDROCK"] = switch
    made(server, tmp_path, environment=off).answer(PROMPT, timeout_s=None)
    assert "AWS_REGION" not in server.asked[0].body["environment"]


@pytest.mark.parametrize("switch", ["1", "TRUE", "yes", "on"])
def test_the_credentials_of_a_cloud_are_there_where_it_is_on(server: ProviderServer, tmp_path: Path, switch: str) -> None:
    made(server, tmp_path, environment={**ENVIRONMENT, "CLAUDE_CODE_USE_BEDROCK": switch}).answer(PROMPT, timeout_s=None)
    assert "AWS_REGION" in server.asked[0].body["environment"]


def test_the_question_goes_through_standard_input_which_ends_there(server: ProviderServer, tmp_path: Path) -> None:
    made(server, tmp_path).answer(PROMPT, timeout_s=None)
    body = server.asked[0].body
    assert body["given"] == PROMPT.material, "the program read to the end, so its input is neither ours nor open"
    assert PROMPT.material not in str(body["arguments"]), "every user of the computer can read the arguments of a program"


def test_it_runs_in_an_empty_folder_that_is_removed_without_settings_tools_or_servers(
    server: ProviderServer, tmp_path: Path
) -> None:
    made(server, tmp_path).answer(PROMPT, timeout_s=None)
    body = server.asked[0].body
    arguments = body["arguments"]
    assert body["entries"] == []
    assert not Path(body["folder"]).exists()
    assert (option(arguments, "--setting-sources"), option(arguments, "--tools")) == ("", "")
    assert {"-p", "--strict-mcp-config", "--no-session-persistence", "--disable-slash-commands"} <= set(arguments)
    assert (option(arguments, "--output-format"), option(arguments, "--model")) == ("json", MODEL)
    assert claude.read(body)[2] == SCHEMA


def test_a_long_question_is_written_while_the_program_reads(server: ProviderServer, tmp_path: Path) -> None:
    long = PROMPT.__class__(**{**PROMPT.__dict__, "material": "x" * 1_000_000})
    made(server, tmp_path).answer(long, timeout_s=None)
    assert len(server.asked[0].body["given"]) == 1_000_000


@pytest.mark.parametrize("hangs", [False, True])
def test_a_child_that_would_outlive_the_program_is_killed_with_it(server: ProviderServer, tmp_path: Path, hangs: bool) -> None:
    note = tmp_path / "child"
    whole = result(structured_output=ANSWER)
    headers = {**whole.headers, "x-child": str(note)}
    server.script(Reply(document=whole.document, headers=headers, drip_s=0.5 if hangs else 0.0))
    model = made(server, tmp_path, timeout_s=3.0 if hangs else 20.0)
    if hangs:
        with pytest.raises(ModelTimedOut):
            model.answer(PROMPT, timeout_s=None)
    else:
        assert model.answer(PROMPT, timeout_s=None) == ANSWER, "the child holds the pipe open, and is not waited for"
    assert wait_for(lambda: gone(int(note.read_text("utf-8"))))


def test_a_program_that_hangs_is_dead_when_the_time_out_is_told(server: ProviderServer, tmp_path: Path) -> None:
    server.always(Reply(delay_s=60.0))
    with pytest.raises(ModelTimedOut):
        made(server, tmp_path, timeout_s=2.0).answer(PROMPT, timeout_s=None)
    assert gone(server.asked[0].body["process"])


def test_a_program_that_floods_is_killed(server: ProviderServer, tmp_path: Path) -> None:
    server.script(Reply(raw=b"y\n" * 30_000_000))
    with pytest.raises(ModelMalformed, match="more than 4194304 bytes"):
        made(server, tmp_path).answer(PROMPT, timeout_s=None)
    assert gone(server.asked[0].body["process"])


def test_a_program_that_does_not_read_is_no_trouble(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text(
        '#!/bin/sh\nexec <&-\necho "{\\"type\\":\\"result\\",\\"subtype\\":\\"success\\",\\"result\\":\\"{}\\"}"\n', "utf-8"
    )
    program.chmod(0o755)
    long = PROMPT.__class__(**{**PROMPT.__dict__, "material": "x" * 1_000_000})
    assert ClaudeModel(model=MODEL, command=program).answer(long, timeout_s=None) == {}


def test_a_program_that_dies_says_only_how(server: ProviderServer, tmp_path: Path) -> None:
    server.script(Reply(raw=b"Segmentation hush", headers={"x-exit": "139"}))
    with pytest.raises(ModelFailed, match="exit code 139") as caught:
        made(server, tmp_path).answer(PROMPT, timeout_s=None)
    assert "hush" not in caught.value.detail


def test_a_result_among_all_messages_is_found(server: ProviderServer, tmp_path: Path) -> None:
    server.script(Reply(document=[{"type": "system"}, result(structured_output=ANSWER).document]))
    assert made(server, tmp_path).answer(PROMPT, timeout_s=None) == ANSWER


def test_its_own_cost_and_all_its_input_are_charged(server: ProviderServer, tmp_path: Path) -> None:
    book = Book()
    with on_account(book):
        made(server, tmp_path).answer(PROMPT, timeout_s=None)
    assert (book.calls[0].cost_usd, book.calls[0].input_tokens) == (Decimal("0.0125"), 120)


ERRORS: dict[str, tuple[Reply, type[ModelFailed], str]] = {
    "not logged in": (failed("Not logged in · Please run /login"), ModelFailed, "log in with /login"),
    "a wrong key": (failed("Invalid API key · Fix external API key"), ModelFailed, "log in with /login"),
    "denied": (failed('API Error: 403 {"type":"error"}'), ModelFailed, "log in with /login"),
    "a limit": (failed("You've hit your limit · resets 3am (UTC)"), ModelThrottled, "no more requests"),
    "a limit by its number": (failed("no words", api_error_status=429), ModelThrottled, "no more requests"),
    "overloaded": (failed("API Error: 529 Overloaded"), ModelUnreachable, "overloaded"),
    "no network": (failed("API Error: Connection error."), ModelUnreachable, "cannot be reached"),
    "a policy": (failed("API Error: Claude Code is unable to respond: our Usage Policy"), ModelRefused, "declined"),
    "too long an answer": (
        failed("API Error: Claude's response exceeded the 512 output token maximum."),
        ModelMalformed,
        "more output tokens",
    ),
    "no such model": (failed('API Error: 404 {"type":"error","error":{"type":"not_found_error"}}'), ModelFailed, "model"),
    "too many turns": (result(subtype="error_max_turns", is_error=True), ModelMalformed, "error_max_turns"),
    "no fit": (
        result(subtype="error_max_structured_output_retries", is_error=True),
        ModelMalformed,
        "error_max_structured_output_retries",
    ),
    "something new": (result(subtype="error_hush", is_error=True, result="hush"), ModelFailed, "gave no answer"),
}


@pytest.mark.parametrize(("reply", "kind", "remedy"), ERRORS.values(), ids=ERRORS)
def test_an_error_says_what_to_do_and_nothing_of_the_programs_words(
    server: ProviderServer, tmp_path: Path, reply: Reply, kind: type[ModelFailed], remedy: str
) -> None:
    server.script(reply)
    with pytest.raises(ModelFailed, match=remedy) as caught:
        made(server, tmp_path).answer(PROMPT, timeout_s=None)
    assert type(caught.value) is kind
    assert "hush" not in caught.value.detail


def test_a_program_that_is_not_there_is_a_bad_setting(server: ProviderServer, tmp_path: Path) -> None:
    book = Book()
    with pytest.raises(BadSetting, match="TRIBUTARY_CLAUDE_COMMAND"), on_account(book):
        ClaudeModel(model=MODEL, command=tmp_path / "none").answer(PROMPT, timeout_s=None)
    assert book.calls == []


def test_a_program_is_found_by_its_name(server: ProviderServer, tmp_path: Path) -> None:
    write_program(tmp_path, server.url)
    environment = {**ENVIRONMENT, "PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}"}
    assert ClaudeModel(model=MODEL, environment=environment).answer(PROMPT, timeout_s=None) == ANSWER
