-- recall and listings: one STABLE function a read, so one snapshot and one round trip.

-- The tick that a read is about, the instant at which time-dependent rules are judged, and whether a later commit could still
-- fall before that instant. TB422 for the future.
CREATE FUNCTION tributary.resolve_v1(
    p_tribe uuid, p_tick bigint, p_instant timestamptz, p_now timestamptz, OUT tick bigint, OUT at timestamptz,
    OUT settled boolean)
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
            RAISE EXCEPTION 'the clock of this tribe stands at %', t.clock USING ERRCODE = 'TB422';
        END IF;
        tick := p_tick;
        at := coalesce((SELECT e.at FROM lesson_event e WHERE e.tribe_id = p_tribe AND e.tick = p_tick LIMIT 1),
                       (SELECT e.at FROM tribe_event e WHERE e.tribe_id = p_tribe AND e.tick = p_tick LIMIT 1), t.created_at);
        settled := true;
    ELSIF p_instant IS NOT NULL THEN
        IF p_instant > p_now THEN
            RAISE EXCEPTION 'that instant is yet to come' USING ERRCODE = 'TB422';
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

-- Of a recall: the first row is the header alone, each other row a lesson of the pool, best fused first. Rows, since building
-- and reading fifty lessons as JSON costs more than finding them.
CREATE TYPE tributary.recalled AS (
    header json,
    -- a lesson_row, column by column: taking fields out of a nested row is slow, since each is looked for from the first
    lesson_id uuid, agent_id uuid, agent_name text, kind text, status text, text text, situation text, subject text,
    subject_key text, tags jsonb, source_how text, source_ref text, evidence jsonb, rationale text, confidence double precision,
    valid_from timestamptz, valid_until timestamptz, keep_until timestamptz, content_hash bytea,
    learned_tick bigint, learned_at timestamptz, activated_tick bigint, activated_at timestamptz,
    deactivated_tick bigint, deactivated_at timestamptz, superseded_by uuid,
    confirmations bigint, contradictions bigint, last_confirmed_at timestamptz,
    cosine_distance double precision, term_weight double precision, subject_matches boolean);

-- The three sides of a recall, fused.
--   p_vector          the query's embedding as text, NULL when it could not be made
--   p_terms           the query's terms, each once
--   p_kinds, p_subject_key, p_tags   filters, NULL or '{}' when absent
--   p_pool            how many lessons each side may bring, and how many the pool holds
--   p_tick, p_instant the past moment asked for, both NULL for now; p_now NULL for the database's clock
CREATE FUNCTION tributary.recall_v1(
    p_tribe uuid, p_space integer, p_vector text, p_terms text[], p_query_subject text, p_kinds text[], p_subject_key text,
    p_tags jsonb, p_pool integer, p_tick bigint, p_instant timestamptz, p_now timestamptz, p_rare integer, p_cap integer,
    p_exact_limit bigint)
RETURNS SETOF tributary.recalled LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    moment record;
    present boolean := p_tick IS NULL AND p_instant IS NULL;
    filtered boolean := p_kinds IS NOT NULL OR p_subject_key IS NOT NULL OR p_tags <> '{}';
    serving boolean := EXISTS (SELECT FROM tribe_space s
                               WHERE s.tribe_id = p_tribe AND s.space_id = p_space AND s.state = 'serving');
    vector halfvec := CASE WHEN serving THEN p_vector::halfvec END;
    path text;
    near record;
    scope uuid[];
    in_scope bigint;
    with_vector bigint;
    all_weights double precision;
    pool_ids uuid[];
    pool_distances double precision[];
    pool_weights double precision[];
