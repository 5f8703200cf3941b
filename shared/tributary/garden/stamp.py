"""Rule 4: lessons that time has ended are retired. Reads and writes took them for ended before; now it is written down."""

from __future__ import annotations

from collections import Counter

from tributary.core.eviction import lapse_of
from tributary.garden.beliefs import end_beliefs, read_beliefs
from tributary.garden.quiet import Quiet
from tributary.garden.visit import GATE_LESSONS, Tally, Visit


def stamp(visit: Visit, tally: Tally, quiet: Quiet) -> None:
    """Retires expired and withered lessons, those first that lapsed first.

    In a tribe that has more lessons than room this is left to `evict`: a lesson that lapsed may have taken the room of another
    before it did, so both go on in one order of time.
    """
    if visit.survey.crowded or quiet.refused(visit) is not None:
        return
    while True:
        read_tick = visit.survey.tick
        page = read_beliefs(visit, limit=None if visit.dry_run else GATE_LESSONS)
        every = [lapse_of(one) for one in page]
        due = sorted((one for one in every if one.at <= visit.now), key=lambda one: (one.at, one.lesson_id))
        if not due:
            if not visit.dry_run:
                quiet.note(visit, min((one.at for one in every), default=None))
            return
        kinds = Counter(one.cause.value for one in due)
        if visit.dry_run:
            tally.kinds.update(kinds)
            return
        if visit.budget.spent:
            tally.leave(len(due))
            return
        ended = end_beliefs(visit, due, read_tick=read_tick)
        if ended.retired == len(due):
            tally.kinds.update(kinds)
        else:
            tally.did("lapsed", ended.retired)
        if ended.retired == 0:
            return  # another gardener did it, or they were confirmed just now
        visit.look_again()
        if visit.survey.crowded:
            return
