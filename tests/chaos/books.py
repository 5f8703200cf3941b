"""Whether a tribe's books are whole: all that a learn writes is there together, or none of it is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import LiteralString
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from tests.tribes import Tribal
from tributary.core.terms import terms_of

# Each gives the rows that should not be.
RULES: Mapping[str, LiteralString] = {
    "a lesson without the event that brought it in": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s AND NOT EXISTS (
            SELECT FROM tributary.lesson_event e
            WHERE (e.tribe_id, e.lesson_id, e.tick) = (l.tribe_id, l.lesson_id, l.learned_tick))""",
    "a lesson that stands otherwise than its last event says": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s AND l.status <> (
            SELECT e.status FROM tributary.lesson_event e WHERE (e.tribe_id, e.lesson_id) = (l.tribe_id, l.lesson_id)
            ORDER BY e.tick DESC, e.seq DESC LIMIT 1)""",
    "a lesson without its vector": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s AND l.status <> 'quarantined' AND NOT EXISTS (
            SELECT FROM tributary.lesson_vector v
            WHERE (v.tribe_id, v.lesson_id, v.believed) = (l.tribe_id, l.lesson_id, l.believed))""",
    "a quarantined lesson with a vector": """
        SELECT l.lesson_id FROM tributary.lesson l JOIN tributary.lesson_vector v USING (tribe_id, lesson_id)
        WHERE l.tribe_id = %(tribe)s AND l.status = 'quarantined'""",
    "a lesson without the decision that brought it in": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s AND NOT EXISTS (
            SELECT FROM tributary.decision d
            WHERE (d.tribe_id, d.lesson_id, d.tick, d.agent_id) = (l.tribe_id, l.lesson_id, l.learned_tick, l.agent_id))""",
    "an event without its decision": """
        SELECT e.lesson_id, e.tick FROM tributary.lesson_event e
        WHERE e.tribe_id = %(tribe)s AND e.decision_id IS NOT NULL AND NOT EXISTS (
            SELECT FROM tributary.decision d WHERE (d.tribe_id, d.decision_id, d.tick) = (e.tribe_id, e.decision_id, e.tick))""",
    "a decision without its event": """
        SELECT d.decision_id FROM tributary.decision d
        WHERE d.tribe_id = %(tribe)s AND (d.draft IS NULL OR d.outcome = 'reinforced') AND NOT EXISTS (
            SELECT FROM tributary.lesson_event e
            WHERE (e.tribe_id, e.decision_id, e.tick) = (d.tribe_id, d.decision_id, d.tick))""",
    "a decision that no key answers with": """
        SELECT d.decision_id FROM tributary.decision d WHERE d.tribe_id = %(tribe)s AND 1 <> (
            SELECT count(*) FROM tributary.idempotency i
            WHERE i.tribe_id = d.tribe_id AND i.agent_id = d.agent_id AND (i.reply ->> 'decision_id')::uuid = d.decision_id
              AND (i.reply ->> 'lesson_id')::uuid = d.lesson_id AND (i.reply ->> 'tick')::bigint = d.tick
              AND i.reply ->> 'outcome' = d.outcome)""",
    "a key without its decision": """
        SELECT i.key FROM tributary.idempotency i WHERE i.tribe_id = %(tribe)s AND NOT EXISTS (
            SELECT FROM tributary.decision d
            WHERE d.tribe_id = i.tribe_id AND d.decision_id = (i.reply ->> 'decision_id')::uuid)""",
    "a superseded lesson without its event": """
        SELECT l.lesson_id FROM tributary.lesson l
        WHERE l.tribe_id = %(tribe)s AND l.status = 'superseded' AND NOT EXISTS (
            SELECT FROM tributary.lesson_event e
            WHERE (e.tribe_id, e.lesson_id, e.tick, e.event) = (l.tribe_id, l.lesson_id, l.deactivated_tick, 'superseded')
              AND (e.details ->> 'successor')::uuid = l.superseded_by)""",
    "a contradiction without its rivals": """
        SELECT e.lesson_id FROM tributary.lesson_event e JOIN tributary.decision d USING (tribe_id, decision_id)
        WHERE e.tribe_id = %(tribe)s AND d.outcome IN ('superseded', 'disputed') AND e.event IN ('learned', 'disputed')
          AND NOT EXISTS (SELECT FROM tributary.rival r WHERE r.tribe_id = e.tribe_id AND e.lesson_id IN (r.a, r.b))""",
    "a disputed lesson without its dispute": """
        SELECT e.lesson_id FROM tributary.lesson_event e WHERE e.tribe_id = %(tribe)s AND e.event = 'disputed' AND NOT EXISTS (
            SELECT FROM tributary.dispute x JOIN tributary.dispute_about b USING (tribe_id, dispute_id)
            WHERE (x.tribe_id, x.decision_id, x.lesson_id) = (e.tribe_id, e.decision_id, e.lesson_id))""",
    "a confirmation without its event, or an event without it": """
        SELECT lesson_id, agent_id, tick FROM (
            SELECT lesson_id, agent_id, tick FROM tributary.confirmation WHERE tribe_id = %(tribe)s
            UNION ALL
            SELECT lesson_id, agent_id, tick FROM tributary.lesson_event
            WHERE tribe_id = %(tribe)s AND event = 'reinforced') both_sides
        GROUP BY 1, 2, 3 HAVING count(*) <> 2""",
    "a counter that is not the number of lessons": """
        SELECT status FROM (
            SELECT status, lessons, past FROM tributary.tribe_count WHERE tribe_id = %(tribe)s
            UNION ALL
            SELECT status, -count(*), -count(deactivated_tick) FROM tributary.lesson WHERE tribe_id = %(tribe)s
            GROUP BY status) both_sides
        GROUP BY status HAVING sum(lessons) <> 0 OR sum(past) <> 0""",
    "a counter that is not the number of vectors": """
        SELECT s.space_id FROM tributary.tribe_space s WHERE s.tribe_id = %(tribe)s AND (s.vectors, s.past) <> (
            SELECT count(*) FILTER (WHERE v.believed), count(l.deactivated_tick)
            FROM tributary.lesson_vector v JOIN tributary.lesson l USING (tribe_id, lesson_id)
            WHERE v.tribe_id = s.tribe_id AND v.space_id = s.space_id)""",
    "a lesson that no filter finds, or one that a filter finds and should not": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s
        AND ARRAY(SELECT DISTINCT f FROM unnest(tributary.facets_v1(l)) f
                  WHERE l.status <> 'erased' AND EXISTS (
                      SELECT FROM tributary.lesson_term x WHERE x.tribe_id = l.tribe_id AND x.lesson_id = l.lesson_id) ORDER BY 1)
         <> ARRAY(SELECT f.facet FROM tributary.lesson_facet f
                  WHERE f.tribe_id = l.tribe_id AND f.lesson_id = l.lesson_id ORDER BY 1)""",
    "a tick without an event": """
        SELECT n FROM tributary.tribe t, generate_series(1, t.clock) AS n
        WHERE t.tribe_id = %(tribe)s AND NOT t.lost @> n AND NOT EXISTS (
            SELECT FROM tributary.lesson_event e WHERE e.tribe_id = t.tribe_id AND e.tick = n
            UNION ALL SELECT FROM tributary.tribe_event e WHERE e.tribe_id = t.tribe_id AND e.tick = n)""",
    "an event after the last tick": """
        SELECT e.tick FROM tributary.lesson_event e JOIN tributary.tribe t USING (tribe_id)
        WHERE t.tribe_id = %(tribe)s AND e.tick > t.clock""",
}
OTHER_TERMS = "a lesson with other terms than its own"
BESIDE_THE_LEARN = frozenset({"activity", "audit", "pace", "token", "tribe_day", "usage"})
"""Tables that are written outside of the gate, whatever becomes of the learn: refusals, uses of tokens, and what is counted."""


