"""What the incident agent works with, for tests of the HTTP edge: a model that answers at once, and no ceilings."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from decimal import Decimal
from typing import cast
from uuid import UUID

from tributary.access import Turns
from tributary.core.agent import Principal
from tributary.core.clock import utc_now
from tributary.core.ports import Prompt
from tributary.core.responding import Ceilings
from tributary.service.responding import Responding


class _Answers:
    version = "made/1"

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        return {"next": "answer", "tool": None, "arguments": None, "answer": "It is up.", "claims_absence": False}


class Unbounded:
    ceilings = Ceilings(turns_per_minute=1, turns_per_day=1, usd_per_turn=Decimal(1), usd_per_day=Decimal(1))
    now = staticmethod(utc_now)

    def begin(self, principal: Principal, turn_id: UUID) -> None: ...

    def end(self, principal: Principal, turn_id: UUID, *, usd: Decimal) -> None: ...


def responding() -> Responding:
    return Responding(model=_Answers(), turns=cast(Turns, Unbounded()), live=None, charged=lambda _: nullcontext())
