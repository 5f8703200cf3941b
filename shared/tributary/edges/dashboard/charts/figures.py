"""Figures as people read them."""

from __future__ import annotations

from enum import StrEnum


class Unit(StrEnum):
    """What a figure counts."""

    COUNT = "count"
    MS = "ms"
    USD = "usd"
    SHARE = "share"
    """0 to 1, shown in percent."""
    NUMBER = "number"
    """Of no unit, or of one that its name tells."""


def figure(value: float | None, unit: Unit = Unit.COUNT) -> str:
    """Returns a figure with its unit; 'unknown' for None."""
    if value is None:
        return "unknown"
    match unit:
        case Unit.COUNT:
            return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
        case Unit.MS:
            return _time(value)
        case Unit.USD:
            return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.4f}" if value >= 0.0001 else "under $0.0001"
        case Unit.SHARE:
            return f"{100 * value:.1f} %"
        case Unit.NUMBER:
            return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


def tick(value: float, unit: Unit) -> str:
    """Returns a round figure of an axis, as short as can be."""
    match unit:
        case Unit.MS:
            return f"{value:g} ms" if value < 1000 else f"{value / 1000:g} s"
        case Unit.USD:
            return f"${_short(value)}"
        case Unit.SHARE:
            return f"{100 * value:.10g} %"
        case _:
            return _short(value)


def _time(ms: float) -> str:
    if ms < 10:
        return f"{ms:.1f} ms"
    if ms < 1000:
        return f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s" if ms < 60_000 else f"{ms / 60_000:.1f} min"


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            by = 1e3 if letter == "k" else size
            return f"{value / by:.10g}{letter}"
    return f"{value:.10g}"
