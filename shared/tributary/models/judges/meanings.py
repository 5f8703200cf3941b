"""What the four verdicts mean, in the words that models are given."""

from __future__ import annotations

from tributary.core.decision import VerdictKind
from tributary.core.ports import JudgedText

MEANINGS = {
    VerdictKind.SAME: (
        "Both claim the same fact, or give the same advice, for the same situation. Whoever follows one also does what the other"
        " says. Other words, units, order or a little more detail make no difference."
    ),
    VerdictKind.CONFLICTS: (
        "Both speak of the same attribute of the same thing under the same conditions, and cannot both be right now: another"
        " value, the opposite, another order, must against need not, a general rule against an exception from it. An update is a"
        " conflict too: the newer lesson would replace the older one."
    ),
    VerdictKind.UNRELATED: (
        "Both can be right at the same time: about another thing, attribute, host, environment, version, role or condition; one"
        " more item of a list; or one is narrower, and adds a place, time or condition to what the other says in general."
    ),
    VerdictKind.UNSURE: "What is written does not settle it.",
}


def shown(side: JudgedText) -> dict[str, str]:
    """Returns what a judge over a wire is shown of one lesson: its words, and none of our ids."""
    found = {"situation": side.situation, "text": side.text}
    return found if side.subject is None else {"subject": side.subject, **found}
