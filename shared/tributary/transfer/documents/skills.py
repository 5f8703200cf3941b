"""SKILL.md: what an agent's skill says, each part with when the skill is to be used."""

from __future__ import annotations

from collections.abc import Iterator

from tributary.transfer.documents.item import Item, Remark
from tributary.transfer.documents.markdown import Anchors, document, parted

_NOT_TAGS = ("name",)


def skill(raw: bytes, file: str) -> Iterator[Item | Remark]:
    """Yields a lesson a section; its situation begins with the skill's description. Raises Unreadable."""
    found = document(raw, file)
    yield from found.remarks()
    description = found.head.word("description")
    tags = {key: value for key, value in found.head.tags.items() if key not in _NOT_TAGS}
    if name := found.head.word("name"):
        tags["skill"] = name[:200]
    anchors = Anchors()
    for section in found.sections:
        anchor = anchors.of(section.heading)
        yield from parted(found, section, anchor, section.text, before=[description] if description else [], tags=tags)
