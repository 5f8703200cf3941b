"""When a throttling provider takes requests again, in all the ways in which providers say it."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tributary.models.resets import wait_s

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
EPOCH = int(NOW.timestamp())

SAID: dict[str, tuple[dict[str, str], float | None]] = {
    "nothing": ({}, None),
    "seconds": ({"Retry-After": "7"}, 7.0),
    "parts of a second": ({"retry-after": "0.5"}, 0.5),
    "a date": ({"retry-after": "Mon, 30 Nov 2026 12:01:30 GMT"}, 90.0),
    "a date that is over": ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
    "milliseconds before seconds": ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
    "a length": ({"x-ratelimit-reset-requests": "6m0s"}, 360.0),
    "a short length": ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
    "a compound length": ({"x-ratelimit-reset-tokens": "1h2m3.5s"}, 3723.5),
    "a length without a unit": ({"x-ratelimit-reset-tokens": "12"}, 12.0),
    "the bucket that is used up": (
        {
            "x-ratelimit-reset-requests": "1s",
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-tokens": "6m0s",
            "x-ratelimit-remaining-tokens": "149984",
        },
        1.0,
    ),
    "the later of two buckets": ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "2s"}, 2.0),
    "an instant in milliseconds": ({"X-RateLimit-Reset": str(EPOCH * 1000 + 1500)}, 1.5),
    "an instant in seconds": ({"X-RateLimit-Reset": str(EPOCH + 30)}, 30.0),
    "an instant that is over": ({"X-RateLimit-Reset": str(EPOCH - 30)}, 0.0),
    "seconds as a reset": ({"X-RateLimit-Reset": "30"}, 30.0),
    "a word": ({"retry-after": "soon"}, None),
    "no number": ({"retry-after": "nan"}, None),
    "without end": ({"retry-after": "inf"}, None),
    "less than nothing": ({"retry-after": "-5"}, None),
    "a length beyond all numbers": ({"x-ratelimit-reset-tokens": "9" * 400 + "h"}, None),
    "a year beyond all numbers": ({"retry-after": "Mon, 1 Jan 99999999999999999999 00:00:00 GMT"}, None),
    "an hour beyond all numbers": ({"retry-after": "Mon, 1 Jan 2024 99999999999999999999:00:00 GMT"}, None),
    "a zone beyond all numbers": ({"retry-after": "Mon, 1 Jan 2024 00:00:00 +99999999999999999999"}, None),
    "nonsense before sense": ({"retry-after-ms": "x", "retry-after": "3"}, 3.0),
}


@pytest.mark.parametrize(("headers", "seconds"), SAID.values(), ids=SAID)
def test_a_providers_reset_is_read(headers: dict[str, str], seconds: float | None) -> None:
    found = wait_s(headers, NOW)
    assert found == (None if seconds is None else pytest.approx(seconds))


NAMES = st.sampled_from(
    ["retry-after", "Retry-After", "retry-after-ms", "x-ratelimit-reset"]
    + [f"x-ratelimit-{what}-{bucket}" for what in ("reset", "remaining") for bucket in ("requests", "tokens")]
)
DIGITS = st.text("0123456789", min_size=1, max_size=25)
NUMBERS = st.one_of(
    st.floats().map(str), st.integers().map(str), DIGITS, st.sampled_from(["-0", "1_0", "\u0661", "1e308", "9" * 400, "0x1"])
)
LENGTHS = st.lists(st.tuples(DIGITS, st.sampled_from(["ms", "s", "m", "h", "d", "w"])), min_size=1, max_size=4).map(
    lambda parts: "".join(f"{amount}{unit}" for amount, unit in parts)
)
DATES = st.tuples(
    st.sampled_from(["Mon, ", "", "Monday, "]),
    DIGITS,
    st.sampled_from(["Jan", "Feb", "December", "13"]),
    DIGITS,
    st.lists(DIGITS, max_size=4).map(":".join),
    st.sampled_from(["GMT", "", "PST", "-0000", "+2359", "-2359", "+9999", "+99999999999999999999"]),
).map(lambda parts: "{}{} {} {} {} {}".format(*parts))


@settings(max_examples=2000, deadline=None)
@given(st.dictionaries(NAMES, st.one_of(NUMBERS, LENGTHS, DATES, st.text(max_size=40)), max_size=4))
def test_whatever_is_sent_the_wait_is_a_finite_length_of_time_or_none(headers: dict[str, str]) -> None:
    found = wait_s(headers, NOW)
    assert found is None or (math.isfinite(found) and math.copysign(1.0, found) > 0)
