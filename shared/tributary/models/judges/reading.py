"""A lesson as a claim: what it speaks of, what it says of it, under which conditions, and with which polarity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tributary.models.judges.claim import Claim, Item, Order
from tributary.models.judges.sentence import parse
from tributary.models.judges.sorts import Sort, Token
from tributary.models.judges.tokens import tokens_of


def read(text: str) -> Claim:
    """Returns the claim that `text` makes."""
    return claim_of(tokens_of(text))


def claim_of(tokens: Sequence[Token]) -> Claim:
    items: list[Item] = []
    orders: list[Order] = []
    need, imperative, predicate, passive, only, anyone, count = 0, False, "", False, False, False, 0
    for sentence in _split(tokens):
        count += 1
        parsed = parse(sentence, place=len(items), sentence=count)
        items.extend(parsed.items)
        orders.extend(parsed.orders)
        need = need or parsed.need
        imperative = imperative or parsed.imperative
        if not predicate:
            passive = parsed.passive
        predicate = predicate or parsed.predicate
        marks = {token.surface for token in sentence if token.sort is Sort.MARK}
        only = only or "ONLY" in marks
        anyone = anyone or "ANYONE" in marks
    return Claim(
        items=tuple(items),
        orders=tuple(orders),
        pairs=tuple(_pairs(tokens)),
        need=need,
        imperative=imperative,
        predicate=predicate,
        passive=passive,
        only=only,
        anyone=anyone,
        sentences=count,
    )


def _split(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    sentence: list[Token] = []
    for token in tokens:
        sentence.append(token)
        if token.ends == ".":
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _pairs(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Yields (key, value) of key=value, 'X-Header: value', 'key must be value' and 'set key to value'."""
    for index, token in enumerate(tokens):
        rest = tokens[index + 1 : index + 5]
        if not rest or token.ends == "." or (token.sort is not Sort.NAME and rest[0].surface != "="):
            continue
        if token.ends == ":" or rest[0].surface == "=":
            value = next((following for following in rest if following.surface != "="), None)
        else:
            value = _assigned(rest)
        if value is not None and value.sort not in (Sort.STOP, Sort.MARK):
            yield token.key, value.surface if value.sort is Sort.WORD else value.key


def _assigned(rest: Sequence[Token]) -> Token | None:
    for index, token in enumerate(rest):
        if token.sort in (Sort.QUANTITY, Sort.BOOLEAN):
            return token if index else None
        if token.surface not in ("to", "is", "be", "NEED", "been", "at", "set", "equals", "equal"):
            return None
    return None
