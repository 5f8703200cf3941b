"""Read-your-writes: which database answers a recall, and whether its answer is as new as was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, LiteralString

from tributary.core.errors import InvalidRequest, TributaryError, Unavailable
from tributary.store import Reading, Side, may_answer_still
from tributary.store.database import Parameters

Records = list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What `recall_v1` gave, and which database gave it: what is asked about the answer is asked there.

    `behind`: it has not reached the tick that was asked for, and no database that has could be reached.
    """

    records: Records
    side: Side
    behind: bool = False

    @property
    def tick(self) -> int:
        return int(self.records[0]["header"]["tick"])

    @property
    def replica(self) -> bool:
        return bool(self.records[0]["header"]["replica"])


def ask(database: Reading, query: LiteralString, parameters: Parameters, *, at_least: int | None) -> Answer:
    """Returns the first answer that has reached `at_least`, asking a replica first and the writer at once when that is behind.

    When the writer cannot be reached, the newest answer of a replica, said to be behind. Raises InvalidRequest when the writer
    itself has not reached the tick, so that nobody ever will have before it is written, and what `Reading.records` raises.
    """
    late: Answer | None = None
    failure: TributaryError = Unavailable()
    for side in database.sides():
        try:
            found = Answer(records=side.records(query, parameters), side=side)
        except TributaryError as error:
            if not may_answer_still(side, error):
                raise
            failure = error if side.is_writer else failure
            continue
        if at_least is None or found.tick >= at_least:
            return found
        if side.is_writer and not found.replica:
            raise InvalidRequest("at_least", f"must be a tick that was reached; the clock of this tribe stands at {found.tick}")
        if late is None or found.tick > late.tick:
            late = Answer(records=found.records, side=side, behind=True)
    if late is None:
        raise failure
    return late
