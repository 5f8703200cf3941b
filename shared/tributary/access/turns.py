"""The ceilings of the incident agent, counted in the database: who asks too often, or may become too dear, is refused."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from tributary.core.agent import Principal
from tributary.core.clock import Now, utc_now
from tributary.core.errors import TributaryError
from tributary.core.responding import Ceilings
from tributary.store import Database, statement
from tributary.telemetry import Event, log

_PLACES = Decimal("1e-12")


@dataclass(frozen=True, kw_only=True)
class Turns:
    """Lets turns in and counts what they cost. Fails closed: a turn that cannot be counted is refused."""

    database: Database
    ceilings: Ceilings
    now: Now = utc_now

    def begin(self, principal: Principal, turn_id: UUID) -> None:
        """Counts a turn and sets aside what it may cost; raises RateLimited with the seconds to wait, and Unavailable."""
        self.database.value(
            statement("access", "responder_begin"),
            {
                "tribe_id": principal.tribe_id,
                "agent_id": principal.agent_id,
                "turn_id": turn_id,
                "per_minute": self.ceilings.turns_per_minute,
                "per_day": self.ceilings.turns_per_day,
                "aside": self.ceilings.usd_per_turn,
                "usd_per_day": self.ceilings.usd_per_day,
                # the database's clock, so that a host whose own is wrong locks nobody out
                "now": None if self.now is utc_now else self.now(),
            },
        )

    def end(self, principal: Principal, turn_id: UUID, *, usd: Decimal) -> None:
        """Counts what the turn cost instead. Raises nothing: what cannot be written leaves it counted in full."""
        given = {"tribe_id": principal.tribe_id, "turn_id": turn_id, "usd": usd.quantize(_PLACES)}
        try:
            self.database.value(statement("access", "responder_end"), given)
        except TributaryError as error:
            log.event(Event.LEDGER_DELAYED, level=log.WARNING, error=error, code=error.code, calls=0)