BEGIN
    SELECT * INTO moment FROM resolve_v1(p_tribe, p_tick, p_instant, coalesce(p_now, clock_timestamp()));
    IF present AND NOT filtered THEN
        in_scope := coalesce((SELECT c.lessons FROM tribe_count c WHERE c.tribe_id = p_tribe AND c.status = 'active'), 0);
        path := vector_path_v1(p_tribe, p_space, p_exact_limit);
        IF vector IS NOT NULL THEN
            SELECT * INTO near FROM nearest_v1(p_tribe, p_space, vector, p_pool, path);
            with_vector := CASE path WHEN 'vector:exact' THEN near.compared
                           ELSE (SELECT s.vectors FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space) END;
        END IF;
    ELSE
        -- what was believed then, or what the filters let in, is scanned exactly
        SELECT coalesce(array_agg(l.lesson_id), '{}') INTO scope FROM lesson l
        WHERE l.tribe_id = p_tribe AND l.activated_tick <= moment.tick
          AND (l.deactivated_tick IS NULL OR l.deactivated_tick > moment.tick)
          AND l.rejected_as IS DISTINCT FROM 'injection' -- what was believed once, but hijacks whoever reads it
          AND (p_kinds IS NULL OR l.kind = ANY (p_kinds))
          AND (p_subject_key IS NULL OR l.subject_key = p_subject_key)
          AND l.tags @> p_tags;
        in_scope := cardinality(scope);
        path := CASE WHEN serving THEN 'vector:exact' END;
        IF vector IS NOT NULL THEN
            WITH compared AS MATERIALIZED (
                SELECT v.lesson_id, v.embedding <=> vector AS distance
                FROM unnest(scope) AS s(lesson_id)
                JOIN lesson_vector v ON v.tribe_id = p_tribe AND v.space_id = p_space AND v.lesson_id = s.lesson_id)
            SELECT array_agg(n.lesson_id ORDER BY n.distance, n.lesson_id) AS lesson_ids,
                   array_agg(n.distance ORDER BY n.distance, n.lesson_id) AS distances,
                   (SELECT count(*) FROM compared) AS compared
            INTO near FROM (SELECT * FROM compared ORDER BY distance, lesson_id LIMIT p_pool) n;
            with_vector := near.compared;
        END IF;
    END IF;
    IF vector IS NULL THEN
        SELECT '{}'::uuid[] AS lesson_ids, '{}'::double precision[] AS distances, 0::bigint AS compared INTO near;
        path := NULL;
    END IF;

    WITH weights AS MATERIALIZED (
        SELECT w.* FROM term_holders_v1(p_tribe, p_terms, p_cap, moment.tick, present) w
    ), rare AS (
        SELECT w.lesson_ids, w.weight FROM weights w WHERE w.holders BETWEEN 1 AND p_cap
        ORDER BY w.holders, length(w.term) DESC, w.term LIMIT p_rare
    ), by_terms AS MATERIALIZED (
        SELECT x.lesson_id, sum(r.weight) AS weight FROM rare r, unnest(r.lesson_ids) AS x(lesson_id)
        GROUP BY x.lesson_id ORDER BY weight DESC, x.lesson_id DESC LIMIT 4 * p_pool
    ), others AS (
        SELECT b.lesson_id, row_number() OVER (ORDER BY b.weight DESC, b.lesson_id DESC) AS place FROM by_terms b
        UNION ALL
        (SELECT l.lesson_id, row_number() OVER (ORDER BY l.lesson_id DESC) FROM lesson l
         WHERE l.tribe_id = p_tribe AND l.subject_key = p_query_subject
         ORDER BY l.lesson_id DESC LIMIT p_pool)
    ), sides AS (
        -- the nearest were looked for among believed lessons that the filters let in; what the other sides bring is checked
        SELECT n.lesson_id, n.place, n.distance
        FROM unnest(near.lesson_ids, near.distances) WITH ORDINALITY AS n(lesson_id, distance, place)
        UNION ALL
        SELECT s.lesson_id, s.place, NULL FROM others s JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = s.lesson_id
        WHERE l.activated_tick <= moment.tick AND (l.deactivated_tick IS NULL OR l.deactivated_tick > moment.tick)
          AND l.rejected_as IS DISTINCT FROM 'injection'
          AND (p_kinds IS NULL OR l.kind = ANY (p_kinds))
          AND (p_subject_key IS NULL OR l.subject_key = p_subject_key)
          AND l.tags @> p_tags
    ), fused AS (
        -- reciprocal rank fusion, k = 60 (Cormack, Clarke and Buettcher 2009); the ranking proper is done over the pool
        SELECT s.lesson_id, sum(1.0::double precision / (60 + s.place)) AS fusion, min(s.distance) AS distance
        FROM sides s GROUP BY s.lesson_id ORDER BY fusion DESC, s.lesson_id DESC LIMIT p_pool
    )
    SELECT coalesce(array_agg(f.lesson_id ORDER BY f.fusion DESC, f.lesson_id DESC), '{}'),
           coalesce(array_agg(f.distance ORDER BY f.fusion DESC, f.lesson_id DESC), '{}'),
           coalesce(array_agg(coalesce(b.weight, 0) ORDER BY f.fusion DESC, f.lesson_id DESC), '{}'),
           (SELECT coalesce(sum(w.weight), 0) FROM weights w)
    INTO pool_ids, pool_distances, pool_weights, all_weights
    FROM fused f LEFT JOIN by_terms b USING (lesson_id);

    RETURN QUERY SELECT json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'replica', pg_is_in_recovery(),
        'path', path, 'in_scope', in_scope, 'with_vector', coalesce(with_vector, 0),
        'considered', greatest(coalesce(near.compared, 0), cardinality(pool_ids)),
        'statuses', CASE WHEN present THEN (
            SELECT coalesce(json_object_agg(c.status, c.lessons), '{}') FROM tribe_count c
            WHERE c.tribe_id = p_tribe AND c.status <> 'active' AND c.lessons > 0) ELSE '{}'::json END,
        'term_weight', all_weights, 'challenges', challenges_v1(p_tribe, pool_ids, moment.tick)),
        none.*, NULL::double precision, NULL::double precision, NULL::boolean
        FROM (SELECT (NULL::lesson_row).*) none;
    RETURN QUERY SELECT
        NULL::json, n.*,
        coalesce(p.distance, (SELECT v.embedding <=> vector FROM lesson_vector v
                              WHERE v.tribe_id = p_tribe AND v.space_id = p_space AND v.lesson_id = n.lesson_id)),
        p.weight, coalesce(n.subject_key = p_query_subject, false)
    FROM lesson_rows_v1(p_tribe, pool_ids, moment.tick) n
    JOIN unnest(pool_ids, pool_distances, pool_weights) WITH ORDINALITY AS p(lesson_id, distance, weight, place) USING (lesson_id)
    ORDER BY p.place;
