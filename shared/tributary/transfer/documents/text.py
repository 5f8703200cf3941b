"""Bytes into text, and text into parts that fit in a lesson."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tributary.core.limits import SITUATION_BYTES, TEXT_BYTES
from tributary.transfer.documents.item import Unreadable

HEADING_CHARACTERS = 200


def decoded(raw: bytes) -> str:
    """Returns text with line feeds alone between its lines and without a byte order mark; raises Unreadable, naming the byte."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"is not UTF-8 text: byte {error.start + 1} does not fit") from None
    if "\x00" in text:
        raise Unreadable("is no text: it holds NUL characters")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def fitting(text: str, starts: Sequence[int] = (), *, most_bytes: int = TEXT_BYTES) -> list[str]:
    """Returns text in parts of at most `most_bytes` of UTF-8, cut before as few of its lines as that takes.

    `starts` are lines at which a new block begins: it is cut there if it can, else before any line, else within one. The same
    text gives the same parts; none is blank.
    """
    if len(text.encode()) <= most_bytes:
        return [text] if text.strip() else []
    lines = text.split("\n")
    bounds = sorted({0, *(one for one in starts if 0 < one < len(lines)), len(lines)})
    blocks = ["\n".join(lines[first:last]) for first, last in pairwise(bounds)]
    parts = _packed(_within(blocks, most_bytes), most_bytes)
    return [one for part in parts if (one := part.strip("\n")).strip()]


def bounded(parts: Sequence[str], *, most_bytes: int = SITUATION_BYTES) -> str:
    """Returns names from the widest to the narrowest as one line, each cut and those in the middle left out, so that it fits."""
    short = [" ".join(one.split())[:HEADING_CHARACTERS].strip() for one in parts]
    kept = [one for one in short if one]
    while len(" > ".join(kept).encode()) > most_bytes:
        del kept[len(kept) // 2]
    return " > ".join(kept)


def _within(blocks: Sequence[str], most_bytes: int) -> Iterator[str]:
    """Yields blocks; one that is too large line by line, and such a line in pieces."""
    for block in blocks:
        if len(block.encode()) <= most_bytes:
            yield block
            continue
        for line in block.split("\n"):
            yield from _pieces(line, most_bytes)


def _pieces(line: str, most_bytes: int) -> Iterator[str]:
    raw = line.encode()
    while len(raw) > most_bytes:
        piece = raw[:most_bytes].decode(errors="ignore")
        yield piece
        raw = raw[len(piece.encode()) :]
    yield raw.decode()


def _packed(blocks: Iterator[str], most_bytes: int) -> Iterator[str]:
    part: list[str] = []
    size = 0
    for block in blocks:
        more = len(block.encode()) + 1
        if part and size + more > most_bytes + 1:
            yield "\n".join(part)
            part, size = [], 0
        part.append(block)
        size += more
    yield "\n".join(part)
