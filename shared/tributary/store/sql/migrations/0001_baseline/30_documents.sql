-- Lessons as they stood at a tick. One place gives every reader its view of the past. Set-based, and without a SET
-- clause, so that the planner folds each into the query that calls it.

-- The tick that means "now, whatever it is".
CREATE FUNCTION tributary.latest_v1() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 9223372036854775807 $$;

-- Which agent contradicts which lesson, and from which tick to which. The one definition for whoever weighs it, reads and gardener alike, so
-- that none believes what another does not. It is counted by agents, since one counts once, however often it rewords.
CREATE VIEW tributary.contradiction AS
    SELECT b.tribe_id, b.lesson_id, c.agent_id, b.since_tick, d.closed_tick, d.state
    FROM tributary.dispute_about b
    JOIN tributary.dispute d ON d.tribe_id = b.tribe_id AND d.dispute_id = b.dispute_id
    JOIN tributary.lesson c ON c.tribe_id = b.tribe_id AND c.lesson_id = d.lesson_id
    WHERE d.kind = 'conflict'
      AND d.precedent IS NULL; -- what a curator rejected weighs nothing by being said again

-- The instant at which a lesson withers that was last confirmed at p_confirmed_at, if nobody confirms it any more: the rule itself, with its
-- numbers, is core/confidence.py.
--   p_weight, p_withered_below   the prior's weight, and under what confidence a lesson withers
CREATE FUNCTION tributary.withers_at_v1(
    p_confirmed_at timestamptz, p_half_life_s double precision, p_confidence double precision, p_confirmations bigint, p_contradictions bigint,
    p_weight double precision, p_withered_below double precision)
RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT p_confirmed_at + make_interval(secs => p_half_life_s * greatest(1, ln(greatest(
        (p_weight * p_confidence + p_confirmations) / (p_weight + p_confirmations + p_contradictions), p_withered_below) / p_withered_below) / ln(2)))
$$;

CREATE TYPE tributary.lesson_row AS (
    lesson_id uuid, agent_id uuid, agent_name text, kind text, status text, text text, situation text, subject text,
    subject_key text, tags jsonb, source_how text, source_ref text, evidence jsonb, rationale text, confidence double precision,
    valid_from timestamptz, valid_until timestamptz, keep_until timestamptz, content_hash bytea,
    learned_tick bigint, learned_at timestamptz, activated_tick bigint, activated_at timestamptz,
    deactivated_tick bigint, deactivated_at timestamptz, superseded_by uuid,
    confirmations bigint, contradictions bigint, last_confirmed_at timestamptz);

CREATE FUNCTION tributary.lesson_rows_v1(p_tribe uuid, p_ids uuid[], p_tick bigint) RETURNS SETOF tributary.lesson_row
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT
        l.lesson_id, l.agent_id, a.name, l.kind,
        CASE WHEN l.activated_tick <= p_tick AND (l.deactivated_tick IS NULL OR l.deactivated_tick > p_tick) THEN 'active'
             ELSE (SELECT e.status FROM tributary.lesson_event e -- that of its last event up to then
                   WHERE e.tribe_id = p_tribe AND e.lesson_id = l.lesson_id AND e.tick <= p_tick
                   ORDER BY e.tick DESC, e.seq DESC LIMIT 1) END,
        l.text, l.situation, l.subject, l.subject_key, l.tags, l.source_how, l.source_ref, l.evidence, l.rationale, l.confidence,
        l.valid_from,
        -- superseding ends the old lesson's validity too, from the tick at which it happened
        CASE WHEN l.superseded_by IS NOT NULL AND l.deactivated_tick <= p_tick
             THEN least(l.valid_until, l.deactivated_at) ELSE l.valid_until END,
        l.keep_until, l.content_hash, l.learned_tick, l.learned_at,
        CASE WHEN l.activated_tick <= p_tick THEN l.activated_tick END,
        CASE WHEN l.activated_tick <= p_tick THEN l.activated_at END,
        CASE WHEN l.deactivated_tick <= p_tick THEN l.deactivated_tick END,
        CASE WHEN l.deactivated_tick <= p_tick THEN l.deactivated_at END,
        CASE WHEN l.deactivated_tick <= p_tick THEN l.superseded_by END,
        coalesce(c.agents, 0),
        coalesce(s.agents, 0),
        greatest(l.learned_at, c.last_at)
    FROM tributary.lesson l
    LEFT JOIN tributary.agent a ON a.tribe_id = p_tribe AND a.agent_id = l.agent_id -- LEFT: left out where no name is asked for
    LEFT JOIN (
        SELECT f.lesson_id, count(*) AS agents, max(f.at) AS last_at FROM tributary.confirmation f
        WHERE f.tribe_id = p_tribe AND f.lesson_id = ANY (p_ids) AND f.tick <= p_tick GROUP BY f.lesson_id) c
        ON c.lesson_id = l.lesson_id
    LEFT JOIN (
        SELECT b.lesson_id, count(DISTINCT b.agent_id) AS agents FROM tributary.contradiction b
        WHERE b.tribe_id = p_tribe AND b.lesson_id = ANY (p_ids)
          AND b.since_tick <= p_tick AND (b.closed_tick IS NULL OR b.closed_tick > p_tick) GROUP BY b.lesson_id) s
        ON s.lesson_id = l.lesson_id
    WHERE l.tribe_id = p_tribe AND l.lesson_id = ANY (p_ids)
