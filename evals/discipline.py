"""The scripted policy for the use of memory: what the gauntlet's agent does, put as rules for any words.

Before acting on a system, or answering what only its operators know, it recalls; for what follows from the words themselves it
does not. It learns what changed an outcome, was ruled out, or contradicts what was believed; never secrets. It says that there is
nothing only where the receipt allows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from uuid import UUID

from tributary.core.receipt import Coverage, Exclusion, Receipt, ScoredHit

_ACTS = re.compile(
    r"\b(?:deploy|build|restart|reboot|roll(?:s|ed)? (?:out|back)|rollout|migrat\w+|rotate|restore|drain|scale|configure|install"
    r"|upgrade|fail ?over|mitigate|investigate|fix|change|set|delete|run)\b",
    re.IGNORECASE,
)
_THINGS = re.compile(
    r"\b(?:service|server|cluster|node|pod|database|replica|queue|broker|gateway|certificate|cache|backup|deploy\w*|build|image"
    r"|api|alert|port|header|quota|config\w*|firewall|relay|release|version|checkout|disk|\w*[Pp]od\w*)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\b(?:which|who|what did we|is the|does the|should)\b", re.IGNORECASE)
_SECRET = re.compile(r"\b(?:password|passphrase|api key|secret key|token) (?:of|for)\b.*\bis\b", re.IGNORECASE)
_OUTCOME = re.compile(
    r"\b(?:until|unless|instead|only|because|since|cause|helped|changed nothing|did not|never|refused|fail\w*|killed|ignored"
    r"|must|takes|took|with the header|deadlock\w*)\b",
    re.IGNORECASE,
)


def before(task: str) -> str:
    """Returns `recall` or `go_ahead` for a task."""
    about_a_system = bool(_THINGS.search(task))
    return "recall" if about_a_system and (_ACTS.search(task) or _ASKS.search(task)) else "go_ahead"


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
