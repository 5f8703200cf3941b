"""What calls of models cost, and on whose account they are made.

Whoever does work for a tribe opens an account around it (`on_account`); adapters charge their calls to the account at hand
(`account`). Nothing in between has to hand it on, and work that is done for no tribe is charged to nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Protocol
from uuid import UUID


class Purpose(StrEnum):
    """What a model is called for."""

    EMBED = "embed"
    JUDGE = "judge"
    STRONG_JUDGE = "strong_judge"
    SCREEN = "screen"
    DISTILL = "distill"
    RESPONDER = "responder"
    GRADE = "grade"


class CallEnd(StrEnum):
    """How a call ended. `malformed` is an answer that was paid for and is no answer to what was asked."""

    ANSWERED = "answered"
    REFUSED = "refused"
    MALFORMED = "malformed"
    TIMED_OUT = "timed_out"
    THROTTLED = "throttled"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """One call over a wire, or to another process: each attempt counts. Models that run in this process are not charged."""

    purpose: Purpose
    model: str
    """Provider and model, `bedrock:amazon.titan-embed-text-v2:0`."""
    at: datetime
    ms: float
    end: CallEnd
    input_tokens: int | None = None
    output_tokens: int | None = None
    """None where the provider did not say."""
    cost_usd: Decimal | None = None
    """None where no price is known."""


class Account(Protocol):
    """On whom calls are charged. Raises nothing to those who charge."""

    def charge(self, call: ModelCall) -> None: ...

    def may_spend(self) -> bool:
        """Tells whether the budget of the day allows what can be gone without."""
        ...

    def reserve(self, calls: int) -> AbstractContextManager[int]:
        """Sets calls of the strong judge aside for the block, and gives how many of them the budget of the day allows.

        Nobody else is given what is set aside. A call of that purpose that is charged in the block is one of these.
        """
        ...

    def decided(self, decision_id: UUID | None) -> None:
        """Says what the calls since the last such word were made for."""
        ...


class Nobody:
    """The account of work that is done for no tribe."""

    def charge(self, call: ModelCall) -> None: ...

    def may_spend(self) -> bool:
        return True

    def reserve(self, calls: int) -> AbstractContextManager[int]:
        return nullcontext(calls)

    def decided(self, decision_id: UUID | None) -> None: ...


_account: ContextVar[Account] = ContextVar("tributary_account", default=Nobody())  # noqa: B039  (it has no state)


@contextmanager
def on_account(account: Account) -> Iterator[None]:
    """Charges what the block calls to `account`; a thread that the block starts needs a copy of its context."""
    token = _account.set(account)
    try:
        yield
    finally:
        _account.reset(token)


def account() -> Account:
    """Returns the account at hand."""
    return _account.get()
