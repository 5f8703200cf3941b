"""What stands in one claim where something else stands in the other, and whether the two are values of one thing."""

from __future__ import annotations

from dataclasses import dataclass

from tributary.models.judges import verbs
from tributary.models.judges.claim import Claim, Item, Role
from tributary.models.judges.classes import of_one_class
from tributary.models.judges.grammar import COPULAS, PREDICATE_SIGN
from tributary.models.judges.lexicon import STOP_WORDS
from tributary.models.judges.matching import Matching
from tributary.models.judges.quantities import Quantity
from tributary.models.judges.sorts import Sort
from tributary.models.judges.words import ATTRIBUTES, CHOOSING, FUNCTIONAL, MULTIPLE, concept_of

TYPED = frozenset(
    {Sort.NAME, Sort.PATH, Sort.ADDRESS, Sort.REGION, Sort.VERSION, Sort.BOOLEAN, Sort.DAY, Sort.CHANNEL, Sort.ZONE}
)
"""Sorts of which two different ones stand for two different things, or values."""
_VALUE_LINKS = frozenset({"from", "to", "into", "with", "by", "as", "through"})
_PLACE_LINKS = _VALUE_LINKS | {"in", "at", "on", "under", "via"}
_SEVERAL_LINKS = frozenset({"on", "to", "with", "for", "by", "under"})
_USE = concept_of("use").key
_RUN = concept_of("run").key
_IS = frozenset({"is", "are", "was", "be", "were"})
_PLACED = {Role.SCOPE, Role.VALUE}
_ASIDE_OF_OBJECTS = {Role.SUBJECT, Role.PREDICATE, Role.CONDITION, Role.ASIDE}
_HANDLING = {concept_of(word).key for word in verbs.HANDLING_VERBS.split()}
_MEASURED = frozenset({"seconds", "bytes", "percent"})
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
    # Numbers first: nothing else may take the place of the one that a number stands against.
    for item in sorted(matching.old, key=lambda item: item.quantity is None):
        rivals = [other for other in free.values() if _same_place(item, other)]
        if rivals:
            rival = max(
                rivals, key=lambda other: (_both_count(item, other), other.role is item.role, -abs(other.place - item.place))
            )
            del free[rival.place]
            found.append(Replaced(old=item, new=rival))
    return found


def _same_place(a: Item, b: Item) -> bool:
    if (a.quantity is None) != (b.quantity is None):
        return a.role is b.role and _neighbours(a, b)
    if of_one_class(a.key, b.key):
        return True
    if a.quantity is not None and b.quantity is not None:
        return a.quantity.dimension == b.quantity.dimension or _leaves_the_unit_out(a, b) or _leaves_the_unit_out(b, a)
    if a.sort in TYPED or b.sort in TYPED:
        return a.sort is b.sort or (a.role is b.role and _neighbours(a, b))
    return _neighbours(a, b)


def _leaves_the_unit_out(bare: Item, measured: Item) -> bool:
    """Tells "the TTL is 3600" beside "a TTL of 30 seconds"."""
    if bare.quantity is None or measured.quantity is None or bare.quantity.dimension != "count" or bare.after:
        return False
    return measured.quantity.dimension in _MEASURED and bare.role is measured.role is Role.VALUE and not measured.after


def _both_count(a: Item, b: Item) -> bool:
    return a.quantity is not None and b.quantity is not None


def _neighbours(a: Item, b: Item) -> bool:
    """Tells whether the two stand in the same slot: by a word of content on one side, or by whatever is on both."""
    if a.before == b.before and a.after == b.after:
        return bool(a.before or a.after)
    if (a.role is Role.PREDICATE) != (b.role is Role.PREDICATE):
        return False
    if (
        a.role in _PLACED
        and b.role in _PLACED
        and Role.VALUE in (a.role, b.role)
        and a.link
        and a.link == b.link == a.before == b.before
    ):
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
        return _measures_otherwise(r, r.old.quantity, r.new.quantity)
    if of_one_class(r.old.key, r.new.key):
        return not _act(r) and MULTIPLE.isdisjoint({old.predicate, new.predicate} - {_USE, _RUN})
    return not (_counted(r.old) and _counted(r.new)) and _stands_for_a_value(old, new, r)


def _act(r: Replaced) -> bool:
    """Tells whether the two are what something happens to: "kafka loses its leader", "after kafka lost its leader"."""
    return r.old.role is r.new.role and r.old.role in (Role.SUBJECT, Role.CONDITION)


