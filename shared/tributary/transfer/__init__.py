"""Lessons from documents and from other memories: what is read where, and how it compares with what a tribe holds of it."""

from tributary.transfer.comparing import START_CHARACTERS, Change, Compared, Comparison, Held
from tributary.transfer.files import Found, find
from tributary.transfer.item import (
    Format,
    Item,
    Place,
    Refusal,
    Remark,
    Unreadable,
    digest_of,
    file_prefix,
    place_key,
    words_of,
)
from tributary.transfer.lines import LINE_BYTES, ByteSource, bounded_lines
from tributary.transfer.reading import DOCUMENT_BYTES, STREAMED, Piece, read

__all__ = [
    "DOCUMENT_BYTES",
    "LINE_BYTES",
    "START_CHARACTERS",
    "STREAMED",
    "ByteSource",
    "Change",
    "Compared",
    "Comparison",
    "Format",
    "Found",
    "Held",
    "Item",
    "Piece",
    "Place",
    "Refusal",
    "Remark",
    "Unreadable",
    "bounded_lines",
    "digest_of",
    "file_prefix",
    "find",
    "place_key",
    "read",
    "words_of",
]
