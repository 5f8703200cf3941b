"""Bad input is refused with the field and the rule in plain words, and never reaches the memory."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.contract.samples import LEARN, RECALL, UNKNOWN_LESSON, bearer, errors_of
from tests.contract.stand_in import StandIn
from tributary.contract import limits

JSON = {"Content-Type": "application/json"}
WRITER = {**bearer("writer"), **JSON}
SECRET = "s3cret-words-that-no-reply-may-repeat"


def learn_with(**changes: object) -> bytes:
    return json.dumps({**LEARN, **changes}).encode()


def recall_with(**changes: object) -> bytes:
    return json.dumps({**RECALL, **changes}).encode()


def raw(field: str, spelled: str) -> bytes:
    """Returns a learn with one field spelled out by hand, for what json.dumps would not write."""
    rest = {name: value for name, value in LEARN.items() if name != field}
    return f'{json.dumps(rest)[:-1]}, "{field}": {spelled}}}'.encode()


BAD_LEARNS: list[tuple[bytes, str, str]] = [
    (json.dumps({"situation": "s", "source": {"how": "told"}}).encode(), "text", "is required"),
    (json.dumps({"text": "t", "source": {"how": "told"}}).encode(), "situation", "is required"),
    (json.dumps({"text": "t", "situation": "s"}).encode(), "source", "is required"),
    (learn_with(source={}), "source.how", "is required"),
    (learn_with(source={"how": "guessed"}), "source.how", "must be one of observed, derived, told, imported"),
    (learn_with(source="told"), "source", "must be an object"),
    (learn_with(source=None), "source", "must be an object"),
    (learn_with(colour="red"), "colour", "is no known field"),
    (learn_with(source={"how": "told", "who": "me"}), "source.who", "is no known field"),
    (learn_with(text=3), "text", "must be text"),
    (learn_with(text=None), "text", "must be text"),
    (learn_with(text=["t"]), "text", "must be text"),
    (learn_with(text=""), "text", "must not be empty or white space"),
    (learn_with(text=" \n\t\u3000"), "text", "must not be empty or white space"),
    (learn_with(situation=" "), "situation", "must not be empty or white space"),
    (learn_with(subject=""), "subject", "must not be empty or white space"),
    (learn_with(rationale="\u00a0"), "rationale", "must not be empty or white space"),
    (learn_with(text="a\x00b"), "text", "must not contain the NUL character"),
    (learn_with(tags={"a\x00": "b"}), "tags.a\N{REPLACEMENT CHARACTER}", "must not contain the NUL character"),
    (raw("text", r'"a \ud800 b"'), "text", "must not contain a lone surrogate"),
    (raw("text", r'"\udc00"'), "text", "must not contain a lone surrogate"),
    (raw("evidence", r'[{"type": "log", "ref": "\ud83d"}]'), "evidence.0.ref", "must not contain a lone surrogate"),
    (raw("tags", r'{"\ud800": "x"}'), "tags.\N{REPLACEMENT CHARACTER}", "must not contain a lone surrogate"),
    (learn_with(text="x" * (limits.TEXT_BYTES + 1)), "text", "is 8193 bytes of UTF-8; at most 8192 are kept"),
    (learn_with(text="é" * (limits.TEXT_BYTES // 2 + 1)), "text", "is 8194 bytes of UTF-8; at most 8192 are kept"),
    (learn_with(situation="x" * (limits.SITUATION_BYTES + 1)), "situation", "is 2049 bytes of UTF-8; at most 2048 are kept"),
    (learn_with(rationale="x" * (limits.RATIONALE_BYTES + 1)), "rationale", "is 8193 bytes of UTF-8; at most 8192 are kept"),
    (learn_with(subject="x" * 201), "subject", "must have at most 200 characters"),
    (learn_with(tags={str(number): "x" for number in range(33)}), "tags", "must have at most 32 entries"),
    (learn_with(tags={"env": 3}), "tags.env", "must be text"),
    (learn_with(tags=["env"]), "tags", "must be an object"),
    (learn_with(tags={"env": "x" * 201}), "tags.env", "must have at most 200 characters"),
    (learn_with(evidence=[{"type": "log", "ref": "r"}] * 17), "evidence", "must have at most 16 entries"),
    (learn_with(evidence=[{"type": "log", "ref": "r"}, {"type": "log"}]), "evidence.1.ref", "is required"),
    (learn_with(evidence={"type": "log"}), "evidence", "must be a list"),
    (learn_with(receipts=[{}] * 9), "receipts", "must have at most 8 entries"),
    (learn_with(receipts={"id": "rcp_1"}), "receipts", "must be a list"),
    (learn_with(receipts=[{}, "rcp_1"]), "receipts.1", "must be an object"),
    (learn_with(confidence="0.5"), "confidence", "must be a number"),
    (learn_with(confidence=True), "confidence", "must be a number"),
    (learn_with(confidence=1.01), "confidence", "must be at most 1"),
    (learn_with(confidence=-0.01), "confidence", "must be at least 0"),
    (raw("confidence", "NaN"), "confidence", "must be a finite number"),
    (raw("confidence", "Infinity"), "confidence", "must be a finite number"),
    (raw("confidence", "1e999"), "confidence", "must be a finite number"),
    (
        learn_with(kind="rumour"),
        "kind",
        "must be one of gotcha, entity_fact, observation, runbook_fact, resolution, rejected_hypothesis",
    ),
    (learn_with(deadline_s=0), "deadline_s", "must be more than 0"),
    (learn_with(deadline_s=31), "deadline_s", "must be at most 30"),
    (learn_with(valid_from="2026-03-01T12:00:00"), "valid_from", "must have an offset, such as Z or +02:00"),
    (learn_with(valid_from="2026-03-01"), "valid_from", "must be an RFC 3339 time with an offset, such as 2026-03-01T12:00:00Z"),
    (
        learn_with(valid_from="2026-02-30T00:00:00Z"),
        "valid_from",
        "must be an RFC 3339 time with an offset, such as 2026-03-01T12:00:00Z",
    ),
    (learn_with(keep_until="1700000000"), "keep_until", "must be an RFC 3339 time with an offset, such as 2026-03-01T12:00:00Z"),
    (learn_with(keep_until=1700000000), "keep_until", "must be an RFC 3339 time with an offset, such as 2026-03-01T12:00:00Z"),
    (
        learn_with(valid_from="0001-01-01T00:00:00+01:00"),
        "valid_from",
        "must lie within the years 2 to 9998; leave it out for no bound",
    ),
    (
        learn_with(valid_from="2026-03-02T00:00:00Z", valid_until="2026-03-01T00:00:00Z"),
        "valid_until",
        "must be later than valid_from",
    ),
    (
        learn_with(valid_from="2026-03-01T02:00:00+02:00", valid_until="2026-03-01T00:00:00Z"),
        "valid_until",
        "must be later than valid_from",
    ),
    (raw("text", '"one", "text": "two"'), "text", "is given more than once"),
    (raw("source", '{"how": "told", "how": "observed"}'), "source.how", "is given more than once"),
    (b"[]", "body", "must be a JSON object"),
    (b"null", "body", "must be a JSON object"),
    (b'"text"', "body", "must be a JSON object"),
    (b"{", "body", "is not JSON at line 1, column 2"),
    (b"text=hello", "body", "is not JSON at line 1, column 1"),
    (b"\xef\xbb\xbf{}", "body", "is not JSON at line 1, column 1"),
    (b'{"text": "\xff"}', "body", "must be UTF-8"),
    (b'{"text": "\xed\xa0\x80"}', "body", "must be UTF-8"),
    (b"", "body", "is required: a JSON object"),
    (b'{"a":' + b"[" * 20_000 + b"]" * 20_000 + b"}", "body", "is nested too deeply"),
    (b'{"confidence": ' + b"1" * 5000 + b"}", "body", "holds a number with too many digits"),
]


@pytest.mark.parametrize(("body", "field", "rule"), BAD_LEARNS, ids=lambda value: str(value)[:60])
def test_bad_lesson_is_refused_naming_field_and_rule(
    api: httpx.Client, memory: StandIn, body: bytes, field: str, rule: str
) -> None:
    response = api.post("/v1/lessons", content=body, headers=WRITER)
    assert response.status_code == 400
    assert response.json()["code"] == "invalid_request"
    assert errors_of(response)[field] == rule
    assert memory.asked() == []


BAD_RECALLS: list[tuple[bytes, str, str]] = [
    (b"{}", "query", "is required"),
    (recall_with(query=" "), "query", "must not be empty or white space"),
    (recall_with(query="x" * (limits.QUERY_BYTES + 1)), "query", "is 8193 bytes of UTF-8; at most 8192 are kept"),
    (recall_with(limit=0), "limit", "must be at least 1"),
    (recall_with(limit=101), "limit", "must be at most 100"),
    (recall_with(limit=5.5), "limit", "must be a whole number"),
    (recall_with(limit="5"), "limit", "must be a whole number"),
    (recall_with(limit=True), "limit", "must be a whole number"),
    (recall_with(kinds="gotcha"), "kinds", "must be a list"),
    (
        recall_with(kinds=["rumour"]),
        "kinds.0",
        "must be one of gotcha, entity_fact, observation, runbook_fact, resolution, rejected_hypothesis",
    ),
    (
        recall_with(as_of="418"),
        "as_of",
        "must be a whole number, or an RFC 3339 time with an offset, such as 2026-03-01T12:00:00Z",
    ),
    (recall_with(as_of=-1), "as_of", "must be at least 0, or an RFC 3339 time with an offset, such as 2026-03-01T12:00:00Z"),
    (
        recall_with(as_of=2**63),
        "as_of",
        "must be less than 9223372036854775808, or an RFC 3339 time with an offset, such as 2026-03-01T12:00:00Z",
    ),
    (recall_with(as_of="2026-03-01T12:00:00"), "as_of", "must be a whole number, or must have an offset, such as Z or +02:00"),
    (recall_with(at_least="418"), "at_least", "must be a whole number"),
    (recall_with(min_confidence=2), "min_confidence", "must be at most 1"),
    (recall_with(include_stale="yes"), "include_stale", "must be true or false"),
    (recall_with(require="all"), "require", "must be one of any, vector"),
]


@pytest.mark.parametrize(("body", "field", "rule"), BAD_RECALLS, ids=lambda value: str(value)[:60])
def test_bad_question_is_refused_naming_field_and_rule(
    api: httpx.Client, memory: StandIn, body: bytes, field: str, rule: str
) -> None:
    response = api.post("/v1/recall", content=body, headers=WRITER)
    assert response.status_code == 400
    assert errors_of(response)[field] == rule
    assert memory.asked() == []


BAD_QUERIES = [
    ("/v1/lessons?limit=0", "limit", "must be a whole number from 1 to 100"),
    ("/v1/lessons?limit=101", "limit", "must be a whole number from 1 to 100"),
    ("/v1/lessons?limit=%D9%A3", "limit", "must be a whole number from 1 to 100"),
    ("/v1/lessons?limit=5&limit=6", "limit", "is given more than once"),
    (
        "/v1/lessons?status=gone",
        "status",
        "must be one of active, pending, disputed, quarantined, superseded, retired, evicted, erased, any",
    ),
    ("/v1/lessons?before=", "before", "must not be empty or contain the NUL character"),
    (f"/v1/lessons?before={'x' * 201}", "before", "must have at most 200 characters"),
    ("/v1/lessons?before=%00", "before", "must not be empty or contain the NUL character"),
    ("/v1/lessons?colour=red", "colour", "is no parameter of this route"),
    (
        "/v1/lessons?as_of=yesterday",
        "as_of",
        "must be a tick of this tribe, or an RFC 3339 time with an offset (in a URL, write + as %2B)",
    ),
    (
        "/v1/lessons?as_of=2026-03-01T12:00:00+02:00",
        "as_of",
        "must be a tick of this tribe, or an RFC 3339 time with an offset (in a URL, write + as %2B)",
    ),
    ("/v1/lessons?colour=%FF", "query", "must be percent-encoded UTF-8"),
    ("/v1/lessons?" + "&".join(f"p{number}=1" for number in range(51)), "query", "must have at most 50 parameters"),
    (f"/v1/lessons/{UNKNOWN_LESSON}?limit=5", "limit", "is no parameter of this route"),
    ("/v1/lessons/42", "id", "must look like les_ and 32 hexadecimal digits"),
    ("/v1/lessons/dec_0199c0de5a1e7b2c8d3f4a5b6c7d8e9f", "id", "must look like les_ and 32 hexadecimal digits"),
    ("/v1/lessons/les_0199c0de5a1e7b2c8d3f4a5b6c7d8e9", "id", "must look like les_ and 32 hexadecimal digits"),
    ("/health?deep=1", "deep", "is no parameter of this route"),
    ("/v1/changes?after=-1", "after", "must be a whole number from 0 to 999999999999999999"),
    ("/v1/changes?after=yesterday", "after", "must be a whole number from 0 to 999999999999999999"),
    ("/v1/changes?after=", "after", "must not be empty or contain the NUL character"),
    ("/v1/changes?limit=0", "limit", "must be a whole number from 1 to 500"),
    ("/v1/changes?wait_s=21", "wait_s", "must be a whole number from 0 to 20"),
    ("/v1/changes?wait_s=1.5", "wait_s", "must be a whole number from 0 to 20"),
    ("/v1/changes?wait_s=1&wait_s=2", "wait_s", "is given more than once"),
    ("/v1/changes?since=3", "since", "is no parameter of this route"),
    (f"/v1/lessons/{UNKNOWN_LESSON}/timeline?limit=101", "limit", "must be a whole number from 1 to 100"),
    (f"/v1/lessons/{UNKNOWN_LESSON}/timeline?before=0", "before", "must be a whole number from 1 to 999999999999999999"),
    (f"/v1/lessons/{UNKNOWN_LESSON}/timeline?as_of=3", "as_of", "is no parameter of this route"),
    ("/v1/lessons/42/timeline", "id", "must look like les_ and 32 hexadecimal digits"),
]


@pytest.mark.parametrize(("path", "field", "rule"), BAD_QUERIES)
def test_bad_parameter_is_refused_naming_it_and_its_rule(
    api: httpx.Client, memory: StandIn, path: str, field: str, rule: str
) -> None:
    response = api.get(path, headers=bearer("reader"))
    assert response.status_code == 400
    assert errors_of(response)[field] == rule
    assert memory.asked() == []


@pytest.mark.parametrize("path", ["/v1/lessons", "/v1/recall", f"/v1/lessons/{UNKNOWN_LESSON}/reinforce"])
def test_query_on_a_post_is_refused(api: httpx.Client, memory: StandIn, path: str) -> None:
    response = api.post(f"{path}?limit=5", json=LEARN, headers=bearer("writer"))
    assert errors_of(response) == {"limit": "is no parameter of this route"}
    assert memory.asked() == []


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        (b"", "must be printable ASCII and neither be empty nor begin or end with a space"),
        ("schl\u00fcssel".encode(), "must be printable ASCII and neither be empty nor begin or end with a space"),
        (b"a\tb", "must be printable ASCII and neither be empty nor begin or end with a space"),
        (b"k" * 201, "must have at most 200 characters"),
    ],
)
@pytest.mark.parametrize(("path", "body"), [("/v1/lessons", LEARN), (f"/v1/lessons/{UNKNOWN_LESSON}/reinforce", {})])
def test_unusable_idempotency_key_is_refused(
    api: httpx.Client, memory: StandIn, key: bytes, rule: str, path: str, body: dict[str, Any]
) -> None:
    headers = [(b"Authorization", b"Bearer writer"), (b"Idempotency-Key", key)]
    response = api.post(path, json=body, headers=headers)
    assert response.status_code == 400
    assert errors_of(response) == {"Idempotency-Key": rule}
    assert memory.asked() == []


def test_idempotency_key_of_200_characters_is_handed_on_as_it_is(api: httpx.Client, memory: StandIn) -> None:
    key = "k 1" + "~" * 197
    assert api.post("/v1/lessons", json=LEARN, headers={**WRITER, "Idempotency-Key": key}).status_code == 200
    assert memory.calls_of("learn")[0]["idempotency_key"] == key


def test_several_broken_rules_are_told_at_once(api: httpx.Client) -> None:
    response = api.post("/v1/lessons", content=learn_with(text=" ", confidence=2, colour=1), headers=WRITER)
    assert set(errors_of(response)) == {"text", "confidence", "colour"}
    assert response.json()["detail"] == "text must not be empty or white space (and 2 more)"


@pytest.mark.parametrize(
    "body",
    [
        learn_with(text={"nested": SECRET}),
        learn_with(text=SECRET + "\x00"),
        learn_with(text=SECRET * 1000),
        learn_with(kind=SECRET),
        learn_with(valid_from=SECRET),
        learn_with(evidence=SECRET),
        learn_with(confidence=SECRET),
        f'{{"text": "{SECRET}"'.encode(),
    ],
)
def test_refusal_never_repeats_what_was_sent(api: httpx.Client, body: bytes) -> None:
    response = api.post("/v1/lessons", content=body, headers=WRITER)
    assert response.status_code == 400
    assert SECRET not in response.text


def test_names_of_unknown_fields_are_cut_short(api: httpx.Client) -> None:
    response = api.post("/v1/lessons", content=learn_with(**{"x" * 5000: 1}), headers=WRITER)
    assert errors_of(response) == {"x" * 64: "is no known field"}


def test_hundreds_of_broken_fields_make_a_short_reply(api: httpx.Client) -> None:
    response = api.post("/v1/lessons", content=learn_with(**{f"f{number}": 1 for number in range(900)}), headers=WRITER)
    assert len(errors_of(response)) == 20


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/jsonx"},
    ],
)
def test_body_that_is_not_declared_as_json_is_415(api: httpx.Client, memory: StandIn, headers: dict[str, str]) -> None:
    response = api.post("/v1/lessons", content=json.dumps(LEARN).encode(), headers={**bearer("writer"), **headers})
    assert response.status_code == 415
    assert response.json()["code"] == "unsupported_media_type"
    assert memory.asked() == []


def test_compressed_body_is_415(api: httpx.Client, memory: StandIn) -> None:
    response = api.post("/v1/lessons", content=b"x", headers={**WRITER, "Content-Encoding": "gzip"})
    assert response.status_code == 415
    assert memory.asked() == []


def test_content_type_may_carry_parameters_and_capitals(api: httpx.Client) -> None:
    headers = {**bearer("writer"), "Content-Type": "Application/JSON; charset=utf-8"}
    assert api.post("/v1/lessons", content=json.dumps(LEARN).encode(), headers=headers).status_code == 200


def test_reinforce_needs_no_body_but_takes_an_empty_object_and_nothing_else(api: httpx.Client, memory: StandIn) -> None:
    lesson = api.post("/v1/lessons", json=LEARN, headers=bearer("writer")).json()["lesson"]["id"]
    path = f"/v1/lessons/{lesson}/reinforce"
    assert api.post(path, headers=bearer("writer")).status_code == 200
    assert api.post(path, json={}, headers=bearer("writer")).status_code == 200
    assert errors_of(api.post(path, json={"worked": True}, headers=bearer("writer"))) == {"worked": "is no known field"}
    assert len(memory.calls_of("reinforce")) == 2


def test_body_of_64_kb_is_read_and_one_byte_more_is_413(api: httpx.Client, memory: StandIn) -> None:
    body = json.dumps(LEARN).encode()
    filled = body + b" " * (limits.BODY_BYTES - len(body))
    assert api.post("/v1/lessons", content=filled, headers=WRITER).status_code == 200
    memory.calls.clear()
    response = api.post("/v1/lessons", content=filled + b" ", headers=WRITER)
    assert response.status_code == 413
    assert errors_of(response) == {"body": "is 65537 bytes; at most 65536 are read"}
    assert memory.asked() == []


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/", 404, None),
        ("GET", "/v1/lessons/", 404, None),
        ("GET", "/v1/lessons/a/b/c", 404, None),
        ("GET", "/V1/lessons", 404, None),
        ("GET", "/v1/recall", 405, "POST"),
        ("DELETE", "/v1/lessons", 405, "GET, POST"),
        ("PATCH", f"/v1/lessons/{UNKNOWN_LESSON}", 405, "GET"),
        ("OPTIONS", "/v1/recall", 405, "POST"),
        ("HEAD", "/health", 405, "GET"),
    ],
)
def test_unknown_route_is_404_and_wrong_method_405_with_allow(
    api: httpx.Client, memory: StandIn, method: str, path: str, status: int, allow: str | None
) -> None:
    response = api.request(method, path, headers=bearer("curator"))
    assert response.status_code == status
    assert response.headers.get("allow") == allow
    assert response.headers["content-type"] == "application/problem+json"
    assert memory.calls == []
