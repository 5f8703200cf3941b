"""Reading beliefs without what they say, and ending them under the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg.types.json import Jsonb

from tributary.core.confidence import HALF_LIFE_DAYS, PRIOR_WEIGHT, WITHERED_BELOW
from tributary.core.eviction import GRACE, Belief, End, EndCause
from tributary.core.lesson import Kind
from tributary.garden.visit import Visit
from tributary.store import rows, statement

DAY_S = 86_400


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How many lessons really ended."""

    retired: int
    evicted: int


def read_beliefs(visit: Visit, *, limit: int | None) -> list[Belief]:
    """Returns believed lessons, those first that lapse first if nobody confirms them; all of them without a limit."""
    found = visit.tools.database.records(
        statement("garden", "beliefs"),
        {
            "tribe_id": visit.tribe_id,
            "half_lives": Jsonb({kind.value: days * DAY_S for kind, days in HALF_LIFE_DAYS.items()}),
            "weight": PRIOR_WEIGHT,
            "withered_below": WITHERED_BELOW,
            "limit": limit,
        },
    )
    return [
        Belief(
            lesson_id=rows.uuid(row["lesson_id"]),
            kind=Kind(row["kind"]),
            confidence=row["confidence"],
            confirmations=row["confirmations"],
            contradictions=row["contradictions"],
            learned_at=rows.moment(row["learned_at"]),
            activated_at=rows.moment(row["activated_at"]),
            last_confirmed_at=rows.moment(row["last_confirmed_at"]),
            valid_until=rows.moment_or_none(row["valid_until"]),
            keep_until=rows.moment_or_none(row["keep_until"]),
        )
        for row in found
    ]


def end_beliefs(visit: Visit, ends: Sequence[End], *, read_tick: int) -> Ended:
    """Ends what `ends` says, in one tick at most, but for lessons that are another's matter by now."""
    found = visit.tools.database.rows(
        statement("garden", "end"),
        {
            "tribe_id": visit.tribe_id,
            "lessons": [one.lesson_id for one in ends],
            "causes": [one.cause.value for one in ends],
            "since": [one.at for one in ends],
            "read_tick": read_tick,
            "capacity": visit.survey.policy.capacity,
            "policy_version": visit.survey.policy.version,
            "grace": GRACE,
            "now": visit.now,
        },
    )
    return Ended(retired=found[0][0], evicted=found[0][1])


def lapses(ends: Sequence[End]) -> list[End]:
    return [one for one in ends if one.cause is not EndCause.CAPACITY]
