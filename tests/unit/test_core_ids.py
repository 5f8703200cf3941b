"""Identifiers: UUIDv7 inside, a prefix at the edges."""

from __future__ import annotations

import time
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tributary.core import ids
from tributary.core.errors import InvalidRequest
from tributary.core.ids import Prefix

HEX = "0199a0b1c2d37e4f8a5b6c7d8e9fa0b1"


def _milliseconds(value: uuid.UUID) -> int:
    return value.int >> 80


def test_a_new_id_is_a_uuid_of_version_7_made_now() -> None:
    before = time.time_ns() // 1_000_000
    made = [ids.new_id() for _ in range(200)]
    after = time.time_ns() // 1_000_000
    assert {one.version for one in made} == {7}
    assert {one.variant for one in made} == {uuid.RFC_4122}
    assert all(before <= _milliseconds(one) <= after for one in made)


def test_new_ids_are_all_different_in_every_random_bit() -> None:
    made = [ids.new_id().int for _ in range(200)]
    assert len(set(made)) == 200
    random_bits = (1 << 80) - 1 & ~(0xF << 76) & ~(0x3 << 62)
    always, never = random_bits, random_bits
    for one in made:
        always &= one
        never &= ~one
    assert (always, never) == (0, 0)


def test_ids_of_later_milliseconds_are_greater() -> None:
    first = ids.new_id()
    while time.time_ns() // 1_000_000 <= _milliseconds(first):
        pass
    assert ids.new_id() > first


@given(st.uuids(), st.sampled_from(Prefix))
def test_what_is_shown_is_read_back(value: uuid.UUID, prefix: Prefix) -> None:
    shown = ids.show(prefix, value)
    assert shown.startswith(f"{prefix.value}_")
    assert ids.parse(prefix, shown, field="id") == value


def test_prefixes_are_three_letters_and_no_two_alike() -> None:
    assert {len(prefix.value) for prefix in Prefix} == {3}
    assert len({prefix.value for prefix in Prefix}) == len(Prefix)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "les",
        "les_",
        HEX,
        f"dec_{HEX}",
        f"LES_{HEX}",
        f"les-{HEX}",
        f"les_{HEX[:-1]}",
        f"les_{HEX}0",
        f"les__{HEX[1:]}",
        f" les_{HEX}",
        f"les_{HEX}\n",
        f"les_{HEX[:-1]}g",
        f"les_{uuid.UUID(HEX)}",
        f"les_{{{HEX[2:]}}}",
        f"les_0x{HEX[2:]}",
        f"les_+{HEX[1:]}",
        f"les_ {HEX[1:]}",
        f"les_{HEX[:1]}_{HEX[2:]}",
        "les_" + "\N{FULLWIDTH DIGIT ONE}" * 32,
        "les_" + "\N{ARABIC-INDIC DIGIT THREE}" * 32,
        "les_\x00" + HEX[1:],
    ],
)
def test_what_is_no_shown_id_is_refused_by_field(text: str) -> None:
    with pytest.raises(InvalidRequest, match="les_ and 32 hexadecimal digits") as caught:
        ids.parse(Prefix.LESSON, text, field="lesson")
    assert caught.value.field == "lesson"


@given(st.text(max_size=40) | st.text(alphabet="0123456789abcdefABCDEFx_", min_size=32, max_size=32))
def test_any_text_is_an_id_or_refused(text: str) -> None:
    for candidate in (text, f"les_{text}"):
        try:
            found = ids.parse(Prefix.LESSON, candidate, field="id")
        except InvalidRequest:
            continue
        assert ids.show(Prefix.LESSON, found) == candidate.lower()
