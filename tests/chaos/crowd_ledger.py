"""What a crowd asked for and what it was told, write by write, and whether the database holds it so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import LiteralString
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from tributary.core.action import Begun, Completed
from tributary.core.agent import Principal
from tributary.core.curation import Retired
from tributary.core.decision import Learned, Reinforced
from tributary.core.errors import Overloaded, RateLimited, TributaryError, Unavailable, WrongStanding

Reply = Learned | Reinforced | Retired | Begun | Completed


class Standing(StrEnum):
    """What whoever asked knows of a write."""

    ACKNOWLEDGED = "acknowledged"
    REFUSED = "refused"
    """In words that say that nothing was written."""
    UNKNOWN = "unknown"
    """Its reply did not come."""
    ASTRAY = "astray"
    """The reply was no answer to it."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a reply says that stays true; equal for every try with the same key."""

    kind: str
    tick: int | None = None
    lesson_id: UUID | None = None
    outcome: str | None = None
    decision_id: UUID | None = None
    action_id: UUID | None = None
    state: str | None = None

    @classmethod
    def of(cls, reply: Reply) -> Told:
        if isinstance(reply, Begun):
            return cls(kind="begin", action_id=reply.action.action_id, outcome=reply.outcome.value)
        if isinstance(reply, Completed):
            return cls(kind="complete", action_id=reply.action.action_id, state=reply.action.state.value)
        assert reply.lesson is not None
        lesson_id = reply.lesson.lesson_id
        if isinstance(reply, Retired):
            return cls(kind="retire", lesson_id=lesson_id, tick=reply.tick, outcome=reply.cause.value)
        if isinstance(reply, Reinforced):
            return cls(kind="reinforce", lesson_id=lesson_id, tick=reply.tick, outcome=reply.outcome.value)
        return cls(
            kind="learn",
            lesson_id=lesson_id,
            tick=reply.tick,
            outcome=reply.outcome.value,
            decision_id=reply.decision_id,
        )


@dataclass(kw_only=True)
class Write:
    """One write. `key` is its idempotency key; `ref` and `text` are the source and words that a lesson of its own would have."""

    agent: Principal
    key: str
    send: Callable[[], Reply]
    ref: str | None = None
    text: str | None = None
    standing: Standing = Standing.UNKNOWN
    told: Told | None = None

    def ask(self) -> Reply | None:
        """Sends it, with its key, and notes what came of it; returns the reply, None without one.

        Raises Astray for an answer that no fault excuses, and what is no error of ours.
        """
        try:
            reply = self.send()
        except Unavailable:
            self.standing = Standing.UNKNOWN
        except (Overloaded, RateLimited, WrongStanding):
            self.standing = Standing.REFUSED
        except TributaryError as error:
            self.standing = Standing.ASTRAY
            raise Astray(f"{self}: was answered '{error.code}' ({error})") from error
        else:
            self.standing, self.told = Standing.ACKNOWLEDGED, Told.of(reply)
            return reply
        return None

    def __str__(self) -> str:
        return f"write {self.key} of {self.agent.name}"


class Astray(Exception):
    """An answer that is not true, whatever happened to the database meanwhile."""


class Ledger:
    """The writes of a crowd. Thread-safe."""

    def __init__(self) -> None:
        self._writes: list[Write] = []
        self._lock = threading.Lock()

    def note(self, write: Write) -> Write:
        """Enters a write before it is sent: whatever happens to its sender, it was asked for."""
        with self._lock:
            self._writes.append(write)
        return write

    def all(self, standing: Standing | None = None) -> Sequence[Write]:
        with self._lock:
            return [one for one in self._writes if standing in (None, one.standing)]

    def complaints(self, connection: psycopg.Connection) -> list[str]:
        """Returns each acknowledged write that the database does not hold as it was acknowledged, each refused one that it does
        hold, and each that it holds twice. All is read in the transaction of `connection`."""
        held = Held.of(connection)
        found = [complaint for write in self.all() for complaint in held.against(write)]
        return found + held.twice({write.ref for write in self.all() if write.ref is not None})


Row = Mapping[str, object]
Name = tuple[object, ...]

_HELD: Mapping[str, LiteralString] = {
    "keys": "SELECT tribe_id, agent_id, key, reply FROM tributary.idempotency",
    "lessons": "SELECT tribe_id, lesson_id, text, source_ref AS ref, learned_tick FROM tributary.lesson",
    "decisions": "SELECT tribe_id, decision_id, tick, outcome, draft ->> 'source_ref' AS ref FROM tributary.decision",
    "events": "SELECT tribe_id, lesson_id, tick, event FROM tributary.lesson_event",
    "actions": "SELECT tribe_id, action_id, state FROM tributary.action",
}
_OWN_LESSON = ("learned", "superseded", "disputed", "quarantined", "pending")