$$;

-- What was open against lessons at a tick: {lesson_id: [{dispute_id, lesson_id, text}]}, oldest first; lessons with nothing
-- against them are left out. Of two lessons in an `unsure` challenge each is shown the other.
CREATE FUNCTION tributary.challenges_v1(p_tribe uuid, p_ids uuid[], p_tick bigint) RETURNS json
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(json_object_agg(c.challenged, c.challenges), '{}') FROM (
        SELECT o.challenged, json_agg(json_build_object('dispute_id', o.dispute_id, 'lesson_id', o.challenger,
                                                        'text', CASE WHEN x.held OR x.rejected_as = 'injection' THEN '' ELSE x.text END)
                                      ORDER BY o.dispute_id, o.challenger) AS challenges
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
        GROUP BY o.challenged) c
$$;

CREATE FUNCTION tributary.lesson_document_v1(p_tribe uuid, p_lesson uuid) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT row_to_json(n) FROM tributary.lesson_rows_v1(p_tribe, ARRAY[p_lesson], tributary.latest_v1()) n
$$;

-- Of these lessons those whose words an agent may not see: what a screen held back, or a curator retired as an injection, is for curators
-- and its author.
CREATE FUNCTION tributary.hidden_from_v1(p_tribe uuid, p_ids uuid[], p_agent uuid) RETURNS uuid[]
LANGUAGE sql STABLE AS $$
    SELECT ARRAY(
        SELECT l.lesson_id FROM tributary.lesson l
        WHERE l.tribe_id = p_tribe AND l.lesson_id = ANY (p_ids) AND l.agent_id <> p_agent AND (l.held OR l.rejected_as = 'injection')
          AND NOT EXISTS (SELECT FROM tributary.agent a
                          WHERE a.tribe_id = p_tribe AND a.agent_id = p_agent AND a.role = 'curator' AND a.revoked_at IS NULL))
$$;

-- Whether an agent may see what a lesson says.
CREATE FUNCTION tributary.may_see_v1(p_tribe uuid, p_lesson uuid, p_agent uuid) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT cardinality(tributary.hidden_from_v1(p_tribe, ARRAY[p_lesson], p_agent)) = 0
$$;

-- The document of a lesson for whoever asks: without its words where they are not to be seen.
CREATE FUNCTION tributary.lesson_for_v1(p_tribe uuid, p_lesson uuid, p_agent uuid) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT to_jsonb(d.document::jsonb) || CASE WHEN tributary.may_see_v1(p_tribe, p_lesson, p_agent) THEN '{}' ELSE
        '{"text": null, "situation": null, "subject": null, "tags": {}, "evidence": [], "rationale": null, "source_ref": null}' END::jsonb
    FROM (SELECT tributary.lesson_document_v1(p_tribe, p_lesson) AS document) d WHERE d.document IS NOT NULL
$$;

-- Lessons as a learner's candidates: with their distance in the learner's space, and whether the learner counts for them
-- already.
CREATE FUNCTION tributary.candidates_v1(p_tribe uuid, p_ids uuid[], p_agent uuid, p_space integer, p_vector public.halfvec)
RETURNS json LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(json_build_object(
        'lesson', row_to_json(n),
        'cosine_distance', (SELECT v.embedding OPERATOR(public.<=>) p_vector FROM tributary.lesson_vector v
                            WHERE v.tribe_id = p_tribe AND v.space_id = p_space AND v.lesson_id = n.lesson_id),
        'confirmed_by_writer', EXISTS (
            SELECT FROM tributary.lesson l WHERE l.tribe_id = p_tribe AND l.lesson_id = n.lesson_id AND l.agent_id = p_agent
            UNION ALL
            SELECT FROM tributary.confirmation f
            WHERE f.tribe_id = p_tribe AND f.lesson_id = n.lesson_id AND f.agent_id = p_agent),
        'dispute_id', (SELECT d.dispute_id FROM tributary.dispute d
                       WHERE d.tribe_id = p_tribe AND d.lesson_id = n.lesson_id AND d.kind = 'conflict' AND d.state = 'open'
                       LIMIT 1),
        'rejected_as', (SELECT l.rejected_as FROM tributary.lesson l
                        WHERE l.tribe_id = p_tribe AND l.lesson_id = n.lesson_id AND l.status <> 'erased'),
        'opponents', ARRAY(SELECT CASE WHEN r.a = n.lesson_id THEN r.b ELSE r.a END FROM tributary.rival r
                           WHERE r.tribe_id = p_tribe AND (r.a = n.lesson_id AND r.b_on OR r.b = n.lesson_id AND r.a_on)))
        ORDER BY n.lesson_id), '[]')
    FROM tributary.lesson_rows_v1(p_tribe, p_ids, tributary.latest_v1()) n
$$;
