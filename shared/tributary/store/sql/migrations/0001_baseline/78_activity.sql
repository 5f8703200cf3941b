-- How busy a tribe was, hour by hour. Ticks and what became of lessons are in its events, calls of models in model_call; what neither tells
-- is counted in the processes (access/timekeeping.py) and added up here, outside of the gate: best effort, no text, forgotten after weeks.

CREATE TABLE tributary.activity (
    tribe_id  uuid NOT NULL,
    hour      timestamptz NOT NULL, -- its beginning
    what      text NOT NULL CHECK (what IN ('recall.complete', 'recall.approximate', 'recall.partial', 'recall.unknown', 'learn',
                                            'pairs.judged', 'pairs.escalated')),
    bin       smallint NOT NULL CHECK (bin BETWEEN 0 AND 99), -- how long it took, by core/activity.py; 0 for pairs. Other bins, another `what`
    calls     bigint NOT NULL CHECK (calls >= 0),
    PRIMARY KEY (tribe_id, hour, what, bin)
) WITH (fillfactor = 50);

-- Adds up what a process has counted, from [{tribe_id, hour, what, bin, calls}]. As count_usage_v1 does: in the order of the key, without
-- waiting long, and false, with nothing tried, where nothing can be written.
CREATE FUNCTION tributary.count_activity_v1(p_counts jsonb) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = tributary, pg_temp
SET lock_timeout = '2s'
AS $$
BEGIN
    IF current_setting('transaction_read_only') = 'on' THEN
        RETURN false;
    END IF;
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO activity AS a (tribe_id, hour, what, bin, calls)
    SELECT c.tribe_id, c.hour, c.what, c.bin, c.calls
    FROM jsonb_to_recordset(p_counts) AS c(tribe_id uuid, hour timestamptz, what text, bin smallint, calls bigint)
    ORDER BY c.tribe_id, c.hour, c.what, c.bin
    ON CONFLICT (tribe_id, hour, what, bin) DO UPDATE SET calls = a.calls + excluded.calls;
    RETURN true;
END
$$;

