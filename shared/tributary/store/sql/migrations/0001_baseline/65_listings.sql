-- What curators look through: pages, newest first, each from one snapshot with the tick that it shows. A page begins after a cursor
-- (tick, id) of the page before; one row more than the limit is looked for, which tells whether there is more.

-- Disputes about conflicts, or challenges (p_kind 'unsure'), with both sides as they stand now.
--   p_state    open, settled, or NULL for both
--   p_lesson   only those that this lesson is a side of
CREATE FUNCTION tributary.disputes_v1(
    p_tribe uuid, p_actor uuid, p_kind text, p_state text, p_lesson uuid, p_limit integer, p_before_tick bigint, p_before_id uuid, p_now timestamptz)
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    moment record;
    page uuid[];
BEGIN
    SELECT * INTO moment FROM resolve_v1(p_tribe, NULL, NULL, coalesce(p_now, clock_timestamp()));
    page := ARRAY(
        SELECT d.dispute_id FROM dispute d
        WHERE d.tribe_id = p_tribe AND (p_kind IS NULL OR d.kind = p_kind) AND (p_state IS NULL OR d.state = p_state)
          AND (p_before_tick IS NULL OR (d.opened_tick, d.dispute_id) < (p_before_tick, p_before_id))
          AND (p_lesson IS NULL OR d.lesson_id = p_lesson OR EXISTS (
                  SELECT FROM dispute_about b
                  WHERE b.tribe_id = p_tribe AND b.dispute_id = d.dispute_id AND b.lesson_id = p_lesson))
        ORDER BY d.opened_tick DESC, d.dispute_id DESC LIMIT p_limit + 1);
    RETURN json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'more', cardinality(page) > p_limit,
        'disputes', (SELECT coalesce(json_agg(dispute_document_v1(p_tribe, o.id, p_actor) ORDER BY o.place), '[]')
                     FROM unnest(page[1:p_limit]) WITH ORDINALITY AS o(id, place)));
END
$$;

CREATE FUNCTION tributary.dispute_document_v1(p_tribe uuid, p_dispute uuid, p_actor uuid) RETURNS json
LANGUAGE sql STABLE SET search_path = tributary, public, pg_temp AS $$
    SELECT json_build_object(
        'dispute_id', d.dispute_id, 'kind', d.kind, 'state', d.state, 'opened_tick', d.opened_tick, 'opened_at', d.opened_at,
        'closed_tick', d.closed_tick, 'closed_at', d.closed_at, 'ending', d.ending, 'rationale', d.rationale,
        'closed_by', (SELECT a.name FROM agent a WHERE a.tribe_id = p_tribe AND a.agent_id = d.closed_by),
        'decision_id', d.decision_id, 'precedent', d.precedent,
        'contender', lesson_for_v1(p_tribe, d.lesson_id, p_actor),
        'about', (SELECT coalesce(json_agg(lesson_for_v1(p_tribe, b.lesson_id, p_actor) ORDER BY b.lesson_id), '[]')
                  FROM dispute_about b WHERE b.tribe_id = p_tribe AND b.dispute_id = d.dispute_id),
        'verdicts', (SELECT x.verdicts FROM decision x WHERE x.tribe_id = p_tribe AND x.decision_id = d.decision_id))
    FROM dispute d WHERE d.tribe_id = p_tribe AND d.dispute_id = p_dispute
$$;

-- One dispute; NULL when there is none such.
CREATE FUNCTION tributary.dispute_v1(p_tribe uuid, p_dispute uuid, p_actor uuid) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
    SELECT dispute_document_v1(p_tribe, p_dispute, p_actor)
$$;

-- Lessons that are held back, each with the decision that did it.
CREATE FUNCTION tributary.quarantine_v1(
    p_tribe uuid, p_actor uuid, p_limit integer, p_before_tick bigint, p_before_id uuid, p_now timestamptz)
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    moment record;
    page uuid[];
