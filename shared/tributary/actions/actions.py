"""Durable actions as their callers see them: begin, complete, fail, renew, reconcile, and look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from tributary.access import Admission, Admitted, Ledger, charged
from tributary.actions import documents
from tributary.core.action import (
    Action,
    ActionState,
    BeginOutcome,
    Begun,
    Completed,
    Completion,
    action_key,
    check_description,
    check_failure,
    check_lease_s,
    result_json,
)
from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.errors import InvalidRequest, TributaryError
from tributary.core.ids import Prefix, new_id, show
from tributary.core.lesson import Draft
from tributary.core.requests import Page
from tributary.learn import Learner
from tributary.recall import Signer, Stopwatch, check_limit, cursor, listing_receipt, parse_cursor
from tributary.store import Database, Reading, rows, statement
from tributary.telemetry import Event, Metric, log, metrics

LEASE_S = 60


@dataclass(frozen=True, kw_only=True)
class Actions:
    """Has side effects happen once: what is meant is committed before the effect, under a key that is unique in the tribe.

    Whoever is granted an action holds its lease, a secret that says so. When the lease runs out without a word of its holder,
    nobody knows whether the effect happened: the action is in doubt, and never granted again before a curator has reconciled it.
    Every write takes an idempotency key, and gives the first reply again when the same request comes with the same key.
    """

    database: Database
    reading: Reading
    """Where actions are looked at: the writer, or its replica while that is away. Looking writes nothing."""
    admission: Admission
    learner: Learner
    check_words: Callable[[str, str], None]
    """Raises InvalidRequest for a field's words that nobody had better read later, ModelFailed when that cannot be told."""
    signer: Signer
    ledger: Ledger
    now: Now = utc_now

    def begin(
        self, principal: Principal, key: str, description: str, *, lease_s: int = LEASE_S, idempotency_key: str | None = None
    ) -> Begun:
        """Asks to carry out the action of this key: granted, with a lease of `lease_s` seconds, or how it stands.

        One that failed is granted again. The same idempotency key gives the same lease again, so it must be new for each
        intention: whoever was killed and starts anew with the old one would carry it out twice. Nothing is kept for a key
        whose request was not granted. Raises WrongStanding when the attempt that the idempotency key began has failed.
        """
        principal.require(Role.WRITER)
        key = action_key(key)
        check_description(description)
        check_lease_s(lease_s)
        content = {"key": key, "description": description, "lease_s": lease_s}
        admitted = self.admission.admit(principal, "begin_action", content, idempotency_key)
        wanted = {"action_id": new_id(), "action_key": key, "description": description, "lease_s": lease_s}
        begun = documents.begun(self._write(statement("actions", "begin"), principal, admitted, wanted))
        if admitted.replay is None:
            metrics.record(Metric.ACTIONS, of=begun.outcome.value)
            if begun.outcome is BeginOutcome.GRANTED:
                _log("begin", begun.action)
        return begun

    @charged
    def complete(
        self,
        principal: Principal,
        action_id: UUID,
        lease: str,
        result: object,
        *,
        lesson: Draft | None = None,
        deadline_s: float | None = None,
        wait: bool = True,
        idempotency_key: str | None = None,
    ) -> Completed:
        """Says that the effect happened and came to `result`, a JSON value; also after the lease ran out, until it is reconciled.

        `lesson` is learned in the same transaction. Where it is refused for good the action is completed without it, and the
        reply tells why; where it cannot be learned now, nothing is written. Raises NotFound, Forbidden for a lease that is not
        the present attempt's, WrongStanding when the action ended before, and what may pass of `learn.Learner.learn`.
        """
        principal.require(Role.WRITER)
        text = result_json(result)
        content = {
            "action": action_id.hex,
            "lease": lease,
            "result": text,
            "lesson": None if lesson is None else {**asdict(lesson), "wait": wait},
        }
        admitted = self._admit(principal, "complete_action", content, idempotency_key)
        refused: TributaryError | None = None
        if lesson is not None and admitted.replay is None:
            completion = Completion(
                action_id=action_id, lease=lease, result=text, key=admitted.key, digest=admitted.digest, now=self._now_given()
            )
            try:
                self.learner.learn_completing(principal, lesson, completion, deadline_s=deadline_s, wait=wait)
            except documents.REFUSED_FOR_GOOD as error:
                refused = error
        # after a learn that went well, this finds that it did
        wanted = {
            "action_id": action_id,
            "lease": lease,
            "result": text,
            "refused": None if refused is None else refused.code,
        }
        row = self._write(statement("actions", "complete"), principal, admitted, wanted)
        completed = documents.completed(row, refused=refused, again=admitted.replay is not None)
        self._tell("complete", completed.action, admitted, outcome="completed")
        return completed

    def fail(
        self,
        principal: Principal,
        action_id: UUID,
        lease: str,
        failure: str,
        *,
        unsure: bool = False,
        idempotency_key: str | None = None,
    ) -> Action:
        """Says that the effect did not happen, so that it may be begun again; or, `unsure`, that this cannot be told: in doubt.

        Also after the lease ran out, while nobody reconciled. Raises as `complete`.
        """
        principal.require(Role.WRITER)
        check_failure(failure)
        content = {"action": action_id.hex, "lease": lease, "failure": failure, "unsure": unsure}
        admitted = self._admit(principal, "fail_action", content, idempotency_key)
        wanted = {"action_id": action_id, "lease": lease, "failure": failure, "unsure": unsure}
        action = documents.action(self._write(statement("actions", "fail"), principal, admitted, wanted)["action"])
        self._tell("fail", action, admitted, outcome="unsure" if unsure else "failed")
        return action

    def renew(
        self, principal: Principal, action_id: UUID, lease: str, *, lease_s: int = LEASE_S, idempotency_key: str | None = None
    ) -> Action:
        """Has the lease run for `lease_s` seconds from now on. Raises as `complete`, and WrongStanding when it ran out."""
        principal.require(Role.WRITER)
        check_lease_s(lease_s)
        content = {"action": action_id.hex, "lease": lease, "lease_s": lease_s}
        admitted = self._admit(principal, "renew_action", content, idempotency_key)
        wanted = {"action_id": action_id, "lease": lease, "lease_s": lease_s}
        action = documents.action(self._write(statement("actions", "renew"), principal, admitted, wanted)["action"])
        self._tell("renew", action, admitted, outcome="renewed")
        return action

    @charged
    def reconcile(
        self,
        principal: Principal,
        action_id: UUID,
        *,
        happened: bool,
        rationale: str,
        result: object = None,
        idempotency_key: str | None = None,
    ) -> Action:
        """Ends a doubt by a curator's word: the effect `happened`, with `result`, or did not, so that it may be begun again.

        Audited. Raises NotFound, and WrongStanding unless the action is in doubt.
        """
        principal.require(Role.CURATOR)
        text = result_json(result)
        if not happened and result is not None:
            raise InvalidRequest("result", "must be left out when the effect did not happen")
        content = {"action": action_id.hex, "happened": happened, "result": text, "rationale": rationale}
        admitted = self._admit(principal, "reconcile_action", content, idempotency_key)
        if admitted.replay is None:
            self.check_words("rationale", rationale)
        wanted = {"action_id": action_id, "happened": happened, "result": text, "note": rationale}
        action = documents.action(self._write(statement("actions", "reconcile"), principal, admitted, wanted)["action"])
        self._tell("reconcile", action, admitted, outcome="reconciled")
        return action

    def action(self, principal: Principal, action_id: UUID) -> Action:
        """Returns an action as it stands; one whose lease ran out as in doubt. Raises NotFound."""
        principal.require(Role.READER)
        parameters = {"tribe_id": principal.tribe_id, "action_id": action_id, "now": self._now_given()}
        return documents.action(rows.document(self.reading.value(statement("actions", "action"), parameters)))

    def actions(
        self, principal: Principal, *, state: ActionState | None = None, limit: int = 20, before: str | None = None
    ) -> Page[Action]:
        """Returns a page of actions, those in doubt first, then newest first. Raises InvalidRequest."""
        principal.require(Role.READER)
        check_limit(limit)
        before_doubt, before_id = parse_cursor(before)
        wanted = None if state is None else state.value
        watch = Stopwatch()
        with watch.stage("database"):
            parameters = {
                "tribe_id": principal.tribe_id,
                "state": wanted,
                "limit": limit,
                "before_doubt": before_doubt,
                "before_id": before_id,
                "now": self._now_given(),
            }
            found = rows.document(self.reading.value(statement("actions", "actions"), parameters))
        items = [documents.action(one) for one in found["actions"]]
        shown = [one.action_id for one in items]
        filters = {"state": wanted or "any", "limit": limit, "before": before}
        return Page(
            items=tuple(items),
            next_before=cursor(int(items[-1].state is ActionState.IN_DOUBT), shown[-1]) if found["more"] else None,
            receipt=listing_receipt(self.signer, principal, found, filters, shown, watch, prefix=Prefix.ACTION),
        )

    def _admit(self, principal: Principal, operation: str, content: Mapping[str, object], key: str | None) -> Admitted:
        # what was begun is seen to its end, also when the tribe's day is full
        return self.admission.admit(principal, operation, content, key, past_the_day=True)

    def _write(
        self, query: LiteralString, principal: Principal, admitted: Admitted, parameters: Mapping[str, object]
    ) -> rows.Document:
        who = {"tribe_id": principal.tribe_id, "agent_id": principal.agent_id, "key": admitted.key, "digest": admitted.digest}
        return rows.document(self.database.value(query, {**who, "now": self._now_given(), **parameters}))

    def _now_given(self) -> datetime | None:
        """Returns the instant to go by: None for the database's, so that a host whose clock is wrong ends nobody's lease."""
        return None if self.now is utc_now else self.now()

    def _tell(self, what: str, action: Action, admitted: Admitted, *, outcome: str) -> None:
        if admitted.replay is None:
            metrics.record(Metric.ACTIONS, of=outcome)
            _log(what, action)


def _log(what: str, action: Action) -> None:
    log.event(
        Event.ACTION_CHANGED,
        action=what,
        id=show(Prefix.ACTION, action.action_id),
        state=action.state.value,
        attempt=action.attempt,
    )
