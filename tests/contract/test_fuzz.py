"""Whatever is sent, the edge answers with a reply or a problem of its own, never with an accident."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.samples import LEARN, RECALL, Context, event_of
from tests.contract.stand_in import CURATOR, StandIn
from tributary.edges.lambda_http.app import App
from tributary.edges.lambda_http.port import Event

HARD = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

ANY_TEXT = st.text(st.characters(), max_size=40)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4))
FIELDS = sorted(
    {
        *LEARN,
        *RECALL,
        "kind",
        "tags",
        "evidence",
        "confidence",
        "valid_from",
        "valid_until",
        "deadline_s",
        "as_of",
        "kinds",
        "limit",
    }
)


def answered(memory: StandIn, event: Event) -> int:
    """Returns the status of the reply to `event`, having looked at its form."""
    memory.forget()
    function = "recall" if "recall" in event["rawPath"] or event["requestContext"]["http"]["method"] == "GET" else "learn"
    response = App(function, lambda: memory)(event, Context())
    body = response["body"]
    body.encode("utf-8")
    status: int = response["statusCode"]
    if status >= 400:
        problem = json.loads(body)
        assert response["headers"]["Content-Type"] == "application/problem+json"
        assert problem["status"] == status
        assert memory.asked() == [] or status == 404
        if problem["code"] == "invalid_request":
            assert all(one["field"] and one["rule"] for one in problem["errors"])
            assert problem["errors"]
    return status


@HARD
@given(body=st.binary(max_size=200), path=st.sampled_from(["/v1/lessons", "/v1/recall"]))
def test_any_bytes_as_a_body_are_refused_in_order(memory: StandIn, body: bytes, path: str) -> None:
    assert 400 <= answered(memory, event_of("POST", path, principal=CURATOR, body=body)) < 500


@HARD
@given(document=JSON, path=st.sampled_from(["/v1/lessons", "/v1/recall"]))
def test_any_json_as_a_body_gets_a_reply_or_a_problem(memory: StandIn, document: object, path: str) -> None:
    body = json.dumps(document).encode()
    assert answered(memory, event_of("POST", path, principal=CURATOR, body=body)) < 500


@HARD
@given(
    changes=st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4),
    start=st.sampled_from([("/v1/lessons", LEARN), ("/v1/recall", RECALL)]),
)
def test_sound_request_with_any_changes_gets_a_reply_or_a_problem(
    memory: StandIn, changes: dict[str, object], start: tuple[str, dict[str, Any]]
) -> None:
    path, sound = start
    body = json.dumps({**sound, **changes}).encode()
    assert answered(memory, event_of("POST", path, principal=CURATOR, body=body)) < 500


@HARD
@given(query=ANY_TEXT | st.builds("{}={}".format, st.sampled_from(["limit", "as_of", "before", "status"]), ANY_TEXT))
def test_any_query_string_gets_a_reply_or_a_problem(memory: StandIn, query: str) -> None:
    assert answered(memory, event_of("GET", "/v1/lessons", principal=CURATOR, query=query)) < 500


@HARD
@given(segment=ANY_TEXT, method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD"]), key=ANY_TEXT)
def test_any_path_method_and_key_gets_a_reply_or_a_problem(memory: StandIn, segment: str, method: str, key: str) -> None:
    event = event_of(method, f"/v1/lessons/{segment}", principal=CURATOR, headers={"idempotency-key": key})
    assert answered(memory, event) < 500
