"""What is written and read again: it comes back, has one way to be written, and hostile input ends as promised, never otherwise.

docs/fuzzing.md has the table of all codecs; those that are not here have such tests beside their own.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tests.contract.samples import Context, app_of, event_of
from tests.contract.stand_in import CURATOR, StandIn
from tests.fuzz.texts import TEXT
from tests.spaces import operating
from tests.tribes import Tribal
from tributary.contract.values import Moment
from tributary.core import ids
from tributary.core.agent import Principal, Role
from tributary.core.errors import BadSetting, Corrupt, InvalidRequest
from tributary.core.ids import Prefix
from tributary.core.lesson import Instant
from tributary.edges.lambda_http.principal import from_context, to_context
from tributary.recall.diff import _Cursor
from tributary.recall.listing import cursor, parse_cursor
from tributary.recall.signing import Signer, canonical
from tributary.service import Settings, load_settings
from tributary.transfer.tribes.form import Reader

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
HARD = settings(
    max_examples=10 * EXAMPLES or 60,
    deadline=None,
    derandomize=not EXAMPLES,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
TICKS = st.integers(0, 10**18 - 1)
TIMES = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001  (hypothesis adds it)
DIGITS = st.characters(categories=["Nd"]) | st.sampled_from("0123456789abcdef.-_ \n")


@dataclass(frozen=True)
class Codec:
    """`read` raises only `refuses`. `spellings` makes of a text the one that is written, where several are read."""

    values: st.SearchStrategy[Any]
    write: Callable[[Any], str]
    read: Callable[[str], Any]
    refuses: type[Exception]
    spellings: Callable[[str], str] = str


def _diff_cursor(text: str) -> _Cursor:
    return _Cursor.of(text, None, None)


_INSTANTS = st.builds(lambda tick, at: Instant(tick=tick, at=at), TICKS, TIMES)
CODECS = {
    "a page's cursor": Codec(
        st.tuples(TICKS, st.uuids()), lambda value: cursor(*value), parse_cursor, InvalidRequest
    ),
    "a difference's cursor": Codec(
        st.builds(lambda since, until, at, of: _Cursor(since=since, until=until, at=at, lesson_id=of), _INSTANTS, _INSTANTS, TIMES, st.uuids()),  # noqa: E501
        str,
        _diff_cursor,
        InvalidRequest,
    ),
    "an id": Codec(
        st.uuids(),
        lambda value: ids.show(Prefix.LESSON, value),
        lambda text: ids.parse(Prefix.LESSON, text, field="id"),
        InvalidRequest,
        spellings=lambda text: f"les_{text.removeprefix('les_').lower()}",
    ),
}  # fmt: skip


def comes_back(codec: Codec, value: Any) -> None:
    assert codec.read(codec.write(value)) == value


def is_one_spelling_or_refused(codec: Codec, text: str) -> None:
    try:
        value = codec.read(text)
    except codec.refuses:
        return
    assert codec.write(value) == codec.spellings(text)


def hostile(codec: Codec) -> st.SearchStrategy[str]:
    """Texts, and what codecs write with a few characters changed."""

    def changed(written: str, changes: list[tuple[int, str]]) -> str:
        for place, character in changes:
            at = place % (len(written) + 1)
            written = written[:at] + character + written[at + (place % 2) :]
        return written

    near = st.builds(changed, codec.values.map(codec.write), st.lists(st.tuples(st.integers(0, 200), DIGITS), max_size=3))
    return near | st.text(DIGITS, max_size=60) | TEXT


@HARD
@pytest.mark.parametrize("name", CODECS)
@given(data=st.data())
def test_what_was_written_is_read_back(name: str, data: st.DataObject) -> None:
    comes_back(CODECS[name], data.draw(CODECS[name].values))


@HARD
@pytest.mark.parametrize("name", CODECS)
@given(data=st.data())
def test_whatever_is_read_is_written_so_or_is_refused(name: str, data: st.DataObject) -> None:
    is_one_spelling_or_refused(CODECS[name], data.draw(hostile(CODECS[name])))


def test_a_cursor_in_other_digits_is_refused() -> None:
    """Found by the test above: Python's \\d takes the digits of every script."""
    with pytest.raises(InvalidRequest):
        parse_cursor(f"\u0663.{UUID(int=1).hex}")
    with pytest.raises(InvalidRequest):
        parse_cursor(f"007.{UUID(int=1).hex}")


