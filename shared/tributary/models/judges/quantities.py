"""Numbers with their units, in one unit a dimension: 90 s, a minute and a half and 1.5 min are one quantity."""

from __future__ import annotations

import re
from dataclasses import dataclass

UNIT_TOLERANCE = 0.05
"""How far apart two values may be when their units differ: 2 GB and 2048 MiB count as equal, 2.0 GB and 2.1 GB do not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantity:
    """A value in its dimension's base unit. `unit` is as written, so that equal units are compared exactly."""

    dimension: str
    value: float
    unit: str

    def equals(self, other: Quantity) -> bool:
        if self.dimension != other.dimension:
            return False
        if self.value == other.value:
            return True
        largest = max(abs(self.value), abs(other.value))
        slack = UNIT_TOLERANCE if self.unit != other.unit else 1e-9
        return abs(self.value - other.value) <= slack * largest


_SECONDS = {
    1e-9: "ns nanosecond nanoseconds",
    1e-6: "us µs μs microsecond microseconds",
    1e-3: "ms msec millisecond milliseconds millis",
    1.0: "s sec secs second seconds",
    60.0: "m min mins minute minutes",
    3600.0: "h hr hrs hour hours",
    86400.0: "d day days",
    604800.0: "w wk week weeks fortnight",
    2592000.0: "month months",
    31536000.0: "y yr year years",
}
_BYTES = {
    1.0: "b byte bytes",
    1024.0: "kb kib kilobyte kilobytes k",
    1024.0**2: "mb mib megabyte megabytes",
    1024.0**3: "gb gib gi gigabyte gigabytes gigs",
    1024.0**4: "tb tib ti terabyte terabytes",
    1024.0**5: "pb pib petabyte petabytes",
}
_OTHER = {
    ("bits", 1e3): "kbit kbps",
    ("bits", 1e6): "mbit mbps",
    ("bits", 1e9): "gbit gbps",
    ("percent", 1.0): "% percent pct",
    ("rate", 1.0): "rps qps tps hz",
    ("times", 1.0): "times",
    ("celsius", 1.0): "°c celsius",
}


def _unit_table() -> dict[str, tuple[str, float]]:
    table: dict[str, tuple[str, float]] = {}
    for dimension, units in (("bytes", _BYTES), ("seconds", _SECONDS)):
        for factor, words in units.items():
            table.update(dict.fromkeys(words.split(), (dimension, factor)))
    for (dimension, factor), words in _OTHER.items():
        table.update(dict.fromkeys(words.split(), (dimension, factor)))
    del table["k"]
    table["mi"] = table["mb"]
    table["ki"] = table["kb"]
    return table


UNITS = _unit_table()

