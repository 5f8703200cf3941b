"""Single words: their stems, the concepts they stand for, and how much each weighs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tributary.models.judges import lexicon, verbs

_VOWEL = re.compile(r"[aeiouy]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Concept:
    """What a word stands for. `sign` is +1 or -1 on an axis such as enable/disable, 0 for words without an opposite."""

    key: str
    sign: int
    weight: float


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Returns what inflected forms of one English word share; other words come back nearly unchanged."""
    base = verbs.IRREGULAR.get(word)
    if base is not None:
        return base if base == word else stem(base)
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return word
    return _without_suffix(_without_inflection(_singular(word)))


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "shes", "zes")) or (word.endswith("ches") and not word.endswith("aches")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_inflection(word: str) -> str:
    for ending in ("ing", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 2 and _VOWEL.search(rest) and not word.endswith("eed"):
            if word.endswith("ied"):
                return word[:-3] + "y"
            if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz":
                return rest[:-1]
            return rest
    return word


def _without_suffix(word: str) -> str:
    for ending, base in (("ability", "able"), ("ibility", "ible"), ("iness", "y")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + base
    for ending, least in (("ly", 4), ("ment", 4), ("ness", 4), ("al", 6), ("ence", 5), ("ance", 5)):
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word[: -len(ending)]
    if word.endswith(("sion", "tion")) and len(word) >= 6:
        word = word[:-3]
    if word.endswith("e") and len(word) > 2:
        word = word[:-1]
    return word


def _concepts() -> dict[str, Concept]:
    table: dict[str, Concept] = {}

    def put(word: str, concept: Concept) -> None:
        table.setdefault(stem(word), concept)
        table.setdefault(word, concept)

    for line in lexicon.AXES.replace("\n    ", " ").strip().splitlines():
        plus, minus = (side.split() for side in line.split("|"))
        key = stem(plus[0])
        for sign, words in ((1, plus), (-1, minus)):
            for word in words:
                put(word, Concept(key=key, sign=sign, weight=0.3 if word in _LIGHT_SURFACES else 1.0))
    for word, verb in (
        ("failure", "fail"),
        ("failures", "fail"),
        ("success", "succeed"),
        ("unavailability", "unavailable"),
    ):
        # As nouns they name what may happen, and assert nothing: "in the event of a failure".
        table[word] = Concept(key=table[stem(verb)].key, sign=0, weight=1.0)
    for line in lexicon.SYNONYMS.strip().splitlines():
        group = line.split()
        key = stem(group[0])
        weight = 0.3 if stem(group[0]) in _LIGHT else 1.0
        for word in group:
            put(word, Concept(key=key, sign=0, weight=weight))
    return table


def _exact() -> dict[str, Concept]:
    axes = [line.split(" | ") for line in lexicon.EXACT_AXES.strip().splitlines()]
    return {word: Concept(key=plus, sign=sign, weight=1.0) for plus, minus in axes for word, sign in ((plus, 1), (minus, -1))}


_LIGHT_SURFACES = frozenset(lexicon.LIGHT.split())
_LIGHT = frozenset(stem(word) for word in lexicon.LIGHT.split())
_VAGUE = frozenset(stem(word) for word in lexicon.VAGUE.split())
_CONCEPTS = _concepts()
_EXACT = _exact()


@lru_cache(maxsize=20_000)
def concept_of(word: str) -> Concept:
    """Returns the concept of a case-folded word; an unknown word stands for its own stem."""
    found = _EXACT.get(word) or _CONCEPTS.get(word)
    if found is None:
        root = stem(word)
        found = _CONCEPTS.get(root)
        if found is None:
            weight = 0.3 if root in _LIGHT else 0.6 if root in _VAGUE else 1.0
            return Concept(key=root, sign=0, weight=weight)
    return found


KIND_NOUNS = frozenset(stem(word) for word in lexicon.KIND_NOUNS.split())
GENERIC = frozenset(lexicon.GENERIC.split())
ABBREVIATED = frozenset(lexicon.ABBREVIATED.split())
ATTRIBUTES = frozenset(concept_of(word).key for word in lexicon.ATTRIBUTES.split())
VERBS = frozenset(stem(word) for word in verbs.VERBS.split())
IMPERATIVES = frozenset(verbs.IMPERATIVES.split())
FUNCTIONAL = frozenset(concept_of(word).key for word in verbs.FUNCTIONAL_VERBS.split())
NEGATING = frozenset(concept_of(word).key for word in lexicon.NEGATING_AXES.split())
MULTIPLE = frozenset(concept_of(word).key for word in verbs.MULTIPLE_VERBS.split())
NOUNISH = frozenset(stem(word) for word in verbs.NOUNISH.split())
CHOOSING = frozenset(concept_of(word).key for word in verbs.CHOOSING_VERBS.split())
