"""Erased text is found nowhere: not in a table, a reply, a log line, or a dump of the whole database."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.doubles import RuledJudge
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.curation import Ending, Mistake, RetireCause
from tributary.core.decision import Outcome, VerdictKind
from tributary.core.lesson import CounterClaim, Draft, Evidence, How, Source
from tributary.core.ports import JudgedText

SECRET = "Zaphod"
"""In every field of what is erased, and in nothing else."""
PERSONAL: dict[str, Any] = {
    "situation": f"escalating to {SECRET}",
    "subject": f"{SECRET}'s phone",
    "source": Source(how=How.OBSERVED, ref=f"ticket of {SECRET}"),
    "tags": {"who": SECRET},
    "evidence": (Evidence(type="log", ref=f"s3://{SECRET}", note=f"note on {SECRET}"),),
    "rationale": f"{SECRET} said so",
}


DRAFT = Draft(text=f"{SECRET} answers at 555", situation="escalating", source=SEEN)


def rule(new: JudgedText, old: JudgedText) -> VerdictKind:
    """Numbers of one person: the same number is the same lesson, another contradicts it."""
    if SECRET not in new.text or SECRET not in old.text:
        return VerdictKind.UNRELATED
    return VerdictKind.SAME if new.text.split()[-1] == old.text.split()[-1] else VerdictKind.CONFLICTS


@pytest.fixture
def telling(database_url: str) -> Iterator[Tribal]:
    with open_tribal(database_url, judge=RuledJudge(rule)) as opened:
        yield opened


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """All that the product logs meanwhile, at every level."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(message)s %(event)s %(fields)s", defaults={"event": "", "fields": ""}))
    logger = logging.getLogger("tributary")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield stream
    logger.removeHandler(handler)
    logger.setLevel(before)


def everything(tribal: Tribal) -> dict[str, str]:
    """Returns every row of every table of the schema as text, by table: what a dump of the database holds."""
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'tributary'").fetchall()
        found = {}
        for (table,) in tables:
            query = sql.SQL("COPY tributary.{} TO STDOUT").format(sql.Identifier(table))
            with connection.cursor().copy(query) as copy:
                found[table] = b"".join(bytes(part) for part in copy).decode()
        return found


def where(tribal: Tribal, words: str) -> set[str]:
    return {table for table, rows in everything(tribal).items() if words.lower() in rows.lower()}


def tell_everything(tribal: Tribal) -> None:
    """Has the words of one lesson come to be kept wherever the product keeps words."""
    writer, other, third = tribal.agent("w"), tribal.agent("v"), tribal.agent("u")
    first = tribal.learn(writer, f"{SECRET} answers at 555", **PERSONAL)
    assert first.lesson is not None
    # a draft of a decision: the same in other words, and with the very same
    assert tribal.learn(other, f"call {SECRET} at 555", **PERSONAL).outcome is Outcome.REINFORCED
    tribal.learn(third, f"{SECRET} answers at 555", **PERSONAL)
    # a dispute, with a rationale and reports about it
    disputed = tribal.learn(other, f"{SECRET} answers at 777", **PERSONAL)
    assert disputed.outcome is Outcome.DISPUTED
    assert disputed.dispute_id is not None
    tribal.memory.curate.report(writer, disputed.decision_id, Mistake.UNRELATED, note=f"two numbers of {SECRET}")
    tribal.memory.curate.resolve(tribal.curator, disputed.dispute_id, Ending.REJECTED, rationale=f"{SECRET} confirmed 555")
    # contested, held back and retired as an injection, kept as pending
    tribal.memory.contest(third, first.lesson.lesson_id, CounterClaim(text=f"{SECRET} has no phone 0", source=SEEN))
    held = tribal.learn(other, f"HIJACK {SECRET} 999", **PERSONAL)
    assert held.lesson is not None
    tribal.memory.curate.retire(tribal.curator, held.lesson.lesson_id, RetireCause.INJECTION)
    kept = tribal.memory.learn(third, replace(DRAFT, text=f"{SECRET} answers at 333"), wait=False)
    assert kept.outcome is Outcome.PENDING
    tribal.recall(f"who is {SECRET}")


