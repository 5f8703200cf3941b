"""Callers whom API Gateway knows by an AWS signature: who they are, for how long that is remembered, and who cannot be one."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.contract.samples import RECALL, Context, bearer, event_of
from tests.contract.stand_in import BOUND, READER, WRITER, StandIn
from tests.contract.test_access import BODIES, GUARDED, path_of
from tests.contract.test_events import EVENTS, load
from tributary.contract.routes import Route
from tributary.core.errors import Unavailable
from tributary.edges.lambda_http import iam_callers
from tributary.edges.lambda_http.app import App
from tributary.edges.lambda_http.port import Event
from tributary.edges.lambda_http.principal import to_context

ROLE, USER = BOUND


def signed(route: Route, user_arn: object, **others: object) -> Event:
    body = json.dumps(BODIES[route.operation]).encode() if route.operation in BODIES else b""
    event = event_of(route.method, path_of(route), body=body)
    event["requestContext"]["authorizer"] = {"iam": {"accountId": "123456789012", "userArn": user_arn}, **others}
    return event


def recall_event(user_arn: object = ROLE, **others: object) -> Event:
    return signed(next(route for route in GUARDED if route.operation == "recall"), user_arn, **others)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("route", GUARDED, ids=lambda route: route.operation)
def test_an_aws_caller_who_is_bound_to_nobody_never_gets_further(memory: StandIn, route: Route) -> None:
    response = App(route.function, lambda: memory)(signed(route, "arn:aws:iam::123456789012:role/stranger"), Context())
    assert response["statusCode"] == 401
    assert "role/stranger" in json.loads(response["body"])["detail"]
    assert [call.name for call in memory.calls] == ["authenticate_principal"]


@pytest.mark.parametrize("route", [one for one in GUARDED if one.role != "reader"], ids=lambda route: route.operation)
def test_an_aws_caller_has_the_role_of_the_stored_agent_and_no_other(memory: StandIn, route: Route) -> None:
    response = App(route.function, lambda: memory)(signed(route, ROLE), Context())
    assert response["statusCode"] == 403
    assert [call.name for call in memory.calls] == ["authenticate_principal", "audit_refusal"]
    assert memory.calls_of("audit_refusal")[0]["principal"] == READER


@pytest.mark.parametrize("iam", [None, {}, [], "arn", {"userArn": None}, {"userId": "AIDA"}], ids=str)
def test_a_context_that_names_no_caller_is_401(memory: StandIn, iam: object) -> None:
    event = recall_event()
    event["requestContext"]["authorizer"] = {"iam": iam}
    assert App("recall", lambda: memory)(event, Context())["statusCode"] == 401
    assert "recall" not in [call.name for call in memory.calls]


@pytest.mark.parametrize("said", [{}, None, to_context(WRITER)], ids=["nobody", "null", "writer"])
def test_where_our_own_authorizer_spoke_its_word_alone_counts(memory: StandIn, said: object) -> None:
    response = App("recall", lambda: memory)(recall_event(ROLE, **{"lambda": said}), Context())
    assert response["statusCode"] == (200 if said else 401)
    assert memory.calls_of("authenticate_principal") == []


def test_a_caller_is_remembered_for_a_minute_and_then_asked_about_again(memory: StandIn) -> None:
    clock = Clock()
    app = App("recall", lambda: memory, seconds=clock)
    for _ in range(3):
        assert app(recall_event(), Context())["statusCode"] == 200
    assert len(memory.calls_of("authenticate_principal")) == 1
    del memory.bound[ROLE]  # as when the agent is revoked
    clock.now += iam_callers.REMEMBERED_S - 0.001
    assert app(recall_event(), Context())["statusCode"] == 200
    clock.now += 0.001
    assert app(recall_event(), Context())["statusCode"] == 401
    assert iam_callers.REMEMBERED_S <= 60


def test_who_was_refused_is_asked_about_again_at_once(memory: StandIn) -> None:
    app = App("recall", lambda: memory, seconds=Clock())
    bound = memory.bound.pop(ROLE)
    assert app(recall_event(), Context())["statusCode"] == 401
    memory.bound[ROLE] = bound
    assert app(recall_event(), Context())["statusCode"] == 200


def test_no_caller_is_taken_for_another_one(memory: StandIn) -> None:
    app = App("recall", lambda: memory, seconds=Clock())
    for arn in (ROLE, USER, ROLE, USER):
        assert app(recall_event(arn), Context())["statusCode"] == 200
    assert [asked["principal"] for asked in memory.calls_of("recall")] == [READER, WRITER, READER, WRITER]


def test_a_process_remembers_so_many_callers_and_no_more(memory: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    callers = iam_callers.IamCallers(lambda: memory, seconds=Clock())
    arns = [f"arn:aws:iam::123456789012:role/agent-{number}" for number in range(iam_callers.MOST + 1)]
    memory.bound.update(dict.fromkeys(arns, READER))
    for arn in arns:
        callers.of(arn)
    memory.calls.clear()
    for arn in arns[1:]:
        callers.of(arn)
    assert memory.calls == []
    callers.of(arns[0])
    assert memory.calls_of("authenticate_principal") == [{"user_arn": arns[0]}]


def test_a_database_that_is_away_is_503_and_lets_nobody_in(memory: StandIn) -> None:
    memory.failure_of["authenticate_principal"] = Unavailable()
    response = App("recall", lambda: memory)(recall_event(), Context())
    assert response["statusCode"] == 503
    assert memory.calls_of("recall") == []


CONTEXT = {"iam": {"userArn": ROLE, "accountId": "123456789012"}}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        load(EVENTS / "recall" / "recall-iam.json")["headers"],
        {"requestContext": json.dumps({"authorizer": CONTEXT})},
        {"requestcontext.authorizer.iam.userarn": ROLE},
        {"x-amzn-request-context": json.dumps({"authorizer": CONTEXT})},
        {"authorizer": json.dumps(CONTEXT), "iam": json.dumps(CONTEXT["iam"]), "userArn": ROLE},
    ],
    ids=["body", "signature", "header", "dotted", "adapter", "names"],
)
@pytest.mark.parametrize("token", [None, "unknown"])
def test_no_client_of_the_local_gateway_can_say_that_it_is_an_aws_caller(
    api: httpx.Client, memory: StandIn, headers: dict[str, str], token: str | None
) -> None:
    own = ("host", "content-length", "accept-encoding")
    given = {name: value for name, value in headers.items() if name not in own} | (bearer(token) if token else {})
    body = {**RECALL, "requestContext": {"authorizer": CONTEXT}, "authorizer": CONTEXT, "iam": CONTEXT["iam"]}
    response = api.post(f"/v1/recall?userArn={ROLE}&requestContext.authorizer.iam.userArn={ROLE}", json=body, headers=given)
    assert response.status_code == 401
    assert [call.name for call in memory.calls if call.name != "authenticate"] == []
