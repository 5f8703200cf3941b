"""Changes of live systems, each at most once: intent is committed before the effect, and doubt is never tried again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from tributary.core import ids
from tributary.core.action import Action, BeginOutcome, Begun, Completed
from tributary.core.agent import Principal
from tributary.core.errors import TributaryError
from tributary.core.responding import Change
from tributary.responder.turn import Acted, Outcome

LEASE_S = 60
"""Several times what an effect may take; a process that dies leaves the action in doubt after that."""
_IN_DOUBT = (
    "nobody can tell whether it happened, so it was not done again and must not be done by another road;"
    " a curator has to look and to reconcile the action"
)

_ANOTHER = "not done: a verb is used on a target once in an incident, and this was done instead: {}"


class NotHappened(Exception):
    """The effect certainly did not happen; the message says why."""


class Unsure(Exception):
    """Nobody can tell whether the effect happened; the message says why."""


class ActionLedger(Protocol):
    """The ledger of durable actions, as far as it is used here (`actions.Actions`)."""

    def begin(self, principal: Principal, key: str, description: str, *, lease_s: int = ...) -> Begun: ...

    def complete(self, principal: Principal, action_id: UUID, lease: str, result: object) -> Completed: ...

    def fail(self, principal: Principal, action_id: UUID, lease: str, failure: str, *, unsure: bool = ...) -> Action: ...


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A change to one target. `cause` has it happen once it is called; raises NotHappened or Unsure."""

    change: Change
    target: str
    description: str
    cause: Callable[[], Mapping[str, object]]

    def key(self, incident: str) -> str:
        """Returns the action's key: the same for every process that would do the same in the same incident, in whatever case
        of letters that is named."""
        return f"responder:{incident.lower()}:{self.change}:{self.target}"


def act(ledger: ActionLedger, principal: Principal, incident: str, effect: Effect) -> tuple[Acted, Mapping[str, object]]:
    """Returns what was attempted and what the model is told of it. Raises what the ledger raises before anything is begun."""
    key = effect.key(incident)
    begun = ledger.begin(principal, key, effect.description, lease_s=LEASE_S)
    action = ids.show(ids.Prefix.ACTION, begun.action.action_id)

    def came_of_it(outcome: Outcome, detail: str | None = None, result: object = None) -> tuple[Acted, Mapping[str, object]]:
        acted = Acted(key=key, verb=effect.change.value, target=effect.target, outcome=outcome, action=action, detail=detail)
        return acted, {"outcome": outcome.value, "action": action, "key": key, "detail": detail, "result": result}

    if begun.outcome is BeginOutcome.DONE and begun.action.description.lower() != effect.description.lower():
        return came_of_it(Outcome.FAILED, _ANOTHER.format(begun.action.description))
    if begun.lease is None:
        return came_of_it(*_OTHERWISE[begun.outcome], begun.action.result)
    try:
        result = effect.cause()
    except NotHappened as error:
        _say(ledger, principal, begun.action.action_id, begun.lease, str(error), unsure=False)
        return came_of_it(Outcome.FAILED, str(error))
    except Unsure as error:
        _say(ledger, principal, begun.action.action_id, begun.lease, str(error), unsure=True)
        return came_of_it(Outcome.IN_DOUBT, f"{error}; {_IN_DOUBT}")
    try:
        ledger.complete(principal, begun.action.action_id, begun.lease, dict(result))
    except TributaryError as error:
        return came_of_it(Outcome.DONE, f"it happened, and could not be written down ({error.code}): it will be in doubt", result)
    return came_of_it(Outcome.DONE, None, result)


def _say(ledger: ActionLedger, principal: Principal, action_id: UUID, lease: str, why: str, *, unsure: bool) -> None:
    """Says at once what did not happen, or that nobody can tell; where that cannot be said, the lease runs out: in doubt."""
    try:
        ledger.fail(principal, action_id, lease, why, unsure=unsure)
    except TributaryError:
        return


_OTHERWISE: Mapping[BeginOutcome, tuple[Outcome, str]] = {
    BeginOutcome.DONE: (Outcome.DONE, "it was done before in this incident, and is not done twice; this is what came of it"),
    BeginOutcome.IN_DOUBT: (Outcome.IN_DOUBT, _IN_DOUBT),
    BeginOutcome.BUSY: (Outcome.BUSY, "another agent is at it this moment; look at the live state after a while"),
}
"""What is told where the action was not granted."""
