"""Durable actions: side effects outside of the memory that are to happen once, and what is known of each."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from tributary.core.decision import Learned
from tributary.core.errors import InvalidRequest, TributaryError
from tributary.core.limits import (
    ACTION_DESCRIPTION_CHARACTERS,
    ACTION_FAILURE_CHARACTERS,
    ACTION_KEY_CHARACTERS,
    ACTION_LEASE_S,
    ACTION_RESULT_BYTES,
    ACTION_RESULT_DEPTH,
    check_short,
    check_storable,
)


class ActionState(StrEnum):
    """How an action stands. Only one that failed, so whose effect did not happen, may be begun again."""

    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"


class Doubt(StrEnum):
    """Why nobody could tell whether the effect happened."""

    LEASE_RAN_OUT = "lease_ran_out"
    HOLDER_UNSURE = "holder_unsure"
    RESTORED = "restored"


class BeginOutcome(StrEnum):
    """What whoever would begin an action is told. Nobody but the one who is granted it may carry it out."""

    GRANTED = "granted"
    DONE = "done"
    IN_DOUBT = "in_doubt"
    BUSY = "busy"


@dataclass(frozen=True, kw_only=True)
class Action:
    """One action as it stands; times and words are of its latest attempt.

    result          the JSON value that it came to, once done
    failure         in the words of its holder: why it did not happen, or why that cannot be told
    doubt           why it is in doubt, or was
    reconciled_by   the curator who ended the doubt, and `note` the reason
    """

    action_id: UUID
    key: str
    description: str
    state: ActionState
    attempt: int
    agent: str
    begun_at: datetime
    lease_until: datetime
    ended_at: datetime | None
    result: object
    failure: str | None
    doubt: Doubt | None
    reconciled_by: str | None
    note: str | None


@dataclass(frozen=True, kw_only=True)
class Begun:
    """What came of beginning an action. `lease` is the secret of whoever was granted it, and None for everybody else."""

    outcome: BeginOutcome
    action: Action
    lease: str | None


@dataclass(frozen=True, kw_only=True)
class Completion:
    """What a learn commits together with its lesson: the holder's word that an action is done, and what came of it.

    `key` and `digest` are those of the request to complete it; `now` is None for the database's time.
    """

    action_id: UUID
    lease: str
    result: str
    """As JSON."""
    key: str
    digest: bytes
    now: datetime | None

    def document(self) -> dict[str, object]:
        return {
            "action_id": str(self.action_id),
            "lease": self.lease,
            "result": self.result,
            "key": self.key,
            "request_digest": self.digest.hex(),
            "now": None if self.now is None else self.now.isoformat(),
        }


@dataclass(frozen=True, kw_only=True)
class Completed:
    """A completed action, and what became of the lesson that came with it: one of the two, or neither without a lesson."""

    action: Action
    learned: Learned | None
    refused: TributaryError | None


def action_key(given: str) -> str:
    """Returns the key of an action as it is kept; raises InvalidRequest for one that no action can have.

    In NFC, so that a key means the same however a system writes its accents, composed or not.
    """
    key = unicodedata.normalize("NFC", given)
    if not (0 < len(key) <= ACTION_KEY_CHARACTERS and key.isprintable() and key == key.strip()):
        raise InvalidRequest(
            "key", f"must be 1 to {ACTION_KEY_CHARACTERS} printable characters, with no space at the beginning or the end"
        )
    return key


def check_description(description: str) -> None:
    """Raises InvalidRequest for a description that is empty or too long."""
    check_short("description", description, ACTION_DESCRIPTION_CHARACTERS)


def check_failure(failure: str) -> None:
    """Raises InvalidRequest for words about a failure that are empty or too many."""
    check_short("failure", failure, ACTION_FAILURE_CHARACTERS)


def check_lease_s(seconds: int) -> None:
    """Raises InvalidRequest unless a lease may run for so many seconds."""
    if not 1 <= seconds <= ACTION_LEASE_S:
        raise InvalidRequest("lease_s", f"must be from 1 to {ACTION_LEASE_S} seconds")


def result_json(result: object) -> str:
    """Returns the result of an action as it is stored; raises InvalidRequest for what is no JSON value, or too large or deep."""
    try:
        text = json.dumps(result, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest("result", "must be a JSON value, of finite numbers") from error
    for part in _texts(result):
        check_storable("result", part)
    size = len(text.encode())
    if size > ACTION_RESULT_BYTES:
        raise InvalidRequest("result", f"is {size} bytes of JSON; at most {ACTION_RESULT_BYTES} are kept")
    if _deeper(result, ACTION_RESULT_DEPTH):
        raise InvalidRequest("result", f"is nested more than {ACTION_RESULT_DEPTH} levels deep")
    return text


def _deeper(value: object, levels: int) -> bool:
    """Tells whether lists and objects lie within one another in more than so many levels."""
    if not isinstance(value, list | tuple | dict):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(one, levels - 1) for one in parts)


def _texts(value: object) -> Iterator[str]:
    """Yields every text in a JSON value, in no order and without recursion."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting.extend([*one, *one.values()])
        elif isinstance(one, list | tuple):
            waiting.extend(one)
