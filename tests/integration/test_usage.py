"""Reads are counted, and never at the cost of whoever reads."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import psycopg
import pytest

from tests.tribes import Tribal
from tributary.access import Usage
from tributary.core.agent import Role
from tributary.core.errors import Forbidden
from tributary.core.lesson import Status
from tributary.core.stats import Calls
from tributary.edges.lambda_http.entry import hand_over
from tributary.service import open_memory, tending
from tributary.store import Database, Target

PATIENCE_S = 30


def calls(tribal: Tribal) -> dict[str, tuple[int, int]]:
    """Returns operation -> (today, last seven days), as the tribe's stats tell."""
    return {one.operation: (one.today, one.last_7_days) for one in tribal.memory.stats(tribal.curator).calls}


def stored(tribal: Tribal) -> dict[str, int]:
    rows = tribal.rows("SELECT operation, sum(calls) AS calls FROM tributary.usage GROUP BY operation")
    return {str(row["operation"]): int(str(row["calls"])) for row in rows}


def test_reads_are_counted_once_they_are_handed_over(tribal: Tribal) -> None:
    learned = tribal.learn(tribal.curator, "the cache is warm")
    assert learned.lesson is not None
    for _ in range(3):
        tribal.recall("cache")
    tribal.memory.lessons(tribal.curator)
    tribal.memory.lesson(tribal.curator, learned.lesson.lesson_id)
    assert stored(tribal) == {"learn": 1}
    tribal.memory.usage.flush()
    tribal.memory.usage.flush()
    assert stored(tribal) == {"learn": 1, "recall": 3, "lessons": 1, "lesson": 1}


def test_what_was_refused_is_not_counted(tribal: Tribal) -> None:
    reader = tribal.agent("reader", Role.READER)
    with pytest.raises(Forbidden):
        tribal.memory.lessons(reader, status=Status.QUARANTINED)
    tribal.memory.usage.flush()
    assert stored(tribal) == {}


def test_counts_of_several_processes_add_up_in_the_end(tribal: Tribal) -> None:
    def work() -> None:
        with open_memory(tribal.settings, adapters=tribal.adapters) as memory:
            for _ in range(5):
                replace(tribal, memory=memory).recall("cache")
                memory.usage.flush()
                replace(tribal, memory=memory).recall("cache")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stored(tribal) == {"recall": 40}, "what was left at the end came with the close"


def test_a_running_server_hands_over_by_itself(tribal: Tribal) -> None:
    with open_memory(tribal.settings, adapters=tribal.adapters) as memory, tending(memory, garden_every_s=0):
        replace(tribal, memory=memory).recall("cache")
        until = time.monotonic() + PATIENCE_S
        while stored(tribal) != {"recall": 1} and time.monotonic() < until:
            time.sleep(0.05)
        assert stored(tribal) == {"recall": 1}


def test_what_cannot_be_handed_over_is_told_kept_and_no_readers_matter(tribal: Tribal, caplog: pytest.LogCaptureFixture) -> None:
    with psycopg.connect(tribal.url) as holder:
        holder.execute("LOCK TABLE tributary.usage IN ACCESS EXCLUSIVE MODE")
        tribal.recall("cache")
        tribal.memory.usage.flush()
        tribal.recall("cache")
        holder.rollback()
    (told,) = [record for record in caplog.records if record.message == "usage.delayed"]
    assert (vars(told)["fields"]["code"], vars(told)["fields"]["calls"]) == ("overloaded", 1)
    assert stored(tribal) == {}
    tribal.memory.usage.flush()
    assert stored(tribal) == {"recall": 2}


def test_a_process_can_be_closed_while_the_database_is_away(tribal: Tribal) -> None:
    away = Database(Target(url="postgresql://nobody@127.0.0.1:1/none"))
    usage = Usage(away)
    usage.count(tribal.curator, "recall")
    usage.flush()
    away.close()
    usage.flush()


class Time:
    """A clock that stands, and what Lambda's context tells."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.left_ms = 29_000

    def __call__(self) -> float:
        return self.now

    def get_remaining_time_in_millis(self) -> int:
        return self.left_ms


def test_a_function_hands_over_within_an_invocation_when_it_is_due_and_time_is_left(tribal: Tribal) -> None:
    clock = Time()
    usage = Usage(tribal.memory.database, clock=clock)
    usage.count(tribal.curator, "recall")
    hand_over([usage], clock)
    assert stored(tribal) == {}, "not due yet"
    clock.now += 61
    clock.left_ms = 14_000
    hand_over([usage], clock)
    assert stored(tribal) == {}, "the database might hang for longer than is left"
    clock.left_ms = 29_000
    hand_over([usage], clock)
    assert stored(tribal) == {"recall": 1}
    usage.count(tribal.curator, "recall")
    hand_over([usage], clock)
    assert stored(tribal) == {"recall": 1}, "the next minute begins"


# -- stats


def test_stats_are_those_of_the_tribe_and_its_days(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "the cache is warm")
    tribal.learn(tribal.curator, "HIJACK the reader")
    tribal.recall("cache")
    tribal.memory.usage.flush()
    for days, calls_then in ((6, 10), (7, 100)):
        tribal.rows(
            """INSERT INTO tributary.usage (tribe_id, agent_id, day, operation, calls)
               VALUES (%s, %s, (clock_timestamp() AT TIME ZONE 'UTC')::date - %s::integer, 'recall', %s)""",
            tribal.tribe_id,
            tribal.curator.agent_id,
            days,
            calls_then,
        )
    found = tribal.memory.stats(tribal.curator)
    assert (found.tick, found.lessons) == (2, {"active": 1, "quarantined": 1})
    assert (found.disputes, found.challenges, found.agents) == (0, 0, {"curator": 1})
    assert [(one.state, one.vectors) for one in found.spaces] == [("serving", 1)]
    assert calls(tribal) == {"learn": (2, 2), "recall": (1, 11)}


def test_open_disputes_are_counted(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "the port is 80", subject="port")
    tribal.learn(tribal.agent("other"), "the port is 81", subject="port")
    found = tribal.memory.stats(tribal.curator)
    assert (found.disputes + found.challenges, found.lessons.get("disputed", 0)) in ((1, 1), (1, 0))
    assert found.disputes == len(tribal.memory.desk.disputes(tribal.curator).items)


def test_only_a_curator_sees_who_called_what(tribal: Tribal) -> None:
    reader = tribal.agent("reader", Role.READER)
    tribal.memory.lessons(reader)
    tribal.memory.usage.flush()
    assert tribal.memory.stats(reader).by_agent is None
    assert tribal.memory.stats(reader).calls == (Calls(operation="lessons", today=1, last_7_days=1),)
    (seen,) = tribal.memory.stats(tribal.curator).by_agent or ()
    assert (seen.agent_id, seen.name, seen.calls) == (reader.agent_id, "reader", tribal.memory.stats(reader).calls)


def test_a_revoked_agent_is_told_no_stats(tribal: Tribal) -> None:
    leaver = tribal.agent("leaver")
    tribal.memory.agents.revoke(tribal.curator, leaver.agent_id)
    with pytest.raises(Forbidden):
        tribal.memory.stats(leaver)
