"""Rule 5: what is above the tribe's capacity goes, lowest confidence first, but nothing that may not go yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from uuid import UUID

from tributary.core.eviction import EndCause, Endings, Protection, endings
from tributary.core.garden import Rule
from tributary.core.ids import Prefix, new_id, show
from tributary.garden.beliefs import end_beliefs, lapses, read_beliefs
from tributary.garden.quiet import Quiet
from tributary.garden.visit import GATE_LESSONS, Tally, Visit
from tributary.store import rows, statement


def evict(visit: Visit, tally: Tally, quiet: Quiet) -> None:
    """Goes through the time since the last write and ends, in its order, what lapsed and what there was no room for."""
    if not visit.survey.crowded:
        return
    if (known := quiet.refused(visit)) is not None:
        tally.refused.update({protection.value: count for protection, count in known.items()})
        return
    beliefs = read_beliefs(visit, limit=None)
    written = visit.tools.database.value(statement("garden", "last_write"), {"tribe_id": visit.tribe_id})
    since = visit.now if written is None else rows.moment(_moment(written))
    found = endings(beliefs, capacity=visit.survey.policy.capacity, since=since, until=visit.now)
    if found.ends:
        _end(visit, tally, found)
    refused = Counter(found.refused.values())
    tally.refused.update({protection.value: count for protection, count in refused.items()})
    if visit.dry_run:
        return
    _record(visit, found.refused)
    if not found.ends:
        # what is refused is recorded again on the next day
        due = [one for one in (found.next_at, _tomorrow(visit.now) if found.refused else None) if one is not None]
        quiet.note(visit, min(due, default=None), refused)


def _end(visit: Visit, tally: Tally, found: Endings) -> None:
    stamped = visit.tally(Rule.STAMP)
    read_tick = visit.survey.tick
    for start in range(0, len(found.ends), GATE_LESSONS):
        batch = found.ends[start : start + GATE_LESSONS]
        if visit.dry_run:
            stamped.kinds.update(one.cause.value for one in lapses(batch))
            tally.did(EndCause.CAPACITY.value, len(batch) - len(lapses(batch)))
            continue
        if visit.budget.spent:
            rest = found.ends[start:]
            stamped.leave(len(lapses(rest)))
            tally.leave(len(rest) - len(lapses(rest)))
            return
        ended = end_beliefs(visit, batch, read_tick=read_tick)
        if ended.retired == len(lapses(batch)):
            stamped.kinds.update(one.cause.value for one in lapses(batch))
        else:
            stamped.did("lapsed", ended.retired)
        tally.did(EndCause.CAPACITY.value, ended.evicted)
        if ended.retired + ended.evicted < len(batch):
            return  # something was written meanwhile: the rest is for a run that knows of it


def _record(visit: Visit, refused: Mapping[UUID, Protection]) -> None:
    """Audits evictions that the rule refused; the database keeps one record for a lesson on a day."""
    every = list(refused.items())
    for start in range(0, len(every), GATE_LESSONS):
        if visit.budget.spent:
            return
        batch = every[start : start + GATE_LESSONS]
        visit.tools.database.value(
            statement("garden", "refuse"),
            {
                "tribe_id": visit.tribe_id,
                "audits": [new_id() for _ in batch],
                "lessons": [show(Prefix.LESSON, lesson_id) for lesson_id, _ in batch],
                "codes": [protection.value for _, protection in batch],
                "now": visit.now,
            },
        )


def _tomorrow(now: datetime) -> datetime:
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), tzinfo=UTC)


def _moment(value: object) -> datetime:
    if not isinstance(value, datetime):
        raise TypeError("the time of the last write is none")
    return value