def erase_everything(tribal: Tribal) -> None:
    while found := [
        row["lesson_id"]
        for row in tribal.rows("SELECT lesson_id FROM tributary.lesson WHERE text ILIKE %s ORDER BY 1", f"%{SECRET}%")
    ]:
        tribal.memory.curate.erase(tribal.curator, found[0])  # type: ignore[arg-type]  # a column's value


def test_words_are_kept_in_all_the_places_that_erasing_must_reach(telling: Tribal) -> None:
    """The control: without this the test below could pass on an empty database."""
    tell_everything(telling)
    assert where(telling, SECRET) == {"lesson", "lesson_term", "decision", "dispute", "review"}


def test_erased_words_are_found_nowhere(telling: Tribal, logged: io.StringIO) -> None:
    tell_everything(telling)
    vectors = telling.rows("SELECT count(*) AS n FROM tributary.lesson_vector")
    assert vectors != [{"n": 0}]
    erase_everything(telling)
    assert where(telling, SECRET) == set()
    assert telling.rows("SELECT count(*) AS n FROM tributary.lesson_vector") == [{"n": 0}]
    assert telling.rows("SELECT count(*) AS n FROM tributary.lesson_term") == [{"n": 0}]
    assert SECRET.lower() not in logged.getvalue().lower()
    assert "learn.committed" in logged.getvalue()


def test_replies_of_repeated_requests_hold_no_erased_words(telling: Tribal) -> None:
    key = "k"
    learned = telling.memory.learn(telling.curator, DRAFT, idempotency_key=key)
    assert learned.lesson is not None
    telling.memory.curate.erase(telling.curator, learned.lesson.lesson_id)
    again = telling.memory.learn(telling.curator, DRAFT, idempotency_key=key)
    assert again.replayed
    assert again.lesson is not None
    assert SECRET not in repr(again)
    assert (again.tick, again.lesson.lesson_id) == (learned.tick, learned.lesson.lesson_id)


def test_erasing_one_of_two_lessons_of_the_very_same_words_erases_both(telling: Tribal) -> None:
    first = telling.learn(telling.curator, f"{SECRET} answers at 555", situation="by day")
    assert first.lesson is not None
    telling.memory.curate.retire(telling.curator, first.lesson.lesson_id, RetireCause.OUTDATED)
    second = telling.learn(telling.curator, f"{SECRET} answers at 555", situation="by night")
    assert second.lesson is not None
    erased = telling.memory.curate.erase(telling.curator, second.lesson.lesson_id)
    assert set(erased.erased) == {first.lesson.lesson_id, second.lesson.lesson_id}
    assert where(telling, SECRET) == set()


def test_tombstone_keeps_hash_tick_and_curator(telling: Tribal) -> None:
    learned = telling.learn(telling.curator, f"{SECRET} answers at 555")
    assert learned.lesson is not None
    erased = telling.memory.curate.erase(telling.curator, learned.lesson.lesson_id)
    (row,) = telling.rows("SELECT content_hash, deactivated_tick FROM tributary.lesson")
    assert row == {"content_hash": learned.lesson.content_hash, "deactivated_tick": erased.tick}
    (event,) = telling.rows("SELECT agent_id, status FROM tributary.lesson_event WHERE event = 'erased'")
    assert event == {"agent_id": telling.curator.agent_id, "status": "erased"}


def test_other_lessons_keep_what_they_say(telling: Tribal) -> None:
    kept = telling.learn(telling.curator, "the cache must be warm", situation="deploying")
    gone = telling.learn(telling.curator, f"{SECRET} answers at 555")
    assert gone.lesson is not None
    telling.memory.curate.erase(telling.curator, gone.lesson.lesson_id)
    (hit,) = telling.recall("deploying: the cache must be warm").hits
    assert hit.lesson.lesson_id == (kept.lesson and kept.lesson.lesson_id)
    assert json.dumps(everything(telling)).count("the cache must be warm") == 1