@dataclass(frozen=True, kw_only=True)
class Held:
    """What a database holds, as a transaction sees it."""

    keys: Mapping[Name, Row]
    lessons: Mapping[Name, Row]
    decisions: Mapping[Name, Row]
    events: frozenset[Name]
    actions: Mapping[Name, Row]
    refs: Sequence[str]
    """The source of each lesson, and of each draft that a decision keeps: once for each time that it was written."""

    @classmethod
    def of(cls, connection: psycopg.Connection) -> Held:
        cursor = connection.cursor(row_factory=dict_row)
        rows = {name: cursor.execute(query).fetchall() for name, query in _HELD.items()}
        return cls(
            keys={(one["tribe_id"], one["agent_id"], one["key"]): one for one in rows["keys"]},
            lessons={(one["tribe_id"], one["lesson_id"]): one for one in rows["lessons"]},
            decisions={(one["tribe_id"], one["decision_id"]): one for one in rows["decisions"]},
            events=frozenset((one["tribe_id"], one["lesson_id"], one["tick"], one["event"]) for one in rows["events"]),
            actions={(one["tribe_id"], one["action_id"]): one for one in rows["actions"]},
            refs=[str(one["ref"]) for name in ("lessons", "decisions") for one in rows[name] if one["ref"] is not None],
        )

    def against(self, write: Write) -> list[str]:
        """Returns in what a write is held otherwise than was told."""
        if write.told is not None and write.told.action_id is not None:
            return self._against_action(write, write.told)
        kept = self.keys.get((write.agent.tribe_id, write.agent.agent_id, write.key))
        if write.standing is Standing.REFUSED:
            return [f"{write}: was refused, and is held"] if kept is not None else []
        if write.told is None:
            return []
        if kept is None:
            return [f"{write}: was acknowledged at tick {write.told.tick}, and its key is lost"]
        return [f"{write}: was acknowledged, and {what}" for what in self._missing(write, write.told, kept["reply"])]

    def _missing(self, write: Write, told: Told, reply: object) -> list[str]:
        assert isinstance(reply, dict)
        tribe = write.agent.tribe_id
        found = []
        if (reply.get("tick"), reply.get("lesson_id")) != (told.tick, str(told.lesson_id)):
            found.append(f"its key answers otherwise: {reply}")
        lesson = self.lessons.get((tribe, told.lesson_id))
        if lesson is None:
            found.append("its lesson is lost")
        elif told.outcome in _OWN_LESSON and (lesson["text"], lesson["ref"]) != (write.text, write.ref):
            found.append("its lesson says something else")
        if told.kind == "learn":
            decision = self.decisions.get((tribe, told.decision_id))
            if decision is None or (decision["tick"], decision["outcome"]) != (told.tick, told.outcome):
                found.append("its decision is not as it was told")
        event = "retired" if told.kind == "retire" else _EVENTS.get((told.kind, told.outcome))
        if event is not None and (tribe, told.lesson_id, told.tick, event) not in self.events:
            found.append(f"there is no event '{event}' of it")
        return found

    def _against_action(self, write: Write, told: Told) -> list[str]:
        action = self.actions.get((write.agent.tribe_id, told.action_id))
        if action is None:
            return [f"{write}: was acknowledged, and its action is lost"]
        if told.kind == "complete" and action["state"] != told.state:
            return [f"{write}: its action was {told.state}, and is {action['state']}"]
        return []

    def twice(self, refs: set[str]) -> list[str]:
        """Returns a complaint for each source that is written down more than once, of those that one write alone names."""
        seen: dict[str, int] = {}
        for ref in self.refs:
            seen[ref] = seen.get(ref, 0) + 1
        return [f"what the source {ref} said is held {seen[ref]} times" for ref in sorted(refs & seen.keys()) if seen[ref] > 1]


_EVENTS: Mapping[tuple[str, str | None], str] = {
    ("learn", "learned"): "learned",
    ("learn", "superseded"): "learned",
    ("learn", "disputed"): "disputed",
    ("learn", "reinforced"): "reinforced",
    ("learn", "quarantined"): "quarantined",
    ("reinforce", "reinforced"): "reinforced",
}
"""The event that a lesson has at the tick of a write, by its kind and outcome."""
