"""The checker of invariants can fail: each of its rules finds what hand-written SQL of the owner breaks, past every guard."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.chaos import books
from tests.chaos.invariants import BY_HAND, ERASED, OF_LEARNS_ALONE, OTHER_HASH, OTHER_TERMS, SECRET, TRANSITION, broken_in
from tests.chaos.invariants_sql import OF_A_TRIBE, OF_THE_DATABASE
from tests.chaos.scene import LEARNS, set_scene
from tests.conftest import new_database
from tests.doubles import RuledJudge, within_a_subject
from tests.history.history import run
from tests.tribes import Tribal, open_tribal

SEED, OPERATIONS = 7, 300
MORE_SEEDS = range(8, 14)
NEEDED = {"active", "superseded", "erased", "reinforced", "disputed", "pended", "conflict", "unsure", "open"}
NEEDED |= {"dispute_settled", "review"}
"""What must have happened in a life for each control to have something to break."""
SAID = "the words that are to be nowhere"

# Each takes the database's own guard (a constraint, a unique index) out first where there is one; triggers are off for all.
CONTROLS = {
    "two rivals are believed": """
        UPDATE lesson l SET status = 'active', activated_tick = learned_tick, activated_at = learned_at
        FROM dispute d JOIN dispute_about b USING (tribe_id, dispute_id)
        WHERE d.state = 'open' AND d.kind = 'conflict' AND d.precedent IS NULL
          AND (l.tribe_id, l.lesson_id) = (d.tribe_id, d.lesson_id)""",
    "a rival's flag is not its lesson's": "UPDATE rival SET a_on = NOT a_on, b_on = false",
    "equal content is believed twice": """
        DROP INDEX lesson_believed_content;
        UPDATE lesson SET content_hash = decode(repeat('ab', 32), 'hex') WHERE believed""",
    "status and interval disagree": """
        ALTER TABLE lesson DROP CONSTRAINT lesson_status_interval;
        UPDATE lesson SET status = 'pending' WHERE status = 'active'""",
    "a belief interval is empty, or begins before its lesson": """
        ALTER TABLE lesson DROP CONSTRAINT lesson_interval;
        UPDATE lesson SET deactivated_tick = activated_tick WHERE status = 'superseded'""",
    "a belief interval is not what its events say": """
        UPDATE lesson SET deactivated_tick = deactivated_tick + 1, deactivated_at = deactivated_at WHERE status = 'superseded'""",
    "a lesson was activated or ended twice": """
        INSERT INTO lesson_event SELECT tribe_id, (SELECT clock FROM tribe t WHERE t.tribe_id = e.tribe_id), 99, lesson_id,
            event, status,
               agent_id, decision_id, details, at FROM lesson_event e WHERE event = 'learned' LIMIT 1""",
    "a successor did not begin when its lesson ended": """
        UPDATE lesson l SET superseded_by = (SELECT o.lesson_id FROM lesson o WHERE o.tribe_id = l.tribe_id
            AND o.activated_tick <> l.deactivated_tick LIMIT 1) WHERE status = 'superseded'""",
    "successors go in a circle": """
        ALTER TABLE lesson DROP CONSTRAINT lesson_successor_status;
        UPDATE lesson l SET superseded_by = o.lesson_id FROM lesson o
        WHERE o.tribe_id = l.tribe_id AND o.superseded_by = l.lesson_id""",
    "a lesson that was rejected is not ended": """
        ALTER TABLE lesson DROP CONSTRAINT lesson_rejected_status;
        UPDATE lesson SET rejected_as = 'wrong' WHERE status = 'active'""",
    "a lesson that is held back is believed": "UPDATE lesson SET held = true WHERE status = 'active'",
    "the events of a tick are not numbered one after another": "UPDATE lesson_event SET seq = seq + 100",
    "a tick has several times, or its time does not rise": """
        UPDATE lesson_event SET at = at - interval '1 hour' WHERE tick % 3 = 0""",
    "the clock is not at the time of its last tick": "UPDATE tribe SET clock_at = clock_at + interval '1 s'",
    "a time in a lesson is not that of its tick": "UPDATE lesson SET activated_at = activated_at + interval '1 s'",
    "a reader is shown a past that was not": "UPDATE lesson SET deactivated_tick = 1000000 WHERE status = 'superseded'",
    "an instant does not lead to its own tick": """
        UPDATE lesson_event SET at = (SELECT max(o.at) FROM lesson_event o) WHERE tick < 20""",
    "a lesson that is looked for has no vector in the serving space": "DELETE FROM lesson_vector WHERE believed",
    "a vector's flag is not its lesson's": "UPDATE lesson_vector SET believed = NOT believed",
    "something leads to a lesson that nothing may find": """
        INSERT INTO lesson_term SELECT tribe_id, 'deploying', learned_tick, lesson_id FROM lesson WHERE status = 'erased'""",
    "a term is since a tick at which nothing became of its lesson": "UPDATE lesson_term SET since_tick = 0",
    "the tribe does not serve from exactly one space": "UPDATE tribe_space SET state = 'retired'",
    "a vector is not of its space's width": "UPDATE space SET dimension = dimension + 1",
    "a space is called complete and is not": """
        UPDATE tribe_space s SET complete_tick = (SELECT t.clock FROM tribe t WHERE t.tribe_id = s.tribe_id);
        DELETE FROM lesson_vector""",
    "a lesson is confirmed by its author": """
        UPDATE confirmation f SET agent_id = l.agent_id FROM lesson l WHERE (l.tribe_id, l.lesson_id) = (f.tribe_id, f.lesson_id)
        AND NOT EXISTS (SELECT FROM confirmation o WHERE (o.tribe_id, o.lesson_id) = (f.tribe_id, f.lesson_id)
            AND o.tick < f.tick)""",
    "a confirmation has no event, or an event no confirmation": "DELETE FROM confirmation",
    "a disputed lesson has no open dispute, or an open dispute no disputed lesson": """
        UPDATE dispute SET state = 'settled', ending = 'moot', closed_tick = opened_tick + 1, closed_at = now()
            WHERE state = 'open'""",
    "a lesson became disputed without a dispute": "DELETE FROM dispute",
    "a challenge is open between two of which one is not believed": """
        UPDATE dispute SET state = 'open', ending = NULL, closed_tick = NULL, closed_at = NULL, closed_by = NULL, rationale = NULL
        WHERE kind = 'unsure'""",
    "a dispute is about nothing, or about its own lesson": "DELETE FROM dispute_about",
    "an open dispute is between lessons that are no rivals": "DELETE FROM rival",
    "a curator's ending of a dispute has no event, or an event no ending": "DELETE FROM tribe_event",
    "a dispute opened or closed at no tick": "UPDATE dispute SET opened_tick = 0",
    "a decision is of a tick that was not, or was judged after it": "UPDATE decision SET judged_tick = tick + 1",
    "the event that brought a lesson in names no decision about it": "UPDATE lesson_event SET decision_id = NULL",
    "a verdict is about a lesson that the judge was not given": "UPDATE decision SET candidates = '[]'",
    "no key, or more than one, answers with a decision": "DELETE FROM idempotency",
    "a key answers with a decision that is not there": "DELETE FROM decision WHERE outcome = 'learned'",
    "a key answers with a tick that was not": """
        UPDATE idempotency SET reply = reply || '{"tick": 1000000}' WHERE reply ->> 'outcome' = 'learned'""",
    "a key answers with what was not done": """
        UPDATE idempotency SET reply = reply || '{"outcome": "reinforced"}' WHERE reply ->> 'outcome' = 'learned'""",
    "a tombstone says something": "UPDATE lesson SET subject = 'deploy-api' WHERE status = 'erased'",
    "erased words are said by another lesson or a draft": """
        UPDATE lesson l SET text_hash = o.text_hash FROM lesson o
        WHERE o.tribe_id = l.tribe_id AND o.status = 'erased' AND l.status = 'active'""",
    "a case for review or a rationale is about what was erased": """
        UPDATE review r SET lesson_ids = ARRAY[l.lesson_id] FROM lesson l WHERE l.tribe_id = r.tribe_id
            AND l.status = 'erased'""",
    "an action's state and what is known of it disagree": """
        ALTER TABLE action DROP CONSTRAINT action_ending;
        UPDATE action SET state = 'failed' WHERE state = 'done'""",
    "an action was granted twice at one attempt, or completed twice": """
        INSERT INTO idempotency SELECT tribe_id, agent_id, key || '-again', request_digest, reply, at FROM idempotency
        WHERE reply ? 'learned_as'""",
    "one key has two actions": """
        ALTER TABLE action DROP CONSTRAINT action_once;
        INSERT INTO action SELECT tribe_id, gen_random_uuid(), key, description, state, attempt, agent_id, begun_at,
            lease_until, lease_hash,
               ended_at, result FROM action WHERE state = 'done'""",
    "a case for review is closed by nobody, or twice in the queue": """
        ALTER TABLE review DROP CONSTRAINT review_closing, DROP CONSTRAINT review_golden;
        UPDATE review SET state = 'accepted'""",
    "a counter of spending is below zero, or less than what it counts": """
        UPDATE model_day SET calls = 0, failed = 0""",
    "a session outlives its token, or is another agent's": "UPDATE session SET ends_at = ends_at + interval '10 years'",
    "something names what its tribe does not have": "UPDATE idempotency SET agent_id = gen_random_uuid()",
    "a trigger or a constraint is switched off": "ALTER TABLE lesson DISABLE TRIGGER lesson_is_immutable",
    "an index is not valid": """
        UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'tributary.lesson_open'::regclass""",
    "a graph index spans tribes": """
        CREATE INDEX everywhere ON lesson_vector USING hnsw ((embedding::halfvec(256)) halfvec_cosine_ops)""",
    "rows are of a tribe that is not there": "DELETE FROM tribe",
    TRANSITION: "UPDATE lesson_event SET event = 'superseded', status = 'superseded' WHERE event = 'learned'",
    OTHER_TERMS: "DELETE FROM lesson_term",
    OTHER_HASH: "UPDATE lesson SET subject_key = 'another' WHERE subject_key IS NOT NULL",
    SECRET: """
        UPDATE agent SET name = 'trb_' || repeat('a', 43) WHERE agent_id = (SELECT agent_id FROM agent LIMIT 1)""",
    ERASED: f"UPDATE decision SET reason = '{SAID}'",
    # -- of the books, where what it takes is not what it takes there
    "a lesson without the event that brought it in": "DELETE FROM lesson_event WHERE event IN ('learned', 'disputed', 'pended')",
    "a lesson that stands otherwise than its last event says": "DELETE FROM lesson_event WHERE event = 'superseded'",
    "a lesson without the decision that brought it in": "DELETE FROM decision",
    "an event without its decision": "DELETE FROM decision",
    "a superseded lesson without its event": "UPDATE lesson_event SET details = '{}' WHERE event = 'superseded'",
    "a counter that is not the number of lessons": "UPDATE tribe_count SET lessons = lessons + 1",
    "a counter that is not the number of vectors": "UPDATE tribe_space SET vectors = vectors + 1",
    "a lesson that no filter finds, or one that a filter finds and should not": "DELETE FROM lesson_facet",
    "a tick without an event": "UPDATE tribe SET clock = clock + 1",
    "an event after the last tick": "UPDATE tribe SET clock = clock - 1",
}
PREPARED = "a transaction was left prepared"
"""No control within a transaction can break it: test_a_transaction_that_was_left_prepared_is_found does."""


@pytest.fixture(scope="module")
def life(server_url: str, template: str) -> Iterator[psycopg.Connection]:
    """A database in which everything that the rules are about has happened, as a connection that has no trigger in its way."""
    with new_database(server_url, template) as url:
        for seed in (SEED, *MORE_SEEDS):
            run(url, seed=seed, operations=OPERATIONS)
            if _has_happened(url):
                break
        with open_tribal(url, judge=RuledJudge(within_a_subject)) as tribal:
            _besides(tribal)
        with psycopg.connect(url) as connection:
            connection.execute("SET session_replication_role = replica")
            connection.execute("SET search_path = tributary, public")
            connection.execute("SET allow_system_table_mods = on")
            connection.commit()
            yield connection


def _has_happened(url: str) -> bool:
    with psycopg.connect(url) as connection:
        found = connection.execute(
            """SELECT count(*) FROM (
                   SELECT status FROM tributary.lesson
                   UNION SELECT event FROM tributary.lesson_event UNION SELECT event FROM tributary.tribe_event
                   UNION SELECT kind FROM tributary.dispute UNION SELECT state FROM tributary.dispute
                   UNION SELECT 'review' FROM tributary.review) happened
               WHERE status = ANY (%s)""",
            (list(NEEDED),),
        )
        return found.fetchone() == (len(NEEDED),)


def _besides(tribal: Tribal) -> None:
    """What random histories don't do, or don't leave for certain: an open dispute, an action, a session, calls that cost."""
    set_scene(tribal, LEARNS["fresh"])
    disputed = LEARNS["disputed"]
    tribal.learn(tribal.agent("writer"), disputed.text, disputed.situation, subject=disputed.subject)
    begun = tribal.memory.actions.begin(tribal.curator, "restart", "restarts the gateway")
    assert begun.lease is not None
    tribal.memory.actions.complete(tribal.curator, begun.action.action_id, begun.lease, {"restarted": True})
    tribal.memory.sign_in(tribal.curator_token, source="127.0.0.1")
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        connection.execute(
            """SELECT tributary.charge_calls_v1(jsonb_build_array(jsonb_build_object(
                   'tribe_id', %s::uuid, 'call_id', gen_random_uuid(), 'at', now(), 'purpose', 'judge', 'model', 'm',
                       'ended', 'answered',
                   'input_tokens', 1, 'output_tokens', 1, 'cost_usd', 0.1, 'ms', 1)))""",
            (tribal.tribe_id,),
        )


def test_every_invariant_holds_of_a_whole_life(life: psycopg.Connection) -> None:
    assert broken_in(life, erased=[SAID]) == []


@pytest.mark.parametrize("rule", CONTROLS)
def test_the_checker_notices_that(life: psycopg.Connection, rule: str) -> None:
    try:
        for statement in CONTROLS[rule].split(";"):
            life.execute(statement.encode())
        assert any(rule in told for told in broken_in(life, erased=[SAID], only=rule))
    finally:
        life.rollback()


def test_a_transaction_that_was_left_prepared_is_found(life: psycopg.Connection) -> None:
    """The server allows none by its setting, so the view of prepared transactions is put in its place."""
    life.execute("CREATE TEMPORARY VIEW pg_prepared_xacts AS SELECT 'left' AS gid, current_database() AS database")
    life.execute("SET LOCAL search_path = pg_temp, pg_catalog")
    try:
        assert any(PREPARED in told for told in broken_in(life))
    finally:
        life.rollback()


def test_every_rule_has_its_control() -> None:
    rules = {*books.RULES} - OF_LEARNS_ALONE | {*OF_A_TRIBE, *OF_THE_DATABASE, *BY_HAND}
    assert {*CONTROLS, PREPARED} == rules
    assert {*books.RULES} >= OF_LEARNS_ALONE
