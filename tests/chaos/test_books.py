"""The checker of the crash tests can fail: each of its rules finds what a learn would leave that stopped half-way."""

from __future__ import annotations

import psycopg

from tests.chaos.books import OTHER_TERMS, RULES, complaints, complaints_about
from tests.chaos.scene import LEARNS, set_scene
from tests.tribes import Tribal
from tributary.core.agent import Role
from tributary.core.decision import Outcome

HALVES = {
    "a lesson without the event that brought it in": "DELETE FROM lesson_event WHERE event = 'learned'",
    "a lesson that stands otherwise than its last event says": "DELETE FROM lesson_event WHERE event = 'superseded'",
    "a lesson without its vector": "DELETE FROM lesson_vector",
    "a quarantined lesson with a vector": """
        INSERT INTO lesson_vector (tribe_id, space_id, lesson_id, believed, embedding)
        SELECT l.tribe_id, v.space_id, l.lesson_id, false, v.embedding FROM lesson l, lesson_vector v
        WHERE l.status = 'quarantined' LIMIT 1""",
    "a lesson without the decision that brought it in": "DELETE FROM decision WHERE outcome = 'quarantined'",
    "an event without its decision": "DELETE FROM decision WHERE outcome = 'reinforced'",
    "a decision without its event": "UPDATE lesson_event SET decision_id = NULL",
    "a decision that no key answers with": "DELETE FROM idempotency WHERE reply ->> 'outcome' = 'superseded'",
    "a key without its decision": "DELETE FROM decision WHERE outcome = 'learned'",
    "a superseded lesson without its event": "UPDATE lesson_event SET details = '{}' WHERE event = 'superseded'",
    "a contradiction without its rivals": "DELETE FROM rival",
    "a disputed lesson without its dispute": "DELETE FROM dispute_about",
    "a confirmation without its event, or an event without it": "DELETE FROM confirmation",
    "a counter that is not the number of lessons": "UPDATE tribe_count SET lessons = lessons + 1 WHERE status = 'superseded'",
    "a counter that is not the number of vectors": "UPDATE tribe_space SET vectors = vectors + 1",
    "a lesson that no filter finds, or one that a filter finds and should not": """
        DELETE FROM lesson_facet WHERE lesson_id = (SELECT lesson_id FROM lesson WHERE status = 'active' LIMIT 1)""",
    "a tick without an event": "UPDATE tribe SET clock = clock + 1",
    "an event after the last tick": "UPDATE tribe SET clock = clock - 1",
    OTHER_TERMS: "DELETE FROM lesson_term WHERE term = 'deploying'",
}


def _learn_of_every_kind(tribal: Tribal) -> None:
    set_scene(tribal, LEARNS["fresh"])
    disputed = LEARNS["disputed"]
    outcomes = [
        tribal.learn(tribal.agent("writer"), disputed.text, disputed.situation, subject=disputed.subject).outcome,
        tribal.learn(tribal.curator, f"{disputed.text}0", disputed.situation, subject=disputed.subject).outcome,
        tribal.learn(tribal.agent("other", Role.WRITER), f"{disputed.text}0", disputed.situation, subject="deploy-api").outcome,
        tribal.learn(tribal.curator, LEARNS["quarantined"].text).outcome,
    ]
    assert outcomes == [Outcome.DISPUTED, Outcome.SUPERSEDED, Outcome.REINFORCED, Outcome.QUARANTINED]


def test_books_of_learns_that_ended_are_whole(tribal: Tribal) -> None:
    _learn_of_every_kind(tribal)
    assert complaints(tribal) == set()


def test_each_rule_finds_what_breaks_it(tribal: Tribal) -> None:
    _learn_of_every_kind(tribal)
    with psycopg.connect(tribal.url) as connection:
        connection.execute("SET search_path = tributary, public")
        connection.commit()
        for rule in (*RULES, OTHER_TERMS):
            connection.execute(HALVES[rule].encode())
            assert rule in complaints_about(connection, tribal.tribe_id)
            connection.rollback()
            assert complaints_about(connection, tribal.tribe_id) == set()
