-- What the memory says of itself: how it is used, and whether everything that a recall needs is there. All of it can be asked of a replica;
-- count_usage_v1 alone writes.

-- Adds up calls that a process has counted, from [{tribe_id, agent_id, day, operation, calls}]. In the order of the key, so that two
-- processes that add to the same rows don't wait for each other in a circle. False, with nothing tried, where nothing can be written.
CREATE FUNCTION tributary.count_usage_v1(p_counts jsonb) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = tributary, pg_temp
SET lock_timeout = '2s' -- nobody waits long to be counted
AS $$
BEGIN
    IF current_setting('transaction_read_only') = 'on' THEN
        RETURN false;
    END IF;
    PERFORM set_config('synchronous_commit', 'off', true); -- losing the last counts in a crash is harmless
    INSERT INTO usage AS u (tribe_id, agent_id, day, operation, calls)
    SELECT c.tribe_id, c.agent_id, c.day, c.operation, c.calls
    FROM jsonb_to_recordset(p_counts) AS c(tribe_id uuid, agent_id uuid, day date, operation text, calls bigint)
    ORDER BY c.tribe_id, c.agent_id, c.day, c.operation
    ON CONFLICT (tribe_id, agent_id, day, operation) DO UPDATE SET calls = u.calls + excluded.calls;
    RETURN true;
END
$$;

-- How a tribe stands and is used, from counters. The calls of each agent are a curator's to see.
CREATE FUNCTION tributary.stats_v1(p_tribe uuid, p_actor uuid, p_now timestamptz) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    role constant text := require_role_v1(p_tribe, p_actor, 'reader');
    moment record;
    today date;
BEGIN
    SELECT * INTO moment FROM resolve_v1(p_tribe, NULL, NULL, coalesce(p_now, clock_timestamp()));
    today := (moment.at AT TIME ZONE 'UTC')::date;
    RETURN (
        WITH calls AS MATERIALIZED (
            -- agent by agent, since that is how the key begins
            SELECT a.agent_id, a.name, u.operation, coalesce(sum(u.calls) FILTER (WHERE u.day = today), 0) AS today,
                   sum(u.calls) AS last_7_days
            FROM agent a JOIN usage u ON u.tribe_id = p_tribe AND u.agent_id = a.agent_id AND u.day BETWEEN today - 6 AND today
            WHERE a.tribe_id = p_tribe GROUP BY a.agent_id, a.name, u.operation)
        SELECT json_build_object(
            'tick', moment.tick, 'at', moment.at,
            'lessons', (SELECT coalesce(json_object_agg(c.status, c.lessons ORDER BY c.status), '{}') FROM tribe_count c
                        WHERE c.tribe_id = p_tribe AND c.lessons > 0),
            'disputes', (SELECT count(*) FROM dispute d WHERE d.tribe_id = p_tribe AND d.state = 'open' AND d.kind = 'conflict'),
            'challenges', (SELECT count(*) FROM dispute d WHERE d.tribe_id = p_tribe AND d.state = 'open' AND d.kind = 'unsure'),
            'spaces', (SELECT coalesce(json_agg(json_build_object('space', s.name, 'state', t.state, 'vectors', t.vectors)
                                                ORDER BY t.state, s.name), '[]')
                       FROM tribe_space t JOIN space s USING (space_id) WHERE t.tribe_id = p_tribe),
            'agents', (SELECT coalesce(json_object_agg(r.role, r.agents ORDER BY r.role), '{}')
                       FROM (SELECT a.role, count(*) AS agents FROM agent a
                             WHERE a.tribe_id = p_tribe AND a.revoked_at IS NULL GROUP BY a.role) r),
            'calls', (SELECT coalesce(json_agg(o ORDER BY o.operation), '[]')
                      FROM (SELECT c.operation, sum(c.today) AS today, sum(c.last_7_days) AS last_7_days
                            FROM calls c GROUP BY c.operation) o),
            'by_agent', CASE WHEN role = 'curator' THEN (
                SELECT coalesce(json_agg(c ORDER BY c.name, c.operation), '[]') FROM calls c) END));
END
$$;

