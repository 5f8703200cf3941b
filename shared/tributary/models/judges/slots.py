"""What stands in one claim where something else stands in the other, and whether the two are values of one thing."""

from __future__ import annotations

from dataclasses import dataclass

from tributary.models.judges.claim import Claim, Item, Role
from tributary.models.judges.grammar import COPULAS, PREDICATE_SIGN
from tributary.models.judges.lexicon import STOP_WORDS
from tributary.models.judges.matching import Matching
from tributary.models.judges.sorts import Sort
from tributary.models.judges.words import ATTRIBUTES, CHOOSING, FUNCTIONAL, MULTIPLE, concept_of

TYPED = frozenset(
    {Sort.NAME, Sort.PATH, Sort.ADDRESS, Sort.REGION, Sort.VERSION, Sort.BOOLEAN, Sort.DAY, Sort.CHANNEL, Sort.ZONE}
)
"""Sorts of which two different ones stand for two different things, or values."""
_VALUE_LINKS = frozenset({"from", "to", "into", "with", "by", "as", "through", "via"})
_PLACE_LINKS = _VALUE_LINKS | {"in", "at", "on", "under"}
_SEVERAL_LINKS = frozenset({"on", "to", "with", "for", "by", "under"})
_USE = concept_of("use").key
_IS = frozenset({"is", "are", "was", "be", "were"})
_SHOWN_CHARACTERS = 40


def cut(word: str) -> str:
    """Returns a word as a reason may show it."""
    return word if len(word) <= _SHOWN_CHARACTERS else word[: _SHOWN_CHARACTERS - 1] + "…"


@dataclass(frozen=True, kw_only=True, slots=True)
class Replaced:
    """An item of the old claim and the one of the new that stands in its place."""

    old: Item
    new: Item

    def __str__(self) -> str:
        return f"{cut(self.old.surface)}, not {cut(self.new.surface)}"


def replaced(matching: Matching) -> list[Replaced]:
    """Pairs the leftovers that stand in each other's place.

    These are quantities of one dimension, values of one sort, and words between equal neighbours.
    """
    found: list[Replaced] = []
    free = {item.place: item for item in matching.new}
    for item in matching.old:
        rivals = [other for other in free.values() if _same_place(item, other)]
        if rivals:
            rival = max(rivals, key=lambda other: (other.role is item.role, -abs(other.place - item.place)))
            del free[rival.place]
            found.append(Replaced(old=item, new=rival))
    return found


def _same_place(a: Item, b: Item) -> bool:
    if (a.quantity is None) != (b.quantity is None):
        return a.role is b.role and _neighbours(a, b)
    if a.quantity is not None or b.quantity is not None:
        return a.quantity is not None and b.quantity is not None and a.quantity.dimension == b.quantity.dimension
    if a.sort in TYPED or b.sort in TYPED:
        return a.sort is b.sort or (a.role is b.role and _neighbours(a, b))
    return _neighbours(a, b)


def _neighbours(a: Item, b: Item) -> bool:
    """Tells whether the two stand in the same slot: by a word of content on one side, or by whatever is on both."""
    if a.before == b.before and a.after == b.after:
        return bool(a.before or a.after)
    if a.role is b.role is Role.VALUE and a.link and a.link == b.link == a.before == b.before:
        return True
    return (a.before == b.before and _content(a.before)) or (a.after == b.after and _content(a.after))


def _content(key: str) -> bool:
    return bool(key) and key != PREDICATE_SIGN and not key.isupper() and key not in STOP_WORDS


def gives_another_value(old: Claim, new: Claim, r: Replaced) -> bool:
    """Tells whether the two are values given to the same thing, rather than two things spoken of."""
    keys = {key for key, _ in (*old.pairs, *new.pairs)}
    if r.old.key in keys and r.new.key in keys:
        return False
    if any((key, _shown(r.old)) in old.pairs and (key, _shown(r.new)) in new.pairs for key in keys):
        return True
    if r.old.quantity is not None and r.new.quantity is not None:
        if r.old.quantity.dimension != "count" or (r.old.bound and r.new.bound):
            return True
        # "two approvals are needed" counts; "version 16 needs" names.
        counts = r.old.after == r.new.after and _content(r.old.after) and not _content(r.old.before)
        return counts or not (r.old.role is r.new.role and r.old.role in (Role.SUBJECT, Role.CONDITION))
    if r.old.role is not r.new.role or _labels_a_number(r.old) != _labels_a_number(r.new):
        return False
    if r.old.role is Role.SCOPE:
        return r.old.link == r.new.link and r.old.link in _VALUE_LINKS and not _may_have_several(old, new, r)
    return r.old.role is Role.VALUE and _has_one_value(old, new, r)


def _shown(item: Item) -> str:
    return item.surface if item.sort is Sort.WORD else item.key


def _has_one_value(old: Claim, new: Claim, r: Replaced) -> bool:
    """Tells whether what the sentences say of their subject can have one value only."""
    return all(_is_functional(claim, link, old, new, r) for claim, link in ((old, r.old.link), (new, r.new.link)))


def _is_functional(claim: Claim, link: str, old: Claim, new: Claim, r: Replaced) -> bool:
    if claim.imperative:
        return claim.predicate in CHOOSING
    if link in _PLACE_LINKS:
        return not _may_have_several(old, new, r)
    if claim.predicate in COPULAS:
        typed = r.old.sort in TYPED or r.new.sort in TYPED
        return claim.predicate in _IS and (typed or _names_an_attribute(claim))
    return claim.predicate in FUNCTIONAL or (claim.predicate == _USE and bool(_purposes(old) & _purposes(new)))


def _purposes(claim: Claim) -> frozenset[str]:
    """Returns what something is used for: for one purpose one thing is used."""
    return frozenset(item.key for item in claim.items if item.role is Role.SCOPE and item.link in ("for", "as"))


def _labels_a_number(item: Item) -> bool:
    """Tells "port" in "runs on port 80" from a value of its own."""
    return item.sort is Sort.WORD and item.after.startswith("count:")


def _may_have_several(old: Claim, new: Claim, r: Replaced) -> bool:
    """Tells whether the predicate may stand with several objects behind this preposition."""
    return r.old.link in _SEVERAL_LINKS and not MULTIPLE.isdisjoint((old.predicate, new.predicate))


def _names_an_attribute(claim: Claim) -> bool:
    return any(item.role is Role.SUBJECT and item.key in ATTRIBUTES for item in claim.items)
