"""Any Unicode text comes back byte for byte, by every way there is."""

from __future__ import annotations

import json

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.samples import LEARN, Context, bearer, event_of
from tests.contract.stand_in import WRITER, StandIn
from tributary.edges.lambda_http.app import App

TEXTS = [
    "naïve café",
    "e\u0301 is not \u00e9",
    "日本語のテキスト",
    "مرحبا \u202eright to left\u202c",
    "👩‍👩‍👧‍👦 and 🏳️‍🌈",
    "\U0010ffff\ue000",
    "tab\tline\nreturn\rbell\x07 delete\x7f nel\x85",
    "zero\u200bwidth\u2060joiner\ufeff",
    '<script>alert("x")</script> & \\ / \u2028\u2029',
    "  spaces kept  ",
]


@pytest.mark.parametrize("escaped", [True, False])
@pytest.mark.parametrize("text", TEXTS)
def test_text_comes_back_as_it_went_in(api: httpx.Client, memory: StandIn, text: str, escaped: bool) -> None:
    sent = {
        **LEARN,
        "text": text,
        "situation": text,
        "subject": text,
        "rationale": text,
        "tags": {text: text},
        "source": {"how": "told", "ref": text},
        "evidence": [{"type": text, "ref": text, "note": text}],
    }
    headers = {**bearer("writer"), "Content-Type": "application/json"}
    learned = api.post("/v1/lessons", content=json.dumps(sent, ensure_ascii=escaped).encode(), headers=headers)
    assert learned.status_code == 200
    recalled = api.post("/v1/recall", json={"query": text}, headers=headers)
    for lesson in (learned.json()["lesson"], recalled.json()["hits"][0]["lesson"]):
        assert {name: lesson[name] for name in sent} == sent
    asked = memory.calls_of("recall")[0]["question"]
    assert getattr(asked, "query") == text  # noqa: B009  # its type is not this test's concern


@pytest.mark.parametrize("is_base64", [True, False])
def test_body_may_come_in_base64(memory: StandIn, is_base64: bool) -> None:
    body = json.dumps({**LEARN, "text": TEXTS[4]}, ensure_ascii=False).encode()
    headers = {"content-type": "application/json"}
    event = event_of("POST", "/v1/lessons", principal=WRITER, body=body, headers=headers)
    if is_base64:
        octets = event_of("POST", "/v1/lessons", body=body, headers={"content-type": "application/octet-stream"})
        event |= {"body": octets["body"], "isBase64Encoded": octets["isBase64Encoded"]}
    assert event["isBase64Encoded"] is is_base64
    response = App("learn", lambda: memory)(event, Context())
    assert json.loads(response["body"])["lesson"]["text"] == TEXTS[4]


def test_broken_base64_is_refused(memory: StandIn) -> None:
    event = event_of("POST", "/v1/lessons", principal=WRITER, body=b"x")
    event |= {"body": "!!!", "isBase64Encoded": True}
    response = App("learn", lambda: memory)(event, Context())
    assert response["statusCode"] == 400
    assert json.loads(response["body"])["errors"] == [{"field": "body", "rule": "is marked as base64 but is not"}]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=200))
def test_whatever_text_is_kept_is_kept_unchanged(memory: StandIn, text: str) -> None:
    body = json.dumps({**LEARN, "text": text}, ensure_ascii=False).encode()
    response = App("learn", lambda: memory)(event_of("POST", "/v1/lessons", principal=WRITER, body=body), Context())
    if text.strip():
        assert response["statusCode"] == 200
        assert json.loads(response["body"])["lesson"]["text"] == text
    else:
        assert response["statusCode"] == 400
