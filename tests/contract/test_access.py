"""Who is let in: the authorizer identifies, the function refuses, the refusal is audited."""

from __future__ import annotations

import logging

import httpx
import pytest

from tests.contract.samples import LEARN, RECALL, UNKNOWN_LESSON, Context, bearer, event_of
from tests.contract.stand_in import CURATOR, READER, WRITER, StandIn
from tests.contract.stand_in_files import CONTENT, FILE
from tributary.contract.problems import PROBLEMS
from tributary.contract.routes import ROUTES, Route
from tributary.core import errors
from tributary.edges.lambda_http.app import App
from tributary.edges.lambda_http.authorizer import authorize
from tributary.edges.lambda_http.port import Event

GUARDED = [route for route in ROUTES if route.role]
OPEN = [route for route in ROUTES if not route.role]


BODIES: dict[str, dict[str, object]] = {
    "learn": LEARN,
    "learn_batch": {"lessons": [LEARN]},
    "contest": {"text": "no header is needed", "source": {"how": "told"}},
    "distill": {"transcript": "tool: HTTP 429"},
    "respond": {"message": "orders-db-7 is down"},
    "accept_review": {"golden": "rev-abc"},
    "announce_evidence": {"sha256": FILE.sha256, "bytes": FILE.size, "content_type": "text/plain", "name": "deploy.log"},
    "mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    "recall": RECALL,
    "verify": {"receipt": {}, "query": "deploy"},
    "reject_dispute": {"rationale": "it was measured"},
    "report": {"should_be": "unrelated"},
    "set_policy": {"version": 1, "precedence": []},
    "create_agent": {"name": "made", "role": "writer"},
    "set_role": {"role": "reader"},
    "begin_action": {"key": "reboot:db-7", "description": "reboot db-7"},
    "complete_action": {"lease": "lease_0"},
    "fail_action": {"lease": "lease_0", "failure": "the API refused it"},
    "renew_action": {"lease": "lease_0"},
    "reconcile_action": {"happened": False, "rationale": "nothing was rebooted"},
}
"""Of the operations that need one."""


def path_of(route: Route) -> str:
    return route.path.replace("{id}", UNKNOWN_LESSON.replace("les", route.id_of)).replace("{sha256}", FILE.sha256)


def send(api: httpx.Client, route: Route, headers: dict[str, str] | list[tuple[str, str]]) -> httpx.Response:
    if route.takes_bytes:
        typed = [*(headers.items() if isinstance(headers, dict) else headers), ("Content-Type", FILE.content_type)]
        return api.request(route.method, path_of(route), content=CONTENT, headers=typed)
    return api.request(route.method, path_of(route), json=BODIES.get(route.operation), headers=headers)


@pytest.mark.parametrize("route", GUARDED, ids=lambda route: route.operation)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer unknown"},
        {"Authorization": "Basic d3JpdGVyOg=="},
        {"Authorization": "writer"},
        [("Authorization", "Bearer writer"), ("Authorization", "Bearer curator")],
    ],
    ids=str,
)
def test_without_a_known_token_every_guarded_route_is_401(
    api: httpx.Client, memory: StandIn, route: Route, headers: dict[str, str] | list[tuple[str, str]]
) -> None:
    response = send(api, route, headers)
    assert response.status_code == 401
    assert response.json()["code"] == "unauthenticated"
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert memory.asked() == []


@pytest.mark.parametrize("route", OPEN, ids=lambda route: route.operation)
def test_open_routes_ask_nobody_who_they_are(api: httpx.Client, memory: StandIn, route: Route) -> None:
    assert send(api, route, bearer("unknown")).status_code == 200
    assert memory.calls_of("authenticate") == []


def test_unauthenticated_caller_learns_nothing_about_the_rules_of_a_body(api: httpx.Client) -> None:
    response = api.post("/v1/lessons", json={"colour": "red"})
    assert response.status_code == 401
    assert response.json()["errors"] == []


def test_revoked_token_stops_at_once(api: httpx.Client, memory: StandIn) -> None:
    assert api.get("/v1/lessons", headers=bearer("reader")).status_code == 200
    del memory.principals["reader"]
    assert api.get("/v1/lessons", headers=bearer("reader")).status_code == 401


