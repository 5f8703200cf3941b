"""A file of any format, item by item."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tributary.transfer.documents.agents_md import agents
from tributary.transfer.documents.basic_memory import basic_memory
from tributary.transfer.documents.item import Format, Item, Refusal, Remark, Unreadable
from tributary.transfer.documents.jsonl import jsonl
from tributary.transfer.documents.lines import ByteSource
from tributary.transfer.documents.markdown import markdown
from tributary.transfer.documents.mem0 import mem0
from tributary.transfer.documents.skills import skill

DOCUMENT_BYTES = 4 * 1024 * 1024
"""The largest file that is read as a whole. Lists of lessons are read entry by entry, however long they are."""

Piece = Item | Refusal | Remark
_WHOLE: Mapping[Format, Callable[[bytes, str], Iterator[Item | Remark]]] = {
    Format.MARKDOWN: markdown,
    Format.SKILL: skill,
    Format.AGENTS: agents,
    Format.BASIC_MEMORY: basic_memory,
}
STREAMED: Mapping[Format, Callable[[ByteSource, str], Iterator[Piece]]] = {Format.JSONL: jsonl, Format.MEM0: mem0}
"""Formats that are lists of lessons, of any length."""


def read(stream: ByteSource, file: str, form: Format) -> Iterator[Piece]:
    """Yields what a file of this name holds, in its order; raises Unreadable where it cannot be read any further.

    A document gives nothing unless all of it can be read. `form` is not AUTO.
    """
    if form in STREAMED:
        yield from STREAMED[form](stream, file)
        return
    raw = stream.read(DOCUMENT_BYTES + 1)
    if len(raw) > DOCUMENT_BYTES:
        raise Unreadable(f"has more than {DOCUMENT_BYTES} bytes, which is too large for a document")
    try:
        yield from list(_WHOLE[form](raw, file))
    except RecursionError:
        raise Unreadable("is nested too deep") from None
