"""`tributary --via lambda`: boto3, the wire and the real function before a real database; and all that may go wrong between."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner, Result

from tests.contract.deployed import Deployed
from tests.lambda_api import lambda_api, refused, unhandled
from tests.providers.server import ProviderServer, Reply, unreachable
from tests.tribes import SEEN
from tributary.contract.operator import TRIBES
from tributary.core.lesson import Draft
from tributary.edges.cli.app import app
from tributary.edges.cli.exits import exit_for
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.invoking import OperatorFunction
from tributary.service import Settings, load_settings, open_memory, open_operator

NAME = "acme-operator"


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Somebody's environment, with credentials and a region, and nothing of this machine's."""
    known = {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "AWS_REGION": "eu-central-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "TRIBUTARY_HOME": str(tmp_path / "home"),
        "TRIBUTARY_OPERATOR_FUNCTION": NAME,
    }
    for name, value in known.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.fixture
def lambdas(database_url: str, aws: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with Deployed("operator", {"TRIBUTARY_DATABASE_URL": database_url}) as operator, lambda_api({NAME: operator}) as server:
        aws.setenv("AWS_ENDPOINT_URL_LAMBDA", server.url)
        yield server


@pytest.fixture
def nothing(aws: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """The Invoke API of an account without functions."""
    with lambda_api({}) as server:
        aws.setenv("AWS_ENDPOINT_URL_LAMBDA", server.url)
        yield server


def draft(number: int) -> Draft:
    return Draft(text=f"Pump {number} cools the server {number * 7}", situation="cooling", source=SEEN)


def lose_vectors(url: str) -> None:
    """Takes from every lesson its vector, as if it had been learned while the embedder was away."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DELETE FROM tributary.lesson_vector")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["--via", "lambda", *arguments])


def said(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def failed(*arguments: str) -> tuple[str, str, int]:
    """Returns the code, the detail and the exit code of a command that fails."""
    result = run(*arguments, "--json")
    assert result.exit_code != 0, result.output
    assert "hunter2" not in result.output
    error = json.loads(result.stderr)["error"]
    assert result.exit_code == error["exit"] == exit_for(error["code"])
    return error["code"], error["detail"], error["exit"]


def test_every_operators_command_works_through_the_function(lambdas: ProviderServer, database_url: str) -> None:
    made = said("tribe", "create", "payments", "--curator", "alice")
    assert (made["tribe"], made["agent"], made["role"]) == ("payments", "alice", "curator")
    with open_memory(Settings.model_validate({"TRIBUTARY_DATABASE_URL": database_url})) as memory:
        assert memory.authenticate(made["token"]).name == "alice"
    assert [one["name"] for one in said("tribe", "list")] == ["payments"]
    assert said("agent", "create", "bob", "--role", "reader", "--tribe", "payments", "--days", "9")["role"] == "reader"
    assert [one["name"] for one in said("agent", "list", "--tribe", "payments")] == ["alice", "bob"]
    assert said("agent", "rotate", "bob", "--tribe", "payments", "--keep-others")["agent"] == "bob"
    tokens = said("agent", "tokens", "bob", "--tribe", "payments")
    assert said("agent", "revoke-token", tokens[0]["id"], "--tribe", "payments")["revoked_at"]
    assert said("agent", "revoke", "bob", "--tribe", "payments")["revoked_at"]
    assert said("tribe", "index", "payments") == {"tribe": "payments", "index": False}
    assert [one["state"] for one in said("space", "list", "--tribe", "payments")] == ["serving"]
    assert failed("space", "create", "--tribe", "payments")[0] == "bad_setting"
    assert failed("space", "build", "--tribe", "payments")[0] == "not_found"
    assert failed("space", "switch", "--tribe", "payments")[0] == "not_found"
    assert failed("space", "drop", "--space", "1", "--tribe", "payments")[0] == "wrong_standing"
    assert said("rotate-signing-key")["key"]
    assert "CREATE TABLE" in said("migrate", "--sql")["sql"]
    assert {one.body["cell"] for one in lambdas.asked} == {None}
    assert "--via" not in run("tribe", "list").output


def test_the_last_curators_end_is_warned_of_through_the_function_too(lambdas: ProviderServer) -> None:
    said("tribe", "create", "payments")
    assert "has no curator left" in run("agent", "revoke", "curator", "--tribe", "payments").stderr


def test_a_function_does_not_migrate(lambdas: ProviderServer) -> None:
    code, detail, exit_code = failed("migrate")
    assert (code, exit_code) == ("not_configured", 7)
    assert "the function 'migrate' does" in detail
    assert not lambdas.asked


def test_a_space_is_built_by_as_many_calls_as_it_takes(aws: pytest.MonkeyPatch, database_url: str) -> None:
    url = {"TRIBUTARY_DATABASE_URL": database_url, "TRIBUTARY_EMBEDDER": "minilm"}
    with open_operator(Settings.model_validate(url)) as operator:
        token = operator.create_tribe("payments").token.secret
    with open_memory(Settings.model_validate(url)) as memory:
        curator = memory.authenticate(token)
        for number in range(40):
            memory.learn(curator, draft(number))
    with (
        Deployed("operator", url, left_ms=1) as operator_function,
        lambda_api({NAME: operator_function}) as server,
    ):
        aws.setenv("AWS_ENDPOINT_URL_LAMBDA", server.url)
        lose_vectors(database_url)
        built = said("space", "build", "--space", "1", "--tribe", "payments")
    assert (built["made"], built["left"]) == (40, 0)
    assert len(server.asked) == 3  # the last one finds nothing to do


def test_what_the_function_refuses_has_the_code_that_it_has_directly(lambdas: ProviderServer) -> None:
    said("tribe", "create", "payments")
    assert failed("tribe", "create", "payments")[::2] == ("wrong_standing", 5)
    assert failed("agent", "list", "--tribe", "nowhere")[::2] == ("not_found", 5)
    asked = len(lambdas.asked)
    assert failed("tribe", "create", "a tribe")[::2] == ("invalid_request", 3)
    assert len(lambdas.asked) == asked


@pytest.mark.parametrize(
    ("reply", "code", "words"),
    [
        (refused(403, "AccessDeniedException"), "forbidden", "lambda:InvokeFunction"),
        (refused(403, "ExpiredTokenException"), "unauthenticated", "renew them"),
        (refused(403, "UnrecognizedClientException"), "unauthenticated", "check the access key"),
        (refused(404, "ResourceNotFoundException"), "not_configured", f"no function '{NAME}'"),
        (refused(429, "TooManyRequestsException"), "rate_limited", "nothing was done"),
        (refused(502, "EC2ThrottledException"), "rate_limited", "nothing was done"),
        (refused(500, "ServiceException"), "unavailable", "not known"),
        (refused(400, "InvalidParameterValueException"), "not_configured", "check --function"),
        (unhandled({"errorType": "Sandbox.Timedout", "errorMessage": "hunter2"}), "timed_out", "not known"),
        (unhandled({"errorMessage": "2026-03-01 1b Task timed out after 900.00 seconds"}), "timed_out", "not known"),
        (unhandled({"errorType": "Runtime.ImportModuleError", "errorMessage": "hunter2"}), "internal", "ImportModuleError"),
        (Reply(document=None), "bad_reply", "operator's function"),
        (Reply(raw=b"<html>hunter2</html>"), "bad_reply", "operator's function"),
        (Reply(raw=b""), "bad_reply", "operator's function"),
        (Reply(document={"statusCode": 200}), "bad_reply", "as new"),
        (Reply(document={"result": {"tribe": "hunter2"}}), "bad_reply", "not known"),
        (Reply(document={"error": "hunter2"}), "bad_reply", "not known"),
        (Reply(cut=True), "unreachable", "not known"),
        (Reply(raw=b"{}", length=100), "unreachable", "not known"),
    ],
)
def test_what_goes_wrong_on_the_way_is_told_with_what_to_do_and_nothing_is_sent_twice(
    nothing: ProviderServer, reply: Reply, code: str, words: str
) -> None:
    nothing.script(reply)
    found, detail, _ = failed("tribe", "create", "payments")
    assert (found, words in detail) == (code, True), detail
    assert len(nothing.asked) == 1


def test_an_answer_that_does_not_come_is_given_up(nothing: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing.script(Reply(document={}, delay_s=30))
    function = OperatorFunction(NAME, region=None, environment={"AWS_REGION": "eu-central-1"}, timeout_s=0.3)
    with pytest.raises(CommandFailed) as raised:
        function.call(TRIBES)
    assert raised.value.code == "timed_out"
    assert len(nothing.asked) == 1


def test_without_credentials_region_or_name_it_says_what_to_set(nothing: ProviderServer, aws: pytest.MonkeyPatch) -> None:
    aws.delenv("AWS_REGION")
    assert "AWS_REGION" in failed("tribe", "list")[1]
    aws.setenv("AWS_PROFILE", "nobody")
    assert "AWS_PROFILE" in failed("tribe", "list")[1]
    aws.delenv("AWS_PROFILE")
    aws.setenv("AWS_REGION", "eu-central-1")
    aws.delenv("AWS_ACCESS_KEY_ID")
    code, detail, exit_code = failed("tribe", "list")
    assert (code, exit_code, "AWS_PROFILE" in detail) == ("not_configured", 7, True)
    aws.delenv("TRIBUTARY_OPERATOR_FUNCTION")
    assert "TRIBUTARY_OPERATOR_FUNCTION" in failed("tribe", "list")[1]
    assert not nothing.asked


def test_nothing_listens(aws: pytest.MonkeyPatch) -> None:
    aws.setenv("AWS_ENDPOINT_URL_LAMBDA", unreachable())
    code, detail, exit_code = failed("tribe", "create", "payments")
    assert (code, exit_code, "nothing was done" in detail) == ("unreachable", 6, True)


def test_boto3_is_an_extra_of_its_own(aws: pytest.MonkeyPatch) -> None:
    aws.setitem(sys.modules, "boto3", None)
    code, detail, exit_code = failed("tribe", "list")
    assert (code, exit_code, "tributary-memory[aws]" in detail) == ("missing_extra", 7, True)


def test_name_and_region_of_the_command_line_and_of_an_arn_go_first(nothing: ProviderServer, aws: pytest.MonkeyPatch) -> None:
    run("--function", "other", "--region", "us-west-2", "tribe", "list")
    aws.setenv("TRIBUTARY_OPERATOR_FUNCTION", "arn:aws:lambda:ap-south-1:123456789012:function:operator")
    run("tribe", "list")
    paths = [one.path for one in nothing.asked]
    scopes = [one.headers["authorization"].split("/")[2] for one in nothing.asked]
    assert (paths[0], scopes) == ("/2015-03-31/functions/other/invocations", ["us-west-2", "ap-south-1"])


@pytest.mark.parametrize("command", [("serve",), ("garden",), ("probe",), ("models",), ("recall", "deploying")])
def test_what_is_no_operators_command_does_not_go_through_a_function(nothing: ProviderServer, command: tuple[str, ...]) -> None:
    assert failed(*command)[::2] == ("invalid_request", 3)
    assert not nothing.asked


@pytest.mark.parametrize("option", ["--function", "--region"])
def test_options_of_the_function_need_it(aws: pytest.MonkeyPatch, option: str) -> None:
    result = CliRunner().invoke(app, [option, "x", "tribe", "list"])
    assert (result.exit_code, "needs --via lambda" in result.output) == (2, True)


def test_the_clients_variable_stops_no_server(aws: pytest.MonkeyPatch) -> None:
    assert load_settings().database_url is None


def test_a_setting_of_the_server_is_not_read_for_the_function(lambdas: ProviderServer, aws: pytest.MonkeyPatch) -> None:
    aws.setenv("TRIBUTARY_DATABASE_URL", "mysql://elsewhere")
    assert said("tribe", "list") == []