BEGIN
    PERFORM require_role_v1(p_tribe, p_actor, 'curator');
    SELECT * INTO moment FROM resolve_v1(p_tribe, NULL, NULL, coalesce(p_now, clock_timestamp()));
    page := ARRAY(
        SELECT l.lesson_id FROM lesson l
        WHERE l.tribe_id = p_tribe AND l.status = 'quarantined'
          AND (p_before_tick IS NULL OR (l.learned_tick, l.lesson_id) < (p_before_tick, p_before_id))
        ORDER BY l.learned_tick DESC, l.lesson_id DESC LIMIT p_limit + 1);
    RETURN (SELECT json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'more', cardinality(page) > p_limit,
        'held', coalesce(json_agg(json_build_object(
            'lesson', row_to_json(n), 'decision_id', d.decision_id, 'screen', d.screening ->> 'screen',
            'reasons', d.screening -> 'reasons') ORDER BY array_position(page, n.lesson_id)), '[]'))
        FROM lesson_rows_v1(p_tribe, page[1:p_limit], latest_v1()) n
        CROSS JOIN LATERAL (SELECT x.* FROM decision x
                            WHERE x.tribe_id = p_tribe AND x.lesson_id = n.lesson_id AND x.outcome = 'quarantined'
                            ORDER BY x.tick DESC, x.decision_id DESC LIMIT 1) d);
END
$$;

CREATE FUNCTION tributary.decision_document_v1(p_tribe uuid, p_decision uuid) RETURNS json
LANGUAGE sql STABLE SET search_path = tributary, public, pg_temp AS $$
    SELECT json_build_object(
        'decision_id', d.decision_id, 'tick', d.tick, 'at', d.at, 'agent_id', d.agent_id,
        'writer', (SELECT a.name FROM agent a WHERE a.tribe_id = p_tribe AND a.agent_id = d.agent_id),
        'actor', (SELECT a.name FROM agent a WHERE a.tribe_id = p_tribe AND a.agent_id = d.actor_id),
        'lesson_id', d.lesson_id, 'draft', d.draft,
        'text', coalesce(d.draft ->> 'text', (SELECT l.text FROM lesson l WHERE l.tribe_id = p_tribe AND l.lesson_id = d.lesson_id)),
        'judged_tick', d.judged_tick, 'replans', d.replans, 'candidates', d.candidates,
        'verdicts', d.verdicts, 'screening', d.screening, 'outcome', d.outcome, 'reason', d.reason,
        'receipts', d.receipts)
    FROM decision d WHERE d.tribe_id = p_tribe AND d.decision_id = p_decision
$$;

-- Decisions, of one lesson or of all.
CREATE FUNCTION tributary.decisions_v1(
    p_tribe uuid, p_actor uuid, p_lesson uuid, p_limit integer, p_before_tick bigint, p_before_id uuid, p_now timestamptz)
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    moment record;
    page uuid[];
BEGIN
    PERFORM require_role_v1(p_tribe, p_actor, 'curator');
    SELECT * INTO moment FROM resolve_v1(p_tribe, NULL, NULL, coalesce(p_now, clock_timestamp()));
    page := ARRAY(
        SELECT d.decision_id FROM decision d
        WHERE d.tribe_id = p_tribe AND (p_lesson IS NULL OR d.lesson_id = p_lesson)
          AND (p_before_tick IS NULL OR (d.tick, d.decision_id) < (p_before_tick, p_before_id))
        ORDER BY d.tick DESC, d.decision_id DESC LIMIT p_limit + 1);
    RETURN json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'more', cardinality(page) > p_limit,
        'decisions', (SELECT coalesce(json_agg(decision_document_v1(p_tribe, o.id) ORDER BY o.place), '[]')
                      FROM unnest(page[1:p_limit]) WITH ORDINALITY AS o(id, place)));
END
$$;

