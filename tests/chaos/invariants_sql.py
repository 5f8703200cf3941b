"""Invariants of the design that one query can check. Each gives the rows that should not be, of a tribe or of the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import LiteralString

# What books.RULES says of learns alone is said here of every life, so these stand in the place of theirs.
OF_A_TRIBE: Mapping[str, LiteralString] = {
    # -- what is believed
    "two rivals are believed": """
        SELECT r.a, r.b FROM tributary.rival r
        JOIN tributary.lesson a ON (a.tribe_id, a.lesson_id) = (r.tribe_id, r.a)
        JOIN tributary.lesson b ON (b.tribe_id, b.lesson_id) = (r.tribe_id, r.b)
        WHERE r.tribe_id = %(tribe)s AND a.status = 'active' AND b.status = 'active'""",
    "a rival's flag is not its lesson's": """
        SELECT r.a, r.b FROM tributary.rival r
        JOIN tributary.lesson a ON (a.tribe_id, a.lesson_id) = (r.tribe_id, r.a)
        JOIN tributary.lesson b ON (b.tribe_id, b.lesson_id) = (r.tribe_id, r.b)
        WHERE r.tribe_id = %(tribe)s AND (r.a_on, r.b_on) <> (a.status = 'active', b.status = 'active')""",
    "equal content is believed twice": """
        SELECT l.content_hash FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s AND l.status = 'active'
        GROUP BY 1 HAVING count(*) > 1""",
    "status and interval disagree": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s AND NOT CASE
            WHEN l.status = 'active' THEN l.activated_tick IS NOT NULL AND l.deactivated_tick IS NULL
            WHEN l.status IN ('pending', 'disputed', 'quarantined') THEN l.activated_tick IS NULL AND l.deactivated_tick IS NULL
            WHEN l.status = 'superseded' THEN l.deactivated_tick IS NOT NULL AND l.superseded_by IS NOT NULL
            ELSE (l.activated_tick IS NULL) = (l.deactivated_tick IS NULL) END""",
    "a belief interval is empty, or begins before its lesson": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s
        AND (l.deactivated_tick <= l.activated_tick OR l.activated_tick < l.learned_tick

                 OR (l.activated_tick IS NULL) <> (l.activated_at IS NULL)
                 OR (l.deactivated_tick IS NULL) <> (l.deactivated_at IS NULL))""",
    "a belief interval is not what its events say": """
        SELECT l.lesson_id FROM tributary.lesson l CROSS JOIN LATERAL (
            SELECT min(e.tick) FILTER (WHERE e.event = 'learned') AS began,
                   min(e.tick) FILTER (WHERE e.event IN ('superseded', 'retired', 'evicted', 'erased')) AS ended
            FROM tributary.lesson_event e WHERE (e.tribe_id, e.lesson_id) = (l.tribe_id, l.lesson_id)) e
        WHERE l.tribe_id = %(tribe)s AND (l.activated_tick, l.deactivated_tick)
            IS DISTINCT FROM (e.began, CASE WHEN e.began IS NOT NULL THEN e.ended END)""",
    "a lesson was activated or ended twice": """
        SELECT e.lesson_id FROM tributary.lesson_event e WHERE e.tribe_id = %(tribe)s
        GROUP BY 1 HAVING count(*) FILTER (WHERE e.event = 'learned') > 1 OR count(*) FILTER (WHERE e.event = 'erased') > 1
            OR count(*) FILTER (WHERE e.event IN ('superseded', 'retired', 'evicted')) > 1""",
    "a successor did not begin when its lesson ended": """
        SELECT l.lesson_id FROM tributary.lesson l
        LEFT JOIN tributary.lesson s ON (s.tribe_id, s.lesson_id) = (l.tribe_id, l.superseded_by)
        WHERE l.tribe_id = %(tribe)s AND l.superseded_by IS NOT NULL
          AND (s.activated_tick IS DISTINCT FROM l.deactivated_tick OR l.status NOT IN ('superseded', 'erased'))""",
    "successors go in a circle": """
        WITH RECURSIVE chain AS (
            SELECT l.lesson_id, l.superseded_by FROM tributary.lesson l
            WHERE l.tribe_id = %(tribe)s AND l.superseded_by IS NOT NULL
            UNION ALL
            SELECT c.lesson_id, s.superseded_by FROM chain c
            JOIN tributary.lesson s ON s.tribe_id = %(tribe)s AND s.lesson_id = c.superseded_by AND s.superseded_by IS NOT NULL
        ) CYCLE superseded_by SET round USING path
        SELECT lesson_id FROM chain WHERE round LIMIT 1""",
    "a lesson that was rejected is not ended": """
        SELECT l.lesson_id FROM tributary.lesson l
        WHERE l.tribe_id = %(tribe)s AND l.rejected_as IS NOT NULL AND l.status NOT IN ('superseded', 'retired', 'erased')""",
    "a lesson that is held back is believed": """
        SELECT l.lesson_id FROM tributary.lesson l
        WHERE l.tribe_id = %(tribe)s AND l.held AND l.status NOT IN ('quarantined', 'retired', 'erased')""",
    # -- ticks and times
    "the events of a tick are not numbered one after another": """
        SELECT e.tick FROM tributary.lesson_event e WHERE e.tribe_id = %(tribe)s GROUP BY 1 HAVING max(e.seq) <> count(*)""",
    "a tick has several times, or its time does not rise": """
        WITH at AS (
            SELECT e.tick, min(e.at) AS first, max(e.at) AS last FROM (
                SELECT tick, at FROM tributary.lesson_event WHERE tribe_id = %(tribe)s
                UNION ALL SELECT tick, at FROM tributary.tribe_event WHERE tribe_id = %(tribe)s) e GROUP BY 1)
        SELECT tick FROM (SELECT tick, first, last, lag(last) OVER (ORDER BY tick) AS before FROM at) t
        WHERE first <> last OR first <= before""",
    "the clock is not at the time of its last tick": """
        SELECT t.clock FROM tributary.tribe t WHERE t.tribe_id = %(tribe)s AND t.clock_at <> (
            SELECT max(e.at) FROM (
                SELECT at FROM tributary.lesson_event WHERE tribe_id = t.tribe_id AND tick = t.clock
                UNION ALL SELECT at FROM tributary.tribe_event WHERE tribe_id = t.tribe_id AND tick = t.clock) e)""",
    "a time in a lesson is not that of its tick": """
        SELECT l.lesson_id FROM tributary.lesson l CROSS JOIN LATERAL (VALUES
            (l.learned_tick, l.learned_at), (l.activated_tick, l.activated_at), (l.deactivated_tick,
                l.deactivated_at)) AS i(tick, at)
        WHERE l.tribe_id = %(tribe)s AND i.tick IS NOT NULL AND NOT EXISTS (
            SELECT FROM tributary.lesson_event e WHERE (e.tribe_id, e.lesson_id, e.tick, e.at) = (l.tribe_id, l.lesson_id,
                i.tick, i.at))""",
    "a reader is shown a past that was not": """
        SELECT n.lesson_id, t.tick FROM (
            SELECT DISTINCT ceil(c.clock * k / 12.0)::bigint AS tick
            FROM tributary.tribe c, generate_series(1, 12) AS k WHERE c.tribe_id = %(tribe)s) t
        CROSS JOIN LATERAL tributary.lesson_rows_v1(
            %(tribe)s, ARRAY(SELECT lesson_id FROM tributary.lesson WHERE tribe_id = %(tribe)s), t.tick) n
        CROSS JOIN LATERAL (
            SELECT e.status FROM (SELECT NULL::text AS status, 0::bigint AS tick, 0 AS seq UNION ALL
                SELECT e.status, e.tick, e.seq FROM tributary.lesson_event e
                WHERE e.tribe_id = %(tribe)s AND e.lesson_id = n.lesson_id AND e.tick <= t.tick) e
            ORDER BY e.tick DESC, e.seq DESC LIMIT 1) said
        WHERE n.status IS DISTINCT FROM said.status""",
    "an instant does not lead to its own tick": """
        SELECT e.tick FROM tributary.lesson_event e WHERE e.tribe_id = %(tribe)s AND e.tick <> (
            SELECT o.tick FROM tributary.lesson_event o WHERE o.tribe_id = %(tribe)s AND o.at <= e.at
            ORDER BY o.at DESC, o.tick DESC LIMIT 1)""",
    # -- what it is found by
    "a lesson that is looked for has no vector in the serving space": """
        SELECT l.lesson_id FROM tributary.lesson l JOIN tributary.tribe_space s ON s.tribe_id = l.tribe_id AND s.state = 'serving'
        WHERE l.tribe_id = %(tribe)s AND tributary.needs_vector_v1(l.status, l.activated_tick, l.rejected_as) AND NOT EXISTS (
            SELECT FROM tributary.lesson_vector v
            WHERE (v.tribe_id, v.space_id, v.lesson_id, v.believed) = (l.tribe_id, s.space_id, l.lesson_id,
                l.status = 'active'))""",
    "a vector's flag is not its lesson's": """
        SELECT v.lesson_id FROM tributary.lesson_vector v JOIN tributary.lesson l USING (tribe_id, lesson_id)
        WHERE v.tribe_id = %(tribe)s AND v.believed <> (l.status = 'active')""",
    "something leads to a lesson that nothing may find": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s
        AND (l.status = 'erased' OR l.status = 'quarantined' AND NOT EXISTS (
                SELECT FROM tributary.lesson_event e WHERE (e.tribe_id, e.lesson_id, e.event) = (l.tribe_id, l.lesson_id,
                    'pended')))
        AND EXISTS (SELECT FROM tributary.lesson_vector v WHERE (v.tribe_id, v.lesson_id) = (l.tribe_id, l.lesson_id)
          UNION ALL SELECT FROM tributary.lesson_term x WHERE (x.tribe_id, x.lesson_id) = (l.tribe_id, l.lesson_id)
          UNION ALL SELECT FROM tributary.lesson_facet f WHERE (f.tribe_id, f.lesson_id) = (l.tribe_id, l.lesson_id))""",
    "a term is since a tick at which nothing became of its lesson": """
        SELECT x.lesson_id FROM tributary.lesson_term x WHERE x.tribe_id = %(tribe)s AND NOT EXISTS (
            SELECT FROM tributary.lesson_event e WHERE (e.tribe_id, e.lesson_id, e.tick) = (x.tribe_id, x.lesson_id,
                x.since_tick))""",
    "the tribe does not serve from exactly one space": """
        SELECT count(*) FROM tributary.tribe_space s WHERE s.tribe_id = %(tribe)s
        HAVING count(*) FILTER (WHERE s.state = 'serving') <> 1 OR count(*) FILTER (WHERE s.state = 'building') > 1""",
    "a vector is not of its space's width": """
        SELECT v.lesson_id FROM tributary.lesson_vector v JOIN tributary.space s USING (space_id)
        WHERE v.tribe_id = %(tribe)s AND public.vector_dims(v.embedding) <> s.dimension""",
    "a space is called complete and is not": """
        SELECT s.space_id FROM tributary.tribe_space s JOIN tributary.lesson l USING (tribe_id)
        WHERE s.tribe_id = %(tribe)s AND s.state IN ('serving', 'building') AND l.learned_tick <= s.complete_tick
          AND tributary.needs_vector_v1(l.status, l.activated_tick, l.rejected_as)
          AND NOT EXISTS (SELECT FROM tributary.lesson_event e
                          WHERE (e.tribe_id, e.lesson_id) = (l.tribe_id, l.lesson_id) AND e.tick > s.complete_tick)
          AND NOT EXISTS (SELECT FROM tributary.lesson_vector v
                          WHERE (v.tribe_id, v.space_id, v.lesson_id) = (s.tribe_id, s.space_id, l.lesson_id))""",
    # -- who confirmed and who disputes
    "a lesson is confirmed by its author": """
        SELECT l.lesson_id FROM tributary.confirmation f JOIN tributary.lesson l USING (tribe_id, lesson_id)
        WHERE f.tribe_id = %(tribe)s AND f.agent_id = l.agent_id""",
    "a confirmation has no event, or an event no confirmation": """
        SELECT lesson_id, tick FROM (
            SELECT lesson_id, tick, at FROM tributary.confirmation WHERE tribe_id = %(tribe)s
            UNION ALL
            SELECT lesson_id, tick, at FROM tributary.lesson_event WHERE tribe_id = %(tribe)s AND event = 'reinforced') both_sides
        GROUP BY 1, 2, at HAVING count(*) <> 2""",
    "a disputed lesson has no open dispute, or an open dispute no disputed lesson": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s AND (l.status = 'disputed') <> EXISTS (
            SELECT FROM tributary.dispute d
            WHERE (d.tribe_id, d.lesson_id, d.kind, d.state) = (l.tribe_id, l.lesson_id, 'conflict', 'open'))""",
    "a lesson became disputed without a dispute": """
        SELECT e.lesson_id FROM tributary.lesson_event e WHERE e.tribe_id = %(tribe)s AND e.event = 'disputed' AND NOT EXISTS (
            SELECT FROM tributary.dispute d
            WHERE (d.tribe_id, d.decision_id, d.lesson_id, d.opened_tick) = (e.tribe_id, e.decision_id, e.lesson_id, e.tick))""",
    "a challenge is open between two of which one is not believed": """
        SELECT d.dispute_id FROM tributary.dispute d JOIN tributary.lesson l USING (tribe_id, lesson_id)
        WHERE d.tribe_id = %(tribe)s AND d.kind = 'unsure' AND d.state = 'open' AND (l.status <> 'active' OR NOT EXISTS (
            SELECT FROM tributary.dispute_about b JOIN tributary.lesson x USING (tribe_id, lesson_id)
            WHERE (b.tribe_id, b.dispute_id) = (d.tribe_id, d.dispute_id) AND x.status = 'active'))""",
    "a dispute is about nothing, or about its own lesson": """
        SELECT d.dispute_id FROM tributary.dispute d WHERE d.tribe_id = %(tribe)s AND (
            d.precedent IS NULL -- else it may be a curator's word alone that it contradicts
            AND NOT EXISTS (SELECT FROM tributary.dispute_about b WHERE (b.tribe_id, b.dispute_id) = (d.tribe_id, d.dispute_id))
            OR EXISTS (SELECT FROM tributary.dispute_about b
                       WHERE (b.tribe_id, b.dispute_id, b.lesson_id) = (d.tribe_id, d.dispute_id, d.lesson_id)))""",
    "an open dispute is between lessons that are no rivals": """
        SELECT d.dispute_id FROM tributary.dispute d JOIN tributary.dispute_about b USING (tribe_id, dispute_id)
        WHERE d.tribe_id = %(tribe)s AND d.kind = 'conflict' AND d.state = 'open' AND d.precedent IS NULL AND NOT EXISTS (
            SELECT FROM tributary.rival r WHERE r.tribe_id = d.tribe_id
               AND (r.a, r.b) = (least(d.lesson_id, b.lesson_id), greatest(d.lesson_id, b.lesson_id)))""",
    "a curator's ending of a dispute has no event, or an event no ending": """
        SELECT dispute, tick FROM (
            SELECT d.dispute_id::text AS dispute, d.closed_tick AS tick, d.ending FROM tributary.dispute d
            WHERE d.tribe_id = %(tribe)s AND d.closed_by IS NOT NULL
            UNION ALL
            SELECT e.details ->> 'dispute', e.tick, e.details ->> 'ending' FROM tributary.tribe_event e
            WHERE e.tribe_id = %(tribe)s AND e.event = 'dispute_settled') both_sides
        GROUP BY 1, 2, ending HAVING count(*) <> 2""",
    "a dispute opened or closed at no tick": """
        SELECT d.dispute_id FROM tributary.dispute d JOIN tributary.tribe t USING (tribe_id) WHERE d.tribe_id = %(tribe)s
        AND (d.opened_tick NOT BETWEEN 1 AND t.clock OR d.closed_tick > t.clock OR d.closed_tick <= d.opened_tick
             OR (d.state = 'open') <> (d.closed_tick IS NULL))""",
    # -- what was asked and answered
    "a decision is of a tick that was not, or was judged after it": """
        SELECT d.decision_id FROM tributary.decision d JOIN tributary.tribe t USING (tribe_id)
        WHERE d.tribe_id = %(tribe)s AND (d.tick > t.clock OR d.judged_tick > d.tick)""",
    "the event that brought a lesson in names no decision about it": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s AND NOT EXISTS (
            SELECT FROM tributary.lesson_event e JOIN tributary.decision d USING (tribe_id, decision_id)
            WHERE (e.tribe_id, e.lesson_id, e.tick) = (l.tribe_id, l.lesson_id, l.learned_tick)
              AND (d.lesson_id, d.tick, d.agent_id) = (l.lesson_id, l.learned_tick, l.agent_id))""",
    "a verdict is about a lesson that the judge was not given": """
        SELECT d.decision_id FROM tributary.decision d, jsonb_array_elements(d.verdicts) AS v WHERE d.tribe_id = %(tribe)s
        AND NOT EXISTS (SELECT FROM jsonb_array_elements(d.candidates) AS c WHERE c -> 'lesson_id' = v -> 'lesson_id')""",
    "no key, or more than one, answers with a decision": """
        SELECT d.decision_id FROM tributary.decision d WHERE d.tribe_id = %(tribe)s AND 1 <> (
            SELECT count(*) FROM tributary.idempotency i
            WHERE i.tribe_id = d.tribe_id AND i.agent_id = d.actor_id AND i.reply ? 'outcome'
              AND (i.reply ->> 'decision_id')::uuid = d.decision_id AND (i.reply ->> 'lesson_id')::uuid = d.lesson_id
              AND (i.reply ->> 'tick')::bigint = d.tick AND i.reply ->> 'outcome' = d.outcome)""",
    "a key answers with a decision that is not there": """
        SELECT i.key FROM tributary.idempotency i
        WHERE i.tribe_id = %(tribe)s AND i.reply ->> 'decision_id' IS NOT NULL AND NOT EXISTS (
            SELECT FROM tributary.decision d
            WHERE d.tribe_id = i.tribe_id AND d.decision_id = (i.reply ->> 'decision_id')::uuid)""",
    "a key answers with a tick that was not": """
        SELECT i.key FROM tributary.idempotency i JOIN tributary.tribe t USING (tribe_id)
        WHERE i.tribe_id = %(tribe)s AND (i.reply ->> 'tick')::bigint > t.clock""",
    "a key answers with what was not done": """
        SELECT i.key FROM tributary.idempotency i CROSS JOIN LATERAL (
            SELECT (i.reply ->> 'lesson_id')::uuid AS lesson_id, (i.reply ->> 'tick')::bigint AS tick,
                   CASE WHEN i.reply ? 'erased' THEN 'erased' WHEN i.reply ? 'cause' THEN 'retired'
                        WHEN i.reply ->> 'outcome' = 'reinforced' THEN 'reinforced' END AS event) r
        WHERE i.tribe_id = %(tribe)s AND r.event IS NOT NULL AND NOT EXISTS (
            SELECT FROM tributary.lesson_event e
            WHERE (e.tribe_id, e.lesson_id, e.tick, e.event) = (i.tribe_id, r.lesson_id, r.tick, r.event))""",
    # -- erased
    "a tombstone says something": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s AND (l.status = 'erased' AND (
            l.text, l.situation, l.subject, l.subject_key, l.source_ref, l.rationale) IS DISTINCT FROM (NULL, NULL, NULL,
                NULL, NULL, NULL)
            OR l.status = 'erased' AND (l.tags <> '{}' OR l.evidence <> '[]')
            OR l.status <> 'erased' AND (l.text IS NULL OR l.situation IS NULL))""",
    "erased words are said by another lesson or a draft": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s AND l.status = 'erased' AND (EXISTS (
            SELECT FROM tributary.lesson o WHERE (o.tribe_id, o.text_hash) = (l.tribe_id, l.text_hash) AND o.status <> 'erased')
            OR EXISTS (SELECT FROM tributary.decision d
                       WHERE d.tribe_id = l.tribe_id AND decode(d.draft ->> 'text_hash', 'hex') = l.text_hash))""",
    "a case for review or a rationale is about what was erased": """
        SELECT l.lesson_id FROM tributary.lesson l WHERE l.tribe_id = %(tribe)s AND l.status = 'erased' AND (EXISTS (
            SELECT FROM tributary.review r WHERE r.tribe_id = l.tribe_id AND l.lesson_id = ANY (r.lesson_ids))
            OR EXISTS (SELECT FROM tributary.dispute d
                       -- one that was given later, of a dispute that went on about others, quotes nothing of it
                       WHERE d.tribe_id = l.tribe_id AND d.rationale IS NOT NULL AND d.closed_tick <= (
                           SELECT max(e.tick) FROM tributary.lesson_event e
                           WHERE (e.tribe_id, e.lesson_id, e.event) = (l.tribe_id, l.lesson_id, 'erased'))
                       AND (d.lesson_id = l.lesson_id OR EXISTS (
                           SELECT FROM tributary.dispute_about b
                           WHERE (b.tribe_id, b.dispute_id, b.lesson_id) = (d.tribe_id, d.dispute_id, l.lesson_id)))))""",
    # -- what has no tick
    "an action's state and what is known of it disagree": """
        SELECT a.action_id FROM tributary.action a WHERE a.tribe_id = %(tribe)s AND NOT (
            (a.state IN ('done', 'failed')) = (a.ended_at IS NOT NULL) AND (a.state = 'done') = (a.result IS NOT NULL)
            AND (a.state <> 'in_doubt' OR a.doubt IS NOT NULL) AND (a.state <> 'begun' OR a.doubt IS NULL AND a.failure IS NULL)
            AND (a.reconciled_by IS NULL) = (a.note IS NULL) AND (a.reconciled_by IS NULL OR a.doubt IS NOT NULL)
            AND a.lease_until > a.begun_at)""",
    "an action was granted twice at one attempt, or completed twice": """
        SELECT i.reply ->> 'action_id' FROM tributary.idempotency i
        WHERE i.tribe_id = %(tribe)s AND i.reply ? 'action_id' AND (i.reply ? 'attempt' OR i.reply ? 'learned_as')
        GROUP BY 1, i.reply -> 'attempt' HAVING count(*) > 1""",
    "one key has two actions": """
        SELECT a.key FROM tributary.action a WHERE a.tribe_id = %(tribe)s GROUP BY 1 HAVING count(*) > 1""",
    "a case for review is closed by nobody, or twice in the queue": """
        SELECT min(r.review_id::text) FROM tributary.review r WHERE r.tribe_id = %(tribe)s GROUP BY r.fingerprint

            HAVING count(*) > 1 OR bool_or((r.state = 'open') <> (r.closed_by IS NULL)
                OR (r.state = 'accepted') <> (r.golden IS NOT NULL))""",
    "a counter of spending is below zero, or less than what it counts": """
        SELECT m.day FROM tributary.model_day m WHERE m.tribe_id = %(tribe)s
        AND (least(m.calls, m.failed, m.unpriced, m.input_tokens, m.output_tokens, m.cost_usd) < 0 OR m.failed > m.calls
             OR m.calls < (SELECT count(*) FROM tributary.model_call c
                           WHERE c.tribe_id = m.tribe_id AND (c.at AT TIME ZONE 'UTC')::date = m.day AND c.purpose = m.purpose
                             AND c.model = m.model AND coalesce(c.agent_id::text, '') = m.agent))
        UNION ALL SELECT d.day FROM tributary.responder_day d WHERE d.tribe_id = %(tribe)s AND least(d.turns, d.usd) < 0
        UNION ALL SELECT u.day FROM tributary.usage u WHERE u.tribe_id = %(tribe)s AND u.calls < 0
        UNION ALL SELECT y.day FROM tributary.tribe_day y WHERE y.tribe_id = %(tribe)s AND y.writes < 0""",
    "a session outlives its token, or is another agent's": """
        SELECT s.agent_id FROM tributary.session s LEFT JOIN tributary.token t USING (tribe_id, token_id)
        WHERE s.tribe_id = %(tribe)s AND (t.agent_id IS DISTINCT
            FROM s.agent_id OR s.ends_at > t.expires_at OR s.ends_at <= s.begun_at)""",
    "something names what its tribe does not have": """
        SELECT named FROM (
            SELECT 'agent' AS what, agent_id AS named FROM tributary.lesson_event WHERE tribe_id = %(tribe)s
            UNION SELECT 'agent', actor_id FROM tributary.decision WHERE tribe_id = %(tribe)s
            UNION SELECT 'agent', agent_id FROM tributary.decision WHERE tribe_id = %(tribe)s
            UNION SELECT 'agent', agent_id FROM tributary.idempotency WHERE tribe_id = %(tribe)s
            UNION SELECT 'agent', agent_id FROM tributary.lesson WHERE tribe_id = %(tribe)s
            UNION SELECT 'agent', closed_by FROM tributary.dispute WHERE tribe_id = %(tribe)s
            UNION SELECT 'agent', reconciled_by FROM tributary.action WHERE tribe_id = %(tribe)s
            UNION SELECT 'decision', decision_id FROM tributary.dispute WHERE tribe_id = %(tribe)s
            UNION SELECT 'decision', decision_id FROM tributary.review WHERE tribe_id = %(tribe)s
            UNION SELECT 'lesson', unnest(lesson_ids) FROM tributary.review WHERE tribe_id = %(tribe)s
            UNION SELECT 'lesson', (c ->> 'lesson_id')::uuid FROM tributary.decision, jsonb_array_elements(candidates) AS c
                  WHERE tribe_id = %(tribe)s) n
        WHERE named IS NOT NULL AND NOT CASE what
            WHEN 'agent' THEN EXISTS (SELECT FROM tributary.agent a WHERE (a.tribe_id, a.agent_id) = (%(tribe)s, named))
            WHEN 'decision' THEN EXISTS (SELECT FROM tributary.decision d WHERE (d.tribe_id, d.decision_id) = (%(tribe)s, named))
            ELSE EXISTS (SELECT FROM tributary.lesson l WHERE (l.tribe_id, l.lesson_id) = (%(tribe)s, named)) END""",
}

