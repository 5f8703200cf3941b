"""The crowd itself: undisturbed it has nothing to complain of, and each kind of loss and untrue answer is found by it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import psycopg
import pytest

from tests.chaos.crowd import Crowd, Tribe, gathered
from tests.chaos.crowd_ledger import Astray, Ledger, Reply, Standing, Told, Write
from tests.conftest import new_database
from tributary.core.errors import Corrupt, Overloaded, Unavailable
from tributary.core.requests import Question


@pytest.fixture(scope="module")
def crowd_url(server_url: str, template: str) -> Iterator[str]:
    with new_database(server_url, template) as url:
        yield url


@pytest.fixture(scope="module")
def settled(crowd_url: str) -> Iterator[Crowd]:
    """A crowd that was at work and has settled."""
    with gathered(crowd_url) as crowd:
        with crowd.busy():
            crowd.goes_on(writes=200, reads=40)
        crowd.settle()
        yield crowd


def after(crowd: Crowd, statement: str, *parameters: object) -> list[str]:
    """Returns what the crowd complains of after a statement that no rule of the schema kept from being carried out."""
    with closing(psycopg.connect(crowd.url)) as connection:
        connection.execute("SET session_replication_role = replica")
        assert connection.execute(statement.encode(), parameters).rowcount == 1
        return crowd.ledger.complaints(connection)  # of a transaction that is never committed


def one(crowd: Crowd, kind: str, outcome: str | None = None) -> tuple[Write, Told]:
    """Returns an acknowledged write of a kind."""
    for write in crowd.ledger.all(Standing.ACKNOWLEDGED):
        if write.told is not None and write.told.kind == kind and outcome in (None, write.told.outcome):
            return write, write.told
    raise AssertionError(f"nobody came to {kind} {outcome}")


def test_an_undisturbed_crowd_has_nothing_to_complain_of(settled: Crowd) -> None:
    assert settled.complaints() == []
    assert {write.standing for write in settled.ledger.all()} <= {Standing.ACKNOWLEDGED, Standing.REFUSED}
    assert len(settled.receipts) > 10


def test_an_acknowledged_lesson_that_the_database_lost_is_found(settled: Crowd) -> None:
    """The control: takes out the row of a lesson that was acknowledged."""
    write, told = one(settled, "learn", "learned")
    found = after(settled, "DELETE FROM tributary.lesson WHERE lesson_id = %s", told.lesson_id)
    assert f"{write}: was acknowledged, and its lesson is lost" in found


def test_an_acknowledged_lesson_that_says_something_else_is_found(settled: Crowd) -> None:
    """The control: changes what an acknowledged lesson says."""
    write, told = one(settled, "learn", "disputed")
    found = after(settled, "UPDATE tributary.lesson SET text = 'else' WHERE lesson_id = %s", told.lesson_id)
    assert found == [f"{write}: was acknowledged, and its lesson says something else"]


@pytest.mark.parametrize("kind", ["learn", "reinforce", "retire"])
def test_a_lost_key_of_any_write_is_found(settled: Crowd, kind: str) -> None:
    """The control: takes out the idempotency key of an acknowledged write."""
    write, told = one(settled, kind)
    found = after(settled, "DELETE FROM tributary.idempotency WHERE key = %s", write.key)
    assert found == [f"{write}: was acknowledged at tick {told.tick}, and its key is lost"]


def test_a_lost_decision_is_found(settled: Crowd) -> None:
    """The control: takes out the decision of an acknowledged learn."""
    write, told = one(settled, "learn")
    found = after(settled, "DELETE FROM tributary.decision WHERE decision_id = %s", told.decision_id)
    assert f"{write}: was acknowledged, and its decision is not as it was told" in found


@pytest.mark.parametrize(("kind", "outcome", "event"), [("reinforce", "reinforced", "reinforced"), ("retire", None, "retired")])
def test_a_lost_event_is_found(settled: Crowd, kind: str, outcome: str | None, event: str) -> None:
    """The control: takes out the event of an acknowledged confirmation, and of a retirement."""
    write, told = one(settled, kind, outcome)
    found = after(
        settled,
        "DELETE FROM tributary.lesson_event WHERE lesson_id = %s AND tick = %s AND event = %s",
        *(told.lesson_id, told.tick, event),
    )
    assert found == [f"{write}: was acknowledged, and there is no event '{event}' of it"]


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("DELETE FROM tributary.action WHERE action_id = %s", "was acknowledged, and its action is lost"),
        (
            """UPDATE tributary.action SET state = 'begun', ended_at = NULL, result = NULL WHERE action_id = %s""",
            "its action was done, and is begun",
        ),
    ],
)
def test_an_action_that_was_done_and_is_not_is_found(settled: Crowd, statement: str, complaint: str) -> None:
    """The control: takes out an action that was completed, or its completion."""
    write, told = one(settled, "complete")
    assert f"{write}: {complaint}" in after(settled, statement, told.action_id)


def test_a_lesson_that_is_there_twice_is_found(settled: Crowd) -> None:
    """The control: writes an acknowledged lesson a second time."""
    write, told = one(settled, "learn", "learned")
    found = after(
        settled,
        """INSERT INTO tributary.lesson (tribe_id, lesson_id, agent_id, kind, status, text, situation, source_how, source_ref,
                                         confidence, content_hash, learned_tick, learned_at)
           SELECT tribe_id, gen_random_uuid(), agent_id, kind, 'disputed', text, situation, source_how, source_ref,
                  confidence, content_hash, learned_tick, learned_at FROM tributary.lesson WHERE lesson_id = %s""",
        told.lesson_id,
    )
    assert found == [f"what the source {write.ref} said is held 2 times"]


def test_a_confirmation_by_learning_the_same_that_is_there_twice_is_found(settled: Crowd) -> None:
    """The control: writes the decision about what needed no lesson of its own a second time."""
    write, told = one(settled, "learn", "reinforced")
    found = after(
        settled,
        """INSERT INTO tributary.decision
           SELECT (jsonb_populate_record(d, jsonb_build_object('decision_id', gen_random_uuid()))).*
           FROM tributary.decision d WHERE decision_id = %s""",
        told.decision_id,
    )
    assert found == [f"what the source {write.ref} said is held 2 times"]


def test_a_refused_write_that_is_held_is_found(settled: Crowd) -> None:
    """The control: has been told that a write was refused which was acknowledged."""
    write, _ = one(settled, "learn")
    refused = replace(write, standing=Standing.REFUSED, told=None)
    ledger = Ledger()
    ledger.note(refused)
    with closing(psycopg.connect(settled.url)) as connection:
        assert ledger.complaints(connection) == [f"{write}: was refused, and is held"]


def test_what_a_write_came_to_is_told_by_its_error(settled: Crowd) -> None:
    agent = settled.tribes[0].reader

    def answered(error: Exception) -> Write:
        def send() -> Reply:
            raise error

        return Write(agent=agent, key="k", send=send)

    for error, standing in ((Unavailable(), Standing.UNKNOWN), (Overloaded(), Standing.REFUSED)):
        write = answered(error)
        assert write.ask() is None
        assert write.standing is standing
    write = answered(Corrupt())
    with pytest.raises(Astray, match="was answered 'corrupt'"):
        write.ask()
    assert write.standing is Standing.ASTRAY


def test_a_recall_that_calls_itself_complete_without_what_was_acknowledged_is_astray(settled: Crowd) -> None:
    """The control: asks for another lesson than the one that was found, and for a tick that was never seen."""
    tribe = settled.tribes[0]
    found = settled.memory.recall(tribe.reader, Question(query=Tribe.anchor_text(0), limit=1))
    settled.holds(found, tribe.anchors[0], at_least=0)
    with pytest.raises(Astray, match="did not find the lesson"):
        settled.holds(found, tribe.anchors[1], at_least=0)
    with pytest.raises(Astray, match="ticks went back"):
        settled.holds(found, tribe.anchors[0], at_least=10**6)


def test_a_feed_that_missed_an_event_is_found(settled: Crowd) -> None:
    """The control: takes one event out of what the feed told."""
    followed = settled.fed[settled.tribes[0].tribe_id]
    missed = followed.pop()
    try:
        assert any("the feed of tribe" in one for one in settled.complaints())
    finally:
        followed.append(missed)
    assert settled.complaints() == []
