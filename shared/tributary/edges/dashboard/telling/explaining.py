"""A receipt in plain words: which ways a search took, what it left out and why, and what may be concluded from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tributary.client import Receipt
from tributary.core.receipt import UNDECIDED, WEAK_MATCH

_PATHS = {
    "vector:exact": ("Every vector", "What each lesson in scope means was compared with what the question means, one by one."),
    "vector:hnsw": ("The vector index", "An index proposed the lessons that mean nearly the same; it may pass over some."),
    "terms": ("Rare words", "Lessons that hold the question's rarest words and identifiers."),
    "subject": ("Subject", "Lessons whose subject is what the question names."),
    "listing": ("A list", "The lessons were read in their order; nothing was compared."),
}
_NOT_BELIEVED = {
    "pending": "kept, and waiting to be judged",
    "disputed": "they contradict a believed lesson, and a curator has not decided yet",
    "quarantined": "the screen holds them back",
    "superseded": "a newer lesson took their place",
    "retired": "their author or a curator ended them",
    "evicted": "the tribe keeps no more lessons than its policy says",
    "erased": "a curator removed what they said",
}
_RULES = {
    "expired": "the time for which they were said to hold is over",
    "withered": "nobody confirmed them for so long that little is left of their confidence",
    "not_yet_valid": "they hold from a later time on",
    "below_confidence": "their confidence is under the least that was asked for",
    WEAK_MATCH: "they come near the question, but not near enough to be an answer: they are not nothing, either",
    "below_floor": "they are too far from the question",
    "over_limit": "they match, but more were found than were asked for",
    "outranked": "others of those compared were nearer",
    UNDECIDED: "they bear on the question, but are pending or disputed: no answer, but not nothing, either",
}
_CAUSES = {
    "approximate_index": (
        "So large a tribe is searched by an index, which may pass over a lesson.",
        "Nothing is wrong. Narrow the question by kind, subject or tags to have every lesson in scope compared.",
    ),
    "lessons_without_vector": (
        "Some lessons have no vector yet, so what they mean could not be compared.",
        "The gardener embeds them in its next run; then ask again.",
    ),
    "pool_exhausted": (
        "Lessons that are over, withered or of too little confidence took the places of others, which were not looked at.",
        "Ask for less confidence, or include what is stale.",
    ),
    "time_budget": ("There was no time to compare every lesson.", "Narrow the question by kind, subject or tags."),
    "replica_behind": ("A copy of the database answered that is older than was asked for.", "Ask again in a moment."),
    "embedder_failed": (
        "What the question means could not be computed, so lessons were found by their words alone.",
        "Ask again; if it stays so, the service's log tells why.",
    ),
    "no_serving_space": (
        "The database that answered keeps no vectors of the kind that the question was turned into.",
        "Ask again in a moment: it may not have heard of a change of model yet.",
    ),
}
_STAGES = {"embed": "reading the question", "database": "searching the database", "score": "ranking"}


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """What one rule left out."""

    rule: str
    count: int
    why: str


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why coverage is less than complete."""

    code: str
    means: str
    to_do: str


@dataclass(frozen=True, kw_only=True)
class Told:
    """A receipt with what it says in words.

    covered       how much of what was in scope was looked at, as a sentence
    concluded     what that allows to conclude
    absent        the search shows that there is nothing
    compared      left out of those that were looked at
    not_believed  not looked at, since they are not believed now
    stages        (what was done, milliseconds)
    narrowed      (filter, its value), of those that narrowed the search
    """

    receipt: Receipt
    covered: str
    concluded: str
    absent: bool
    paths: Sequence[tuple[str, str]]
    causes: Sequence[Cause]
    compared: Sequence[LeftOut]
    not_believed: Sequence[LeftOut]
    stages: Sequence[tuple[str, float]]
    narrowed: Sequence[tuple[str, str]]


def explain(receipt: Receipt) -> Told:
    """Returns a receipt with its words. Codes that this version does not know are shown as they are."""
    covered, concluded = _coverage(receipt)
    left_out = [(one.rule, one.count) for one in receipt.excluded]
    return Told(
        receipt=receipt,
        covered=covered,
        concluded=concluded,
        absent=receipt.may_assert_absence,
        paths=[_PATHS.get(path, (path, "")) for path in receipt.paths],
        causes=[Cause(code=code, means=means, to_do=to_do) for code in receipt.causes for means, to_do in [_cause(code)]],
        compared=[
            LeftOut(rule=rule, count=count, why=_RULES.get(rule, "")) for rule, count in left_out if rule not in _NOT_BELIEVED
        ],
        not_believed=[
            LeftOut(rule=rule, count=count, why=_NOT_BELIEVED[rule]) for rule, count in left_out if rule in _NOT_BELIEVED
        ],
        stages=[(_STAGES.get(stage, stage), ms) for stage, ms in receipt.ms.items()],
        narrowed=[(name, _shown(value)) for name, value in receipt.filters.items() if _narrows(name, value)],
    )


def _coverage(receipt: Receipt) -> tuple[str, str]:
    """Returns what was covered and what may be concluded: 'there is nothing' from nothing but a complete search."""
    found = receipt.returned > 0
    unless = "Do not conclude that nothing else is known." if found else "Do not conclude that nothing is known."
    match receipt.coverage:
        case "complete" if found:
            return "Every lesson in scope was looked at.", "No better match was passed over."
        case "complete" if receipt.may_assert_absence:
            return (
                "Every lesson in scope was looked at, and none bears on it.",
                "You may conclude that there is nothing in scope.",
            )
        case "complete":
            return "Every lesson in scope was looked at. None is an answer, but some come near or are undecided.", unless
        case "approximate":
            return "An index decided what is near, so a better match may have been passed over.", unless
        case "partial":
            return "Something in scope was not looked at.", unless
        case _:
            return "The search could not run as it should, so it cannot be told what was covered.", unless


def _cause(code: str) -> tuple[str, str]:
    return _CAUSES.get(code, ("", ""))


def _narrows(name: str, value: object) -> bool:
    return value not in (None, [], {}, 0.0, False, "", "any") and name not in ("limit", "before", "lesson")


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={one}" for key, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
