"""From two lessons to one finding: same, conflicts, unrelated or unsure.

A contradiction is a minimal pair: something sets the two against each other (see `contrast`), and all else is shared. So
the questions are asked in this order: do they speak of different things; is there a contrast, and is it the only
difference; else, do they say the same in other words. In doubt they are unrelated: both are kept, and nothing is lost.

The thresholds were tuned on the pairs of `evals/data/judge_pairs.jsonl` that are marked `tune`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tributary.core.decision import VerdictKind
from tributary.models.judges.apart import say_apart
from tributary.models.judges.claim import Item, Role
from tributary.models.judges.contrast import (
    Polarity,
    are_opposites,
    are_turned,
    bounds_differ,
    bounds_meet,
    denials_by_word,
    directions_swapped,
    orders_agree,
    others_act,
    pair_conflict,
    parts_swapped,
    polarity,
    rules_out,
)
from tributary.models.judges.matching import match, weight_of
from tributary.models.judges.qualifiers import Qualifier, excepted, only_one_restricts, qualifiers
from tributary.models.judges.side import (
    Side,
    situations_alike,
    situations_differ_by_a_name,
    situations_meet,
    situations_name_others,
    subjects_differ,
)
from tributary.models.judges.slots import TYPED, Replaced, belongs_to, cut, gives_another_value, named_otherwise, replaced
from tributary.models.judges.words import NEGATING, concept_of

SAME_FROM = 0.62
"""Share of the two texts that must be common for them to say the same."""
CONFLICT_FROM = 0.55
UNSURE_FROM = 0.45
LEAST_SHARED = 1.5
"""Weight that must be common for a contradiction; a word of content weighs 1, an identifier 2."""
LITTLE_SHARED = 1.0
MUCH_SHARED = 2.5
NEARLY_EQUAL = 0.95
STANDS_ALONE = 3.0
"""Weight in common from which two instructions need no common situation."""
MOST_BESIDES = 1.0
"""Weight that may be left on both sides, beside the contrast."""
UNSURE_BELOW = 1.5
MOST_REWORDED = 0.3
"""Weight that may be left on both sides, as a share of what is common, for the two to say the same."""
MOST_BEYOND = 4.0
"""Weight that a sentence of the new lesson may have beyond the old one."""
LEAST_TELLING = 0.5
"""Weight from which a word in another's place makes the two speak of different things."""
MOST_LEFTOVERS = 80

_HELP = concept_of("help").key

OPPOSITE = "the opposite is said"
BOUND = "the bound points the other way"
OTHERS = "only the one, against another"
ANYONE = "only some, against anyone"
EXCEPTION = "one makes an exception of what the other says in general"
RULED_OUT = "what the one claims is ruled out by the other"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    kind: VerdictKind
    confidence: float
    reason: str


def settle(old: Side, new: Side) -> Finding:
    """Returns what the rules make of the pair."""
    if old.environments and new.environments and old.environments.isdisjoint(new.environments):
        return _unrelated(0.9, "another environment")
    if subjects_differ(old, new):
        return _unrelated(0.85, "about another subject")
    if situations_name_others(old, new):
        return _unrelated(0.85, "situations that name different things")
    if situations_differ_by_a_name(old, new):
        return _unrelated(0.8, "the same kind of situation, of something else")
    if old.text == new.text:
        return _equal_texts(old, new)
    return _Comparison(old, new).finding()


def _equal_texts(old: Side, new: Side) -> Finding:
    if old.situation == new.situation and old.subject == new.subject:
        return Finding(kind=VerdictKind.SAME, confidence=1.0, reason="equal texts in equal situations")
    if situations_meet(old, new) or old.stands_alone:
        return Finding(kind=VerdictKind.SAME, confidence=0.9, reason="equal texts")
    return _unrelated(0.7, "equal texts in situations that have nothing in common")


def _unrelated(confidence: float, reason: str) -> Finding:
    return Finding(kind=VerdictKind.UNRELATED, confidence=confidence, reason=reason)


