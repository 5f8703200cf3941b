"""What agents handed in, by the decision that it came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from tests.history.calls import Call
from tests.history.operations import drafts_of
from tributary.core.decision import Learned
from tributary.core.lesson import CounterClaim, Draft


@dataclass(frozen=True, kw_only=True)
class Said:
    """What an agent handed in for a decision. `hurried` tells that it need not be waited for."""

    draft: Draft | None
    claim: CounterClaim | None = None
    contests: UUID | None = None
    hurried: bool = False


def said_by_decision(calls: Sequence[Call]) -> dict[UUID, Said]:
    """Returns what was said, by the decision that it came to."""
    found: dict[UUID, Said] = {}
    for call in calls:
        given = call.request.given
        hurried = given.get("wait") is False or given.get("deadline_s") is not None
        for draft, reply in drafts_of(call):
            if isinstance(reply, Learned):
                first = found.get(reply.decision_id)
                found[reply.decision_id] = Said(draft=draft, hurried=hurried or (first is not None and first.hurried))
        if call.operation == "contest" and isinstance(call.reply, Learned):
            found[call.reply.decision_id] = Said(draft=None, claim=given["claim"], contests=given["lesson_id"])
    return found
