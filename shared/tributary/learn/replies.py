"""From a commit's reply to the words of core."""

from __future__ import annotations

from uuid import UUID

from tributary.core.curation import Ending, Resolved
from tributary.core.decision import Learned, Outcome, Reinforced
from tributary.store import rows


def learned(document: rows.Document) -> Learned:
    reply = document["reply"]
    return Learned(
        outcome=Outcome(reply["outcome"]),
        lesson=None if document["lesson"] is None else rows.lesson(document["lesson"]),
        replaced=tuple(UUID(one) for one in reply["replaced"]),
        dispute_id=rows.uuid_or_none(reply["dispute_id"]),
        challenges=tuple(UUID(one) for one in reply["challenges"]),
        reason=reply["reason"],
        decision_id=UUID(reply["decision_id"]),
        tick=reply["tick"],
        replayed=document["replayed"],
        precedent=rows.uuid_or_none(reply["precedent"]),
        pended=_pended(document),
    )


def resolved(document: rows.Document) -> Resolved:
    reply = document["reply"]
    return Resolved(
        resolved=UUID(reply["resolved"]),
        ending=Ending(reply["ending"]),
        outcome=None if reply["outcome"] is None else Outcome(reply["outcome"]),
        lesson=rows.lesson(document["lesson"]),
        replaced=tuple(UUID(one) for one in reply["replaced"]),
        retired=tuple(UUID(one) for one in reply["retired"]),
        dispute_id=rows.uuid_or_none(reply["dispute_id"]),
        challenges=tuple(UUID(one) for one in reply["challenges"]),
        reason=reply["reason"],
        decision_id=rows.uuid_or_none(reply["decision_id"]),
        tick=reply["tick"],
        replayed=document["replayed"],
        pended=_pended(document),
    )


def reinforced(document: rows.Document) -> Reinforced:
    reply = document["reply"]
    outcome = Outcome(reply["outcome"])
    return Reinforced(
        outcome=outcome,
        lesson=rows.lesson(document["lesson"]),
        reason="counted as one more agent that found it true"
        if outcome is Outcome.REINFORCED
        else "this agent counts for the lesson already, as its author or by an earlier confirmation",
        tick=reply["tick"],
        replayed=document["replayed"],
    )


def _pended(document: rows.Document) -> bool:
    """Tells whether lessons are pending by a commit. A replay keeps only what became of its own: that is told once more."""
    return bool(document.get("pended", document["reply"]["outcome"] == Outcome.PENDING))
