"""When a throttling provider takes requests again, by the headers of its answer."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LENGTH = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[smhd]))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhd])")
_BUCKETS = ("requests", "tokens")
_EPOCH_S = 1e9
_EPOCH_MS = 1e11
"""Above the first a number is no length of time but an instant, above the second one in milliseconds."""


def wait_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Returns for how many seconds the provider wants to be left alone; None when it does not say so in a way that makes sense.

    Raises nothing, whatever a provider sends, and returns what is finite and not negative.

    Read are, the first that is there: `retry-after-ms`; `retry-after` (seconds, or a date); `x-ratelimit-reset-requests` and
    `-tokens` ("20ms", "6m0s": the longest of those that are used up, or of all when none says so); `x-ratelimit-reset`
    (seconds, or an instant since 1970 in seconds or milliseconds).
    """
    given = {name.lower(): value.strip() for name, value in headers.items()}
    if (found := _number(given.get("retry-after-ms"))) is not None:
        return abs(found) / 1000  # which "-0" is not
    for name, read in (("retry-after", _delay), ("", None), ("x-ratelimit-reset", _delay)):
        found = _of_buckets(given) if read is None else read(given.get(name), now)
        if found is not None:
            return max(0.0, found)
    return None


def _of_buckets(given: Mapping[str, str]) -> float | None:
    resets = {one: _length(given.get(f"x-ratelimit-reset-{one}")) for one in _BUCKETS}
    used_up = [resets[one] for one in _BUCKETS if given.get(f"x-ratelimit-remaining-{one}") == "0"]
    known = [one for one in used_up if one is not None] or [one for one in resets.values() if one is not None]
    return max(known, default=None)


def _delay(value: str | None, now: datetime) -> float | None:
    number = _number(value)
    if number is None:
        length = _length(value)
        return length if length is not None else _until_date(value, now)
    if number < _EPOCH_S:
        return number
    return number / (1000 if number >= _EPOCH_MS else 1) - now.timestamp()


def _until_date(value: str | None, now: datetime) -> float | None:
    try:
        at = parsedate_to_datetime(value or "")
        return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()
    except (ValueError, OverflowError, TypeError, IndexError):  # the library's parser takes nearly all for a date
        return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _length(value: str | None) -> float | None:
    if value is None or not _LENGTH.fullmatch(value):
        return _number(value)
    length = sum(float(amount) * _UNITS_S[unit] for amount, unit in _PART.findall(value))
    return length if math.isfinite(length) else None
