"""The checker: whether a history is what its own ticks, taken one after another, come to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime

from tests.history.history import History
from tests.history.model import ERASED
from tests.history.replay import Replay
from tests.history.replies import replies
from tests.history.said import said_by_decision
from tests.history.state import as_of, state
from tests.history.tables import Tables
from tests.history.violations import Rule, Violation
from tributary.core.policy import Policy


def check(history: History) -> list[Violation]:
    """Returns what is wrong with a history, earliest first; nothing when it is serial."""
    policies = {1: Policy()}
    for call in history.calls:
        if call.operation == "set_policy" and call.reply is not None:
            policies[call.reply.version] = call.reply
    replay = Replay(tables=history.tables, said=said_by_decision(history.calls), agents=history.agents, policies=policies).run()
    found = [
        *replay.violations,
        *_ticks(history.tables),
        *state(history.tables, replay.model),
        *as_of(history.tables, replay.model),
        *_counters(history.tables),
        *_erased(history.tables, replay),
        *replies(history, replay),
    ]
    return sorted(found, key=lambda one: (one.tick, one.rule.name))


def _ticks(tables: Tables) -> Iterator[Violation]:
    at: dict[int, set[datetime]] = defaultdict(set)
    for row in tables.lesson_event:
        at[row["tick"]].add(row["at"])
    last: datetime | None = None
    for tick in range(1, max((tables.tribe["clock"], *at), default=0) + 1):
        if len(at[tick]) != 1 or tick > tables.tribe["clock"]:
            yield Violation(rule=Rule.TICKS, tick=tick, detail=f"its events are of {len(at[tick])} instants")
            continue
        now = next(iter(at[tick]))
        if last is not None and now <= last:
            yield Violation(rule=Rule.TICKS, tick=tick, detail=f"it is at {now}, and the one before at {last}")
        last = now
    if last is not None and last != tables.tribe["clock_at"]:
        yield Violation(rule=Rule.TICKS, tick=tables.tribe["clock"], detail="the clock is not at its last tick")


def _counters(tables: Tables) -> Iterator[Violation]:
    counted = Counter(row["status"] for row in tables.lesson)
    kept = {status: lessons for status, lessons in tables.counts.items() if lessons}
    if kept != dict(counted):
        yield Violation(rule=Rule.COUNTERS, tick=tables.tribe["clock"], detail=f"{kept} lessons, not {dict(counted)}")
    vectors = (tables.vectors, tables.believed_vectors)
    if set(vectors) != {counted["active"]}:
        yield Violation(rule=Rule.COUNTERS, tick=tables.tribe["clock"], detail=f"vectors {vectors}, not {counted['active']}")


def _erased(tables: Tables, replay: Replay) -> Iterator[Violation]:
    """Words are gone with the last lesson that said them, unless somebody said them again since."""
    said: dict[str, int] = defaultdict(int)
    for row in tables.decision:
        told = replay.said.get(row["decision_id"])
        for words in (told.draft if told else None, told.claim if told else None, replay.drafts.get(row["lesson_id"])):
            if words is not None:
                said[words.text] = max(said[words.text], row["tick"])
    gone: dict[str, int] = {}
    for one in replay.model.lessons.values():
        draft = replay.drafts.get(one.lesson_id)
        if one.status == ERASED and draft is not None:
            gone[draft.text] = max(gone.get(draft.text, 0), one.past[-1][0])
    kept = {text: tick for text, tick in gone.items() if said[text] < tick}
    for text, tick in kept.items():
        for table, line in tables.dump:
            if text in line:
                yield Violation(rule=Rule.ERASED, tick=tick, detail=f"{text!r} is in {table}")