PLANTED = {
    "forgets the low bit": Codec(TICKS, lambda value: str(value & ~1), int, ValueError),
    "reads digits of every script": Codec(TICKS, str, lambda text: int(text) if text.isdigit() else int("x"), ValueError),
    "falls over": Codec(TICKS, str, lambda text: int(text.split(".")[1]), ValueError),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_codec_with_a_planted_fault_is_found(fault: str) -> None:
    """The control: the same properties, of codecs that break one each."""
    codec = PLANTED[fault]

    @settings(HARD, max_examples=300, phases=[Phase.generate])
    @given(value=codec.values, text=hostile(codec))
    def both(value: Any, text: str) -> None:
        comes_back(codec, value)
        is_one_spelling_or_refused(codec, text)

    with pytest.raises((AssertionError, IndexError, BaseExceptionGroup)):
        both()


NAMES = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._:@/-]{0,99}\Z")


@HARD
@given(
    st.builds(
        Principal,
        tribe_id=st.uuids(),
        agent_id=st.uuids(),
        name=NAMES,
        role=st.sampled_from(Role),
        cell=st.none() | st.just("eu"),
    )
)
def test_a_principal_comes_back_from_the_authorizers_context(principal: Principal) -> None:
    assert from_context(to_context(principal)) == principal


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@HARD
@given(st.fixed_dictionaries({"agent_id": JSON}, optional={"tribe_id": JSON, "name": JSON, "role": JSON, "cell": JSON}))
def test_any_context_names_a_principal_or_is_corrupt(context: dict[str, Any]) -> None:
    try:
        found = from_context(context)
    except Corrupt:
        return
    assert isinstance(found, Principal)


@HARD
@example("2026-03-01T12:00:00\u0660Z")
@example("0001-01-01T00:00:00+23:59")
@example("2026-02-30T00:00:00Z")
@given(
    TEXT
    | TIMES.map(datetime.isoformat)
    | st.from_regex(r"\A\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)\Z")
)
def test_any_text_is_a_moment_with_an_offset_or_refused(text: str) -> None:
    adapter = TypeAdapter(Moment)
    try:
        moment = adapter.validate_python(text)
    except ValidationError:
        return
    assert moment.utcoffset() is not None
    assert adapter.validate_python(moment.isoformat()) == moment


# -- receipts and exports, of a real tribe


@HARD
@given(place=st.integers(0, 10**6), put=st.characters(codec="ascii", min_codepoint=32), out=st.integers(0, 2))
def test_a_receipt_with_any_byte_changed_is_not_the_one_that_was_signed(
    signed: tuple[Signer, str], place: int, put: str, out: int
) -> None:
    signer, text = signed
    at = place % len(text)
    changed = text[:at] + put + text[at + out :]
    try:
        document = json.loads(changed)
    except (ValueError, RecursionError):
        return
    if not isinstance(document, dict):
        return
    before = json.loads(text)
    if canonical(document) == canonical(before):  # 1.0 for 1, a blank, an escape
        assert signer.signed(document)
    else:
        assert not signer.signed(document)


@pytest.fixture
def signed(tribal: Tribal) -> tuple[Signer, str]:
    tribal.learn(tribal.curator, "Send X-Batch: true", subject="deploy", tags={"env": "prod"})
    receipt = tribal.recall("deploy X-Batch").receipt
    document = {**receipt.document(), "signature": receipt.signature}
    signer = Signer(tribal.memory.database)
    assert signer.signed(document)
    return signer, json.dumps(document)


@HARD
@given(place=st.integers(0, 10**6), put=st.binary(max_size=2), out=st.integers(0, 2))
def test_an_export_with_any_byte_changed_is_refused(export: bytes, place: int, put: bytes, out: int) -> None:
    at = place % len(export)
    changed = export[:at] + put + export[at + out :]
    lines = changed.splitlines(keepends=True) if b"\r" not in changed else [one + b"\n" for one in changed.split(b"\n")[:-1]]
    if changed == export:
        assert list(Reader(lines).rows())
        return
    with pytest.raises(InvalidRequest, match="line"):
        list(Reader(lines).rows())


@pytest.fixture
def export(tribal: Tribal) -> bytes:
    tribal.learn(tribal.curator, "Send X-Batch: true", subject="deploy", tags={"env": "prod"})
    lines: list[bytes] = []
    with operating(tribal) as operator:
        operator.export(tribal.name, lines.append)
    return b"".join(lines)


