"""From two lessons to one finding: same, conflicts, unrelated or unsure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tributary.core.decision import VerdictKind
from tributary.core.normal import normal_text, subject_key
from tributary.core.ports import JudgedText
from tributary.models.judges.claim import Claim, Item, Role
from tributary.models.judges.contrast import (
    TYPED,
    Polarity,
    Replaced,
    bounds_differ,
    directions_swapped,
    environments,
    orders_agree,
    pair_conflict,
    parts_swapped,
    polarity,
    replaced,
)
from tributary.models.judges.matching import match, weight_of
from tributary.models.judges.reading import read
from tributary.models.judges.tokens import Sort
from tributary.models.judges.words import ATTRIBUTES, CHOOSING, FUNCTIONAL, MULTIPLE, NEGATING

SAME_FROM = 0.62
CONFLICT_FROM = 0.55
OPPOSITE = "the opposite is said"
LEAST_SHARED = 1.5
MOST_ELSEWHERE = 1.0
MOST_BESIDES = 0.3
_VALUE_LINKS = frozenset({"from", "to", "into", "with", "by", "as", "through", "via"})
_SEVERAL_LINKS = frozenset({"on", "to", "with", "for", "by"})
_PLACE_LINKS = _VALUE_LINKS | {"in", "at", "on"}
_NAMING = frozenset({Sort.NAME, Sort.ADDRESS, Sort.PATH, Sort.CHANNEL})
_COPULAS = frozenset({"is", "are", "was", "be", "were"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    kind: VerdictKind
    confidence: float
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """A lesson read once, however many it is compared with."""

    judged: JudgedText
    text: str
    situation: str
    subject: str | None
    claim: Claim
    context: Claim
    context_keys: frozenset[str]
    context_names: frozenset[str]
    environments: frozenset[str]


def side_of(judged: JudgedText) -> Side:
    claim = read(judged.text)
    context = read(f"{judged.situation}. {judged.subject or ''}")
    return Side(
        judged=judged,
        text=normal_text(judged.text).rstrip(".!"),
        situation=normal_text(judged.situation).rstrip(".!"),
        subject=subject_key(judged.subject),
        claim=claim,
        context=context,
        context_keys=frozenset(item.key for item in context.items if item.weight >= 0.5),
        context_names=_names(context),
        environments=environments((*claim.items, *context.items)),
    )


def settle(old: Side, new: Side) -> Finding:
    """Returns what the rules make of the pair; deterministic, and the same whichever came first but for the reason's words."""
    if old.environments and new.environments and old.environments.isdisjoint(new.environments):
        return _unrelated(0.9, "another environment")
    if _situations_name_others(old, new):
        return _unrelated(0.85, "situations that name different things")
    if old.text == new.text:
        return _equal_texts(old, new)
    return _Comparison(old, new).finding()


def _equal_texts(old: Side, new: Side) -> Finding:
    if old.situation == new.situation and old.subject == new.subject:
        return Finding(kind=VerdictKind.SAME, confidence=1.0, reason="equal texts in equal situations")
    if _situations_meet(old, new) or _names_its_subject(old.claim):
        return Finding(kind=VerdictKind.SAME, confidence=0.9, reason="equal texts")
    return _unrelated(0.7, "equal texts in situations that have nothing in common")


def _situations_meet(old: Side, new: Side) -> bool:
    if not old.context_keys or not new.context_keys:
        return True
    shared = old.context_keys & new.context_keys
    return len(shared) >= 0.34 * min(len(old.context_keys), len(new.context_keys))


def _situations_name_others(old: Side, new: Side) -> bool:
    """Tells whether the situations name different things, and the texts name nothing in common."""
    if not old.context_names or not new.context_names or old.context_names & new.context_names:
        return False
    return not _names(old.claim) & _names(new.claim)


def _names(claim: Claim) -> frozenset[str]:
    return frozenset(item.key for item in claim.items if item.sort in _NAMING)


def _names_its_subject(claim: Claim) -> bool:
    return sum(item.weight for item in claim.items) >= 4 or any(item.sort in TYPED for item in claim.items)