OF_THE_DATABASE: Mapping[str, LiteralString] = {
    "a trigger or a constraint is switched off": """
        SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = 'tributary'::regnamespace AND t.tgenabled NOT IN ('O', 'A')
        UNION ALL SELECT k.conname FROM pg_constraint k WHERE k.connamespace = 'tributary'::regnamespace
            AND NOT k.convalidated""",
    "an index is not valid": """
        SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relnamespace = 'tributary'::regnamespace AND NOT i.indisvalid""",
    "a graph index spans tribes": """
        SELECT indexname FROM pg_indexes WHERE schemaname = 'tributary' AND indexdef ~ 'USING hnsw'
            AND indexdef !~ 'tribe_id ='""",
    "a transaction was left prepared": "SELECT gid FROM pg_prepared_xacts WHERE database = current_database()",
    "rows are of a tribe that is not there": """
        SELECT x.tribe_id FROM (
            SELECT tribe_id FROM tributary.lesson UNION SELECT tribe_id FROM tributary.lesson_event
            UNION SELECT tribe_id FROM tributary.decision UNION SELECT tribe_id FROM tributary.idempotency
            UNION SELECT tribe_id FROM tributary.action UNION SELECT tribe_id FROM tributary.tribe_count) x
        WHERE NOT EXISTS (SELECT FROM tributary.tribe t WHERE t.tribe_id = x.tribe_id)""",
}
