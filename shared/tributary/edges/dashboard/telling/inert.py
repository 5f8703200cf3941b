"""Text that nobody should follow, made fit to be judged: whatever hides in it is visible, and nothing of it acts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tributary.client.visible import visible
from tributary.contract.models import LessonReply


@dataclass(frozen=True, kw_only=True)
class Said:
    """One field of a text, laid bare: joiners, line separators and the like are escapes, too."""

    name: str
    text: str


def lesson_fields(lesson: LessonReply) -> tuple[Said, ...]:
    """Returns all that a screen was shown of a lesson."""
    given = {
        "text": lesson.text,
        "situation": lesson.situation,
        "subject": lesson.subject,
        "rationale": lesson.rationale,
        "tags": lesson.tags,
        "evidence": [one.model_dump() for one in lesson.evidence],
    }
    return fields_of(given)


def fields_of(given: Mapping[str, object]) -> tuple[Said, ...]:
    """Returns the fields that say something, in the order of `given`; lists and mappings become a line an entry."""
    lines = ((name, "\n".join(_lines(value))) for name, value in given.items())
    return tuple(Said(name=name, text=visible(text, keep="\n")) for name, text in lines if text)


def _lines(value: object) -> Iterator[str]:
    match value:
        case None:
            return
        case dict():
            yield from (f"{key}={one}" for key, one in value.items())
        case list():
            yield from (": ".join(_words(one)) for one in value if one)
        case _:
            yield str(value)


def _words(value: object) -> Iterator[str]:
    given = value.values() if isinstance(value, dict) else (value,)
    yield from (str(one) for one in given if one)
