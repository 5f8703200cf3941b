"""The texts that a text holds: what it says when its encodings are undone, and what is hidden in islands of base64 or hex."""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterator
from urllib.parse import unquote

DEPTH = 3
"""How many encodings inside one another are undone."""
LAYERS = 40
"""How many texts one text may unfold into; a lesson of the greatest size has room for no more worth reading."""

_RIGHT_TO_LEFT = "\u202e"
_TAG_CHARACTERS = re.compile("[\U000e0020-\U000e007e]{3,}")
_ESCAPE = re.compile(r"\\(?:u\{?([0-9a-fA-F]{4,5})\}?|x([0-9a-fA-F]{2}))")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}(?:\s{1,4}[A-Za-z0-9+/_-]{8,})*={0,2}")
_HEX = re.compile(r"(?<![0-9a-zA-Z])(?:[0-9a-fA-F]{2}[ :]?){12,}")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]\s*\n\s*(?=[^\W\d_])")
_TURNED_ROUND = re.compile(r"(?:snoitcurtsni|tpmorp|senilediug|selur\b)", re.IGNORECASE)
_ROTATED = re.compile(r"(?:vafgehpgvba|cebzcg|thvqryvar|ehyrf\b)", re.IGNORECASE)
_ROTATION = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "nopqrstuvwxyzabcdefghijklmNOPQRSTUVWXYZABCDEFGHIJKLM"
)
"""What instructions, prompts, guidelines and rules are called when they are read from behind, or thirteen letters on."""
_UNSEEN_INSIDE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")


def layers_of(text: str) -> list[str]:
    """Returns `text` with its encodings undone, then every text that it hides, at most LAYERS in all."""
    found: list[str] = []
    seen: set[str] = set()
    waiting = [(text, 0)]
    while waiting and len(found) < LAYERS:
        current, depth = waiting.pop(0)
        decoded = _decoded(current)
        if decoded in seen:
            continue
        seen.add(decoded)
        found.append(decoded)
        if depth < DEPTH:
            waiting.extend((hidden, depth + 1) for hidden in _hidden(decoded))
    return found


def _decoded(text: str) -> str:
    """Undoes HTML entities, URL encoding and backslash escapes, as deep as they are nested."""
    for _ in range(DEPTH):
        plain = _ESCAPE.sub(_escaped, unquote(html.unescape(text), errors="ignore"))
        if plain == text:
            break
        text = plain
    return text


def _escaped(match: re.Match[str]) -> str:
    code = int(match[1] or match[2], 16)
    return chr(code) if not 0xD800 <= code <= 0xDFFF and code < 0x110000 else match[0]


def _hidden(text: str) -> Iterator[str]:
    if _TAG_CHARACTERS.search(text):
        yield "".join(chr(ord(c) - 0xE0000) if 0xE0020 <= ord(c) <= 0xE007E else " " for c in text)
    if _RIGHT_TO_LEFT in text:
        yield text[::-1]
    if _TURNED_ROUND.search(text):
        yield text[::-1]
    if _ROTATED.search(text):
        yield text.translate(_ROTATION)
    if _HYPHENATED.search(text):
        yield _HYPHENATED.sub("", text)
    if _UNSEEN_INSIDE.search(text):  # unseen characters may part words as well as letters
        yield _UNSEEN_INSIDE.sub(" ", text)
    bare = _UNSEEN_INSIDE.sub("", text)
    for match in _BASE64.finditer(bare):
        yield from _from_base64(match.group())
    for match in _HEX.finditer(bare):
        yield from _readable(bytes.fromhex(re.sub("[ :]", "", match.group())))


def _from_base64(island: str) -> Iterator[str]:
    """Yields what the island's lines say as one text, and each by itself."""
    parts = island.split()
    whole = "".join(parts)
    for piece in dict.fromkeys((whole, *parts)) if len(parts) > 1 else (whole,):
        body = piece.rstrip("=").replace("-", "+").replace("_", "/")
        body = body[: len(body) - (len(body) % 4 == 1)]
        try:
            yield from _readable(base64.b64decode(body + "=" * (-len(body) % 4)))
        except binascii.Error:
            continue


def _readable(raw: bytes) -> Iterator[str]:
    """Yields the bytes as text when that is what they are: a hash or a certificate decodes to noise."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        # UTF-16, as some shells encode commands.
        text = raw.decode("utf-16-le", errors="ignore") if raw[1::2].count(0) * 2 > len(raw[1::2]) else ""
    if any(c.isalpha() for c in text):
        yield text
