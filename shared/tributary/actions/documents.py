"""From the documents of the schema's functions about actions to the words of core."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from tributary.core.action import Action, ActionState, BeginOutcome, Begun, Completed, Doubt
from tributary.core.decision import Learned
from tributary.core.errors import Forbidden, IdempotencyConflict, InvalidRequest, NotFound, TributaryError, WrongStanding
from tributary.learn import learned
from tributary.store import rows

REFUSED_FOR_GOOD = (InvalidRequest, WrongStanding, NotFound, Forbidden, IdempotencyConflict)
"""Errors by which a lesson is refused whenever it is handed in again."""


def action(row: rows.Document) -> Action:
    return Action(
        action_id=UUID(row["action_id"]),
        key=row["key"],
        description=row["description"],
        state=ActionState(row["state"]),
        attempt=row["attempt"],
        agent=row["agent"],
        begun_at=rows.moment(row["begun_at"]),
        lease_until=rows.moment(row["lease_until"]),
        ended_at=rows.moment_or_none(row["ended_at"]),
        result=row["result"],
        failure=row["failure"],
        doubt=None if row["doubt"] is None else Doubt(row["doubt"]),
        reconciled_by=row["reconciled_by"],
        note=row["note"],
    )


def begun(row: rows.Document) -> Begun:
    return Begun(outcome=BeginOutcome(row["outcome"]), action=action(row["action"]), lease=row["lease"])


def completed(row: rows.Document, *, refused: TributaryError | None, again: bool) -> Completed:
    """Returns what a completion came to. `refused` is why its lesson was, if that was found just now; `again` tells a repeat."""
    code = row["reply"].get("refused")
    return Completed(
        action=action(row["action"]),
        learned=_learned(row["learned"], again=again),
        refused=refused if refused is not None or code is None else _refusal(code),
    )


def _learned(document: rows.Document | None, *, again: bool) -> Learned | None:
    return None if document is None else replace(learned(document), replayed=again)


def _refusal(code: str) -> TributaryError:
    """Returns the error of a lesson that an earlier request was refused: of its words the code alone is kept."""
    if code == InvalidRequest.code:
        return InvalidRequest("lesson", "broke a rule when the action was completed; the first reply said which")
    return next(kind() for kind in (WrongStanding, NotFound, Forbidden, IdempotencyConflict) if kind.code == code)