-- A decision with what was said and the lessons that it was compared with; NULL when there is none such.
CREATE FUNCTION tributary.decision_v1(p_tribe uuid, p_decision uuid) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
    SELECT json_build_object(
        'decision', decision_document_v1(p_tribe, p_decision), 'lesson', lesson_document_v1(p_tribe, d.lesson_id),
        'candidates', (SELECT coalesce(json_agg(row_to_json(n) ORDER BY n.lesson_id), '[]')
                       FROM lesson_rows_v1(p_tribe, ARRAY(SELECT (c ->> 'lesson_id')::uuid FROM jsonb_array_elements(d.candidates) AS c),
                                           latest_v1()) n))
    FROM decision d WHERE d.tribe_id = p_tribe AND d.decision_id = p_decision
$$;

-- The same for a curator, by the role that is stored now.
CREATE FUNCTION tributary.decision_for_v1(p_tribe uuid, p_actor uuid, p_decision uuid) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
BEGIN
    PERFORM require_role_v1(p_tribe, p_actor, 'curator');
    RETURN decision_v1(p_tribe, p_decision);
END
$$;

-- Cases of the review queue: open, accepted, rejected, or all of them (NULL).
CREATE FUNCTION tributary.reviews_v1(
    p_tribe uuid, p_actor uuid, p_state text, p_limit integer, p_before_tick bigint, p_before_id uuid, p_now timestamptz)
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    moment record;
    page uuid[];
BEGIN
    PERFORM require_role_v1(p_tribe, p_actor, 'curator');
    SELECT * INTO moment FROM resolve_v1(p_tribe, NULL, NULL, coalesce(p_now, clock_timestamp()));
    page := ARRAY(
        SELECT r.review_id FROM review r
        WHERE r.tribe_id = p_tribe AND (p_state IS NULL OR r.state = p_state)
          AND (p_before_tick IS NULL OR (r.tick, r.review_id) < (p_before_tick, p_before_id))
        ORDER BY r.tick DESC, r.review_id DESC LIMIT p_limit + 1);
    RETURN (SELECT json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'more', cardinality(page) > p_limit,
        'reviews', coalesce(json_agg(json_build_object(
            'review_id', r.review_id, 'signal', r.signal, 'suite', r.suite, 'inputs', r.inputs, 'found', r.found,
            'expected', r.expected, 'note', r.note, 'fingerprint', encode(r.fingerprint, 'hex'), 'golden', r.golden, 'reason', r.reason,
            'lesson_ids', r.lesson_ids, 'decision_id', r.decision_id, 'state', r.state,
            'by', (SELECT a.name FROM agent a WHERE a.tribe_id = p_tribe AND a.agent_id = r.agent_id), 'tick', r.tick, 'at', r.at)
            ORDER BY array_position(page, r.review_id)), '[]'))
        FROM review r WHERE r.tribe_id = p_tribe AND r.review_id = ANY (page[1:p_limit]));
END
$$;

-- The audit: refusals, and what curators changed besides beliefs. Ids rise with time, so a page begins after one of them.
CREATE FUNCTION tributary.audit_v1(p_tribe uuid, p_actor uuid, p_limit integer, p_before_id uuid, p_now timestamptz)
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
DECLARE
    moment record;
    page uuid[];
BEGIN
    PERFORM require_role_v1(p_tribe, p_actor, 'curator');
    SELECT * INTO moment FROM resolve_v1(p_tribe, NULL, NULL, coalesce(p_now, clock_timestamp()));
    page := ARRAY(SELECT a.audit_id FROM audit a WHERE a.tribe_id = p_tribe AND (p_before_id IS NULL OR a.audit_id < p_before_id)
                  ORDER BY a.audit_id DESC LIMIT p_limit + 1);
    RETURN (SELECT json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'more', cardinality(page) > p_limit,
        'entries', coalesce(json_agg(json_build_object(
            'audit_id', a.audit_id, 'at', a.at, 'action', a.action, 'code', a.code, 'detail', a.detail, 'agent', g.name)
            ORDER BY a.audit_id DESC), '[]'))
        FROM audit a LEFT JOIN agent g ON g.tribe_id = p_tribe AND g.agent_id = a.agent_id
        WHERE a.tribe_id = p_tribe AND a.audit_id = ANY (page[1:p_limit]));
END
$$;
