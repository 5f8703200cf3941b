-- recall and listings: one STABLE function a read, so one snapshot and one round trip.

-- Whether a tick is of no commit that this database knows: 'lost' with those that a restore from a backup took back, 'ahead' of the
-- clock; NULL when it was reached.
CREATE FUNCTION tributary.unreached_v1(p_tribe uuid, p_tick bigint) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT CASE WHEN p_tick > t.clock THEN 'ahead' WHEN t.lost @> p_tick THEN 'lost' END FROM tribe t WHERE t.tribe_id = p_tribe
$$;

-- Raises TB422 for a tick that was lost, with the name of what asked for it: what was read or written at it is not there any more.
CREATE FUNCTION tributary.refuse_lost_v1(t tributary.tribe, p_tick bigint, p_field text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = tributary, pg_temp AS $$
DECLARE
    gone int8range := (SELECT r FROM unnest(t.lost) r WHERE r @> p_tick);
BEGIN
    IF gone IS NOT NULL THEN
        RAISE EXCEPTION 'tick % was lost: the memory was restored from a backup of tick %, and goes on from tick %',
            p_tick, lower(gone) - 1, upper(gone) USING ERRCODE = 'TB422', COLUMN = p_field;
    END IF;
END
$$;

-- The tick that a read is about, the instant at which time-dependent rules are judged, and whether a later commit could still
-- fall before that instant. TB422 for the future, with the name of what asked for it.
CREATE FUNCTION tributary.resolve_v1(
    p_tribe uuid, p_tick bigint, p_instant timestamptz, p_now timestamptz, p_field text DEFAULT 'as_of', OUT tick bigint,
    OUT at timestamptz, OUT settled boolean)
LANGUAGE plpgsql STABLE SET search_path = tributary, pg_temp AS $$
DECLARE
    t tribe;
BEGIN
    SELECT * INTO t FROM tribe WHERE tribe_id = p_tribe;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such tribe' USING ERRCODE = 'TB404';
    END IF;
    IF p_tick IS NOT NULL THEN
        IF p_tick > t.clock THEN
            RAISE EXCEPTION 'the clock of this tribe stands at %', t.clock USING ERRCODE = 'TB422', COLUMN = p_field;
        END IF;
        PERFORM refuse_lost_v1(t, p_tick, p_field);
        tick := p_tick;
        at := coalesce(p_instant,
                       (SELECT e.at FROM lesson_event e WHERE e.tribe_id = p_tribe AND e.tick = p_tick LIMIT 1),
                       (SELECT e.at FROM tribe_event e WHERE e.tribe_id = p_tribe AND e.tick = p_tick LIMIT 1), t.created_at);
        settled := true;
    ELSIF p_instant IS NOT NULL THEN
        IF p_instant > greatest(p_now, t.clock_at) THEN -- what the tribe has reached is past, whoever's clock is behind
            RAISE EXCEPTION 'that instant is yet to come' USING ERRCODE = 'TB422', COLUMN = p_field;
        END IF;
        tick := greatest(0, (SELECT e.tick FROM lesson_event e WHERE e.tribe_id = p_tribe AND e.at <= p_instant
                             ORDER BY e.at DESC, e.tick DESC LIMIT 1),
                            (SELECT e.tick FROM tribe_event e WHERE e.tribe_id = p_tribe AND e.at <= p_instant
                             ORDER BY e.at DESC, e.tick DESC LIMIT 1));
        at := p_instant;
        settled := p_instant <= t.clock_at;
    ELSE
        tick := t.clock;
        at := p_now;
        settled := true;
    END IF;
END
$$;

-- Of a recall: the first row is the header alone, each other row a lesson. The header's arrays hold what ranking goes by, for each lesson
-- of the pool, best fused first: whole lessons are many columns, and few of the pool are shown. Arrays, since building them as JSON takes
-- longer than finding them.
CREATE TYPE tributary.recalled AS (
    header json,
    pool uuid[], kinds text[], confidences double precision[], confirmed bigint[], contradicted bigint[], confirmed_at timestamptz[],
    valid_from_each timestamptz[], valid_until_each timestamptz[], distances double precision[], weights double precision[],
    subject_matches boolean[],
    -- a lesson_row, column by column: taking fields out of a nested row is slow, since each is looked for from the first
    lesson_id uuid, agent_id uuid, agent_name text, kind text, status text, text text, situation text, subject text,
    subject_key text, tags jsonb, source_how text, source_ref text, evidence jsonb, rationale text, confidence double precision,
    valid_from timestamptz, valid_until timestamptz, keep_until timestamptz, content_hash bytea,
    learned_tick bigint, learned_at timestamptz, activated_tick bigint, activated_at timestamptz,
    deactivated_tick bigint, deactivated_at timestamptz, superseded_by uuid,
    confirmations bigint, contradictions bigint, last_confirmed_at timestamptz);

-- The three sides of a recall, fused.
--   p_vector          the query's embedding as text, NULL when it could not be made
--   p_terms           the query's terms, each once
--   p_filters         NULL, or kinds, hows (arrays or null), agent (a name or null), subject_key (or null), tags (an object)
--   p_pool, p_whole   how many lessons each side may bring and the pool holds, and how many of it come whole, best fused first
--   p_tick, p_instant the past moment asked for: NULL for now; both for a tick, judged at that instant
--   p_now             NULL for the database's clock
--   p_budget_ms       how long lessons may be compared one by one
--   p_only            instead of searching, looks at these
CREATE FUNCTION tributary.recall_v1(
    p_tribe uuid, p_space integer, p_vector text, p_terms text[], p_query_subject text, p_filters jsonb, p_pool integer,
    p_whole integer, p_tick bigint, p_instant timestamptz, p_now timestamptz, p_rare integer, p_cap integer, p_exact_limit bigint,
    p_budget_ms integer, p_only uuid[])
RETURNS SETOF tributary.recalled LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    moment record;
    filters scope := CASE WHEN p_filters IS NULL THEN ROW(NULL, NULL, false, NULL, NULL, NULL, NULL, '{}')::scope
                          ELSE scope_v1(p_tribe, p_filters) END;
    state text := (SELECT s.state FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space);
    vector halfvec := CASE WHEN state = 'serving' OR p_only IS NOT NULL THEN p_vector::halfvec END;
    sought record;
    path text;
    near near := ROW('{}', '{}', 0, NULL, true);
    known jsonb;
    pool uuid[];
    distances double precision[];
    weights double precision[];
    all_weights double precision;
BEGIN
    SELECT * INTO moment FROM resolve_v1(p_tribe, p_tick, p_instant, coalesce(p_now, clock_timestamp()));
    filters.tick := moment.tick;
    filters.present := p_tick IS NULL AND p_instant IS NULL;
    IF vector IS NOT NULL AND p_only IS NULL THEN
        SELECT * INTO sought FROM search_v1(p_tribe, p_space, vector, p_pool, filters, p_exact_limit, p_budget_ms);
        path := sought.path;
        near := sought.near;
    END IF;

    WITH held AS MATERIALIZED (
        SELECT w.* FROM term_holders_v1(p_tribe, p_terms, p_cap, moment.tick) w
    ), rare AS (
        SELECT h.lesson_ids, h.weight FROM held h WHERE h.holders BETWEEN 1 AND p_cap
        ORDER BY h.holders, length(h.term) DESC, h.term LIMIT p_rare
    ), by_terms AS MATERIALIZED (
        SELECT x.lesson_id, sum(r.weight) AS weight FROM rare r, unnest(r.lesson_ids) AS x(lesson_id) GROUP BY x.lesson_id
    ), others AS (
        (SELECT b.lesson_id, row_number() OVER (ORDER BY b.weight DESC, b.lesson_id DESC) AS place FROM by_terms b
         ORDER BY b.weight DESC, b.lesson_id DESC LIMIT 4 * p_pool)
        UNION ALL
        (SELECT l.lesson_id, row_number() OVER (ORDER BY l.lesson_id DESC) FROM lesson l
         WHERE l.tribe_id = p_tribe AND l.subject_key = p_query_subject
         ORDER BY l.lesson_id DESC LIMIT p_pool)
    ), sides AS (
        -- the nearest were sought in scope; what the other sides bring is checked
        SELECT n.lesson_id, n.place, n.distance
        FROM unnest(near.lesson_ids, near.distances) WITH ORDINALITY AS n(lesson_id, distance, place)
        UNION ALL
        SELECT o.lesson_id, o.place, NULL FROM others o JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = o.lesson_id
        WHERE p_only IS NULL AND in_scope_v1(l, filters)
        UNION ALL
        SELECT l.lesson_id, o.place, NULL FROM unnest(p_only) WITH ORDINALITY AS o(lesson_id, place)
        JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = o.lesson_id AND l.learned_tick <= moment.tick
    ), fused AS (
        -- reciprocal rank fusion, k = 60 (Cormack, Clarke and Buettcher 2009); the ranking proper is done over the pool
        SELECT s.lesson_id, sum(1.0::double precision / (60 + s.place)) AS fusion, min(s.distance) AS distance
        FROM sides s GROUP BY s.lesson_id ORDER BY fusion DESC, s.lesson_id DESC LIMIT p_pool
    )
    SELECT coalesce(array_agg(f.lesson_id ORDER BY f.fusion DESC, f.lesson_id DESC), '{}'),
           coalesce(array_agg(f.distance ORDER BY f.fusion DESC, f.lesson_id DESC), '{}'),
           coalesce(array_agg(coalesce(b.weight, 0) ORDER BY f.fusion DESC, f.lesson_id DESC), '{}'),
           (SELECT coalesce(sum(h.weight), 0) FROM held h)
    INTO pool, distances, weights, all_weights
    FROM fused f LEFT JOIN by_terms b USING (lesson_id);
    IF vector IS NOT NULL THEN
        -- of those that the other sides brought
        distances := ARRAY(
            SELECT coalesce(p.distance, (SELECT v.embedding <=> vector FROM lesson_vector v
                                         WHERE v.tribe_id = p_tribe AND v.space_id = p_space AND v.lesson_id = p.lesson_id))
            FROM unnest(pool, distances) WITH ORDINALITY AS p(lesson_id, distance, place) ORDER BY p.place);
    END IF;

    RETURN QUERY SELECT json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'replica', pg_is_in_recovery(),
        'lost', (SELECT json_agg(json_build_array(lower(r), upper(r))) FROM tribe t, unnest(t.lost) r WHERE t.tribe_id = p_tribe),
        'space', state, 'path', path, 'agent', filters.agent_id, 'finished', near.finished,
        'considered', greatest(near.compared, cardinality(pool)),
        'in_scope', near.in_scope, 'with_vector', near.compared,
        'held', CASE WHEN near.in_scope IS NULL THEN holdings_v1(p_tribe, p_space, filters.present) END,
        'statuses', CASE WHEN filters.present THEN (
            SELECT coalesce(json_object_agg(c.status, c.lessons), '{}') FROM tribe_count c
            WHERE c.tribe_id = p_tribe AND c.status <> 'active' AND c.lessons > 0) ELSE '{}'::json END,
        'erased_since', p_only IS NOT NULL AND EXISTS (
            SELECT FROM lesson l JOIN lesson_event e ON e.tribe_id = p_tribe AND e.lesson_id = l.lesson_id
            WHERE l.tribe_id = p_tribe AND l.status = 'erased' AND e.event = 'erased' AND e.tick > moment.tick),
        'term_weight', all_weights, 'challenges', challenges_v1(p_tribe, pool, moment.tick)),
        r.*, none.*
        FROM (SELECT (NULL::lesson_row).*) none, (
            SELECT array_agg(o.lesson_id), array_agg(o.kind), array_agg(o.confidence), array_agg(o.confirmations),
                   array_agg(o.contradictions), array_agg(o.last_confirmed_at), array_agg(o.valid_from), array_agg(o.valid_until),
                   array_agg(o.distance), array_agg(o.weight), array_agg(coalesce(o.subject_key = p_query_subject, false))
            FROM (SELECT n.*, p.distance, p.weight FROM lesson_rows_v1(p_tribe, pool, moment.tick) n
                  JOIN unnest(pool, distances, weights) WITH ORDINALITY AS p(lesson_id, distance, weight, place) USING (lesson_id)
                  ORDER BY p.place) o) r;
    RETURN QUERY SELECT
        NULL::json, NULL::uuid[], NULL::text[], NULL::double precision[], NULL::bigint[], NULL::bigint[], NULL::timestamptz[],
        NULL::timestamptz[], NULL::timestamptz[], NULL::double precision[], NULL::double precision[], NULL::boolean[], n.*
        FROM lesson_rows_v1(p_tribe, pool[1:p_whole], moment.tick) n;
