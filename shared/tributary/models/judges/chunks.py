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
_NARROWING = lexicon.NARROWING
_BRACKET = 6
_DENYING = frozenset({"not", "never", "but"})
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
    pieces = text.split()[:CHUNKS_PER_TEXT]
    for at, piece in enumerate(pieces):
        core, ends = _trim(piece)
        if chunks and _explains(pieces, at):
            chunks.append(Chunk(original="", word="ASIDE", ends=""))
        if not core:
            if chunks and ends:
                chunks[-1] = Chunk(original=chunks[-1].original, word=chunks[-1].word, ends=chunks[-1].ends or ends)
            continue
        chunks.extend(_opened(core, ends))
    return chunks


def _explains(pieces: list[str], at: int) -> bool:
    """Tells the bracket of "the relay (agreed in the guild)" from "(in the EU)", which narrows, and "(16 GB)", which claims."""
    if not pieces[at].startswith("(") or ")" in pieces[at]:
        return False
    word = pieces[at][1:].casefold()
    if word in _DENYING:  # "(not an engineer)", "(not in the EU)"
        word = pieces[at + 1].casefold() if at + 1 < len(pieces) else word
    return (
        not word[:1].isdigit() and word not in _NARROWING and not any(p.startswith("only)") for p in pieces[at : at + _BRACKET])
    )


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
        if parts[0].casefold() == "re":
            parts = ["".join(parts[:2]), *parts[2:]]
    else:
        stripped = _PLURAL_ACRONYM.sub(r"\1", _POSSESSIVE.sub("", core))
        return [Chunk(original=stripped, word=stripped.casefold(), ends=ends)]
    last = len(parts) - 1
    return [Chunk(original=part, word=part.casefold(), ends=ends if index == last else "") for index, part in enumerate(parts)]