@HARD
@given(st.lists(st.binary(max_size=60) | JSON.map(lambda one: json.dumps(one).encode() + b"\n"), max_size=4))
def test_any_lines_are_an_export_or_refused(lines: list[bytes]) -> None:
    with pytest.raises(InvalidRequest):
        list(Reader(lines).rows())


# -- what API Gateway and agents send


EVENT_PARTS = st.fixed_dictionaries(
    {},
    optional={
        "body": st.none() | TEXT | st.binary(max_size=60).map(lambda raw: base64.b64encode(raw).decode()),
        "isBase64Encoded": st.none() | st.booleans(),
        "headers": st.none() | st.dictionaries(st.sampled_from(["content-type", "authorization", "cookie", "traceparent", "idempotency-key", "content-encoding"]), TEXT, max_size=4),  # noqa: E501
        "rawQueryString": st.none() | TEXT,
        "queryStringParameters": st.none() | st.dictionaries(TEXT, TEXT, max_size=2),
        "pathParameters": st.none() | st.dictionaries(TEXT, TEXT, max_size=2),
        "cookies": st.none() | st.lists(TEXT, max_size=2),
        "stageVariables": st.none() | st.dictionaries(TEXT, TEXT, max_size=2),
    },
)  # fmt: skip


@HARD
@given(
    parts=EVENT_PARTS,
    method=st.sampled_from(["GET", "POST", "PUT", "BREW"]),
    path=st.sampled_from(["/v1/lessons", "/v1/recall", "/v1/lessons/\ud800", "/", "/v1/changes"]),
)
def test_any_event_is_answered_and_by_no_accident(memory: StandIn, parts: dict[str, Any], method: str, path: str) -> None:
    event = {**event_of(method, "/v1/lessons", principal=CURATOR), **parts}
    event["rawPath"] = event["requestContext"]["http"]["path"] = path
    event["requestContext"]["http"]["method"] = method
    for function in ("learn", "recall"):
        response = app_of(function, memory)(event, Context())
        assert response["statusCode"] < 500, response
        response["body"].encode()


MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | JSON, "method": st.sampled_from(["ping", "tools/list", "tools/call", "initialize", "nope"]) | TEXT},  # noqa: E501
    optional={
        "id": st.integers() | TEXT | JSON,
        "params": JSON | st.fixed_dictionaries({"name": st.sampled_from(["tribal_recall", "tribal_learn"]) | TEXT, "arguments": JSON}),  # noqa: E501
    },
)  # fmt: skip


@settings(HARD, max_examples=5 * EXAMPLES or 30)
@example(message={"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": 10**4000}})
@example(message={"jsonrpc": "2.0", "id": "\ud800", "method": "ping"})
@given(message=MESSAGES | JSON)
def test_any_message_of_mcp_is_answered_in_its_protocol(memory: StandIn, message: object) -> None:
    headers = {"accept": "application/json, text/event-stream"}
    response = app_of("mcp", memory)(
        event_of("POST", "/mcp", principal=CURATOR, body=json.dumps(message).encode(), headers=headers), Context()
    )
    assert response["statusCode"] in (200, 202, 400), response
    if response["statusCode"] != 202:
        assert json.loads(response["body"])["jsonrpc"] == "2.0"


# -- settings


VARIABLES = [f"TRIBUTARY_{name.upper()}" for name in sorted(Settings.model_fields) if "secret" not in name]
"""All but those whose value would be asked for over the network."""


def settable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= one <= "\udfff" for one in text)


def refusal() -> str:
    """Returns what the environment's settings are refused with, nothing where they are taken."""
    try:
        load_settings()
    except BadSetting as error:
        return str(error)
    return ""


ODD_VALUES = st.sampled_from(["nan", "-1", "inf", "1e400", "9" * 5000, "٣", "\x1b[2J"])


@HARD
@example(environment={"TRIBUTARY_RESPONDER_ALLOW": "\x08"}).via("a rule that named a part of the value as it came")
@given(environment=st.dictionaries(st.sampled_from(VARIABLES), TEXT.filter(settable) | ODD_VALUES, max_size=4))
def test_any_environment_is_settings_or_names_the_variable_that_is_wrong(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    with monkeypatch.context() as surroundings:
        for name, value in environment.items():
            surroundings.setenv(name, value)
        told = refusal()
    assert told.isprintable()
    assert not told or any(name in told for name in environment), told
