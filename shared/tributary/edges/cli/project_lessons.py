"""What the tribe knows of a project that goes by several names: a search by each, and the lessons that are about it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tributary.client import Hit, Hits, Memory, Receipt
from tributary.client.prompt import coverage_words

_MOST_SEARCHES = 6
_ABOUT = 0.25
"""Score from which a lesson is taken to be about the project though it does not name it."""
_WORST_FIRST = ("unknown", "partial", "approximate", "complete")


def lessons_about(memory: Memory, names: Sequence[str], *, limit: int) -> str:
    """Returns the lessons about the project as text for a model, fenced, or says that there are none and how far it looked.

    Each name is a search of its own: one question made of all of them would be near to none.
    """
    searched = search_words(names)
    found = [memory.recall(name, limit=limit) for name in searched]
    best: dict[str, tuple[int, float, Hit]] = {}
    for hit in (hit for hits in found for hit in hits):
        named = _named(hit, searched)
        if (hit.score >= _ABOUT or named < len(searched)) and (hit.id not in best or hit.score > best[hit.id][2].score):
            best[hit.id] = (named, -hit.score, hit)
    kept = [hit for _, _, hit in sorted(best.values(), key=lambda one: one[:2])[:limit]]
    receipt = _weakest([hits.receipt for hits in found])
    if kept:
        return Hits(kept, receipt).as_prompt()
    if receipt.coverage != "complete":
        return f"{coverage_words(receipt)}\n"
    return "No lesson in the shared memory names this project. It may well know the services that you will touch: ask it.\n"


def search_words(names: Sequence[str]) -> list[str]:
    """Returns what to search for: each name without its owner, as `deploy-api` of `acme/deploy-api`, the most telling first."""
    return list(dict.fromkeys(name.rpartition("/")[2] or name for name in names))[:_MOST_SEARCHES]


def _named(hit: Hit, names: Sequence[str]) -> int:
    """Returns which of the names the lesson speaks of first, the number of all for none."""
    said = " ".join((hit.text, hit.situation, hit.subject or "", *hit.lesson.tags.values())).casefold()
    spoken = (number for number, name in enumerate(names) if re.search(rf"(?<![\w-]){re.escape(name.casefold())}(?![\w-])", said))
    return next(spoken, len(names))


def _weakest(receipts: Sequence[Receipt]) -> Receipt:
    """Returns the receipt of the search that covered the least: no more than that may be said of all together."""
    return min(receipts, key=lambda one: (_WORST_FIRST.index(one.coverage), -one.returned))
