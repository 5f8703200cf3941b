"""Lessons from documents and other memories: what is read where, and how it compares with what a tribe holds of it."""

from tributary.transfer.documents.comparing import START_CHARACTERS, Change, Compared, Comparison, Held
from tributary.transfer.documents.files import Found, find
from tributary.transfer.documents.item import (
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
from tributary.transfer.documents.lines import LINE_BYTES, ByteSource, bounded_lines
from tributary.transfer.documents.reading import DOCUMENT_BYTES, STREAMED, Piece, read

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