def _unrelated(confidence: float, reason: str) -> Finding:
    return Finding(kind=VerdictKind.UNRELATED, confidence=confidence, reason=reason)


class _Comparison:
    def __init__(self, old: Side, new: Side) -> None:
        self.old = old
        self.new = new
        self.matching = match(old.claim, new.claim)
        self.replaced = replaced(self.matching)
        self.values = [r for r in self.replaced if self._is_value(r)]
        self.others = [r for r in self.replaced if r not in self.values]
        # A leftover that the other lesson's situation speaks of is none, unless something else stands in its place.
        self.left_old, known_old = self._left([r.old for r in self.replaced], self.matching.old, new.context_keys)
        self.left_new, known_new = self._left([r.new for r in self.replaced], self.matching.new, old.context_keys)
        self.besides = min(weight_of(self.left_old) + known_old, weight_of(self.left_new) + known_new)
        matched = weight_of([a for a, _ in self.matching.pairs])
        self.matched = matched
        cover_old = _share(matched + 0.5 * known_old, self.left_old + [r.old for r in self.others])
        cover_new = _share(matched + 0.5 * known_new, self.left_new + [r.new for r in self.others])
        self.topic = 0.6 * min(cover_old, cover_new) + 0.4 * max(cover_old, cover_new)

    def _left(self, taken: list[Item], items: Sequence[Item], known: frozenset[str]) -> tuple[list[Item], float]:
        left = [item for item in items if item not in taken and not (item.sign and item.key in NEGATING)]
        return [item for item in left if item.key not in known], weight_of([item for item in left if item.key in known])

    def finding(self) -> Finding:
        if elsewhere := self._speaks_of_another():
            return _unrelated(0.88, elsewhere)
        signs = polarity(self.old.claim, self.new.claim, self.matching)
        contrast = self._contrast(signs)
        return self._conflict(contrast) if contrast else self._agreement(signs)

    # ---- another subject, attribute or condition

    def _speaks_of_another(self) -> str | None:
        for r in self.replaced:
            if r.old.sort in TYPED and r.old.sort is r.new.sort and not self._is_value(r):
                return f"about {_cut(r.old.surface)}, not {_cut(r.new.surface)}"
        for a, b in self.matching.pairs:
            if a.sign * b.sign < 0 and a.role is b.role is Role.SUBJECT:
                return f"about {_cut(a.surface)}, not {_cut(b.surface)}"
        if parts_swapped(self.old.claim, self.new.claim, self.matching):
            return "the other way round"
        if self._measures_something_else():
            return "about another measure"
        return None

    def _measures_something_else(self) -> bool:
        """Tells whether both give a number, and none of one can be held against any of the other."""
        if any(a.quantity is not None for a, _ in self.matching.pairs) or any(
            r.old.quantity is not None for r in self.values
        ):
            return False
        return _states_number(self.matching.old) and _states_number(self.matching.new)

    def _is_value(self, r: Replaced) -> bool:
        """Tells whether the two are values given to the same thing, rather than things spoken of."""
        keys = {key for key, _ in (*self.old.claim.pairs, *self.new.claim.pairs)}
        if r.old.key in keys and r.new.key in keys:
            return False
        if any((key, r.old.key) in self.old.claim.pairs and (key, r.new.key) in self.new.claim.pairs for key in keys):
            return True
        if r.old.quantity is not None:
            measured = r.old.quantity.dimension != "count" or bool(r.old.bound and r.new.bound)
            return measured or not (r.old.role is r.new.role and r.old.role in (Role.SUBJECT, Role.CONDITION))
        if r.old.role is not r.new.role:
            return False
        if r.old.role is Role.SCOPE:
            return r.old.link == r.new.link and r.old.link in _VALUE_LINKS and not self._several(r)
        return r.old.role is Role.VALUE and self._functional(r)

    def _several(self, r: Replaced) -> bool:
        """Tells whether the predicate may stand with several objects behind this preposition."""
        return r.old.link in _SEVERAL_LINKS and not MULTIPLE.isdisjoint(
            (self.old.claim.predicate, self.new.claim.predicate)
        )

    def _functional(self, r: Replaced) -> bool:
        """Tells whether what the sentence says of its subject can have one value only."""
        for claim, link in ((self.old.claim, r.old.link), (self.new.claim, r.new.link)):
            if claim.imperative:
                if claim.predicate not in CHOOSING:
                    return False
            elif link in _PLACE_LINKS:
                if self._several(r):
                    return False
            elif claim.predicate in _COPULAS:
                if not (r.old.sort in TYPED or r.new.sort in TYPED or self._attribute_subject(claim)):
                    return False
            elif claim.predicate not in FUNCTIONAL:
                return False
        return True

    def _attribute_subject(self, claim: Claim) -> bool:
        return any(item.role is Role.SUBJECT and item.key in ATTRIBUTES for item in claim.items)

    # ---- against each other

    def _contrast(self, signs: Polarity) -> str:
        """Returns what sets the two against each other, or ''."""
        old, new = self.old.claim, self.new.claim
        if orders_agree(old, new) is False:
            return "the reverse order"
        if directions_swapped(self.matching):
            return "the other direction"
        key = pair_conflict(old, new)
        if key is not None:
            return f"another value for {_cut(key)}"
        if signs.opposed:
            return OPPOSITE
        if bounds_differ(self.matching):
            return "the bound points the other way"
        if old.only != new.only and old.anyone != new.anyone:
            return "only some, against anyone"
        return self._value_contrast()

    def _value_contrast(self) -> str:
        if not self.values:
            return ""
        r = self.values[0]
        return f"{_cut(r.old.surface)} against {_cut(r.new.surface)}"

    def _conflict(self, contrast: str) -> Finding:
        if self.others:
            r = self.others[0]
            return _unrelated(0.75, f"{_cut(r.old.surface)} is not {_cut(r.new.surface)}")
        if self.values and contrast == OPPOSITE:
            return _unrelated(0.65, "the opposite, but of something else")
        if self.besides >= MOST_ELSEWHERE:
            return _unrelated(0.7, "about different things or conditions")
        if self.topic >= CONFLICT_FROM and self.matched >= LEAST_SHARED and self._situations_allow():
            return Finding(kind=VerdictKind.CONFLICTS, confidence=min(0.95, 0.55 + 0.4 * self.topic), reason=contrast)
        return _unrelated(0.6, "too little in common to contradict")

    def _situations_allow(self) -> bool:
        if not (self.old.claim.imperative or self.new.claim.imperative):
            return True
        return _situations_meet(self.old, self.new) or self.matched >= 3

    # ---- the same, or side by side

    def _agreement(self, signs: Polarity) -> Finding:
        if any(r.old.weight >= 1 and r.new.weight >= 1 for r in self.others):
            r = self.others[0]
            return _unrelated(0.8, f"{_cut(r.old.surface)} is not {_cut(r.new.surface)}")
        if min(_limits(self.left_old), _limits(self.left_new)) >= MOST_ELSEWHERE:
            return _unrelated(0.65, "under other conditions")
        if self.topic >= SAME_FROM and signs.equal and self.besides <= MOST_BESIDES * self.matched:
            confidence = min(0.95, 0.4 + 0.55 * self.topic)
            return Finding(kind=VerdictKind.SAME, confidence=confidence, reason="the same in other words")
        return _unrelated(0.6, "something else is said")


def _share(matched: float, left: Sequence[Item]) -> float:
    total = matched + weight_of(left)
    return matched / total if total else 0.0


def _states_number(items: Sequence[Item]) -> bool:
    return any(item.quantity is not None and item.role in (Role.VALUE, Role.SCOPE) for item in items)


def _limits(items: Sequence[Item]) -> float:
    return weight_of([item for item in items if item.role in (Role.SCOPE, Role.CONDITION)])


def _cut(word: str) -> str:
    return word if len(word) <= 40 else word[:39] + "…"
