"""What mem0 gives out: the reply of get_all, a list of memories, or one a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tributary.core.limits import SUBJECT_CHARACTERS
from tributary.transfer.documents.item import Item, Place, Refusal, Remark
from tributary.transfer.documents.json_stream import JsonStream
from tributary.transfer.documents.jsonl import NO_TEXT, anchor_of, is_text
from tributary.transfer.documents.lines import ByteSource
from tributary.transfer.documents.tags import tags_of
from tributary.transfer.documents.text import bounded, fitting

_LISTS = ("results", "memories")
_TEXTS = ("memory", "data", "text")
_WHOSE = {"user_id": "user", "agent_id": "agent", "app_id": "app", "run_id": "run"}
_KIND = "observation"


def mem0(stream: ByteSource, file: str) -> Iterator[Item | Refusal | Remark]:
    """Yields a lesson a memory, or why it is none; the line of its place is its number. Raises Unreadable."""
    number = 0
    for one in _memories(JsonStream(stream), file):
        if isinstance(one, Remark):
            yield one
            continue
        number += 1
        yield from _items(one, file, number)


def _memories(source: JsonStream, file: str) -> Iterator[object]:
    while (begins := source.next()) != "":
        if begins == "[":
            yield from source.entries()
        elif begins == "{":
            yield from _of_object(source, file)
        else:
            yield source.value()


def _of_object(source: JsonStream, file: str) -> Iterator[object]:
    """Yields the memories that an object lists, or the object where it lists none."""
    fields: dict[str, object] = {}
    listed = False
    for key in source.keys():  # noqa: SIM118  (no mapping)
        if key in _LISTS and source.next() == "[":
            listed = True
            yield from source.entries()
        else:
            fields[key] = source.value()
    if not listed:
        yield fields
    elif relations := fields.get("relations"):
        count = len(relations) if isinstance(relations, list) else 1
        yield Remark(file=file, text=f"{count} relations of the graph are left out; their memories are there")


def _items(one: object, file: str, number: int) -> Iterator[Item | Refusal]:
    if not isinstance(one, Mapping):
        yield Refusal(file=file, line=number, reason="is no memory: a JSON object was expected")
        return
    if not is_text(one):
        yield Refusal(file=file, line=number, reason=NO_TEXT)
        return
    text = next((value for name in _TEXTS if isinstance(value := one.get(name), str) and value.strip()), None)
    if text is None:
        yield Refusal(file=file, line=number, reason="is no memory: it has no text under 'memory'")
        return
    metadata = one.get("metadata")
    known = metadata if isinstance(metadata, Mapping) else {}
    whose = {name: value for name in _WHOSE if isinstance(value := one.get(name), str) and value.strip()}
    dated = {name: one.get(name) for name in ("created_at", "categories") if one.get(name)}
    tags, _ = tags_of({**known, **whose, **dated})
    subject = known.get("subject") or next(iter(whose.values()), None)
    anchor = anchor_of(one.get("id"), text)
    for part, words in enumerate(fitting(text), 1):
        yield Item(
            place=Place(file=file, anchor=anchor if part == 1 else f"{anchor} [part {part}]", line=number),
            text=words,
            situation=bounded([_situation(whose), *([f"part {part}"] if part > 1 else [])]),
            kind=_KIND,
            subject=subject[:SUBJECT_CHARACTERS].strip() or None if isinstance(subject, str) else None,
            tags=tags,
        )


def _situation(whose: Mapping[str, str]) -> str:
    named = ", ".join(f"{_WHOSE[name]} {value}" for name, value in whose.items())
    return f"what is remembered of {named}" if named else "what is remembered"