def complaints(tribal: Tribal) -> set[str]:
    """Returns what is not whole in the tribe's books; empty when each learn is wholly there or wholly not."""
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        return complaints_about(connection, tribal.tribe_id)


def complaints_about(connection: psycopg.Connection, tribe_id: UUID) -> set[str]:
    """Returns what `complaints` does, as the connection's transaction sees it."""
    found = {name for name, rule in RULES.items() if connection.execute(rule, {"tribe": tribe_id}).fetchall()}
    return found | ({OTHER_TERMS} if _other_terms(connection, tribe_id) else set())


def state(url: str) -> dict[str, str]:
    """Returns a digest of the content of each table: equal when nothing at all was written in between."""
    with psycopg.connect(url, autocommit=True) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'tributary'").fetchall()
        return {name: _digest(connection, name) for (name,) in tables if name not in BESIDE_THE_LEARN}


def _digest(connection: psycopg.Connection, table: str) -> str:
    query = sql.SQL("SELECT t::text FROM tributary.{} t ORDER BY 1").format(sql.Identifier(table))
    return hashlib.sha256(repr(connection.execute(query).fetchall()).encode()).hexdigest()


def _other_terms(connection: psycopg.Connection, tribe_id: UUID) -> bool:
    cursor = connection.cursor(row_factory=dict_row)
    cursor.execute(
        """SELECT status, situation, text, ARRAY(SELECT x.term FROM tributary.lesson_term x
                  WHERE (x.tribe_id, x.lesson_id) = (l.tribe_id, l.lesson_id)) AS terms
           FROM tributary.lesson l WHERE tribe_id = %s""",
        (tribe_id,),
    )
    return any(
        set(row["terms"]) != (set() if row["status"] == "quarantined" else set(terms_of(f"{row['situation']}\n{row['text']}")))
        for row in cursor
    )
