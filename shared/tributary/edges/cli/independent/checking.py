"""The steps of a check: what is claimed, what the other road says of that, and the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from tributary.edges.cli.independent.catalogue import CLOCK, COUNTS, LESSON, Ask, BadAnswer, Statement, Value
from tributary.edges.cli.independent.claims import Claimed
from tributary.edges.cli.independent.comparing import Claim, Compared, Verdict, compared, overall
from tributary.edges.cli.independent.roads import Answer, Cause


class Asked(Protocol):
    """A road behind its guard."""

    channel: str

    def answers(self, asked: Sequence[Ask]) -> list[Answer]: ...


@dataclass(frozen=True, kw_only=True)
class Checked:
    """All verdicts, as of one tick."""

    channel: str
    tribe_id: UUID
    tick: int
    fields: tuple[Compared, ...]

    @property
    def verdict(self) -> Verdict:
        return overall(self.fields)


def check(road: Asked, claimed: Claimed) -> Checked:
    """Asks the road about everything that is claimed, and returns a verdict on each field. Raises nothing of the road's."""
    at: dict[str, UUID | int] = {"tribe": claimed.tribe_id, "tick": claimed.tick}
    statements: list[tuple[Statement, Ask]] = [(CLOCK, CLOCK.ask(**at))]
    if claimed.counts is not None:
        statements.append((COUNTS, COUNTS.ask(**at)))
    statements += [(LESSON, LESSON.ask(**at, lesson=lesson_id)) for lesson_id in claimed.lessons]
    raw = road.answers([asked for _, asked in statements])
    rows = [_read(statement, answer) for (statement, _), answer in zip(statements, raw, strict=True)]
    return Checked(channel=road.channel, tribe_id=claimed.tribe_id, tick=claimed.tick, fields=tuple(_verdicts(claimed, rows)))


Rows = list[dict[str, Value]] | Cause


def _read(statement: Statement, answer: Answer) -> Rows:
    if isinstance(answer, Cause):
        return answer
    try:
        return statement.read(answer)
    except BadAnswer:
        return Cause.BAD_ANSWER


def _verdicts(claimed: Claimed, rows: Sequence[Rows]) -> Iterator[Compared]:
    clock, *others = rows
    behind = _is_behind(clock, claimed.tick)
    yield from compared(Claim(about="tribe", fields={"clock": claimed.tick}), Cause.BEHIND if behind else _clock(clock))
    if claimed.counts is not None:
        counts, *others = others
        yield from _counts(claimed.counts, Cause.BEHIND if behind else counts)
    for claim, found in zip(claimed.lessons.values(), others, strict=True):
        yield from compared(claim, Cause.BEHIND if behind else _lesson(found))


def _is_behind(clock: Rows, tick: int) -> bool:
    """Tells whether what answers only replays another's writes, and has not come to the tick: that is no divergence."""
    if isinstance(clock, Cause) or not clock:
        return False
    reached = clock[0]["clock"]
    return clock[0]["replica"] is True and isinstance(reached, int) and reached < tick


def _clock(rows: Rows) -> dict[str, Value] | Cause:
    """Returns the tick as the events have it. The API's own must be one at which something was written down."""
    if isinstance(rows, Cause):
        return rows
    return {"clock": (rows[0]["written"] or 0) if rows else None}


def _counts(claim: Claim, rows: Rows) -> Iterator[Compared]:
    if isinstance(rows, Cause):
        yield from compared(claim, rows)
        return
    found: dict[str, Value] = {f"lessons.{row['status']}": row["lessons"] for row in rows}
    # What either side leaves out counts as none there.
    names = sorted({*claim.fields, *found})
    whole = Claim(about=claim.about, fields={name: claim.fields.get(name, 0) for name in names})
    yield from compared(whole, {name: found.get(name, 0) for name in names})


def _lesson(rows: Rows) -> dict[str, Value] | Cause:
    if isinstance(rows, Cause):
        return rows
    if not rows:
        return {"believed": "no"}
    return {**rows[0], "believed": "yes" if rows[0]["status"] == "active" else "no"}