END
$$;

-- How many lessons that nothing was decided about yet (pending or disputed) bear on a question: as near as p_nearer, without a vector to
-- tell by, or with a rare term of it. Asked when nothing believed was found: they are no answer, but they are not nothing.
CREATE FUNCTION tributary.undecided_v1(
    p_tribe uuid, p_space integer, p_vector text, p_terms text[], p_nearer double precision, p_cap integer)
RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
AS $$
DECLARE
    vector halfvec := p_vector::halfvec;
    rare text[] := ARRAY(SELECT t.term FROM term_holders_v1(p_tribe, p_terms, p_cap, latest_v1(), true) t
                         WHERE t.holders BETWEEN 1 AND p_cap);
BEGIN
    RETURN (
        SELECT count(*) FROM lesson l
        LEFT JOIN lesson_vector v ON v.tribe_id = p_tribe AND v.space_id = p_space AND v.lesson_id = l.lesson_id
        WHERE l.tribe_id = p_tribe AND l.status IN ('pending', 'disputed')
          AND (v.embedding IS NULL OR vector IS NULL OR v.embedding <=> vector <= p_nearer
               OR EXISTS (SELECT FROM lesson_term x
                          WHERE x.tribe_id = p_tribe AND x.lesson_id = l.lesson_id AND x.term = ANY (rare))));
END
$$;

-- A page of lessons, newest first, as they stood at a tick: those learned before (p_before_tick, p_before_id), standing so, and
-- none that is held back now, where p_hide.
CREATE FUNCTION tributary.list_lessons_v1(
    p_tribe uuid, p_status text, p_hide boolean, p_limit integer, p_before_tick bigint, p_before_id uuid, p_tick bigint,
    p_instant timestamptz, p_now timestamptz)
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    moment record;
    page uuid[];
BEGIN
    SELECT * INTO moment FROM resolve_v1(p_tribe, p_tick, p_instant, coalesce(p_now, clock_timestamp()));
    page := ARRAY(
        SELECT l.lesson_id FROM lesson l
        WHERE l.tribe_id = p_tribe AND l.learned_tick <= moment.tick
          AND (p_before_tick IS NULL OR (l.learned_tick, l.lesson_id) < (p_before_tick, p_before_id))
          AND (p_status IS NULL OR p_status = CASE
               WHEN l.activated_tick <= moment.tick AND (l.deactivated_tick IS NULL OR l.deactivated_tick > moment.tick)
               THEN 'active'
               ELSE (SELECT e.status FROM lesson_event e
                     WHERE e.tribe_id = p_tribe AND e.lesson_id = l.lesson_id AND e.tick <= moment.tick
                     ORDER BY e.tick DESC, e.seq DESC LIMIT 1) END)
          AND NOT (p_hide AND (l.held OR coalesce(l.rejected_as = 'injection', false)))
        ORDER BY l.learned_tick DESC, l.lesson_id DESC LIMIT p_limit + 1);
    RETURN (SELECT json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'more', cardinality(page) > p_limit,
        'lessons', coalesce(json_agg(row_to_json(n) ORDER BY array_position(page, n.lesson_id)), '[]'))
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