def _measures_otherwise(r: Replaced, old: Quantity, new: Quantity) -> bool:
    """Tells whether the two numbers measure, rather than name: "two approvals are needed" counts, "version 16 needs" names."""
    if old.dimension != new.dimension:
        return old.value != new.value
    if old.dimension != "count" or (r.old.bound and r.new.bound):
        return True
    counts = r.old.after == r.new.after and _content(r.old.after) and not _content(r.old.before)
    return counts or not (r.old.role is r.new.role and r.old.role in (Role.SUBJECT, Role.CONDITION))


def _stands_for_a_value(old: Claim, new: Claim, r: Replaced) -> bool:
    if {r.old.role, r.new.role} == _PLACED and r.old.link and r.old.link == r.new.link and old.predicate == new.predicate:
        return _has_one_value(old, new, r)
    if r.old.role is not r.new.role or _labels_a_number(r.old) != _labels_a_number(r.new):
        return False
    if r.old.role is Role.SCOPE:
        return r.old.link == r.new.link and r.old.link in _VALUE_LINKS and not _may_have_several(old, new, r)
    return r.old.role is Role.VALUE and _has_one_value(old, new, r)


def named_otherwise(old: Claim, new: Claim, matching: Matching) -> Replaced | None:
    """Returns the two names that do one thing: "uses Okta for login", "logins are handled by Keycloak".

    What is done must be shared too: "runs on ECS" and "is written in Go" only speak of the same service.
    """
    shared = any(a.weight >= 1 and not {a.role, b.role} <= _ASIDE_OF_OBJECTS for a, b in matching.pairs)
    if shared and {old.predicate, new.predicate} <= _HANDLING:
        mine = next((item for item in matching.old if _names(item)), None)
        other = next((item for item in matching.new if _names(item)), None)
        return Replaced(old=mine, new=other) if mine and other else None
    if old.predicate != new.predicate or old.passive == new.passive or old.predicate in COPULAS:
        return None
    # "issued by A" and "B issues"
    agents = [
        next((item for item in items if item.weight >= 1 and (item.link == "by" if passive else item.role is Role.SUBJECT)), None)
        for items, passive in ((matching.old, old.passive), (matching.new, new.passive))
    ]
    return Replaced(old=agents[0], new=agents[1]) if agents[0] and agents[1] else None


def _names(item: Item) -> bool:
    if item.negated or item.role not in _PLACED or item.link in ("of", "for", "as"):
        return False
    return item.sort is Sort.NAME or (item.sort is Sort.WORD and item.proper)


def belongs_to(item: Item, value: Item) -> bool:
    """Tells whether the item is part of the phrase that `value` heads: "by" the "metrics buffer"."""
    if value.quantity is not None or item.quantity is not None or not value.link:
        return False
    return (item.clause, item.role, item.link) == (value.clause, value.role, value.link)


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
        typed = r.old.sort in TYPED or r.new.sort in TYPED or (r.old.proper and r.new.proper)
        return claim.predicate in _IS and (typed or _names_an_attribute(claim))
    return claim.predicate in FUNCTIONAL or (claim.predicate == _USE and bool(_purposes(old) & _purposes(new)))


def _purposes(claim: Claim) -> frozenset[str]:
    """Returns what something is used for: for one purpose one thing is used."""
    return frozenset(item.key for item in claim.items if item.role is Role.SCOPE and item.link in ("for", "as"))


def _counted(item: Item) -> bool:
    """Tells "replicas" in "runs with three replicas" from a value."""
    return item.sort is Sort.WORD and item.before.startswith("count:")


def _labels_a_number(item: Item) -> bool:
    """Tells "port" in "runs on port 80" from a value of its own."""
    return item.sort is Sort.WORD and item.after.startswith("count:")


def _may_have_several(old: Claim, new: Claim, r: Replaced) -> bool:
    """Tells whether the predicate may stand with several objects behind this preposition."""
    return r.old.link in _SEVERAL_LINKS and not MULTIPLE.isdisjoint((old.predicate, new.predicate))


def _names_an_attribute(claim: Claim) -> bool:
    """Tells whether the subject is something of which there is one: the owner, the largest part."""
    return any(i.role is Role.SUBJECT and (i.key in ATTRIBUTES or i.surface.endswith("est")) for i in claim.items)
