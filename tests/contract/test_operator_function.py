"""The operator's function as it is deployed: each sample event through its own process, on real PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, cast

import psycopg
import pytest

from tests.contract.deployed import Deployed
from tests.contract.samples import Context
from tests.contract.test_events import EVENTS, load
from tests.doubles import RuledJudge, all_unrelated
from tests.spaces import Projected
from tests.tribes import Tribal, open_tribal
from tributary.contract.operator import OPERATIONS
from tributary.edges.cli.faces import OperatorFace
from tributary.edges.lambda_http.operating import DOES, operated
from tributary.service import open_operator

SAMPLES = {path.stem: load(path) for path in sorted((EVENTS / "operator").glob("*.json"))}
NOT_OURS = {"migrate", "export", "restore", "export_evidence", "restore_evidence"}  # a reply holds 6 MB, a tribe more
"""What the operator's face has and the function does not: another function migrates, at each deployment."""


@pytest.fixture
def function(database_url: str) -> Iterator[Deployed]:
    settings = {"TRIBUTARY_DATABASE_URL": database_url, "TRIBUTARY_EXACT_LIMIT": "0"}
    with Deployed("operator", settings) as deployed:
        yield deployed


def asked(deployed: Deployed, operation: str, **arguments: object) -> dict[str, Any]:
    return cast("dict[str, Any]", deployed({"operation": operation, "arguments": arguments, "cell": None}))


def result(deployed: Deployed, operation: str, **arguments: object) -> dict[str, Any]:
    reply = asked(deployed, operation, **arguments)
    assert list(reply) == ["result"], reply
    return cast("dict[str, Any]", reply["result"])


def error(deployed: Deployed, operation: str, **arguments: object) -> dict[str, str]:
    reply = asked(deployed, operation, **arguments)
    assert list(reply) == ["error"], reply
    return cast("dict[str, str]", reply["error"])


def test_the_table_has_all_that_an_operator_does_but_migrating() -> None:
    face = {name for name in vars(OperatorFace) if not name.startswith("_")}
    assert set(OPERATIONS) == (face - NOT_OURS) | {"build_indexes"}
    assert set(DOES) == set(OPERATIONS)


def test_every_operation_has_a_sample_event() -> None:
    assert {event["operation"] for event in SAMPLES.values()} == {*OPERATIONS, "drop_tribe"}


def test_every_sample_event_is_answered_by_the_deployed_function(function: Deployed) -> None:
    made = function(SAMPLES["create-tribe"])["result"]
    assert (made["tribe"]["name"], made["curator"]["agent"]["role"]) == ("payments", "curator")
    assert function(SAMPLES["create-agent"])["result"]["agent"]["role"] == "writer"
    for name, event in SAMPLES.items():
        reply = function(event)
        assert list(reply) in (["result"], ["error"]), name
        if "result" in reply:
            OPERATIONS[event["operation"]].result.model_validate(reply["result"], strict=False)
    refused = {name: function(event)["error"]["code"] for name, event in SAMPLES.items() if "error" in function(event)}
    assert refused == {
        "create-tribe": "wrong_standing",
        "create-agent": "wrong_standing",
        "revoke-token": "not_found",
        "create-space": "bad_setting",
        "build-space": "not_found",
        "switch-space": "not_found",
        "drop-space": "wrong_standing",
        "bind": "wrong_standing",
        "unbind": "not_found",
        "unknown-operation": "invalid_request",
        "unknown-argument": "invalid_request",
        "other-cell": "not_found",
    }


@pytest.mark.parametrize(
    ("event", "field"),
    [
        ({"operation": "drop_everything"}, "operation"),
        ({"operation": "migrate"}, "operation"),
        ({"operation": 7}, "operation"),
        ({}, "operation"),
        ([], "body"),
        ("tribes", "body"),
        (None, "body"),
        ({"operation": "tribes", "region": "eu"}, "region"),
        ({"operation": "tribes", "cell": 7}, "cell"),
        ({"operation": "tribes", "arguments": []}, "arguments"),
        ({"operation": "tribes", "arguments": {"limit": 3}}, "arguments.limit"),
        ({"operation": "create_tribe", "arguments": {}}, "arguments.name"),
        ({"operation": "create_tribe", "arguments": {"name": 7}}, "arguments.name"),
        ({"operation": "create_tribe", "arguments": {"name": "a b"}}, "arguments.name"),
        ({"operation": "create_tribe", "arguments": {"name": "a", "days": "365"}}, "arguments.days"),
        ({"operation": "create_tribe", "arguments": {"name": "a", "days": 0}}, "arguments.days"),
        ({"operation": "create_agent", "arguments": {"tribe": "a", "name": "b", "role": "king"}}, "arguments.role"),
        ({"operation": "switch_space", "arguments": {"tribe": "a", "exact": 1}}, "arguments.exact"),
        ({"operation": "revoke_token", "arguments": {"tribe": "a", "token": "les_1"}}, "arguments.token"),
    ],
)
def test_an_event_that_breaks_a_rule_is_answered_with_the_field_and_opens_nothing(event: object, field: str) -> None:
    def opened(_: str | None) -> Any:
        raise AssertionError("it was opened")

    reply = operated(event, Context(), opened)
    assert reply["error"]["code"] == "invalid_request"
    assert reply["error"]["detail"].startswith(f"{field} ")