@pytest.mark.parametrize("route", [route for route in GUARDED if route.role != "reader"], ids=lambda route: route.operation)
def test_reader_who_writes_is_403_and_audited_and_reaches_nothing_else(api: httpx.Client, memory: StandIn, route: Route) -> None:
    response = send(api, route, bearer("reader"))
    assert response.status_code == 403
    assert response.json()["code"] == "forbidden"
    assert memory.asked() == ["audit_refusal"]
    assert memory.calls_of("audit_refusal") == [
        {
            "principal": READER,
            "action": route.operation,
            "code": "forbidden",
            "detail": f"the role of agent 'agent-reader' is reader; this needs {route.role}",
        }
    ]


@pytest.mark.parametrize("failure", [errors.Unavailable(), RuntimeError("no audit today")], ids=repr)
def test_refusal_stays_403_when_it_cannot_be_audited(api: httpx.Client, memory: StandIn, failure: Exception) -> None:
    memory.failure_of["audit_refusal"] = failure
    assert api.post("/v1/lessons", json=LEARN, headers=bearer("reader")).status_code == 403
    assert memory.asked() == ["audit_refusal"]


def test_forbidden_by_the_memory_itself_is_audited_too(api: httpx.Client, memory: StandIn) -> None:
    memory.failure_of["recall"] = errors.Forbidden("this tribe is closed")
    response = api.post("/v1/recall", json=RECALL, headers=bearer("writer"))
    assert response.status_code == 403
    assert response.json()["detail"] == "this tribe is closed"
    assert [refusal["action"] for refusal in memory.calls_of("audit_refusal")] == ["recall"]


@pytest.mark.parametrize("role", ["writer", "curator"])
def test_each_role_may_do_what_lower_ones_may(api: httpx.Client, role: str) -> None:
    assert api.post("/v1/lessons", json=LEARN, headers=bearer(role)).status_code == 200
    assert api.post("/v1/recall", json=RECALL, headers=bearer(role)).status_code == 200


@pytest.mark.parametrize("route", GUARDED, ids=lambda route: route.operation)
@pytest.mark.parametrize("authorizer", [None, {}, {"lambda": None}, {"lambda": {}}, {"jwt": {"claims": {"sub": "x"}}}], ids=str)
def test_event_without_a_principal_never_reaches_the_memory(
    memory: StandIn, route: Route, authorizer: dict[str, object] | None
) -> None:
    event = event_of(route.method, path_of(route), body=b"{}")
    if authorizer is not None:
        event["requestContext"]["authorizer"] = authorizer
    assert App(route.function, lambda: memory)(event, Context())["statusCode"] == 401
    assert memory.calls == []


@pytest.mark.parametrize("damage", [{"role": "emperor"}, {"tribe_id": "x"}, {"agent_id": ""}], ids=str)
def test_damaged_principal_is_our_mistake_and_never_reaches_the_memory(memory: StandIn, damage: dict[str, str]) -> None:
    event = event_of("POST", "/v1/recall", principal=CURATOR, body=b'{"query": "q"}')
    event["requestContext"]["authorizer"]["lambda"].update(damage)
    response = App("recall", lambda: memory)(event, Context())
    assert response["statusCode"] == 500
    assert memory.calls == []


def with_header(token: str) -> Event:
    return {"headers": {"authorization": f"Bearer {token}"}}


def test_authorizer_passes_the_agent_on(memory: StandIn) -> None:
    answer = authorize(with_header("writer"), lambda: memory)
    assert answer == {
        "isAuthorized": True,
        "context": {
            "tribe_id": str(WRITER.tribe_id),
            "agent_id": str(WRITER.agent_id),
            "name": WRITER.name,
            "role": "writer",
        },
    }


@pytest.mark.parametrize("event", [{}, {"headers": None}, {"headers": {}}, with_header("unknown"), with_header("")], ids=str)
def test_authorizer_lets_strangers_through_without_a_principal(memory: StandIn, event: Event) -> None:
    assert authorize(event, lambda: memory) == {"isAuthorized": True, "context": {}}


@pytest.mark.parametrize(
    ("failure", "code"),
    [(errors.Unavailable(), "unavailable"), (errors.NotMigrated(), "not_migrated"), (RuntimeError("pool"), "internal")],
    ids=repr,
)
def test_authorizer_says_when_it_could_not_decide(memory: StandIn, failure: Exception, code: str) -> None:
    memory.failure = failure
    assert authorize(with_header("writer"), lambda: memory) == {"isAuthorized": True, "context": {"error": code}}


def undecided(path: str, token: str | None) -> Event:
    event = event_of("POST", path, body=b'{"query": "q"}', headers={"authorization": f"Bearer {token}"} if token else {})
    event["requestContext"]["authorizer"] = {"lambda": {"error": "unavailable"}}
    return event