-- The revision of the schema, and the oldest code that it serves.
CREATE FUNCTION tributary.status_schema_v1() RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
BEGIN
    RETURN (SELECT json_build_object('revision', v.version_num, 'oldest_code', r.oldest_code)
            FROM schema_requirement r LEFT JOIN alembic_version v ON true);
END
$$;

-- A tribe's clock beside the wall clock, its counters, and the gardener's last run there.
CREATE FUNCTION tributary.status_tribe_v1(p_tribe uuid) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT json_build_object(
        'tick', t.clock, 'ahead_s', round(extract(epoch FROM t.clock_at - clock_timestamp())::numeric, 3),
        'lessons', (SELECT coalesce(json_object_agg(c.status, c.lessons), '{}') FROM tribe_count c WHERE c.tribe_id = t.tribe_id),
        'gardening', (SELECT json_build_object(
                          'began_at', g.began_at, 'ended_at', g.ended_at, 'failed', g.failed, 'rules', g.rules,
                          'age_s', round(extract(epoch FROM clock_timestamp() - g.ended_at)::numeric, 3))
                      FROM gardening g WHERE g.tribe_id = t.tribe_id))
    FROM tribe t WHERE t.tribe_id = p_tribe
$$;

-- The spaces of a tribe.
CREATE FUNCTION tributary.status_spaces_v1(p_tribe uuid) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT coalesce(json_agg(json_build_object('space', s.name, 'state', t.state, 'dimension', s.dimension, 'vectors', t.vectors)
                             ORDER BY t.state, s.name), '[]')
    FROM tribe_space t JOIN space s USING (space_id) WHERE t.tribe_id = p_tribe
$$;

-- The tribe's own index in its serving space (absent, invalid or valid), and the vectors that wait beside it; NULL without such a space.
CREATE FUNCTION tributary.status_index_v1(p_tribe uuid) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
    SELECT json_build_object(
        'name', index_name_v1(p_tribe, t.space_id), 'vectors', t.vectors,
        'index', coalesce((SELECT CASE WHEN i.indisvalid THEN 'valid' ELSE 'invalid' END
                           FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
                           WHERE c.relname = index_name_v1(p_tribe, t.space_id)
                             AND c.relnamespace = 'tributary'::regnamespace), 'absent'),
        'beside', CASE WHEN has_index_v1(p_tribe, t.space_id) THEN (
            SELECT count(*) FROM lesson_vector v
            WHERE v.tribe_id = p_tribe AND v.space_id = t.space_id AND v.believed AND NOT v.indexed) ELSE 0 END)
    FROM tribe_space t WHERE t.tribe_id = p_tribe AND t.state = 'serving'
$$;

-- The path that a recall takes now, and the indexes that the planner chooses for its query: of the very text, under the very
-- settings, that graph_v1 or exact_v1 runs. VOLATILE since EXPLAIN is not allowed otherwise; it writes nothing.
CREATE FUNCTION tributary.status_plan_v1(p_tribe uuid, p_exact_limit bigint, p_pool integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET hnsw.ef_search = 40
SET hnsw.iterative_scan = relaxed_order
SET enable_seqscan = off
SET enable_sort = off
AS $$
DECLARE
    serving record;
    query text;
    plan json;
BEGIN
    SELECT t.space_id, t.vectors, s.dimension, vector_path_v1(p_tribe, t.space_id, p_exact_limit) AS path INTO serving
    FROM tribe_space t JOIN space s USING (space_id) WHERE t.tribe_id = p_tribe AND t.state = 'serving';
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF serving.path = 'vector:hnsw' THEN
        PERFORM set_config('hnsw.ef_search', ef_search_v1(p_pool, serving.vectors), true);
        query := graph_query_v1(p_tribe, serving.space_id, serving.dimension, false, false);
    ELSE
        PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_sort', 'on', true); -- as exact_v1 runs
        query := exact_query_v1(p_tribe, serving.space_id, true, false, false);
    END IF;
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan USING array_fill(1.0::real, ARRAY[serving.dimension])::halfvec, p_pool;
    RETURN json_build_object('path', serving.path, 'indexes', (
        SELECT coalesce(json_agg(DISTINCT i.name #>> '{}'), '[]')
        FROM jsonb_path_query(plan::jsonb, 'strict $.**."Index Name"', silent => true) AS i(name)));
END
$$;