NUMBER_WORDS = {
    word: float(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "dozen": 12}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_SUFFIX_SCALES = {"k": 1e3, "m": 1e6, "bn": 1e9}
_FRACTIONS = {"half": 0.5, "quarter": 0.25, "quarters": 0.25, "third": 1 / 3, "thirds": 1 / 3}
_WITHOUT_END = frozenset({"forever", "indefinitely"})
_AGES_S = 1e12
FREQUENCIES = {
    "hourly": 3600.0,
    "daily": 86400.0,
    "weekly": 604800.0,
    "monthly": 2592000.0,
    "yearly": 31536000.0,
    "annually": 31536000.0,
}
_ADVERBS = {"once": 1.0, "twice": 2.0, "thrice": 3.0}

_NUMBER = re.compile(r"([+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:\.\d+)?)([a-zµμ°%]*)$")
_MOST_DIGITS = 20
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?(am|pm)?$")
_HOUR = re.compile(r"(\d{1,2})(am|pm)$")


def quantity_at(words: list[str], at: int) -> tuple[Quantity, int] | None:
    """Returns the quantity that begins at words[at] (case-folded) and how many words it takes, or None."""
    return _clock(words, at) or _fraction(words, at) or _number(words, at)


def _word(words: list[str], at: int) -> str:
    return words[at] if at < len(words) else ""


def _clock(words: list[str], at: int) -> tuple[Quantity, int] | None:
    word, following = words[at], _word(words, at + 1)
    if word in ("noon", "midnight"):
        return Quantity(dimension="clock", value=720.0 if word == "noon" else 0.0, unit="clock"), 1
    match = _CLOCK.match(word)
    used = 1
    if match:
        hour, minute, half = int(match[1]), int(match[2]), match[3]
    elif short := _HOUR.match(word):
        hour, minute, half = int(short[1]), 0, short[2]
    elif word.isdecimal() and len(word) <= 2 and following in ("am", "pm"):
        hour, minute, half = int(word), 0, None
    else:
        return None
    if half is None and following in ("am", "pm"):
        half, used = following, 2
    if half is not None:
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour > 24 or minute > 59:
        return None
    return Quantity(dimension="clock", value=float(hour % 24 * 60 + minute), unit="clock"), used


def _fraction(words: list[str], at: int) -> tuple[Quantity, int] | None:
    """Reads half an hour, a quarter, three quarters, two thirds."""
    start = at
    count = 1.0
    if words[at] in ("a", "an", "one") or words[at] in ("two", "three"):
        count = NUMBER_WORDS.get(words[at], 1.0)
        at += 1
    part = _FRACTIONS.get(_word(words, at))
    if part is None:
        return None
    at += 1
    article = 0
    while _word(words, at + article) in ("a", "an", "of"):
        article += 1
    unit = UNITS.get(_word(words, at + article))
    if unit and unit[0] == "seconds":
        return Quantity(dimension="seconds", value=count * part * unit[1], unit="half"), at + article + 1 - start
    return Quantity(dimension="percent", value=100 * count * part, unit="part"), at - start


def _number(words: list[str], at: int) -> tuple[Quantity, int] | None:
    start = at
    word = words[at]
    unit_word = ""
    if word in FREQUENCIES:
        return Quantity(dimension="seconds", value=FREQUENCIES[word], unit=word), 1
    if word in _WITHOUT_END:
        return Quantity(dimension="seconds", value=_AGES_S, unit=word), 1
    if match := _NUMBER.match(word):
        if len(match[1]) > _MOST_DIGITS:
            return None
        value = float(match[1].replace(",", ""))
        unit_word = match[2]
        at += 1
    elif word in NUMBER_WORDS:
        value = NUMBER_WORDS[word]
        at += 1
    elif word in _ADVERBS and _word(words, at + 1) in ("a", "an", "per", "every"):
        value, unit_word = _ADVERBS[word], "times"
        at += 1
    elif word in ("a", "an") and UNITS.get(_word(words, at + 1), ("",))[0] == "seconds":
        value = 1.0
        at += 1
    else:
        return None
    if not unit_word and (scale := _SCALES.get(_word(words, at))):
        value *= scale
        at += 1
    if not unit_word and _word(words, at) in UNITS:
        unit_word = _word(words, at)
        at += 1
    elif unit_word in _SUFFIX_SCALES and (unit_word != "m" or _word(words, at) in UNITS):
        value, unit_word = value * _SUFFIX_SCALES[unit_word], ""
    elif unit_word and unit_word not in UNITS:
        return None
    return _measured(words, start, at, value, unit_word)


def _measured(words: list[str], start: int, at: int, value: float, unit_word: str) -> tuple[Quantity, int]:
    dimension, factor = UNITS.get(unit_word, ("count", 1.0))
    value *= factor
    if _word(words, at) == "and" and _word(words, at + 1) == "a" and _word(words, at + 2) == "half":
        value += factor / 2
        at += 3
    elif dimension == "count" and _word(words, at) == "and" and _word(words, at + 2) in UNITS:
        # "one and a half hours"
        if _word(words, at + 1) == "half":
            value, at = value + 0.5, at + 2
    elif dimension == "seconds" and _word(words, at) == "and":
        # "one hour and 30 minutes"
        more = _number(words, at + 1) if at + 1 < len(words) else None
        if more and more[0].dimension == "seconds":
            value, at = value + more[0].value, at + 1 + more[1]
    return Quantity(dimension=dimension, value=value, unit=unit_word), at - start