def test_function_looks_up_the_token_itself_when_the_authorizer_could_not(memory: StandIn) -> None:
    app = App("recall", lambda: memory)
    assert app(undecided("/v1/recall", "reader"), Context())["statusCode"] == 200
    assert memory.calls_of("recall")[0]["principal"] == READER
    assert app(undecided("/v1/recall", "unknown"), Context())["statusCode"] == 401
    assert app(undecided("/v1/recall", None), Context())["statusCode"] == 401


def test_undecided_request_is_503_while_the_database_stays_away(memory: StandIn) -> None:
    memory.failure = errors.Unavailable()
    response = App("recall", lambda: memory)(undecided("/v1/recall", "reader"), Context())
    assert response["statusCode"] == 503
    assert response["headers"]["Retry-After"] == "2"
    assert memory.asked() == []


@pytest.mark.parametrize(
    "route", [*GUARDED, *[route for route in OPEN if route.operation == "health"]], ids=lambda one: one.operation
)
def test_database_down_is_503_with_retry_after_and_the_next_request_works(
    api: httpx.Client, memory: StandIn, route: Route
) -> None:
    memory.failure = errors.Unavailable("could not connect to db.internal:5432 as tributary")
    response = send(api, route, bearer("curator"))
    assert response.status_code == 503
    assert response.json()["code"] == "unavailable"
    assert response.headers["retry-after"] == "2"
    assert "db.internal" not in response.text
    memory.failure = None
    assert send(api, route, bearer("curator")).status_code in {200, 404}


ERRORS = [
    error
    for error in vars(errors).values()
    if isinstance(error, type) and issubclass(error, errors.TributaryError) and error is not errors.TributaryError
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_every_error_of_the_tree_has_a_status_of_its_own_table(memory: StandIn, error: type[errors.TributaryError]) -> None:
    special = {errors.InvalidRequest: ("query", "is odd"), errors.UnknownCell: ("eu",)}
    memory.failure = error(*special.get(error, ()))
    event = event_of("POST", "/v1/recall", principal=READER, body=b'{"query": "q"}')
    response = App("recall", lambda: memory)(event, Context())
    kind = PROBLEMS[error.code]
    assert response["statusCode"] == kind.status
    assert response["headers"]["Content-Type"] == "application/problem+json"
    assert response["headers"].get("Retry-After") == (str(kind.retry_after_s) if kind.retry_after_s else None)


@pytest.mark.parametrize(
    "failure",
    [
        RuntimeError("secret-detail"),
        KeyError("secret-detail"),
        errors.BadSetting("secret-detail"),
        errors.Corrupt("secret-detail"),
    ],
    ids=repr,
)
def test_what_went_wrong_inside_stays_inside(
    api: httpx.Client, memory: StandIn, failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    memory.failure = failure
    with caplog.at_level(logging.INFO, logger="tributary"):
        response = api.get("/health")
    assert response.status_code == 500
    assert "secret-detail" not in response.text
    assert response.json()["detail"].endswith("; the server's log tells more under the operation's id.")
    assert response.json()["operation"] == response.headers["x-operation-id"]
    failed = [record for record in caplog.records if record.getMessage() == "request.failed"]
    assert [record.__dict__["fields"]["operation"] for record in failed] == [response.headers["x-operation-id"]]


def test_memory_that_cannot_be_opened_is_a_problem_too(memory: StandIn) -> None:
    def refuse() -> StandIn:
        raise errors.BadSetting("TRIBUTARY_DATABASE_URL is postgresql://me:secret@db/x")

    event = event_of("GET", "/health")
    response = App("recall", refuse)(event, Context())
    assert response["statusCode"] == 500
    assert "secret" not in response["body"]
    assert App("recall", refuse)(event_of("GET", "/openapi.json"), Context())["statusCode"] == 200


def test_every_reply_carries_its_operation_and_is_kept_by_no_cache(api: httpx.Client) -> None:
    seen = set()
    for headers, status in ((bearer("reader"), 200), ({}, 401), (bearer("unknown"), 401)):
        response = api.get("/v1/lessons", headers=headers)
        assert response.status_code == status
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-content-type-options"] == "nosniff"
        seen.add(response.headers["x-operation-id"])
    assert len(seen) == 3


def test_replies_never_repeat_the_token(api: httpx.Client) -> None:
    for path in ("/v1/lessons", "/v1/lessons/x", "/nowhere"):
        response = api.get(path, headers=bearer("very-secret-token"))
        assert "very-secret-token" not in response.text + str(response.headers)