END
$$;

-- The status that a lesson had at a tick, by its last event up to then. Folded into its caller's plan, so without a SET clause.
CREATE FUNCTION tributary.status_at_v1(p_tribe uuid, p_lesson uuid, p_tick bigint) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT e.status FROM tributary.lesson_event e
    WHERE e.tribe_id = p_tribe AND e.lesson_id = p_lesson AND e.tick <= p_tick
    ORDER BY e.tick DESC, e.seq DESC LIMIT 1
$$;

-- How many lessons that nothing was decided about at a tick (pending or disputed) bear on a question: as near as p_nearer, without a vector
-- to tell by, or with a rare term of it. Asked when nothing believed was found: they are no answer, but they are not nothing.
--   p_present   the tick was that of now a moment ago: only what happened since has to be undone
CREATE FUNCTION tributary.undecided_v1(
    p_tribe uuid, p_space integer, p_vector text, p_terms text[], p_nearer double precision, p_cap integer, p_tick bigint,
    p_present boolean)
RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
AS $$
DECLARE
    vector halfvec := p_vector::halfvec;
    rare text[] := ARRAY(SELECT t.term FROM term_holders_v1(p_tribe, p_terms, p_cap, p_tick) t
                         WHERE t.holders BETWEEN 1 AND p_cap);
    undecided uuid[] := CASE WHEN p_present THEN
        ARRAY(SELECT l.lesson_id FROM lesson l WHERE l.tribe_id = p_tribe AND l.status IN ('pending', 'disputed')
              UNION
              SELECT e.lesson_id FROM lesson_event e
              WHERE e.tribe_id = p_tribe AND e.tick > p_tick AND status_at_v1(p_tribe, e.lesson_id, p_tick) IN ('pending', 'disputed'))
        ELSE
        ARRAY(SELECT o.lesson_id FROM (
                  SELECT DISTINCT e.lesson_id FROM lesson_event e
                  WHERE e.tribe_id = p_tribe AND e.status IN ('pending', 'disputed') AND e.tick <= p_tick) o
              WHERE status_at_v1(p_tribe, o.lesson_id, p_tick) IN ('pending', 'disputed')) END;
