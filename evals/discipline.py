"""The scripted policy for the use of memory: what the gauntlet's agent does, put as rules for any words.

Before acting on a system, or answering what only its operators know, it recalls; for what follows from the words themselves it
does not. It learns what changed an outcome, was ruled out, or contradicts what was believed; never secrets. It says that there is
nothing only where the receipt allows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from uuid import UUID

from evals.gauntlet.when import before
from tributary.core.receipt import Coverage, Exclusion, Receipt, ScoredHit

__all__ = ["absence", "after", "before"]

_SECRET = re.compile(r"\b(?:password|passphrase|api key|secret key|token) (?:of|for)\b.*\bis\b", re.IGNORECASE)
_OUTCOME = re.compile(
    r"\b(?:until|unless|instead|only|because|since|cause|helped|changed nothing|did not|never|refused|fail\w*|killed|ignored"
    r"|must|takes|took|with the header|deadlock\w*)\b",
    re.IGNORECASE,
)


def after(happened: str) -> str:
    """Returns `learn` or `let_go` for what was seen."""
    if _SECRET.search(happened):
        return "let_go"
    return "learn" if _OUTCOME.search(happened) else "let_go"


def absence(receipt: Mapping[str, object]) -> str:
    """Returns `say_absent` where the product's receipt allows it, else `say_unknown`."""
    return "say_absent" if _receipt(receipt).may_assert_absence else "say_unknown"


def _receipt(row: Mapping[str, object]) -> Receipt:
    """Returns a receipt of which only what decides on absence was said."""
    excluded, returned = row["excluded"], row["returned"]
    assert isinstance(excluded, Mapping)
    assert isinstance(returned, int)
    hit = ScoredHit(lesson_id=UUID(int=1), score=0.5, similarity=0.5, terms={})
    return Receipt(
        receipt_id=UUID(int=1),
        searched=(),
        query_digest=None,
        filters={},
        paths=(),
        space=None,
        floor=None,
        considered=returned,
        excluded=tuple(Exclusion(rule=rule, count=count) for rule, count in excluded.items()),
        hits=(hit,) * returned,
        coverage=Coverage(str(row["coverage"])),
        causes=(),
        ranking="",
        ms={},
    )