class _Comparison:
    """Two claims laid side by side.

    `values` are the places where both give the same thing a value, `others` those where they speak of different things, `turns`
    those where what the one does is against what the other does, each in its way; what is left beside these is in `left_old` and
    `left_new`. `topic` is the share of the texts that is common, contrasts left out.
    """

    def __init__(self, old: Side, new: Side) -> None:
        self.old = old
        self.new = new
        self.matching = match(old.claim, new.claim)
        self.matched = weight_of(a for a, _ in self.matching.pairs)
        self.too_far = min(len(self.matching.old), len(self.matching.new)) > MOST_LEFTOVERS or not self.matching.pairs
        self.replaced: list[Replaced] = [] if self.too_far else replaced(self.matching)
        self.denials = denials_by_word(self.matching)
        self.values = [r for r in self.replaced if gives_another_value(old.claim, new.claim, r)]
        if not self.values and (names := named_otherwise(old.claim, new.claim, self.matching)):
            self.values = [names]
        measured = [*self.matching.pairs, *((r.old, r.new) for r in self.values)]
        bounded = any(a.bound and b.bound for a, b in measured)
        self.others = [r for r in self.replaced if r not in self.values and _tells(r, bounded=bounded)]
        self.turns: list[Replaced] = []
        if not self.values and all(are_turned(r.old, r.new) for r in self.others):
            self.turns, self.others = self.others, []
        placed = [*self.values, *self.others, *self.turns]
        left_old = self._left(self.matching.old, {r.old.place for r in placed}, [r.old for r in self.values])
        left_new = self._left(self.matching.new, {r.new.place for r in placed}, [r.new for r in self.values])
        self.besides = min(
            _beside(left_old, [a for a, _ in self.matching.pairs]), _beside(left_new, [b for _, b in self.matching.pairs])
        )
        shared = {a.key for a, _ in self.matching.pairs}
        self.unknown_old = _unknown(self.matching.old, new.context - shared, {r.old.place for r in placed})
        self.unknown_new = _unknown(self.matching.new, old.context - shared, {r.new.place for r in placed})
        # A leftover that the other lesson's situation speaks of is half common.
        self.left_old = [item for item in left_old if item.key not in new.context]
        self.left_new = [item for item in left_new if item.key not in old.context]
        shares = sorted(
            (
                self._share(left_old, self.left_old, [r.old for r in self.others]),
                self._share(left_new, self.left_new, [r.new for r in self.others]),
            )
        )
        self.topic = 0.6 * shares[0] + 0.4 * shares[1]

    def _left(self, items: Sequence[Item], placed: set[int], values: Sequence[Item]) -> list[Item]:
        """Returns the leftovers that neither stand in another's place, nor are part of a value, nor account for polarity."""
        denying = {item.place for item in self.denials}
        return [
            item
            for item in items
            if item.place not in placed
            and not any(belongs_to(item, value) for value in values)
            and not (item.key in NEGATING and (item.sign > 0 or (item.sign < 0 and item.place in denying)))
        ]

    def _share(self, left: Sequence[Item], unknown: Sequence[Item], others: Sequence[Item]) -> float:
        matched = self.matched + 0.5 * (weight_of(left) - weight_of(unknown))
        total = matched + weight_of(unknown) + weight_of(others)
        return matched / total if total else 0.0

    def finding(self) -> Finding:
        if self.too_far:
            return _unrelated(0.95, "hardly anything in common")
        if elsewhere := self._speaks_of_another():
            return _unrelated(0.88, elsewhere)
        signs = polarity(self.old.claim, self.new.claim, self.matching, self.denials)
        contrast = self._contrast(signs)
        if contrast:
            return self._conflict(contrast)
        found = self._qualifiers()
        narrowing = self._narrowing(found)
        if narrowing and signs.equal and (exception := self._exception(found)):
            return exception
        return _unrelated(0.7, narrowing) if narrowing else self._agreement(signs)

    # ---- another subject, attribute or condition

    def _speaks_of_another(self) -> str | None:
        for r in self.replaced:
            if bounds_meet(r.old, r.new):
                return "bounds that can stand together"
            if r.old.sort in TYPED and r.old.sort is r.new.sort and r not in self.values:
                return f"about {r}"
        paired = pair_conflict(self.old.claim, self.new.claim) is not None
        for a, b in self.matching.pairs:
            if are_opposites(a, b) and a.role is b.role is Role.SUBJECT and not paired:
                return f"about {Replaced(old=a, new=b)}"
        if parts_swapped(self.old.claim, self.new.claim, self.matching):
            return "the other way round"
        if self._measures_something_else():
            return "about another measure"
        return None

    def _measures_something_else(self) -> bool:
        """Tells whether both give a number, and none of one can be held against any of the other."""
        comparable = any(a.quantity is not None for a, _ in self.matching.pairs) or any(
            r.old.quantity is not None for r in self.values
        )
        return not comparable and _states_number(self.matching.old) and _states_number(self.matching.new)

    # ---- against each other

    def _contrast(self, signs: Polarity) -> str:
        """Returns what sets the two against each other, or ''."""
        old, new = self.old.claim, self.new.claim
        if rules_out(old, new, self.matching):
            return RULED_OUT
        if orders_agree(old, new) is False:
            return "the reverse order"
        if directions_swapped(self.matching):  # what is allowed one way may be forbidden the other
            return "the other direction" if not signs.opposed else ""
        if (key := pair_conflict(old, new)) is not None:
            return f"another value for {cut(key)}"
        if self.turns and signs.equal and not self._say_apart():
            return str(self.turns[0])
        if signs.opposed:
            return BOUND if bounds_differ(self.matching) else OPPOSITE
        return self._exclusion() or (str(self.values[0]) if self.values else "")

    def _exclusion(self) -> str:
        """Returns how one excludes what the other takes in, or ''."""
        old, new = self.old.claim, self.new.claim
        if old.only != new.only and old.anyone != new.anyone:
            return ANYONE
        return OTHERS if (old.only or new.only) and others_act(self.matching) else ""

    def _conflict(self, contrast: str) -> Finding:
        if self.others:
            return _unrelated(0.75, f"about {self.others[0]}")
        if self.values and contrast == OPPOSITE:
            return _unrelated(0.65, "the opposite, but of something else")
        if self.besides >= MOST_BESIDES and contrast not in (RULED_OUT, ANYONE, OTHERS):
            if contrast == OPPOSITE and self.besides < UNSURE_BELOW:
                return self._perhaps(contrast)
            return _unrelated(0.7, "about different things or conditions")
        if self.topic >= CONFLICT_FROM and self._shares_a_subject() and self._situations_allow():
            return Finding(kind=VerdictKind.CONFLICTS, confidence=min(0.95, 0.55 + 0.4 * self.topic), reason=contrast)
        return self._perhaps(contrast)

    def _perhaps(self, contrast: str) -> Finding:
        """Returns unsure where so much is common that an unclear contradiction is worth a curator's look."""
        if self.topic >= UNSURE_FROM and self.matched >= MUCH_SHARED and self._situations_allow():
            return Finding(kind=VerdictKind.UNSURE, confidence=0.5, reason=f"perhaps {contrast}")
        return _unrelated(0.6, "too little in common to contradict")

    def _shares_a_subject(self) -> bool:
        """Tells whether enough is common to speak of one thing: "use 4 workers" and "use 8" need a common situation."""
        if self.matched >= LEAST_SHARED:
            return True
        return self.topic >= NEARLY_EQUAL and self.matched >= LITTLE_SHARED and situations_alike(self.old, self.new)

    def _situations_allow(self) -> bool:
        """Tells whether an instruction of the one situation can contradict one of the other; facts always can."""
        if not (self.old.claim.imperative or self.new.claim.imperative):
            return True
        return situations_meet(self.old, self.new) or self.matched >= STANDS_ALONE

    # ---- the one narrower than the other

    def _qualifiers(self) -> tuple[list[Qualifier], list[Qualifier]]:
        old, new = self.old.claim, self.new.claim
        return (
            qualifiers(old, new, self.unknown_old, [a for a, _ in self.matching.pairs]),
            qualifiers(new, old, self.unknown_new, [b for _, b in self.matching.pairs]),
        )

    def _narrowing(self, qualifying: Sequence[Sequence[Qualifier]]) -> str:
        """Returns what only one of them is restricted to, or ''."""
        if found := next((one for side in qualifying for one in side), None):
            return f"only one speaks of {cut(found.surface)}"
        if excepted(self.matching):
            return "what one excepts, the other speaks of"
        return "only one says only" if only_one_restricts(self.old.claim, self.new.claim, self.matching) else ""

    def _exception(self, qualifying: Sequence[Sequence[Qualifier]]) -> Finding | None:
        """Returns the conflict of what one says in general and the other with an exception, if all else is shared."""
        for found, left, general in zip(qualifying, (self.left_old, self.left_new), (self.left_new, self.left_old), strict=True):
            apart = {item.place for one in found if one.excepts for item in one.items}
            beside = weight_of(item for item in left if item.place not in apart)
            topic = self.matched / (self.matched + beside + weight_of(general))
            if not apart or self.others or self.values or max(beside, weight_of(general)) >= MOST_BESIDES:
                continue
            if topic >= CONFLICT_FROM and self._shares_a_subject() and self._situations_allow():
                return Finding(kind=VerdictKind.CONFLICTS, confidence=min(0.95, 0.5 + 0.35 * topic), reason=EXCEPTION)
        return None

    # ---- the same, or side by side

    def _agreement(self, signs: Polarity) -> Finding:
        telling = next((r for r in self.others if min(r.old.weight, r.new.weight) >= LEAST_TELLING), None)
        if telling:
            return _unrelated(0.8, f"about {telling}")
        if min(_limits(self.left_old), _limits(self.left_new)) >= MOST_BESIDES:
            return _unrelated(0.65, "under other conditions")
        if any(item.sort in TYPED and item.role in (Role.SCOPE, Role.CONDITION) for item in self.left_new):
            return _unrelated(0.6, "the new lesson is about a case of its own")
        if any(item.key == _HELP and item.sign < 0 for item in (*self.left_old, *self.left_new)):
            return _unrelated(0.6, "one of them says what does harm")
        if self._says_more():
            return _unrelated(0.65, "the new lesson says more")
        if apart := self._say_apart():
            return _unrelated(0.65, f"only one says {cut(apart[0].surface)}, and only the other {cut(apart[1].surface)}")
        if self.topic >= SAME_FROM and self._shares_a_subject() and signs.equal and self.besides <= MOST_REWORDED * self.matched:
            confidence = min(0.95, 0.4 + 0.55 * self.topic)
            return Finding(kind=VerdictKind.SAME, confidence=confidence, reason="the same in other words")
        return _unrelated(0.6, "something else is said")

    def _say_apart(self) -> tuple[Item, Item] | None:
        """Returns what each says that neither the other nor its situation does, or None; a contrast is not told of twice."""
        denying = {item.place for item in self.denials}
        turned = [{r.old.place for r in self.turns}, {r.new.place for r in self.turns}]
        left_old, left_new = (
            [
                item
                for item in items
                if item.key not in other.context
                and item.place not in placed
                and not (item.key in NEGATING and (item.sign > 0 or (item.sign < 0 and item.place in denying)))
            ]
            for items, other, placed in zip((self.matching.old, self.matching.new), (self.new, self.old), turned, strict=True)
        )
        return say_apart(self.matching, left_old, left_new)

    def _says_more(self) -> bool:
        """Tells whether a sentence of the new lesson has no counterpart in the old: called the same, it would be lost."""
        beyond = _by_sentence(self.left_new)
        shared = _by_sentence(b for _, b in self.matching.pairs)
        return any(weight >= MOST_BEYOND and weight > 1.5 * shared.get(sentence, 0.0) for sentence, weight in beyond.items())