BEGIN
    RETURN (
        SELECT count(*) FROM lesson l
        LEFT JOIN lesson_vector v ON v.tribe_id = p_tribe AND v.space_id = p_space AND v.lesson_id = l.lesson_id
        WHERE l.tribe_id = p_tribe AND l.lesson_id = ANY (undecided)
          AND l.status <> 'erased' AND l.rejected_as IS DISTINCT FROM 'injection'
          AND (v.embedding IS NULL OR vector IS NULL OR v.embedding <=> vector <= p_nearer
               OR EXISTS (SELECT FROM lesson_term x
                          WHERE x.tribe_id = p_tribe AND x.lesson_id = l.lesson_id AND x.term = ANY (rare))));
END
$$;

-- A page of lessons, newest first, as they stood at a tick: those learned before (p_before_tick, p_before_id) and standing so.
--   p_agent       who asks; p_mine: only what this agent taught
--   p_hide        none that is held back now, but what this agent taught, where it asks for that alone
--   p_ref         only with this source ref; p_ref_prefix: with one that begins so
--   p_filters     as of recall_v1, the agent by its name or its id (agent_id). Where one of them leaves few lessons, those are looked at;
--                 else the tribe's, newest first, until there are enough: a filter that many pass is passed soon
CREATE FUNCTION tributary.list_lessons_v1(
    p_tribe uuid, p_agent uuid, p_status text, p_hide boolean, p_mine boolean, p_ref text, p_ref_prefix text, p_limit integer,
    p_before_tick bigint, p_before_id uuid, p_tick bigint, p_instant timestamptz, p_now timestamptz, p_filters jsonb DEFAULT NULL)
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    moment record;
    filters scope := CASE WHEN p_filters IS NOT NULL THEN scope_v1(p_tribe, p_filters) END;
    few uuid[];
    page uuid[];
