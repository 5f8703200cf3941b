"""Durable actions, step by step: side effects that happen once. `memory.once` takes the steps by itself."""

from __future__ import annotations

from tributary.client import action_calls as calls
from tributary.client.action_calls import ActionFilter, GivenLesson
from tributary.client.curation import Listing, Run
from tributary.client.ids import ActionRef
from tributary.client.keys import key_or_new
from tributary.contract.actions import ActionReply, BegunReply, CompletedReply


class Actions:
    """The durable actions of a tribe, as `memory.actions`.

    Whoever is granted an action holds its lease, which is to be kept as secret as a token. Each write is given a new
    idempotency key, so that a lost reply changes nothing twice. Do not begin an action under a key of your own that a restart
    makes again: it would be granted again to whoever was killed in the middle of it.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def begin(
        self, key: str, *, description: str | None = None, lease_s: int = 60, idempotency_key: str | None = None
    ) -> BegunReply:
        """Asks to carry out the action of this key: `granted` with a lease, or how it stands (`done`, `in_doubt`, `busy`)."""
        said = key if description is None else description
        return self._run(calls.begin(key, description=said, lease_s=lease_s, idempotency_key=key_or_new(idempotency_key)))

    def complete(
        self,
        action: ActionRef,
        lease: str,
        result: object = None,
        *,
        lesson: GivenLesson | None = None,
        idempotency_key: str | None = None,
    ) -> CompletedReply:
        """Says that the effect happened and came to `result`, a JSON value; also after the lease ran out, until reconciled.

        `lesson` is learned in the same transaction. One that is refused for good is left out, and `problem` says why.
        """
        key = key_or_new(idempotency_key)
        return self._run(calls.complete(action, lease=lease, result=result, lesson=lesson, idempotency_key=key))

    def fail(
        self, action: ActionRef, lease: str, failure: str, *, unsure: bool = False, idempotency_key: str | None = None
    ) -> ActionReply:
        """Says that the effect did not happen: it may be begun again. With `unsure`, that nobody can tell: it is in doubt."""
        key = key_or_new(idempotency_key)
        return self._run(calls.fail(action, lease=lease, failure=failure, unsure=unsure, idempotency_key=key))

    def renew(self, action: ActionRef, lease: str, *, lease_s: int = 60, idempotency_key: str | None = None) -> ActionReply:
        """Has the lease run for `lease_s` seconds from now on; raises WrongStanding once it ran out."""
        return self._run(calls.renew(action, lease=lease, lease_s=lease_s, idempotency_key=key_or_new(idempotency_key)))

    def reconcile(
        self,
        action: ActionRef,
        *,
        happened: bool,
        rationale: str,
        result: object = None,
        idempotency_key: str | None = None,
    ) -> ActionReply:
        """Ends a doubt, for curators: the effect `happened`, with `result`, or did not, and may be begun again."""
        key = key_or_new(idempotency_key)
        return self._run(calls.reconcile(action, happened=happened, result=result, rationale=rationale, idempotency_key=key))

    def get(self, action: ActionRef) -> ActionReply:
        """Returns an action as it stands."""
        return self._run(calls.action(action))

    def list(self, state: ActionFilter = "any", *, page_size: int = 50, before: str | None = None) -> Listing[ActionReply]:
        """Lists actions, those in doubt first, then newest first."""
        return Listing(self._run, lambda at: calls.actions(state=state, page_size=page_size, before=at), before)
