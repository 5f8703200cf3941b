"""A text as tokens: words with their concepts, identifiers kept whole, quantities in base units, marks of logic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tributary.models.judges import lexicon
from tributary.models.judges.chunks import Chunk, chunks_of
from tributary.models.judges.claim import EXCEPT, ONLY
from tributary.models.judges.grammar import NOUN_OPENERS
from tributary.models.judges.phrases import with_phrases
from tributary.models.judges.quantities import FREQUENCIES, UNITS, Quantity, quantity_at
from tributary.models.judges.sorts import CJK, METHODS, Sort, Token, as_name, sort_of
from tributary.models.judges.words import ABBREVIATED, GENERIC, IMPERATIVES, KIND_NOUNS, concept_of, stem

TOKENS_PER_TEXT = 400
_COUNTS = 0.5
_LONGEST_GENUS = 5
_ALL = frozenset({"all", "every", "each"})
_SHORT = 3
_EACH = frozenset({"a", "an", *FREQUENCIES})
_PLURAL_NAME = re.compile(r"\ds$")
_REPLIES = frozenset("401 403 404 405 408 409 410 413 415 422 425 429 501 502 503 504".split())
_OTHER_BOUND = {"BOUND-UP": "BOUND-DOWN", "BOUND-DOWN": "BOUND-UP"}
_PLACES = frozenset({"under", "above", "below", "past", "beyond"})


def tokens_of(text: str) -> list[Token]:
    """Returns the tokens of `text` in order, at most TOKENS_PER_TEXT."""
    return list(
        _with_rates(_with_bounds(_with_exceptions(_with_names(_tokens(with_phrases(chunks_of(text)))[:TOKENS_PER_TEXT]))))
    )


def _tokens(chunks: list[Chunk]) -> list[Token]:
    words = [chunk.word for chunk in chunks]
    found: list[Token] = []
    at = 0
    opening = True
    while at < len(chunks):
        chunk = chunks[at]
        measured = None if chunk.word == "no" else quantity_at(words, at)
        if _is_reply(chunk.word):
            measured = quantity_at([chunk.word[:-1]], 0)
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
                    key=f"{quantity.dimension}:{quantity.value:.12g}",
                    sort=Sort.QUANTITY,
                    weight=1.5,
                    ends=chunks[at + used - 1].ends,
                    quantity=quantity,
                )
            )
            at += used
        else:
            found.extend(_worded(chunk, opening=opening, value=bool(found) and found[-1].surface == "="))
            at += 1
        opening = bool(found) and found[-1].ends == "."
    return found


def _is_reply(word: str) -> bool:
    """Tells "503s", replies with that status, from seconds."""
    return len(word) == 4 and word[-1] == "s" and word[:3] in _REPLIES


def _counts(words: list[str], at: int, used: int) -> bool:
    """Tells a number from a word that looks like one: 'one of', 'a second instance', 'second' without a count."""
    word = words[at]
    following = words[at + used] if at + used < len(words) else ""
    if word == "one" and used == 1 and following in ("of", "by", "that", "can", "has", "is", "MAY", "NEED", "it", "they", ""):
        return False
    return not (word in ("a", "an") and words[at + 1] in ("second", "third") and used == 2 and following not in ("", "and"))


def _with_names(tokens: list[Token]) -> list[Token]:
    """Takes words that stand where a name stands as names: "the store service" has nothing to do with storing."""
    return [as_name(token) if _is_name(tokens, at) else token for at, token in enumerate(tokens)]


def _is_name(tokens: list[Token], at: int) -> bool:
    token = tokens[at]
    if token.sort is not Sort.WORD or token.surface in ABBREVIATED:
        return False
    previous = tokens[at - 1] if at and tokens[at - 1].ends != "." else None
    following = tokens[at + 1] if at + 1 < len(tokens) and not token.ends else None
    if token.proper and following is not None and following.quantity is not None and following.quantity.dimension == "count":
        return True  # "Go 1.22"
    instructs = (previous is None or previous.sort is Sort.MARK) and token.surface in IMPERATIVES
    if following is not None and following.sort is Sort.WORD and stem(following.surface) in KIND_NOUNS:
        return not instructs and not token.surface.endswith("est")
    if token.surface in GENERIC or token.surface.endswith(("ing", "ed")) or previous is None:
        return False
    # What follows a preposition, an article or an instruction is a noun: "restart store", "the owner of home".
    if previous.sort is Sort.MARK:
        return following is not None and following.surface in ("is", "was", "has")
    if token.weight >= _COUNTS:
        return False
    first = at == 1 or (at == 2 and tokens[0].sort is Sort.MARK) or tokens[at - 2].ends == "."
    ordered = previous.surface in IMPERATIVES and first
    return ordered or (previous.surface in NOUN_OPENERS and not previous.ends)


def _with_exceptions(tokens: list[Token]) -> list[Token]:
    """Turns "no service except billing may" into "only billing may", and "all but one" into "all except one"."""
    for at, token in enumerate(tokens):
        if (
            token.surface == "but"
            and at
            and not tokens[at - 1].ends
            and any(t.surface in _ALL for t in tokens[max(0, at - 3) : at])
        ):
            tokens[at] = replace(token, surface=EXCEPT, key=EXCEPT, sort=Sort.MARK)
        if token.surface != "NOT" or token.sort is not Sort.MARK or (at and not tokens[at - 1].ends):
            continue
        for ahead in range(at + 1, min(at + _LONGEST_GENUS, len(tokens))):
            other = tokens[ahead]
            if other.surface == EXCEPT and other.sort is Sort.MARK:
                return [*tokens[:at], replace(other, surface=ONLY, key=ONLY), *tokens[ahead + 1 :]]
            if other.ends or other.sort is Sort.MARK:
                break
    return tokens


def _with_bounds(tokens: list[Token]) -> list[Token]:
    """Turns "does not accept more than 500" into "accepts at most 500"."""
    for at, token in enumerate(tokens):
        if token.key in _PLACES and token.sort is Sort.MARK:
            following = tokens[at + 1] if at + 1 < len(tokens) else None
            if following is None or (following.quantity is None and following.sort is not Sort.VERSION):
                tokens[at] = replace(token, surface="under", key="under", sort=Sort.STOP)
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
            token = replace(token, key=f"{quantity.dimension}:{quantity.value:.12g}", quantity=quantity)  # noqa: PLW2901
        yield token


def _period(tokens: list[Token], index: int) -> tuple[float, tuple[int, ...]] | None:
    """Returns the seconds in 'per second' or 'a minute' soon after a count, and where that stands."""
    for at in range(index + 1, min(index + 4, len(tokens))):
        if tokens[at - 1].ends:
            break
        each = tokens[at].quantity
        if each is not None and tokens[at].surface in _EACH and each.dimension == "seconds":
            return each.value, (at,)
        if tokens[at].surface in ("per", "every", "each") and at + 1 < len(tokens):
            unit = UNITS.get(tokens[at + 1].surface)
            if unit and unit[0] == "seconds":
                return unit[1], (at, at + 1)
    return None


def _worded(chunk: Chunk, *, opening: bool, value: bool) -> list[Token]:
    """Returns the tokens of a chunk that is no number; what is a `value`, after "=", says something whatever the word."""
    word, original, ends = chunk.word, chunk.original, chunk.ends
    if word.isupper():  # what was written is case-folded, so only a mark put in by the phrases is in capitals
        return [Token(surface=word, key=original or word, sort=Sort.MARK, weight=0, ends=ends)]
    if word == "=":
        return [Token(surface=word, key=word, sort=Sort.MARK, weight=0)]
    if value and word in lexicon.STOP_WORDS:
        return [Token(surface=word, key=word, sort=Sort.WORD, ends=ends)]
    if word in lexicon.STOP_WORDS and original not in METHODS:
        return [Token(surface=word, key=word, sort=Sort.STOP, weight=0, ends=ends)]
    sort = sort_of(word, original)
    if sort is Sort.WORD:
        return _plain(word, original, ends, opening=opening)
    key = word[:-1] if sort is Sort.NAME and _PLURAL_NAME.search(word) else word
    if sort is Sort.ENVIRONMENT:
        key = lexicon.ENVIRONMENTS[word]
    elif sort is Sort.DAY:
        key = lexicon.DAY_WORDS[word]
    elif sort in (Sort.PATH, Sort.ADDRESS):
        key = word.rstrip("/")
    weight = 1.0 if sort in (Sort.ENVIRONMENT, Sort.DAY, Sort.BOOLEAN) else 2.0
    return [Token(surface=word, key=key, sort=sort, weight=weight, proper=True, ends=ends)]


def _plain(word: str, original: str, ends: str, *, opening: bool) -> list[Token]:
    if CJK.search(word):
        pairs = [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        return [
            Token(surface=pair, key=pair, sort=Sort.WORD, weight=0.5, ends=ends if i == len(pairs) - 1 else "")
            for i, pair in enumerate(pairs)
        ]
    concept = concept_of(word)
    # A statement such as SELECT opens a sentence without instructing anyone.
    proper = original[:1].isupper() and not (opening and (len(original) <= _SHORT or not original.isupper()))
    weight = concept.weight * (1.3 if proper else 1.0)
    return [Token(surface=word, key=concept.key, sort=Sort.WORD, sign=concept.sign, weight=weight, proper=proper, ends=ends)]
