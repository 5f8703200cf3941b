"""What a parser finds: lessons with their places, refusals, and remarks."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote

ANCHOR_CHARACTERS = 200
NAME_CHARACTERS = 1000
"""The longest name of a file: with an anchor and a line it is still within the limit of a source's ref."""
_LINE = re.compile(r":\d+$")


class Format(StrEnum):
    AUTO = "auto"
    MARKDOWN = "markdown"
    SKILL = "skill"
    AGENTS = "agents"
    JSONL = "jsonl"
    MEM0 = "mem0"
    BASIC_MEMORY = "basic-memory"


class Unreadable(Exception):
    """A file cannot be read as what it is to be; the message is for its user."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where something was found. The anchor is what names it within the file: a heading, or an id.

    `alone` tells that nothing else has the same anchor, so that it is the same thing when its text has changed.
    """

    file: str
    anchor: str
    line: int
    alone: bool = True

    @property
    def key(self) -> str:
        """file#anchor: outlives that lines move."""
        return f"{file_prefix(self.file)}{printable(self.anchor)[:ANCHOR_CHARACTERS]}"

    @property
    def ref(self) -> str:
        """file#anchor:line, as a lesson's source has it."""
        return f"{self.key}:{self.line}"


@dataclass(frozen=True, kw_only=True)
class Item:
    """A lesson as it was found. `more` are further fields of learn, as they were given; among them may be a source of its own."""

    place: Place
    text: str
    situation: str
    kind: str = "runbook_fact"
    subject: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, object] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """What its source's ref is, or will be."""
        source = self.more.get("source")
        own = source.get("ref") if isinstance(source, Mapping) else None
        return own if isinstance(own, str) else self.place.ref

    @property
    def elsewhere(self) -> bool:
        """Tells whether its own source says that it comes from somewhere else than the file."""
        return self.ref != self.place.ref

    @property
    def words(self) -> bytes:
        """By which equal texts are known, whatever else is said with them."""
        return words_of(self.text)

    @property
    def digest(self) -> bytes:
        """By which two lessons that say the same in the same words are known, wherever they stand."""
        return digest_of(self.text, self.situation, self.subject, self.kind, self.tags)


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A part of a file that is no lesson, or a file that cannot be read: `line` is None. `reason` is for the user."""

    file: str
    reason: str
    line: int | None = None

    @property
    def where(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, kw_only=True)
class Remark:
    """Something that was left out and is no error."""

    file: str
    text: str


def file_prefix(name: str) -> str:
    """Returns how the refs of a file begin, and those of no other."""
    return "".join(quote(one) if one in "%#" or not one.isprintable() else one for one in name) + "#"


def place_key(ref: str) -> str:
    """Returns file#anchor of a ref that may end with a line."""
    return _LINE.sub("", ref)


def digest_of(text: str, situation: str, subject: str | None, kind: str, tags: Mapping[str, str]) -> bytes:
    """Returns 16 bytes that are equal for equal lessons."""
    said = json.dumps([text, situation, subject, kind, sorted(tags.items())], ensure_ascii=True)
    return hashlib.blake2b(said.encode(), digest_size=16).digest()


def words_of(text: str) -> bytes:
    """Returns 8 bytes that are equal for equal texts."""
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()


def printable(text: str) -> str:
    """Returns text without what a ref should not hold: control characters become blanks, and runs of blanks one."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())
