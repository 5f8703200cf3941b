"""Read-your-writes: which database answers a recall, and whether its answer is as new as was asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    def by_vector(self) -> bool:
        return self.records[0]["header"]["path"] is not None

    @property
    def replica(self) -> bool:
        return bool(self.records[0]["header"]["replica"])


def ask(database: Reading, query: LiteralString, parameters: Parameters, *, at_least: int | None) -> Answer:
    """Returns the first answer that has reached `at_least`, asking a replica first and the writer at once when that is behind.

    A replica that does not serve from the space of the embedding yet is behind, too: the tribe's profile is the writer's. When
    the writer cannot be reached, returns the newest answer of a replica, said to be behind where a tick was asked for. Raises
    InvalidRequest when the writer itself has not reached the tick, or lost it in a restore, and what `Reading.records` raises.
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
        behind = at_least is not None and found.tick < at_least
        unserved = not side.is_writer and parameters["embedding"] is not None and not found.by_vector
        if not behind and not unserved:
            _check_not_lost(found, at_least)
            return found
        if behind and side.is_writer and not found.replica:
            raise InvalidRequest("at_least", f"must be a tick that was reached; the clock of this tribe stands at {found.tick}")
        if late is None or found.tick > late.tick:
            late = replace(found, behind=behind)
    if late is None:
        raise failure
    return late


def _check_not_lost(found: Answer, at_least: int | None) -> None:
    """Raises InvalidRequest for a tick that a restore from a backup took back: what was written at it is not there."""
    for first, next_one in found.records[0]["header"]["lost"] or ():
        if at_least is not None and first <= at_least < next_one:
            raise InvalidRequest(
                "at_least",
                f"tick {at_least} was lost: the memory was restored from a backup of tick {first - 1},"
                f" and goes on from tick {next_one}",
            )
