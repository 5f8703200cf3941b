"""Markdown documents: a lesson for what stands under each heading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from tributary.core.limits import SUBJECT_CHARACTERS
from tributary.transfer.documents.front_matter import FrontMatter, front_matter
from tributary.transfer.documents.item import ANCHOR_CHARACTERS, Item, Place, Remark, printable
from tributary.transfer.documents.outline import Section, sections
from tributary.transfer.documents.text import bounded, decoded, fitting

_NAMELESS = ("readme", "index", "_index", "skill", "agents", "claude")
"""Files of these names are called after their folder."""
_HEADING_CHARACTERS = ANCHOR_CHARACTERS - 40


@dataclass(frozen=True, kw_only=True)
class Document:
    """A Markdown file taken apart. `title` is its own, its first heading if that is the only widest one, or its name."""

    file: str
    head: FrontMatter
    title: str
    sections: Sequence[Section]

    @property
    def subject(self) -> str:
        return self.head.subject or named(self.file)

    def situation(self, path: Sequence[str], *, before: Sequence[str] = ()) -> str:
        """Returns the title and the headings down to a section's own, in one line."""
        inner = path[1:] if path and path[0] == self.title else path
        return bounded([*before, self.title, *inner])

    def remarks(self) -> Iterator[Remark]:
        if self.head.left_out:
            names = ", ".join(self.head.left_out)
            yield Remark(file=self.file, text=f"of the front matter no tags were made of: {names}")


class Anchors:
    """Gives each section of a file a name of its own: a heading that comes again is numbered."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}
        """The number that the next section of a name begins to look at."""

    def of(self, heading: str) -> str:
        name = printable(heading)[:_HEADING_CHARACTERS]  # which leaves room for numbers behind it
        anchor, number = name, self._taken.get(name, 1)
        while anchor in self._taken:
            number += 1
            anchor = f"{name} ({number})"
        self._taken[name] = number
        self._taken.setdefault(anchor, 1)
        return anchor


def document(raw: bytes, file: str) -> Document:
    """Returns a file taken apart; raises Unreadable."""
    lines = decoded(raw).split("\n")
    head = front_matter(lines)
    found = sections(lines[head.lines :], first_line=head.lines + 1)
    widest = [one for one in found if one.level == 1]
    own = widest[0].heading if len(widest) == 1 and found[1] is widest[0] else None
    return Document(file=file, head=head, title=head.word("title") or own or named(file), sections=found)


def markdown(raw: bytes, file: str) -> Iterator[Item | Remark]:
    """Yields a lesson a section, long ones in parts; raises Unreadable."""
    found = document(raw, file)
    yield from found.remarks()
    anchors = Anchors()
    for section in found.sections:
        anchor = anchors.of(section.heading)
        yield from parted(found, section, anchor, section.text)


def parted(
    found: Document,
    section: Section,
    anchor: str,
    text: str,
    *,
    before: Sequence[str] = (),
    kind: str = "runbook_fact",
    tags: Mapping[str, str] | None = None,
) -> Iterator[Item]:
    """Yields what a section says, in as many parts as it takes; nothing when it says nothing."""
    parts = fitting(text, section.starts if text == section.text else ())
    for number, part in enumerate(parts, 1):
        named_part = [f"part {number}"] if number > 1 else []
        yield Item(
            place=Place(file=found.file, anchor=" ".join([anchor, *(f"[{one}]" for one in named_part)]), line=section.line),
            text=part,
            situation=found.situation([*section.path, *named_part], before=before),
            kind=found.head.kind or kind,
            subject=found.subject,
            tags=found.head.tags if tags is None else tags,
        )


def named(file: str) -> str:
    """Returns what a file is called: without its ending, or after its folder where its own name says nothing."""
    path = PurePosixPath(file)
    stem = path.stem
    if stem.lower() in _NAMELESS and path.parent.name:
        stem = path.parent.name
    return " ".join(stem.split())[:SUBJECT_CHARACTERS] or "document"
