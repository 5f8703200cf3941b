-- Lessons as JSON, as they stood at a tick. One place gives every reader its view of the past. Set-based, and without a SET
-- clause, so that the planner folds each into the query that calls it.

-- The tick that means "now, whatever it is".
CREATE FUNCTION tributary.latest_v1() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 9223372036854775807 $$;

CREATE FUNCTION tributary.instant_v1(p_tick bigint, p_at timestamptz) RETURNS json
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN p_tick IS NOT NULL THEN json_build_object('tick', p_tick, 'at', p_at) END
$$;

CREATE FUNCTION tributary.lesson_documents_v1(p_tribe uuid, p_ids uuid[], p_tick bigint)
RETURNS TABLE (lesson_id uuid, document json)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT l.lesson_id, json_build_object(
        'lesson_id', l.lesson_id, 'agent_id', l.agent_id, 'agent_name', a.name, 'kind', l.kind,
        'status', CASE
            WHEN l.activated_tick <= p_tick AND (l.deactivated_tick IS NULL OR l.deactivated_tick > p_tick) THEN 'active'
            ELSE (SELECT e.status FROM tributary.lesson_event e -- that of its last event up to then
                  WHERE e.tribe_id = p_tribe AND e.lesson_id = l.lesson_id AND e.tick <= p_tick
                  ORDER BY e.tick DESC, e.seq DESC LIMIT 1) END,
        'text', l.text, 'situation', l.situation, 'subject', l.subject, 'subject_key', l.subject_key, 'tags', l.tags,
        'source_how', l.source_how, 'source_ref', l.source_ref, 'evidence', l.evidence, 'rationale', l.rationale,
        'confidence', l.confidence,
        'valid_from', l.valid_from,
        -- superseding ends the old lesson's validity too, from the tick at which it happened
        'valid_until', CASE WHEN l.superseded_by IS NOT NULL AND l.deactivated_tick <= p_tick
                            THEN least(l.valid_until, l.deactivated_at) ELSE l.valid_until END,
        'keep_until', l.keep_until,
        'learned', tributary.instant_v1(l.learned_tick, l.learned_at),
        'activated', CASE WHEN l.activated_tick <= p_tick THEN tributary.instant_v1(l.activated_tick, l.activated_at) END,
        'deactivated', CASE WHEN l.deactivated_tick <= p_tick
                            THEN tributary.instant_v1(l.deactivated_tick, l.deactivated_at) END,
        'superseded_by', CASE WHEN l.deactivated_tick <= p_tick THEN l.superseded_by END,
        'content_hash', encode(l.content_hash, 'hex'),
        'confirmations', c.agents,
        'contradictions', (
            SELECT count(*) FROM tributary.dispute_about b JOIN tributary.dispute d USING (tribe_id, dispute_id)
            WHERE b.tribe_id = p_tribe AND b.lesson_id = l.lesson_id AND d.kind = 'conflict'
              AND b.since_tick <= p_tick AND (d.closed_tick IS NULL OR d.closed_tick > p_tick)),
        'last_confirmed_at', greatest(l.learned_at, c.last_at))
    FROM tributary.lesson l
    JOIN tributary.agent a ON a.tribe_id = p_tribe AND a.agent_id = l.agent_id
    CROSS JOIN LATERAL (
        SELECT count(*) AS agents, max(f.at) AS last_at FROM tributary.confirmation f
        WHERE f.tribe_id = p_tribe AND f.lesson_id = l.lesson_id AND f.tick <= p_tick) c
    WHERE l.tribe_id = p_tribe AND l.lesson_id = ANY (p_ids)
$$;

-- What was open against lessons at a tick: [{dispute_id, lesson_id, text}], oldest first; no row for a lesson without any.
-- Of two lessons in an `unsure` challenge each is shown the other.
CREATE FUNCTION tributary.challenges_v1(p_tribe uuid, p_ids uuid[], p_tick bigint)
RETURNS TABLE (lesson_id uuid, challenges json)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT o.challenged, json_agg(json_build_object('dispute_id', o.dispute_id, 'lesson_id', o.challenger, 'text', x.text)
                                  ORDER BY o.dispute_id, o.challenger)
    FROM (
        SELECT b.lesson_id AS challenged, d.lesson_id AS challenger, d.dispute_id
        FROM tributary.dispute_about b JOIN tributary.dispute d USING (tribe_id, dispute_id)
        WHERE b.tribe_id = p_tribe AND b.lesson_id = ANY (p_ids) AND b.since_tick <= p_tick
          AND (d.closed_tick IS NULL OR d.closed_tick > p_tick)
        UNION
        SELECT d.lesson_id, b.lesson_id, d.dispute_id
        FROM tributary.dispute d JOIN tributary.dispute_about b USING (tribe_id, dispute_id)
        WHERE d.tribe_id = p_tribe AND d.lesson_id = ANY (p_ids) AND d.kind = 'unsure' AND b.since_tick <= p_tick
          AND (d.closed_tick IS NULL OR d.closed_tick > p_tick)
    ) o
    JOIN tributary.lesson x ON x.tribe_id = p_tribe AND x.lesson_id = o.challenger
    GROUP BY o.challenged
$$;

CREATE FUNCTION tributary.lesson_document_v1(p_tribe uuid, p_lesson uuid) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT document FROM tributary.lesson_documents_v1(p_tribe, ARRAY[p_lesson], tributary.latest_v1())
$$;

-- Lessons as a learner's candidates: with their distance in the learner's space, and whether the learner counts for them
-- already.
CREATE FUNCTION tributary.candidates_v1(p_tribe uuid, p_ids uuid[], p_agent uuid, p_space integer, p_vector public.halfvec)
RETURNS json LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(json_build_object(
        'lesson', n.document,
        'cosine_distance', (SELECT v.embedding OPERATOR(public.<=>) p_vector FROM tributary.lesson_vector v
                            WHERE v.tribe_id = p_tribe AND v.space_id = p_space AND v.lesson_id = n.lesson_id),
        'confirmed_by_writer', EXISTS (
            SELECT FROM tributary.lesson l WHERE l.tribe_id = p_tribe AND l.lesson_id = n.lesson_id AND l.agent_id = p_agent
            UNION ALL
            SELECT FROM tributary.confirmation f
            WHERE f.tribe_id = p_tribe AND f.lesson_id = n.lesson_id AND f.agent_id = p_agent),
        'dispute_id', (SELECT d.dispute_id FROM tributary.dispute d
                       WHERE d.tribe_id = p_tribe AND d.lesson_id = n.lesson_id AND d.kind = 'conflict' AND d.state = 'open'
                       LIMIT 1)) ORDER BY n.lesson_id), '[]')
    FROM tributary.lesson_documents_v1(p_tribe, p_ids, tributary.latest_v1()) n
$$;