BEGIN
    SELECT * INTO moment FROM resolve_v1(p_tribe, p_tick, p_instant, coalesce(p_now, clock_timestamp()));
    IF p_filters IS NOT NULL THEN
        filters.present := true; -- when a lesson was learned narrows nothing: the newest come first
        few := narrowed_v1(p_tribe, filters, narrow_limit_v1(
            (SELECT coalesce(sum(c.lessons), 0)::bigint FROM tribe_count c WHERE c.tribe_id = p_tribe), p_limit));
        IF few IS NOT NULL THEN
            few := few || ARRAY(SELECT l.lesson_id FROM lesson l WHERE l.tribe_id = p_tribe AND (l.held OR l.status = 'erased'));
        END IF;
    END IF;
    page := ARRAY(
        SELECT l.lesson_id FROM lesson l
        WHERE l.tribe_id = p_tribe AND l.learned_tick <= moment.tick
          AND (p_before_tick IS NULL OR (l.learned_tick, l.lesson_id) < (p_before_tick, p_before_id))
          AND (p_status IS NULL OR p_status = CASE
               WHEN p_tick IS NULL AND p_instant IS NULL THEN l.status
               WHEN l.activated_tick <= moment.tick AND (l.deactivated_tick IS NULL OR l.deactivated_tick > moment.tick)
               THEN 'active'
               ELSE (SELECT e.status FROM lesson_event e
                     WHERE e.tribe_id = p_tribe AND e.lesson_id = l.lesson_id AND e.tick <= moment.tick
                     ORDER BY e.tick DESC, e.seq DESC LIMIT 1) END)
          AND NOT (p_hide AND NOT p_mine AND (l.held OR coalesce(l.rejected_as = 'injection', false)))
          AND (NOT p_mine OR l.agent_id = p_agent)
          AND (p_ref IS NULL OR left(l.source_ref, 128) = left(p_ref, 128) AND l.source_ref = p_ref)
          AND (p_ref_prefix IS NULL
               OR left(l.source_ref, 128) ^@ left(p_ref_prefix, 128) AND l.source_ref ^@ p_ref_prefix)
          AND (few IS NULL OR l.lesson_id = ANY (few))
          AND (p_filters IS NULL OR in_filters_v1(l, filters))
        ORDER BY l.learned_tick DESC, l.lesson_id DESC LIMIT p_limit + 1);
    RETURN (SELECT json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'more', cardinality(page) > p_limit,
        'agent', filters.agent_id, 'lessons', coalesce(json_agg(row_to_json(n) ORDER BY array_position(page, n.lesson_id)), '[]'))
        FROM lesson_rows_v1(p_tribe, page[1:p_limit], moment.tick) n);
END
$$;

-- One lesson as it stood at a tick, NULL when the tribe did not have it then.
CREATE FUNCTION tributary.show_lesson_v1(
    p_tribe uuid, p_lesson uuid, p_tick bigint, p_instant timestamptz, p_now timestamptz)
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
DECLARE
    moment record;
BEGIN
    SELECT * INTO moment FROM resolve_v1(p_tribe, p_tick, p_instant, coalesce(p_now, clock_timestamp()));
    RETURN (SELECT json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled,
        'held', l.held OR coalesce(l.rejected_as = 'injection', false), -- now, whichever moment was asked about
        'lesson', row_to_json(n), 'challenges', challenges_v1(p_tribe, ARRAY[p_lesson], moment.tick))
        FROM lesson l
        JOIN lesson_rows_v1(p_tribe, ARRAY[p_lesson], moment.tick) n USING (lesson_id)
        WHERE l.tribe_id = p_tribe AND l.lesson_id = p_lesson AND l.learned_tick <= moment.tick);
END
$$;
