"""The limits of what may be handed in: each rule, by the field that it names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.core_made import NOON, draft
from tributary.core import limits
from tributary.core.errors import InvalidRequest
from tributary.core.lesson import Evidence, How, Kind, Source
from tributary.core.requests import Question, Require

NAIVE = datetime(2026, 3, 1)  # noqa: DTZ001  (the very fault)
BEFORE_ALL_TIME = datetime.min.replace(tzinfo=timezone(timedelta(hours=1)))
AFTER_ALL_TIME = datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))
LOG = Evidence(type="log", ref="r")


def _evidence(**fields: Any) -> dict[str, Any]:
    return {"evidence": (LOG, replace(LOG, **fields))}


def _tags(number: int) -> dict[str, str]:
    return {f"k{index}": "v" for index in range(number)}


@pytest.mark.parametrize(
    ("fields", "field", "rule"),
    [
        ({"text": ""}, "text", "empty"),
        ({"text": " \n\u3000"}, "text", "empty"),
        ({"text": "a\x00b"}, "text", "NUL"),
        ({"text": "a\ud83d"}, "text", "lone surrogate"),
        ({"text": "x" * 8193}, "text", "is 8193 bytes of UTF-8; at most 8192"),
        ({"text": "é" * 4097}, "text", "is 8194 bytes"),
        ({"situation": ""}, "situation", "empty"),
        ({"situation": "x" * 2049}, "situation", "at most 2048"),
        ({"rationale": ""}, "rationale", "empty"),
        ({"rationale": "x" * 8193}, "rationale", "at most 8192"),
        ({"subject": " "}, "subject", "empty"),
        ({"subject": "é" * 201}, "subject", "has 201 characters; at most 200"),
        ({"source": Source(how=How.TOLD, ref="")}, "source.ref", "empty"),
        ({"source": Source(how=How.TOLD, ref="x" * 2001)}, "source.ref", "at most 2000"),
        ({"source": Source(how=How.TOLD, ref="\x00")}, "source.ref", "NUL"),
        ({"tags": {" ": "v"}}, "tags", "empty"),
        ({"tags": {"k" * 65: "v"}}, "tags", "at most 64"),
        ({"tags": {"k": ""}}, "tags.k", "empty"),
        ({"tags": {"k": "v" * 201}}, "tags.k", "at most 200"),
        ({"tags": {"k": "\udc00"}}, "tags.k", "lone surrogate"),
        ({"tags": _tags(33)}, "tags", "has 33 entries; at most 32"),
        (_evidence(type=""), "evidence.1.type", "empty"),
        (_evidence(type="x" * 65), "evidence.1.type", "at most 64"),
        (_evidence(ref=" "), "evidence.1.ref", "empty"),
        (_evidence(ref="x" * 2001), "evidence.1.ref", "at most 2000"),
        (_evidence(note=""), "evidence.1.note", "empty"),
        (_evidence(note="x" * 2001), "evidence.1.note", "at most 2000"),
        ({"evidence": (LOG,) * 17}, "evidence", "has 17 items; at most 16"),
        ({"confidence": -0.01}, "confidence", "from 0 to 1"),
        ({"confidence": 1.01}, "confidence", "from 0 to 1"),
        ({"confidence": float("nan")}, "confidence", "from 0 to 1"),
        ({"confidence": float("inf")}, "confidence", "from 0 to 1"),
        *[
            fault
            for name in ("valid_from", "valid_until", "keep_until")
            for fault in (
                ({name: NAIVE}, name, "offset"),
                ({name: BEFORE_ALL_TIME}, name, "years 2 to 9998"),
                ({name: AFTER_ALL_TIME}, name, "years 2 to 9998"),
            )
        ],
        ({"valid_from": NOON, "valid_until": NOON}, "valid_until", "later than valid_from"),
        ({"valid_from": NOON, "valid_until": NOON - timedelta(1)}, "valid_until", "later than valid_from"),
    ],
)
def test_a_draft_that_breaks_a_rule_is_refused_by_the_field_and_the_rule(fields: dict[str, Any], field: str, rule: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        limits.check_draft(draft(**fields))
    assert caught.value.field == field
    assert rule in caught.value.rule


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "x" * 8192, "situation": "y" * 2048, "rationale": "z" * 8192},
        {"text": "é" * 4096},
        {"subject": "🚒" * 200},
        {"source": Source(how=How.TOLD, ref="🚒" * 2000)},
        {"tags": {"k" * 64: "v" * 200, **_tags(31)}},
        {"evidence": (Evidence(type="t" * 64, ref="r" * 2000, note="n" * 2000),) * 16},
        {"confidence": 0.0},
        {"confidence": 1.0},
        {"valid_from": NOON, "valid_until": NOON + timedelta(microseconds=1)},
        {"valid_from": datetime(2, 1, 1, tzinfo=UTC), "valid_until": datetime(9998, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)},
        {"valid_until": NOON.replace(year=1900), "keep_until": NOON.replace(year=1900)},
    ],
)
def test_a_draft_at_every_limit_is_taken(fields: dict[str, Any]) -> None:
    limits.check_draft(draft(**fields))


@pytest.mark.parametrize("name", ["a", "0", "payments-api", "team/agent:1@host_x.y", "x" * 100])
def test_a_name_may_have_letters_digits_and_some_signs(name: str) -> None:
    limits.check_name("name", name)


@pytest.mark.parametrize("name", ["", " ", "-a", ".a", "a b", "a\n", "é", "x" * 101, "a'b", "a;b", "\N{FULLWIDTH DIGIT ONE}"])
def test_any_other_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest, match="1 to 100 letters"):
        limits.check_name("name", name)


@given(st.text())
def test_text_is_storable_exactly_when_utf_8_and_the_database_can_hold_it(text: str) -> None:
    try:
        sound = "\x00" not in text and bool(text.encode() or True)
    except UnicodeEncodeError:
        sound = False
    assert _passes(lambda: limits.check_storable("text", text)) is sound


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"query": " "}, "query"),
        ({"query": "x" * 8193}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"subject": ""}, "subject"),
        ({"tags": {"\x00": "v"}}, "tags"),
        ({"tags": {"k": "\ud800"}}, "tags.k"),
        ({"tags": {"k": "x" * 201}}, "tags.k"),
        ({"tags": _tags(33)}, "tags"),
        ({"min_confidence": float("nan")}, "min_confidence"),
        ({"min_confidence": 1.5}, "min_confidence"),
        ({"as_of": NAIVE}, "as_of"),
        ({"as_of": AFTER_ALL_TIME}, "as_of"),
        ({"as_of": -1}, "as_of"),
        ({"as_of": 2**63}, "as_of"),
        ({"at_least": -1}, "at_least"),
        ({"at_least": 2**63}, "at_least"),
        ({"as_of": 1, "at_least": 1}, "at_least"),
    ],
)
def test_a_question_that_breaks_a_rule_is_refused_by_its_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        replace(Question(query="q"), **fields).check()
    assert caught.value.field == field


@pytest.mark.parametrize(
    "fields", [{"as_of": 0}, {"at_least": 2**63 - 1}, {"as_of": NOON}, {"limit": 100, "min_confidence": 1.0}, {"tags": _tags(32)}]
)
def test_a_question_within_the_limits_is_taken(fields: dict[str, Any]) -> None:
    replace(Question(query="q"), **fields).check()


def test_a_receipt_shows_every_filter_of_its_question_as_plain_values() -> None:
    question = Question(
        query="secret",
        limit=7,
        kinds=(Kind.RESOLUTION,),
        sources=(How.OBSERVED,),
        agent="writer",
        subject="deploy",
        tags={"env": "prod"},
        min_confidence=0.5,
        as_of=NOON,
        include_stale=True,
        require=Require.VECTOR,
    )
    assert question.filters() == {
        "limit": 7,
        "kinds": ["resolution"],
        "sources": ["observed"],
        "agent": "writer",
        "subject": "deploy",
        "tags": {"env": "prod"},
        "min_confidence": 0.5,
        "as_of": "2026-03-01T12:00:00+00:00",
        "include_stale": True,
        "require": "vector",
    }


def _passes(check: Callable[[], None]) -> bool:
    try:
        check()
    except InvalidRequest:
        return False
    return True
