"""What a reader asks, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

from tributary.core import limits
from tributary.core.decision import Challenge
from tributary.core.errors import InvalidRequest
from tributary.core.lesson import How, Kind, Lesson
from tributary.core.receipt import Receipt

Item = TypeVar("Item")


class Require(StrEnum):
    """Which sides of the search must have run."""

    ANY = "any"
    VECTOR = "vector"


@dataclass(frozen=True, kw_only=True)
class Question:
    """A recall as its caller asks it. `as_of` is a tick or an instant, None for now.

    Filters: of one of the `kinds`, known in one of these ways (`sources`), by the `agent` of this name, about the `subject`,
    and with all of the `tags` exactly.
    """

    query: str
    limit: int = 5
    kinds: tuple[Kind, ...] = ()
    sources: tuple[How, ...] = ()
    agent: str | None = None
    subject: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    min_confidence: float = 0.0
    as_of: int | datetime | None = None
    at_least: int | None = None
    include_stale: bool = False
    require: Require = Require.ANY

    def check(self) -> None:
        """Raises InvalidRequest naming the first field that breaks a rule."""
        limits.check_text("query", self.query, max_bytes=limits.QUERY_BYTES)
        if not 1 <= self.limit <= limits.RECALL_LIMIT:
            raise InvalidRequest("limit", f"must be from 1 to {limits.RECALL_LIMIT}")
        if self.subject is not None:
            limits.check_short("subject", self.subject, limits.SUBJECT_CHARACTERS)
        if self.agent is not None:
            limits.check_name("agent", self.agent)
        limits.check_tags(self.tags)
        limits.check_confidence("min_confidence", self.min_confidence)
        if isinstance(self.as_of, datetime):
            limits.check_aware("as_of", self.as_of)
        if self.as_of is not None and self.at_least is not None:
            raise InvalidRequest("at_least", "cannot be asked for together with as_of")
        for name in ("as_of", "at_least"):
            value = getattr(self, name)
            if isinstance(value, int) and not 0 <= value < 2**63:
                raise InvalidRequest(name, "must be a tick of this tribe")

    def filters(self) -> dict[str, object]:
        """Returns what narrowed the search, as the receipt shows it."""
        as_of = self.as_of.isoformat() if isinstance(self.as_of, datetime) else self.as_of
        return {
            "limit": self.limit,
            "kinds": [kind.value for kind in self.kinds],
            "sources": [how.value for how in self.sources],
            "agent": self.agent,
            "subject": self.subject,
            "tags": dict(self.tags),
            "min_confidence": self.min_confidence,
            "as_of": as_of,
            "include_stale": self.include_stale,
            "require": self.require.value,
        }


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A recalled lesson. `label` says how it must be read when it is no plain advice."""

    lesson: Lesson
    score: float
    confidence: float
    terms: Mapping[str, float]
    label: str | None
    challenges: tuple[Challenge, ...]


@dataclass(frozen=True, kw_only=True)
class Recalled:
    hits: tuple[Hit, ...]
    receipt: Receipt


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What narrows a listing: lessons of the `kind`, about the `subject`, by the `author`, and with all of the `tags` exactly.

    An author is named by an agent's id, with its prefix, or by its name.
    """

    kind: Kind | None = None
    subject: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    author: str | None = None

    def check(self) -> None:
        """Raises InvalidRequest naming the first field that breaks a rule."""
        if self.subject is not None:
            limits.check_short("subject", self.subject, limits.SUBJECT_CHARACTERS)
        if self.author is not None:
            limits.check_name("author", self.author)
        limits.check_tags(self.tags)

    def document(self) -> dict[str, object]:
        """Returns those that are given, as the receipt shows them."""
        given = {
            "kind": None if self.kind is None else self.kind.value,
            "subject": self.subject,
            "tags": dict(self.tags) or None,
            "author": self.author,
        }
        return {name: value for name, value in given.items() if value is not None}


EVERYTHING = Filters()


@dataclass(frozen=True, kw_only=True)
class Listing:
    """A page of lessons, newest first; `next_before` is where to go on from, None at the end."""

    lessons: tuple[Lesson, ...]
    confidences: tuple[float, ...]
    next_before: str | None
    receipt: Receipt


@dataclass(frozen=True, kw_only=True)
class LessonDetail:
    lesson: Lesson
    confidence: float
    challenges: tuple[Challenge, ...]
    receipt: Receipt


@dataclass(frozen=True, kw_only=True)
class Page(Generic[Item]):
    """Some of what curators look through, newest first; `next_before` is where to go on from, None at the end."""

    items: tuple[Item, ...]
    next_before: str | None
    receipt: Receipt
