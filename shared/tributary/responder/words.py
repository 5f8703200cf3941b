"""What the incident agent says in our own words, when it may not say the model's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tributary.core.receipt import Coverage
from tributary.core.responding import MOST_ROUNDS, MOST_TOOL_CALLS, Stop
from tributary.responder.turn import Acted, Searched

_SHOWN_CHARACTERS = 120
_STOPPED: Mapping[Stop, str] = {
    Stop.ROUNDS: f"I stopped after {MOST_ROUNDS} rounds, the most of one turn, before I came to an answer.",
    Stop.CALLS: f"I stopped after {MOST_TOOL_CALLS} tool calls, the most of one turn, before I came to an answer.",
    Stop.TIME: "I stopped because the time of this turn was over before I came to an answer.",
    Stop.SPENDING: "I stopped because this turn cost all that one turn may, before I came to an answer.",
    Stop.MODEL: "I stopped because the language model gave no usable answer.",
    Stop.ABSENCE: "I hold my answer back: it rested on what could not be checked.",
}


def stopped(stop: Stop, actions: Sequence[Acted], unchecked: Sequence[str]) -> str:
    """Returns why a turn stopped, what could not be checked, and what was done all the same."""
    lines = [_STOPPED[stop]]
    if unchecked:
        lines.append("What could not be checked:")
        lines += [f"- {one}" for one in unchecked]
    if actions:
        lines.append("What was attempted:")
        lines += [f"- {one.verb} of {one.target}: {one.outcome}" for one in actions]
    return "\n".join(lines)


def unchecked(searched: Sequence[Searched], failed: Sequence[str]) -> list[str]:
    """Returns, recall by recall, why it does not show that there is nothing."""
    found = [f"a recall gave no receipt at all ({code})" for code in failed]
    for one in searched:
        receipt = one.receipt
        query = " ".join(one.query.split())
        asked = f"the recall of '{query[:_SHOWN_CHARACTERS]}'"
        if receipt.coverage is not Coverage.COMPLETE:
            causes = ", ".join(cause.value for cause in receipt.causes)
            found.append(f"{asked} was {receipt.coverage.value}" + (f" ({causes})" if causes else ""))
        elif receipt.hits:
            found.append(f"{asked} found {len(receipt.hits)} lesson(s)")
        elif not receipt.may_assert_absence:
            left_out = ", ".join(f"{one.count} {one.rule}" for one in receipt.excluded)
            found.append(f"{asked} left out what may bear on it ({left_out})")
    return found


def rewrite(claims: Sequence[str], reasons: Sequence[str]) -> str:
    """Returns what the model is told of an answer that claims an absence."""
    return (
        "your answer was not shown: it claims that nothing is known or that this was not seen before ("
        + "; ".join(f"'{claim[:_SHOWN_CHARACTERS]}'" for claim in claims)
        + "), which the recalls of this turn do not show: "
        + "; ".join(reasons)
        + ". Answer again, in English since no other can be checked, without any such claim, and say what could not be checked."
    )
