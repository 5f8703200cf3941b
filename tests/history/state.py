"""Whether the tables, and the product's own view of the past, are what the replayed events come to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from tests.history.model import ACTIVE, PENDING, Model
from tests.history.tables import Tables
from tests.history.violations import Rule, Violation

Differs = Callable[[str, object, object], Iterator[Violation]]


def state(tables: Tables, model: Model) -> Iterator[Violation]:
    clock = tables.tribe["clock"]

    def differs(what: str, ours: object, theirs: object) -> Iterator[Violation]:
        if ours != theirs:
            yield Violation(rule=Rule.STATE, tick=clock, detail=f"{what} is {theirs}, not {ours}")

    at = {row["tick"]: row["at"] for row in tables.lesson_event}
    for row in tables.lesson:
        known = model.lessons.get(row["lesson_id"])
        if known is None:
            yield Violation(rule=Rule.STATE, tick=row["learned_tick"], detail=f"no event brought lesson {row['lesson_id']} in")
            continue
        ours = (
            known.agent_id,
            known.status,
            known.status == ACTIVE,
            (known.learned, at.get(known.learned)),
            (known.activated, None if known.activated is None else at[known.activated]),
            (known.deactivated, None if known.deactivated is None else at[known.deactivated]),
            known.successor,
            known.rejected_as,
            known.held,
        )
        theirs = (
            row["agent_id"],
            row["status"],
            row["believed"],
            (row["learned_tick"], row["learned_at"]),
            (row["activated_tick"], row["activated_at"]),
            (row["deactivated_tick"], row["deactivated_at"]),
            row["superseded_by"],
            row["rejected_as"],
            row["held"],
        )
        yield from differs(f"lesson {row['lesson_id']}", ours, theirs)
        if known.status == PENDING:
            yield Violation(rule=Rule.LEFT, tick=known.past[-1][0], detail=f"lesson {known.lesson_id}")
    confirmed = {(one.lesson_id, agent, tick) for one in model.lessons.values() for agent, tick in one.confirmed.items()}
    stored = {(row["lesson_id"], row["agent_id"], row["tick"]) for row in tables.confirmation}
    yield from differs("the set of confirmations", confirmed - stored, stored - confirmed)
    active = {one.lesson_id for one in model.lessons.values() if one.believed}
    rivals = {(a, b, a in active, b in active) for a, others in model.rivals.items() for b in others if a < b}
    kept = {(row["a"], row["b"], row["a_on"], row["b_on"]) for row in tables.rival}
    yield from differs("the set of rivals", rivals - kept, kept - rivals)
    yield from _quarrels(tables, model, differs)


def _quarrels(tables: Tables, model: Model, differs: Differs) -> Iterator[Violation]:
    about: dict[object, dict[object, int]] = defaultdict(dict)
    for row in tables.dispute_about:
        about[row["dispute_id"]][row["lesson_id"]] = row["since_tick"]
    for row in tables.dispute:
        key = row["dispute_id"]
        one = model.quarrels.get(key)
        ours = one and (
            one.kind,
            one.contender,
            one.decision_id,
            one.precedent,
            one.opened,
            one.closed,
            one.ending,
            one.closed_by,
        )
        theirs = (
            row["kind"],
            row["lesson_id"],
            row["decision_id"],
            row["precedent"],
            row["opened_tick"],
            row["closed_tick"],
            row["ending"],
            row["closed_by"],
        )
        yield from differs(f"dispute {key}", ours, theirs)
        yield from differs(f"what dispute {key} is about", one and one.about, about[key])
    yield from differs("the set of disputes", set(model.quarrels), {row["dispute_id"] for row in tables.dispute})


def as_of(tables: Tables, model: Model) -> Iterator[Violation]:
    """Compares the sampled ticks row by row with what the model held then."""
    for tick, rows in tables.as_of.items():
        wanted = {one.lesson_id for one in model.lessons.values() if one.learned <= tick}
        shown = {row["lesson_id"] for row in rows}
        if wanted != shown:
            yield Violation(rule=Rule.AS_OF, tick=tick, detail=f"shows {len(shown)} lessons, not {len(wanted)}")
        for row in rows:
            if row["lesson_id"] not in wanted:
                continue
            known = model.lessons[row["lesson_id"]]
            ended = known.deactivated is not None and known.deactivated <= tick
            ours = (
                known.status_at(tick),
                known.activated if known.activated is not None and known.activated <= tick else None,
                known.deactivated if ended else None,
                known.successor if ended else None,
                known.confirmations_at(tick),
                model.contradictions_at(known.lesson_id, tick),
            )
            theirs = (
                row["status"],
                row["activated_tick"],
                row["deactivated_tick"],
                row["superseded_by"],
                row["confirmations"],
                row["contradictions"],
            )
            if ours != theirs:
                yield Violation(rule=Rule.AS_OF, tick=tick, detail=f"lesson {known.lesson_id} is shown as {theirs}, not {ours}")