def test_what_nobody_foresaw_is_told_to_the_log_alone() -> None:
    class Broken:
        def tribes(self) -> object:
            raise RuntimeError("password=hunter2")

    reply = operated({"operation": "tribes"}, Context(), lambda _: nullcontext(cast("Any", Broken())))
    assert reply["error"]["code"] == "internal"
    assert "hunter2" not in json.dumps(reply)


def test_a_reply_that_lambda_could_not_send_is_an_error_with_what_to_do() -> None:
    class Large:
        def migration_sql(self) -> str:
            return "x" * 6 * 1024 * 1024

    reply = operated({"operation": "migration_sql"}, Context(), lambda _: nullcontext(cast("Any", Large())))
    assert reply["error"]["code"] == "too_large"


def test_a_function_without_its_database_or_with_a_bad_setting_says_so() -> None:
    with Deployed("operator", {"TRIBUTARY_DATABASE_URL": "postgresql://nobody:hunter2@127.0.0.1:1/none"}) as deployed:
        assert error(deployed, "tribes")["code"] == "unavailable"
    with Deployed("operator", {"TRIBUTARY_DATABASE_URL": "mysql://root:hunter2@localhost/x"}) as deployed:
        found = error(deployed, "tribes")
        said = deployed.end()
    assert found["code"] == "bad_setting"
    assert found["detail"].startswith("TRIBUTARY_DATABASE_URL")
    assert "hunter2" not in found["detail"] + said


def test_each_operation_is_one_line_of_the_log_without_its_secret(function: Deployed) -> None:
    secrets = [
        result(function, "create_tribe", name="payments", curator="alice")["curator"]["token"],
        result(function, "create_agent", tribe="payments", name="bob", role="reader")["token"],
        result(function, "rotate", tribe="payments", name="bob")["token"],
    ]
    error(function, "create_tribe", name="payments")
    error(function, "create_tribe", name="payments", secret="hunter2")
    said = function.end()
    lines = [one for one in map(json.loads, said.splitlines()) if one["event"] == "operator.done"]
    assert [(one.get("asked"), one.get("tribe"), one.get("agent"), one.get("code"), one["level"]) for one in lines] == [
        ("create_tribe", "payments", "alice", None, "info"),
        ("create_agent", "payments", "bob", None, "info"),
        ("rotate", "payments", "bob", None, "info"),
        ("create_tribe", "payments", "curator", "wrong_standing", "warning"),
        (None, None, None, "invalid_request", "warning"),
    ]
    assert all(secret.startswith("trb_") and secret not in said for secret in secrets)
    assert "hunter2" not in said


def test_a_space_is_built_call_by_call_until_nothing_is_left(database_url: str) -> None:
    with open_tribal(database_url, next_embedder=Projected(), judge=RuledJudge(all_unrelated)) as tribal:
        for number in range(70):
            tribal.learn(tribal.curator, f"Server {number} of the rack number {number} is cooled by pump {number * 7}")
        event = {"operation": "build_space", "arguments": {"tribe": tribal.name}}
        with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
            operator.create_space(tribal.name)
        made: list[tuple[int, int]] = []
        while not made or made[-1][1]:
            reply = operated(event, Context(left_ms=1), lambda _: open_operator(tribal.settings, adapters=tribal.adapters))
            made.append((reply["result"]["made"], reply["result"]["left"]))
    assert made == [(32, 38), (32, 6), (6, 0)]


def test_every_tribe_that_outgrew_exact_search_gets_its_index_and_the_next_run_has_nothing_to_do(database_url: str) -> None:
    with (
        open_tribal(database_url, name="large", exact_limit=3, judge=RuledJudge(all_unrelated)) as tribal,
        open_operator(tribal.settings) as operator,
    ):
        operator.create_tribe("small")
        for number in range(5):
            tribal.learn(tribal.curator, f"Server {number} of the rack {number} is cooled by pump {number * 7}")
        runs = [operated({"operation": "build_indexes"}, Context(), lambda _: open_operator(tribal.settings)) for _ in range(2)]
        assert operator.build_index("large")
    assert [run["result"] for run in runs] == [
        {"built": ["large"], "failed": [], "left": []},
        {"built": [], "failed": [], "left": []},
    ]


def test_tribes_for_which_no_time_is_left_are_named(tribal: Tribal) -> None:
    chosen = tribal.settings.model_copy(update={"exact_limit": 0})
    tribal.learn(tribal.curator, "The deploy API needs a header")
    reply = operated({"operation": "build_indexes"}, Context(left_ms=1), lambda _: open_operator(chosen))
    assert reply["result"] == {"built": [], "failed": [], "left": [tribal.name]}


def test_an_index_that_takes_longer_than_the_function_may_run_is_given_up_in_time(tribal: Tribal) -> None:
    chosen = tribal.settings.model_copy(update={"exact_limit": 0})
    tribal.learn(tribal.curator, "The deploy API needs a header")
    with psycopg.connect(tribal.url) as writer:
        writer.execute("LOCK TABLE tributary.lesson_vector IN ROW EXCLUSIVE MODE")  # what building an index waits for
        event = {"operation": "build_index", "arguments": {"tribe": tribal.name}}
        reply = operated(event, Context(left_ms=11_000), lambda _: open_operator(chosen))
    assert reply["error"]["code"] == "overloaded"
    assert "tributary tribe index" in reply["error"]["detail"]
    with open_operator(chosen) as operator:
        assert operator.build_index(tribal.name)