def _unknown(left: Sequence[Item], context: frozenset[str], placed: set[int]) -> list[Item]:
    """Returns the leftovers that the other lesson's situation does not give, nor anything in their place."""
    return [item for item in left if item.key not in context and item.place not in placed]


def _beside(left: Sequence[Item], shared: Sequence[Item]) -> float:
    """Returns the weight of the leftovers in conditions and in clauses that share anything: an explanation sets nothing apart."""
    clauses = {item.clause for item in shared}
    return weight_of(item for item in left if item.clause in clauses or item.role is Role.CONDITION)


def _tells(r: Replaced, *, bounded: bool) -> bool:
    """Tells whether the two words in one place are two things spoken of.

    "Starts at" and "runs at" are not, nor "may have" and "is limited to" before numbers that are `bounded`.
    """
    if bounded and r.old.role is r.new.role is Role.PREDICATE:
        return False
    return Role.ASIDE not in (r.old.role, r.new.role) and max(r.old.weight, r.new.weight) >= LEAST_TELLING


def _by_sentence(items: Iterable[Item]) -> dict[int, float]:
    weights: dict[int, float] = {}
    for item in items:
        weights[item.sentence] = weights.get(item.sentence, 0.0) + item.weight
    return weights


def _states_number(items: Sequence[Item]) -> bool:
    return any(item.quantity is not None and item.role in (Role.VALUE, Role.SCOPE) for item in items)


def _limits(items: Sequence[Item]) -> float:
    return weight_of(item for item in items if item.role in (Role.SCOPE, Role.CONDITION))
