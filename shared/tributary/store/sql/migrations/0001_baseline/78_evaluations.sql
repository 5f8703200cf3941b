-- What evals found, run by run. Of no tribe: it is about the code and the models, and nothing in it comes from a lesson.
CREATE TABLE tributary.evaluation (
    run_id       uuid NOT NULL,
    suite        text NOT NULL,
    metric       text NOT NULL,
    at           timestamptz NOT NULL,
    code         text NOT NULL, -- the commit
    tier         text NOT NULL CHECK (tier IN ('offline', 'live')),
    value        double precision NOT NULL,
    n            bigint NOT NULL CHECK (n >= 0),
    lower_bound  double precision,
    upper_bound  double precision,
    better       text CHECK (better IN ('higher', 'lower', 'nearer 0')), -- NULL where it was not said
    models       jsonb NOT NULL,
    PRIMARY KEY (run_id, suite, metric),
    CHECK ((lower_bound IS NULL) = (upper_bound IS NULL)),
    CHECK (lower_bound <= upper_bound)
);
CREATE INDEX evaluation_latest ON tributary.evaluation (at DESC, run_id DESC);

-- Keeps a run, from [{suite, metric, value, n, lower, upper, better}]. For the owner alone. The same run again changes nothing.
CREATE FUNCTION tributary.record_evaluation_v1(
    p_run uuid, p_at timestamptz, p_code text, p_tier text, p_models jsonb, p_found jsonb) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    WITH kept AS (
        INSERT INTO evaluation (run_id, suite, metric, at, code, tier, value, n, lower_bound, upper_bound, better, models)
        SELECT p_run, f.suite, f.metric, p_at, p_code, p_tier, f.value, f.n, f.lower, f.upper, f.better, p_models
        FROM jsonb_to_recordset(p_found) AS f(
            suite text, metric text, value double precision, n bigint, lower double precision, upper double precision,
            better text)
        ON CONFLICT (run_id, suite, metric) DO NOTHING RETURNING 1)
    SELECT count(*) FROM kept
$$;

-- The newest runs, newest first, each with its metrics. From run to run by the index, so that old ones cost nothing.
CREATE FUNCTION tributary.evaluations_v1(p_limit integer) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    WITH RECURSIVE newest(at, run_id, place) AS (
        (SELECT e.at, e.run_id, 1 FROM evaluation e ORDER BY e.at DESC, e.run_id DESC LIMIT 1)
        UNION ALL
        SELECT b.at, b.run_id, n.place + 1
        FROM newest n CROSS JOIN LATERAL (
            SELECT e.at, e.run_id FROM evaluation e WHERE (e.at, e.run_id) < (n.at, n.run_id)
            ORDER BY e.at DESC, e.run_id DESC LIMIT 1) b
        WHERE n.place < p_limit)
    SELECT coalesce(json_agg(r.run ORDER BY r.place), '[]') FROM (
        SELECT n.place, json_build_object(
            'run', e.run_id, 'at', e.at, 'commit', e.code, 'tier', e.tier, 'models', e.models,
            'found', json_agg(json_build_object(
                'suite', e.suite, 'metric', e.metric, 'value', e.value, 'n', e.n,
                'lower', e.lower_bound, 'upper', e.upper_bound, 'better', e.better) ORDER BY e.suite, e.metric)) AS run
        FROM newest n JOIN evaluation e ON e.run_id = n.run_id GROUP BY n.place, e.run_id, e.at, e.code, e.tier, e.models) r
$$;
