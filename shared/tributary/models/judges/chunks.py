"""A text as chunks: what stands between white space, without punctuation, with contractions opened."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from tributary.models.judges import lexicon

CHUNKS_PER_TEXT = 800

_OPENERS = "([{<\"'`*“”‘’«»"
_CLOSERS = ")]}>\"'`*“”‘’«»"
_STOPS = {
    ".": ".",
    "!": ".",
    "?": ".",
    ";": ".",
    "…": ".",
    ",": ",",
    ":": ":",
    "。": ".",
    "，": ",",
    "；": ".",
    "：": ":",
}
_DASHES = re.compile(r"\s+[-–—]+\s+|[–—]")
_PER = re.compile(r"(?<=[a-z\d])/(s|sec|second|min|minute|h|hour|day)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?<=\w)'s$|(?<=s)'$")
_NEGATED = re.compile(r"^([a-z]+)n't$")
_PLURAL_ACRONYM = re.compile(r"^([A-Z]{2,})s$")
_MEASURE = re.compile(r"\d+-(?:bits?|bytes?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|percent|node|core|replica)")
_PORT = re.compile(r":\d{2,5}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    original: str
    word: str
    ends: str


def chunks_of(text: str) -> list[Chunk]:
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("`", " ")
    text = _DASHES.sub(" , ", _PER.sub(r" per \1", text))
    chunks: list[Chunk] = []
    for piece in text.split()[:CHUNKS_PER_TEXT]:
        core, ends = _trim(piece)
        if not core:
            if chunks and ends:
                chunks[-1] = Chunk(original=chunks[-1].original, word=chunks[-1].word, ends=chunks[-1].ends or ends)
            continue
        chunks.extend(_opened(core, ends))
    return chunks


def _trim(piece: str) -> tuple[str, str]:
    """Takes brackets, quotes and closing punctuation off; a bracket counts as a comma."""
    ends = ""
    while piece and (piece[-1] in _STOPS or piece[-1] in _CLOSERS):
        mark = _STOPS.get(piece[-1], "," if piece[-1] == ")" else "")
        ends = mark if mark == "." or not ends else ends
        piece = piece[:-1]
    return piece.lstrip(_OPENERS + ",;"), ends


def _opened(core: str, ends: str) -> list[Chunk]:
    """Opens contractions, possessives and key=value."""
    word = core.casefold()
    if word in lexicon.CONTRACTIONS:
        parts = lexicon.CONTRACTIONS[word].split()
    elif match := _NEGATED.match(word):
        parts = [match[1], "not"]
    elif _PORT.fullmatch(core):
        parts = ["port", core[1:]]
    elif _MEASURE.fullmatch(word):
        parts = word.split("-")
    elif "=" in core and "://" not in core and not core.startswith("="):
        key, _, value = core.partition("=")
        parts = [key.strip("="), "=", value.lstrip("=").strip("\"'")]
        parts = [part for part in parts if part]
        return [Chunk(original=part, word=part.casefold(), ends=ends if part is parts[-1] else "") for part in parts]
    elif "-" in core and core.replace("-", "").isalpha() and not lexicon.HYPHEN_PARTS.isdisjoint(word.split("-")):
        parts = core.split("-")
    else:
        stripped = _PLURAL_ACRONYM.sub(r"\1", _POSSESSIVE.sub("", core))
        return [Chunk(original=stripped, word=stripped.casefold(), ends=ends)]
    last = len(parts) - 1
    return [Chunk(original=part, word=part.casefold(), ends=ends if index == last else "") for index, part in enumerate(parts)]
