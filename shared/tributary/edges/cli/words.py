"""Small pieces of output: text that is safe to print, times, numbers."""

from __future__ import annotations

from datetime import UTC, datetime


def shown(text: str) -> str:
    """Returns text of unknown origin on one line, with nothing in it that a terminal would obey."""
    from tributary.client import visible

    return visible(text, joiners=True)


def shown_block(text: str) -> str:
    """Returns the same with its line breaks kept."""
    from tributary.client import visible

    return visible(text.replace("\r\n", "\n"), keep="\n\t", joiners=True)


def counted(number: int, noun: str) -> str:
    """Returns '1 lesson', '2 lessons'."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def moment(when: datetime) -> str:
    """Returns a time as people compare them: in UTC, to the second."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
