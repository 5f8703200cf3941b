"""What the ledger says, for curators."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, timedelta
from decimal import Decimal

from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.costs import Budget, By, Cost, Costs, Spent
from tributary.core.errors import InvalidRequest
from tributary.core.limits import COST_DAYS
from tributary.store import Reading, rows, statement

DAYS = 30
"""Days up to today that are told when nobody says from which one on."""


@dataclass(frozen=True, kw_only=True)
class Bookkeeper:
    """Reads sums; nothing of it is a belief, so a replica will do while the writer is away."""

    database: Reading
    budget: Budget
    now: Now = utc_now

    def costs(self, principal: Principal, *, since: date | None = None, until: date | None = None, by: By = By.DAY) -> Costs:
        """Returns what a tribe's calls of models cost between two days of UTC, both included: the last DAYS when none is said.

        For curators. Raises InvalidRequest for days in the wrong order or more than COST_DAYS of them.
        """
        principal.require(Role.CURATOR)
        today = self.now().astimezone(UTC).date()
        until = until or today
        since = since or until - timedelta(days=min(DAYS, until.toordinal()) - 1)
        if since > until:
            raise InvalidRequest("from", f"must not be later than `to`, which is {until}")
        if (until - since).days >= COST_DAYS:
            raise InvalidRequest("from", f"must be at most {COST_DAYS} days before `to`, which is {until}")
        found = rows.document(
            self.database.value(
                statement("access", "costs"),
                {
                    "tribe_id": principal.tribe_id,
                    "agent_id": principal.agent_id,
                    "since": since,
                    "until": until,
                    "by": by.value,
                    "today": today,
                },
            )
        )
        return Costs(
            since=since,
            until=until,
            by=by,
            rows=tuple(map(_cost, found["rows"])),
            total=_cost(found["total"]),
            unpriced_models=tuple(found["unpriced_models"]),
            budget=self.budget,
            today=Spent(calls=int(found["today"]["calls"]), cost_usd=Decimal(found["today"]["cost_usd"])),
        )


def _cost(row: rows.Document) -> Cost:
    return Cost(
        key=row["key"],
        name=row["name"],
        calls=int(row["calls"]),
        failed=int(row["failed"]),
        unpriced=int(row["unpriced"]),
        input_tokens=int(row["input_tokens"]),
        output_tokens=int(row["output_tokens"]),
        cost_usd=Decimal(row["cost_usd"]),
    )
