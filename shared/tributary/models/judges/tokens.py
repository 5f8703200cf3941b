"""A text as tokens: words with their concepts, identifiers kept whole, quantities in base units, marks of logic."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from tributary.models.judges import lexicon
from tributary.models.judges.quantities import NUMBER_WORDS, UNITS, Quantity, quantity_at
from tributary.models.judges.words import concept_of, stem

TOKENS_PER_TEXT = 400


class Sort(Enum):
    """What sort of token it is; sorts other than WORD, STOP and MARK are values that can stand against each other."""

    WORD = "word"
    STOP = "stop"
    MARK = "mark"
    QUANTITY = "quantity"
    NAME = "name"
    PATH = "path"
    ADDRESS = "address"
    REGION = "region"
    ENVIRONMENT = "environment"
    VERSION = "version"
    BOOLEAN = "boolean"
    DAY = "day"
    CHANNEL = "channel"
    ZONE = "zone"


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """`surface` is case-folded; `ends` holds the punctuation that closes it ('', ',', ':' or '.')."""

    surface: str
    key: str
    sort: Sort
    sign: int = 0
    weight: float = 1.0
    proper: bool = False
    ends: str = ""
    quantity: Quantity | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Chunk:
    original: str
    word: str
    ends: str


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
_REGION = re.compile(
    r"(?:us|eu|ap|sa|ca|me|af|il|mx|cn)-(?:gov-)?(?:north|south|east|west|central)(?:north|south|east|west)?-\d[a-f]?"
    r"|(?:us|europe|asia|australia|southamerica|northamerica|me|africa)-(?:north|south|east|west|central)(?:east|west)?\d(?:-[a-f])?"
    r"|(?:north|west|east|south|uk|france|germany|central)(?:europe|us|south|west|central|east)\d?"
)
_VERSION = re.compile(
    r"v\d+(?:\.(?:\d+|x|\*))*(?:-?(?:rc|beta|alpha)\.?\d*)?|\d+\.\d+\.\d+[\w.+-]*|\d+(?:\.\d+)*\.(?:x|\*)"
)
_ADDRESS = re.compile(
    r"[a-z][a-z\d+.-]*://\S+|\d{1,3}(?:\.\d{1,3}){3}(?::\d+|/\d+)?|(?:[a-z\d-]+\.)+(?:com|org|net|io|dev|local|internal|cloud|svc)(?::\d+)?"
)
_PATH = re.compile(r"~?/?[\w.@*-]*(?:/[\w.@*{}-]+)+/?")
_CAMEL = re.compile(r"[a-z\d][A-Z]|[A-Z]{2,}[a-z]{2,}")
_OTHER_BOUND = {"BOUND-UP": "BOUND-DOWN", "BOUND-DOWN": "BOUND-UP"}
_METHODS = frozenset("GET POST PUT PATCH DELETE HEAD OPTIONS".split())
_ZONES = frozenset({"utc", "gmt", "cet", "cest", "pst", "pdt", "est", "edt", "ist", "jst"})
_ZONE = re.compile(r"(?:europe|america|asia|africa|australia|pacific)/[a-z_]+")
_PLURAL_ACRONYM = re.compile(r"^([A-Z]{2,})s$")
_PORT = re.compile(r":\d{2,5}")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def tokens_of(text: str) -> list[Token]:
    """Returns the tokens of `text` in order, at most TOKENS_PER_TEXT."""
    return list(_with_rates(_with_bounds(_tokens(_with_phrases(_chunks(text)))[:TOKENS_PER_TEXT])))


# ---- chunks: white space, punctuation, contractions


def _chunks(text: str) -> list[_Chunk]:
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("`", " ")
    text = _DASHES.sub(" , ", _PER.sub(r" per \1", text))
    chunks: list[_Chunk] = []
    for piece in text.split()[: 2 * TOKENS_PER_TEXT]:
        core, ends = _trim(piece)
        if not core:
            if chunks and ends:
                chunks[-1] = _Chunk(original=chunks[-1].original, word=chunks[-1].word, ends=chunks[-1].ends or ends)
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


def _opened(core: str, ends: str) -> list[_Chunk]:
    """Opens contractions, possessives and key=value."""
    word = core.casefold()
    if word in lexicon.CONTRACTIONS:
        parts = lexicon.CONTRACTIONS[word].split()
    elif match := _NEGATED.match(word):
        parts = [match[1], "not"]
    elif _PORT.fullmatch(core):
        parts = ["port", core[1:]]
    elif "=" in core and "://" not in core and not core.startswith("="):
        key, _, value = core.partition("=")
        parts = [key.strip("="), "=", value.lstrip("=").strip("\"'")]
        parts = [part for part in parts if part]
        return [_Chunk(original=part, word=part.casefold(), ends=ends if part is parts[-1] else "") for part in parts]
    elif "-" in core and core.replace("-", "").isalpha() and not lexicon.HYPHEN_PARTS.isdisjoint(word.split("-")):
        parts = core.split("-")
    else:
        stripped = _PLURAL_ACRONYM.sub(r"\1", _POSSESSIVE.sub("", core))
        return [_Chunk(original=stripped, word=stripped.casefold(), ends=ends)]
    last = len(parts) - 1
    return [
        _Chunk(original=part, word=part.casefold(), ends=ends if index == last else "")
        for index, part in enumerate(parts)
    ]


# ---- phrases


def _phrase_table() -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    table: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for line in lexicon.PHRASES.strip().splitlines():
        phrase, _, result = line.partition("=>")
        words = tuple(phrase.split())
        table.setdefault(words[0], []).append((words, tuple(result.split())))
    for entries in table.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return table


_PHRASES = _phrase_table()
_CEASING = frozenset({"stops", "stopped", "stop", "ceases", "ceased", "cease", "quits"})
_STATES = {"on": "enabled", "off": "disabled", "up": "online", "down": "offline"}
_BEFORE_STATE = frozenset("is are be was were stay stays remain remains left keep to been being by".split())
_AFTER_STATE = frozenset("for in by per at during when if while unless since until and but because on".split())
_PARTICLES = {"on": "enable", "off": "disable"}
_AUXILIARIES = frozenset("do does did is are was were be will would".split())


def _with_phrases(chunks: list[_Chunk]) -> list[_Chunk]:
    found: list[_Chunk] = []
    at = 0
    while at < len(chunks):
        chunk = chunks[at]
        if chunk.word in ("turn", "turned", "switch", "switched", "turning") and (joined := _separated(chunks, at)):
            found.extend(joined[0])
            at += joined[1]
            continue
        if chunk.word in _CEASING and at + 1 < len(chunks) and chunks[at + 1].word.endswith("ing"):
            found.append(_Chunk(original="NOT", word="NOT", ends=""))
            at += 1
            continue
        if chunk.word in _STATES and _states(chunks, at):
            found.append(_Chunk(original=chunk.word, word=_STATES[chunk.word], ends=chunk.ends))
            at += 1
            continue
        length, result = _phrase_at(chunks, at)
        if not length:
            found.append(chunk)
            at += 1
            continue
        if (
            result
            and result[0] in ("NOT", "OPTIONAL")
            and found
            and found[-1].word in _AUXILIARIES
            and not found[-1].ends
        ):
            found.pop()
        ends = chunks[at + length - 1].ends
        found.extend(_Chunk(original=word, word=word, ends="") for word in result)
        if found and ends:
            found[-1] = _Chunk(original=found[-1].original, word=found[-1].word, ends=ends)
        at += length
    return found


def _states(chunks: list[_Chunk], at: int) -> bool:
    """Tells "the flag is off" from "the UI is on port 80"."""
    if not at or chunks[at - 1].word not in _BEFORE_STATE or chunks[at - 1].ends:
        return False
    return bool(chunks[at].ends) or at + 1 == len(chunks) or chunks[at + 1].word in _AFTER_STATE


def _separated(chunks: list[_Chunk], at: int) -> tuple[list[_Chunk], int] | None:
    """Joins 'turn autovacuum off' into 'disable autovacuum'."""
    for end in range(at + 1, min(at + 7, len(chunks))):
        verb = _PARTICLES.get(chunks[end].word)
        if verb:
            middle, _ = _with_phrases(chunks[at + 1 : end]), None
            result = [_Chunk(original=verb, word=verb, ends=""), *middle]
            result[-1] = _Chunk(original=result[-1].original, word=result[-1].word, ends=chunks[end].ends)
            return result, end + 1 - at
        if chunks[end].ends:
            return None
    return None


def _phrase_at(chunks: list[_Chunk], at: int) -> tuple[int, tuple[str, ...]]:
    for words, result in _PHRASES.get(chunks[at].word, ()):
        end = at + len(words)
        if end > len(chunks):
            continue
        if all(chunks[at + i].word == words[i] for i in range(1, len(words))) and not any(
            chunks[i].ends for i in range(at, end - 1)
        ):
            return len(words), result
    return 0, ()


# ---- tokens


def _tokens(chunks: list[_Chunk]) -> list[Token]:
    words = [chunk.word for chunk in chunks]
    found: list[Token] = []
    at = 0
    opening = True
    while at < len(chunks):
        chunk = chunks[at]
        measured = None if chunk.word == "no" else quantity_at(words, at)
        if measured and not _counts(words, at, measured[1]):
            measured = None
        if measured:
            quantity, used = measured
            ends = next((chunks[i].ends for i in range(at, at + used - 1) if chunks[i].ends), "")
            if ends:  # "5, 10" are two
                quantity_again = quantity_at([chunk.word], 0)
                quantity, used = quantity_again if quantity_again else (quantity, used)
            found.append(
                Token(
                    surface=chunk.word,
                    key=f"{quantity.dimension}:{quantity.value:g}",
                    sort=Sort.QUANTITY,
                    weight=1.5,
                    ends=chunks[at + used - 1].ends,
                    quantity=quantity,
                )
            )
            at += used
        else:
            found.extend(_worded(chunk, opening=opening))
            at += 1
        opening = bool(found) and found[-1].ends == "."
    return found


def _with_bounds(tokens: list[Token]) -> list[Token]:
    """Turns "does not accept more than 500" into "accepts at most 500"."""
    for at, token in enumerate(tokens):
        if token.surface != "NOT" or token.sort is not Sort.MARK:
            continue
        for ahead in range(at + 1, min(at + 6, len(tokens))):
            other = tokens[ahead]
            if other.sort is Sort.MARK and other.surface in _OTHER_BOUND:
                turned = replace(other, surface=_OTHER_BOUND[other.surface], key=_OTHER_BOUND[other.surface])
                return [*tokens[:at], *tokens[at + 1 : ahead], turned, *_with_bounds(tokens[ahead + 1 :])]
            if other.ends or other.sort is Sort.MARK:
                break
    return tokens


def _with_rates(tokens: list[Token]) -> Iterator[Token]:
    """Yields the tokens with '50 requests per second' as a rate and 'four times an hour' as its period."""
    taken: set[int] = set()
    for index, token in enumerate(tokens):
        if index in taken:
            continue
        counted = token.quantity
        if counted is not None and counted.dimension in ("count", "times") and (found := _period(tokens, index)):
            period, places = found
            taken.update(places)
            if counted.dimension == "times" and counted.value:
                quantity = Quantity(dimension="seconds", value=period / counted.value, unit="times")
            else:
                quantity = Quantity(dimension="rate", value=counted.value / period, unit=f"{period:g}")
            token = replace(token, key=f"{quantity.dimension}:{quantity.value:g}", quantity=quantity)  # noqa: PLW2901
        yield token


def _period(tokens: list[Token], index: int) -> tuple[float, tuple[int, ...]] | None:
    """Returns the seconds in 'per second' or 'a minute' soon after a count, and where that stands."""
    for at in range(index + 1, min(index + 4, len(tokens))):
        each = tokens[at].quantity
        if each is not None and tokens[at].surface in ("a", "an") and each.dimension == "seconds":
            return each.value, (at,)
        if tokens[at].surface in ("per", "every", "each") and at + 1 < len(tokens):
            unit = UNITS.get(tokens[at + 1].surface)
            if unit and unit[0] == "seconds":
                return unit[1], (at, at + 1)
    return None


def _counts(words: list[str], at: int, used: int) -> bool:
    """Tells a number from a word that looks like one: 'one of', 'a second instance', 'second' without a count."""
    word = words[at]
    following = words[at + used] if at + used < len(words) else ""
    if word == "one" and used == 1 and following in ("of", "by", "that", "can", "has", "is", "MAY", "NEED", ""):
        return False
    return not (
        word in ("a", "an") and words[at + 1] in ("second", "third") and used == 2 and following not in ("", "and")
    )


def _worded(chunk: _Chunk, *, opening: bool) -> list[Token]:
    word, original, ends = chunk.word, chunk.original, chunk.ends
    if word.isupper():  # what was written is case-folded, so only a mark put in by the phrases is in capitals
        return [Token(surface=word, key=word, sort=Sort.MARK, weight=0, ends=ends)]
    if word == "=":
        return [Token(surface=word, key=word, sort=Sort.MARK, weight=0)]
    if word in lexicon.STOP_WORDS and original not in _METHODS:
        return [Token(surface=word, key=word, sort=Sort.STOP, weight=0, ends=ends)]
    sort = _sort_of(word, original)
    if sort is Sort.WORD:
        return _plain(word, original, ends, opening=opening)
    key = word
    if sort is Sort.ENVIRONMENT:
        key = lexicon.ENVIRONMENTS[word]
    elif sort is Sort.DAY:
        key = lexicon.DAY_WORDS[word]
    elif sort in (Sort.PATH, Sort.ADDRESS):
        key = word.rstrip("/")
    weight = 1.0 if sort in (Sort.ENVIRONMENT, Sort.DAY, Sort.BOOLEAN) else 2.0
    return [Token(surface=word, key=key, sort=sort, weight=weight, proper=True, ends=ends)]


def _sort_of(word: str, original: str) -> Sort:
    if word in lexicon.ENVIRONMENTS:
        return Sort.ENVIRONMENT
    if word in lexicon.DAY_WORDS:
        return Sort.DAY
    if word in lexicon.BOOLEANS:
        return Sort.BOOLEAN
    if word in _ZONES or _ZONE.fullmatch(word):
        return Sort.ZONE
    if original in _METHODS:
        return Sort.NAME
    if original.isalpha():
        return Sort.NAME if _CAMEL.search(original) and concept_of(word).key == stem(word) else Sort.WORD
    if word.startswith("#") and len(word) > 1:
        return Sort.CHANNEL
    for pattern, sort in (
        (_REGION, Sort.REGION),
        (_VERSION, Sort.VERSION),
        (_ADDRESS, Sort.ADDRESS),
        (_PATH, Sort.PATH),
    ):
        if pattern.fullmatch(word):
            return sort
    if _CJK.search(word):
        return Sort.WORD
    return Sort.NAME


def _plain(word: str, original: str, ends: str, *, opening: bool) -> list[Token]:
    if _CJK.search(word):
        pairs = [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        return [
            Token(surface=pair, key=pair, sort=Sort.WORD, weight=0.5, ends=ends if i == len(pairs) - 1 else "")
            for i, pair in enumerate(pairs)
        ]
    concept = concept_of(word)
    proper = original[:1].isupper() and not opening
    weight = concept.weight * (1.3 if proper else 1.0)
    return [
        Token(surface=word, key=concept.key, sort=Sort.WORD, sign=concept.sign, weight=weight, proper=proper, ends=ends)
    ]


__all__ = ["NUMBER_WORDS", "TOKENS_PER_TEXT", "UNITS", "Sort", "Token", "tokens_of"]
