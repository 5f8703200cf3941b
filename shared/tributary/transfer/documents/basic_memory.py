"""Notes of Basic Memory: observations and relations, which are list entries of a certain form, and the prose around them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tributary.core.limits import SUBJECT_CHARACTERS, TAG_KEY_CHARACTERS, TAG_VALUE_CHARACTERS, TAGS
from tributary.transfer.documents.item import Item, Place, Remark
from tributary.transfer.documents.markdown import Anchors, Document, document, parted
from tributary.transfer.documents.outline import Bullet, Section
from tributary.transfer.documents.text import fitting

_OBSERVED = re.compile(r"\[([^\[\]()]+)\]\s+(\S.*)", re.DOTALL)
_TASK = re.compile(r"\[[ xX\W]\]")
_TIME = re.compile(r"\d{1,3}:\d{2}[\d:.,\s-]*")
_HASHTAG = re.compile(r"(?<!\S)#([^\s#]+)")
_CONTEXT = re.compile(r"(.*\S)\s+\(([^()]+)\)", re.DOTALL)
_RELATION = re.compile(
    r"(?:\"([^\"\[]+)\"|'([^'\[]+)'|([^\s\[\"']+))\s+\[\[([^\[\]]+)\]\]\s*(?:\(([^()]+)\))?",
)
_OBSERVATION = "observation"
_FACT = "entity_fact"


def basic_memory(raw: bytes, file: str) -> Iterator[Item | Remark]:
    """Yields a lesson an observation, one a relation, and one for the prose of each section; raises Unreadable."""
    found = document(raw, file)
    yield from found.remarks()
    anchors = Anchors()
    for section in found.sections:
        anchor = anchors.of(section.heading)
        prose = section.besides
        for bullet in section.bullets:
            item = _observation(found, section, anchor, bullet) or _relation(found, section, anchor, bullet)
            if item is None:
                prose = f"{prose}\n- {bullet.text}".lstrip("\n")
            else:
                yield item
        yield from parted(found, section, anchor, prose)


def _observation(found: Document, section: Section, anchor: str, bullet: Bullet) -> Item | None:
    match = None if _TASK.match(bullet.text) else _OBSERVED.fullmatch(bullet.text)
    if match and _TIME.fullmatch(match[1]):
        match = None  # the time of day in a transcript, no category
    hashtags = _HASHTAG.findall(bullet.text)
    if match is None and not (hashtags and "[[" not in bullet.text and not _TASK.match(bullet.text)):
        return None
    category, text = (match[1].strip(), match[2]) if match else ("", bullet.text)
    context = _CONTEXT.fullmatch(text)
    if context is not None:
        text = context[1]
    more = {f"tag:{one}": "true" for one in hashtags}
    if category:
        more["category"] = category
    return _item(found, section, anchor, bullet, text=text, kind=_OBSERVATION, context=context and context[2], tags=more)


def _relation(found: Document, section: Section, anchor: str, bullet: Bullet) -> Item | None:
    match = _RELATION.fullmatch(bullet.text)
    if match is None:
        return None
    verb = (match[1] or match[2] or match[3]).strip()
    text = f"{found.title} {verb.replace('_', ' ')} {match[4].strip()}"
    return _item(found, section, anchor, bullet, text=text, kind=_FACT, context=match[5], tags={"relation": verb})


def _item(
    found: Document,
    section: Section,
    anchor: str,
    bullet: Bullet,
    *,
    text: str,
    kind: str,
    context: str | None,
    tags: dict[str, str],
) -> Item | None:
    parts = fitting(text)
    if len(parts) != 1:
        return None
    fit = {key: value for key, value in tags.items() if len(key) <= TAG_KEY_CHARACTERS and len(value) <= TAG_VALUE_CHARACTERS}
    every = {**found.head.tags, **fit}
    path = [one for one in section.path if one.lower() not in ("observations", "relations")]
    return Item(
        place=Place(file=found.file, anchor=anchor, line=bullet.line, alone=False),
        text=parts[0],
        situation=found.situation([*path, *([context.strip()] if context else [])]),
        kind=found.head.kind or kind,
        subject=found.head.subject or found.title[:SUBJECT_CHARACTERS].strip(),
        tags=dict(list(every.items())[:TAGS]),
    )
