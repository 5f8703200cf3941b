"""How the SDK tells of what went wrong: on the caller's side, on the server's, and in between."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import httpx
import pytest

import tributary.client as sdk
from tests.unit.client_fakes import ONE, TOKEN, URL, Hands, Tribe, opened, problem
from tributary.client import Memory, errors, source_of, told
from tributary.client.replies import Answer, error_of
from tributary.contract.problems import PROBLEMS


class Always:
    """Answers every request alike."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer

    def __call__(self, _: httpx.Request) -> httpx.Response:
        return self.answer


@pytest.fixture
def tribe() -> Tribe:
    return Tribe()


@pytest.fixture
def memory(tribe: Tribe) -> Iterator[Memory]:
    with opened(tribe, Hands()) as memory:
        yield memory


@pytest.mark.parametrize(
    ("over", "field"),
    [
        ({"text": " "}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"text": "\ud800"}, "text"),
        ({"text": "é" * 4097}, "text"),
        ({"situation": 7}, "situation"),
        ({"source": "observed"}, "source"),
        ({"confidence": float("nan")}, "confidence"),
        ({"tags": {"": "x"}}, "tags"),
        ({"evidence": [{"type": "log"}]}, "evidence.0.ref"),
        ({"valid_from": datetime(2026, 1, 1)}, "valid_from"),  # noqa: DTZ001
        ({"deadline_s": 31}, "deadline_s"),
        ({"idempotency_key": "two words"}, "idempotency_key"),
        ({"idempotency_key": "x" * 201}, "idempotency_key"),
        ({"idempotency_key": "a\r\nX-Evil: 1"}, "idempotency_key"),
    ],
)
def test_a_field_that_breaks_a_rule_is_named_and_nothing_is_sent(
    memory: Memory, tribe: Tribe, over: dict[str, Any], field: str
) -> None:
    arguments: dict[str, Any] = {"text": "t", "situation": "s", "source": told(), **over}
    with pytest.raises(sdk.InvalidRequest) as caught:
        memory.learn(arguments.pop("text"), **arguments)
    assert caught.value.errors[0].field.startswith(field)
    assert caught.value.code == "invalid_request"
    assert not tribe.requests


def test_a_source_with_an_empty_reference_is_refused_where_it_is_made() -> None:
    with pytest.raises(sdk.InvalidRequest, match=r"source\.ref"):
        source_of("observed", " ")


def test_every_error_code_of_the_contract_has_a_class_with_that_code(memory: Memory, tribe: Tribe) -> None:
    for code, kind in PROBLEMS.items():
        field = {"field": "text", "rule": "must not be blank"}
        tribe.before = Always(problem(code, operation="op-1", errors=[field]))
        with pytest.raises(sdk.TributaryError) as caught:
            memory.lesson(ONE)
        error = caught.value
        assert type(error) not in (sdk.TributaryError, sdk.BadReply), code
        assert (error.code, error.status, error.detail, error.operation) == (code, kind.status, "what was wrong", "op-1")
        assert error.errors[0].rule == "must not be blank"
        assert error.retry_after == kind.retry_after_s
        assert str(error) == "what was wrong"


def test_the_tables_of_codes_of_server_and_sdk_agree() -> None:
    kinds = {
        one.default_code: one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, sdk.TributaryError)
    }
    found = {
        code: error_of(Answer(status=kind.status, headers={}, body=problem(code).content)) for code, kind in PROBLEMS.items()
    }
    for code, error in found.items():
        assert type(error) is kinds.get(code, sdk.NotSupported), code
        assert isinstance(error, sdk.Unavailable) == (PROBLEMS[code].retry_after_s is not None), code
    own = {"error", "not_configured", "unreachable", "bad_reply", "in_doubt", "busy"}
    assert kinds.keys() - PROBLEMS.keys() == own, "what only the SDK tells"
    tree = dict(re.findall(r"── (\w+) {1,30}(\w+)", str(errors.__doc__)))
    assert tree == {kind.__name__: code for code, kind in kinds.items() if code != "error"}
    assert {kind.__name__ for code, kind in kinds.items() if code != "error"} <= set(sdk.__all__)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(409, sdk.InvalidRequest), (429, sdk.Overloaded), (500, sdk.ServerFailed), (503, sdk.Unavailable)],
)
def test_a_code_of_a_later_version_keeps_its_name_and_falls_to_its_family(
    memory: Memory, tribe: Tribe, status: int, kind: type[sdk.TributaryError]
) -> None:
    document = {"type": "x", "title": "New", "status": status, "code": "of_later", "detail": "d"}
    tribe.before = lambda _: httpx.Response(status, json=document)
    with pytest.raises(kind) as caught:
        memory.lesson(ONE)
    assert caught.value.code == "of_later"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, sdk.Unauthenticated),
        (403, sdk.Forbidden),
        (413, sdk.TooLarge),
        (429, sdk.Overloaded),
        (502, sdk.Unavailable),
        (503, sdk.Unavailable),
        (504, sdk.TimedOut),
        (404, sdk.BadReply),
        (302, sdk.BadReply),
        (500, sdk.BadReply),
    ],
)
def test_what_a_gateway_says_by_itself_is_told_by_its_status(
    memory: Memory, tribe: Tribe, status: int, kind: type[sdk.TributaryError]
) -> None:
    headers = {"Location": "http://elsewhere.example/"}
    tribe.before = lambda _: httpx.Response(status, json={"message": "x"}, headers=headers)
    with pytest.raises(kind) as caught:
        memory.lesson(ONE)
    assert caught.value.status == status
    assert {request.url.host for request in tribe.requests} == {"127.0.0.1"}


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"hits": []}', b'{"hits": 1, "receipt": null}', b"\xff", b"[" * 100000]
)
def test_a_reply_that_does_not_fit_is_a_bad_reply(memory: Memory, tribe: Tribe, body: bytes) -> None:
    tribe.before = lambda _: httpx.Response(200, content=body)
    with pytest.raises(sdk.BadReply):
        memory.recall("q")


def test_a_reply_larger_than_any_may_be_is_not_read_to_its_end(memory: Memory, tribe: Tribe) -> None:
    read = 0

    def large() -> Iterator[bytes]:
        nonlocal read
        for _ in range(40):
            read += 1
            yield b"x" * 1_000_000

    tribe.before = lambda _: httpx.Response(200, content=large())
    with pytest.raises(sdk.BadReply, match="larger"):
        memory.recall("q")
    assert read < 20


def test_errors_survive_being_sent_to_another_process() -> None:
    error = sdk.NotFound("gone", code="not_found", status=404, operation="op", retry_after=1.5)
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), back.detail, back.status, back.operation, back.retry_after) == (
        sdk.NotFound,
        "gone",
        404,
        "op",
        1.5,
    )


def test_nothing_that_is_shown_holds_the_token(memory: Memory, tribe: Tribe) -> None:
    tribe.before = lambda _: problem("forbidden")
    with pytest.raises(sdk.Forbidden) as caught:
        memory.lesson(ONE)
    assert TOKEN not in repr(memory) + repr(memory.as_of(1)) + repr(caught.value) + repr(vars(memory))


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_budget_that_is_no_number_of_seconds_is_refused(seconds: float) -> None:
    with pytest.raises(sdk.InvalidRequest, match="timeout_s"):
        Memory(URL, TOKEN, timeout_s=seconds, environment={})