-- What happened from p_since up to p_until, in buckets of p_length from p_since on. Each table is read by a range of its key or of its index
-- by time, so that a long history costs nothing. Calls of models are a curator's to see.
--   p_bounds_ms   where the bins of latencies end (core/activity.py)
CREATE FUNCTION tributary.activity_v1(
    p_tribe uuid, p_actor uuid, p_since timestamptz, p_until timestamptz, p_length interval, p_bounds_ms double precision[])
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    role constant text := require_role_v1(p_tribe, p_actor, 'reader');
BEGIN
    RETURN (
        WITH happened AS MATERIALIZED (
            SELECT date_bin(p_length, e.at, p_since) AS start, e.event, count(*) AS events, min(e.tick) AS first, max(e.tick) AS last
            FROM lesson_event e WHERE e.tribe_id = p_tribe AND e.at >= p_since AND e.at < p_until GROUP BY 1, 2
            UNION ALL
            SELECT date_bin(p_length, e.at, p_since), e.event, count(*), min(e.tick), max(e.tick)
            FROM tribe_event e WHERE e.tribe_id = p_tribe AND e.at >= p_since AND e.at < p_until GROUP BY 1, 2),
        settled AS MATERIALIZED (
            SELECT e.tick, e.details ->> 'ending' AS ending FROM tribe_event e
            WHERE e.tribe_id = p_tribe AND e.at >= p_since AND e.at < p_until AND e.event = 'dispute_settled'),
        counted AS MATERIALIZED (
            SELECT date_bin(p_length, c.hour, p_since) AS start, c.what, c.bin, sum(c.calls)::bigint AS calls
            FROM activity c WHERE c.tribe_id = p_tribe AND c.hour >= p_since AND c.hour < p_until GROUP BY 1, 2, 3)
        SELECT json_build_object(
            'ticks', (SELECT coalesce(json_agg(json_build_object('start', t.start, 'ticks', t.ticks)), '[]')
                      -- every tick has an event, but for those that a restore took back, and none is left out
                      FROM (SELECT h.start, max(h.last) - min(h.first) + 1 - (
                                SELECT coalesce(sum(upper(r) - lower(r)), 0)::bigint FROM tribe b, unnest(b.lost) r
                                WHERE b.tribe_id = p_tribe AND lower(r) > min(h.first) AND upper(r) <= max(h.last)) AS ticks
                            FROM happened h GROUP BY h.start) t),
            'events', (SELECT coalesce(json_agg(json_build_object('start', h.start, 'event', h.event, 'events', h.events)), '[]')
                       FROM happened h),
            'recalls', (SELECT coalesce(json_agg(json_build_object('start', r.start, 'what', r.what, 'calls', r.calls)), '[]')
                        FROM (SELECT c.start, c.what, sum(c.calls)::bigint AS calls FROM counted c
                              WHERE starts_with(c.what, 'recall.') GROUP BY c.start, c.what) r),
            'latencies', (SELECT coalesce(json_agg(json_build_object('of', l.of, 'bin', l.bin, 'calls', l.calls)), '[]')
                          FROM (SELECT split_part(c.what, '.', 1) AS of, c.bin, sum(c.calls)::bigint AS calls FROM counted c
                                WHERE NOT starts_with(c.what, 'pairs.') GROUP BY 1, 2) l),
            'replaced', (SELECT coalesce(sum(h.events), 0)::bigint FROM happened h WHERE h.event = 'superseded')
                        -- but not what a curator decided
                        - (SELECT count(*) FROM settled s JOIN lesson_event e ON e.tribe_id = p_tribe AND e.tick = s.tick
                           WHERE e.event = 'superseded'),
            'endings', (SELECT coalesce(json_object_agg(s.ending, s.disputes), '{}')
                        FROM (SELECT ending, count(*) AS disputes FROM settled GROUP BY ending) s),
            'models', CASE WHEN role = 'curator' THEN models_activity_v1(p_tribe, p_since, p_until, p_bounds_ms) END,
            'pairs', CASE WHEN role = 'curator' THEN (
                SELECT coalesce(json_object_agg(c.what, c.pairs), '{}')
                FROM (SELECT what, sum(calls)::bigint AS pairs FROM counted WHERE starts_with(what, 'pairs.') GROUP BY what) c) END));
END
$$;

-- Calls of models in that time by purpose and model, each with how many took how long: {bin: calls}.
CREATE FUNCTION tributary.models_activity_v1(p_tribe uuid, p_since timestamptz, p_until timestamptz, p_bounds_ms double precision[])
RETURNS json LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    WITH called AS (
        SELECT m.purpose, m.model, width_bucket(m.ms, p_bounds_ms) AS bin, count(*) AS calls,
               count(*) FILTER (WHERE m.ended <> 'answered') AS failed,
               count(*) FILTER (WHERE m.cost_usd IS NULL AND m.ended NOT IN ('throttled', 'failed')) AS unpriced, -- as charge_calls_v1 has it
               coalesce(sum(m.input_tokens), 0) AS input_tokens, coalesce(sum(m.output_tokens), 0) AS output_tokens,
               coalesce(sum(m.cost_usd), 0) AS cost_usd
        FROM model_call m WHERE m.tribe_id = p_tribe AND m.at >= p_since AND m.at < p_until GROUP BY 1, 2, 3)
    SELECT coalesce(json_agg(json_build_object(
        'purpose', s.purpose, 'model', s.model, 'failed', s.failed, 'unpriced', s.unpriced, 'input_tokens', s.input_tokens,
        'output_tokens', s.output_tokens, 'cost_usd', s.cost_usd::text, 'bins', s.bins)
        ORDER BY s.cost_usd DESC, s.calls DESC, s.purpose, s.model), '[]')
    FROM (SELECT c.purpose, c.model, sum(c.calls) AS calls, sum(c.failed) AS failed, sum(c.unpriced) AS unpriced,
                 sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens, sum(c.cost_usd) AS cost_usd,
                 json_object_agg(c.bin, c.calls) AS bins
          FROM called c GROUP BY c.purpose, c.model) s
$$;
