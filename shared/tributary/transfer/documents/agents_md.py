"""AGENTS.md and CLAUDE.md: a lesson for each bullet, and for each section that has none."""

from __future__ import annotations

from collections.abc import Iterator

from tributary.transfer.documents.item import Item, Place, Remark
from tributary.transfer.documents.markdown import Anchors, document, parted
from tributary.transfer.documents.text import fitting

_KIND = "gotcha"


def agents(raw: bytes, file: str) -> Iterator[Item | Remark]:
    """Yields a lesson a bullet, with what is nested in it; the headings above are its situation. Raises Unreadable."""
    found = document(raw, file)
    yield from found.remarks()
    anchors = Anchors()
    for section in found.sections:
        anchor = anchors.of(section.heading)
        if not section.bullets:
            yield from parted(found, section, anchor, section.text, kind=_KIND)
        for bullet in section.bullets:
            for part in fitting(bullet.text):
                yield Item(
                    place=Place(file=file, anchor=anchor, line=bullet.line, alone=False),
                    text=part,
                    situation=found.situation(section.path),
                    kind=found.head.kind or _KIND,
                    subject=found.subject,
                    tags=found.head.tags,
                )
