"""The two sides of a dispute, field by field, with what only one of them says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tributary.contract.curation import DisputeReply, VerdictReply
from tributary.contract.models import LessonReply
from tributary.core.wording import Piece, compare

COMPARED = 8
"""So many rivals are compared word by word; further ones are shown as they are."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """What one side says in one field. `throughout` when it differs from the other side's too much to mark single words."""

    name: str
    pieces: tuple[Piece, ...]
    differs: bool
    throughout: bool = False


@dataclass(frozen=True, kw_only=True)
class Side:
    """A lesson of a dispute, and what it says beside the other one."""

    lesson: LessonReply
    fields: tuple[Field, ...]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The contender and one lesson that it stands against. `compared` tells whether differences were looked for."""

    contender: Side
    other: Side
    verdict: VerdictReply | None
    compared: bool


def pairs_of(dispute: DisputeReply) -> tuple[Pair, ...]:
    """Returns a pair for each lesson that the contender stands against, those that are believed first."""
    verdicts = {one.lesson: one for one in dispute.verdicts}
    about = sorted(dispute.about, key=lambda one: one.status != "active")
    return tuple(
        _pair(dispute.contender, one, verdicts.get(one.id), compared=place < COMPARED) for place, one in enumerate(about)
    )


def alone(lesson: LessonReply) -> Side:
    """Returns a lesson that stands against nothing."""
    return Side(lesson=lesson, fields=tuple(ours for ours, _ in _fields(lesson, lesson, compared=False)))


def _pair(contender: LessonReply, other: LessonReply, verdict: VerdictReply | None, *, compared: bool) -> Pair:
    fields = list(_fields(contender, other, compared=compared))
    return Pair(
        contender=Side(lesson=contender, fields=tuple(ours for ours, _ in fields)),
        other=Side(lesson=other, fields=tuple(theirs for _, theirs in fields)),
        verdict=verdict,
        compared=compared,
    )


def _fields(one: LessonReply, other: LessonReply, *, compared: bool) -> Iterator[tuple[Field, Field]]:
    yield _words("says", one.text, other.text, compared=compared)
    yield _words("when", one.situation, other.situation, compared=compared)
    yield _whole("about", [one.subject or ""], [other.subject or ""], compared=compared)
    yield _whole("kind", [one.kind.replace("_", " ")], [other.kind.replace("_", " ")], compared=compared)
    yield _whole("tags", _tags(one), _tags(other), compared=compared)


def _words(name: str, one: str, other: str, *, compared: bool) -> tuple[Field, Field]:
    if not compared or one == other:
        return _plain(name, [one]), _plain(name, [other])
    ours, theirs = compare(one, other)
    throughout = not any(piece.apart for piece in (*ours, *theirs))
    return (
        Field(name=name, pieces=ours, differs=True, throughout=throughout),
        Field(name=name, pieces=theirs, differs=True, throughout=throughout),
    )


def _whole(name: str, one: Sequence[str], other: Sequence[str], *, compared: bool) -> tuple[Field, Field]:
    """Compares values that are the same or not, such as tags, each as a whole."""
    if not compared:
        return _plain(name, one), _plain(name, other)
    differs = list(one) != list(other)
    return (
        Field(name=name, pieces=tuple(Piece(text=value, apart=value not in other) for value in one if value), differs=differs),
        Field(name=name, pieces=tuple(Piece(text=value, apart=value not in one) for value in other if value), differs=differs),
    )


def _plain(name: str, values: Sequence[str]) -> Field:
    return Field(name=name, pieces=tuple(Piece(text=value, apart=False) for value in values if value), differs=False)


def _tags(lesson: LessonReply) -> list[str]:
    return [f"{key}={value}" for key, value in sorted(lesson.tags.items())]
