-- What calls of models cost a tribe. Written outside of the gate, holds no text, and outlives what an erasure removes: it says that a
-- model was called and for what it was paid, not what was said to it.
--
--   model_call   every attempt, for as long as the gardener keeps it
--   model_day    its sums, for good

CREATE TABLE tributary.model_call (
    tribe_id       uuid NOT NULL,
    call_id        uuid NOT NULL, -- made where the call was: what is handed over twice counts once
    at             timestamptz NOT NULL,
    agent_id       uuid, -- NULL for the gardener and the operator
    decision_id    uuid, -- NULL when it was made for none
    purpose        text NOT NULL CHECK (purpose IN ('embed', 'judge', 'strong_judge', 'screen', 'distill', 'responder', 'grade')),
    model          text NOT NULL,
    ended          text NOT NULL CHECK (ended IN ('answered', 'refused', 'malformed', 'timed_out', 'throttled', 'failed')),
    input_tokens   bigint CHECK (input_tokens >= 0),  -- NULL where the provider did not say
    output_tokens  bigint CHECK (output_tokens >= 0),
    cost_usd       numeric CHECK (cost_usd >= 0),     -- NULL where no price is known
    ms             double precision NOT NULL,
    PRIMARY KEY (tribe_id, call_id)
);
CREATE INDEX model_call_at ON tributary.model_call (tribe_id, at);

CREATE TABLE tributary.model_day (
    tribe_id       uuid NOT NULL,
    day            date NOT NULL, -- of UTC
    purpose        text NOT NULL,
    model          text NOT NULL,
    agent          text NOT NULL, -- the agent's id; '' for the gardener and the operator
    calls          bigint NOT NULL,
    failed         bigint NOT NULL, -- those of them that gave no answer
    unpriced       bigint NOT NULL, -- those of them that may have cost something nobody knows
    input_tokens   bigint NOT NULL,
    output_tokens  bigint NOT NULL,
    cost_usd       numeric NOT NULL,
    ms             double precision NOT NULL,
    PRIMARY KEY (tribe_id, day, purpose, model, agent)
) WITH (fillfactor = 50);

-- Writes calls down and adds them to the sums of their days, from [{tribe_id, call_id, at, agent_id, decision_id, purpose, model,
-- ended, input_tokens, output_tokens, cost_usd, ms}]. A call that is there already is passed over, so that it may be sent again when the
-- acknowledgement was lost. In the order of the key, so that two processes don't wait for each other in a circle. False, with nothing
-- tried, where nothing can be written.
CREATE FUNCTION tributary.charge_calls_v1(p_calls jsonb) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = tributary, pg_temp
SET lock_timeout = '2s' -- nobody waits long to be charged
AS $$
BEGIN
    IF current_setting('transaction_read_only') = 'on' THEN
        RETURN false;
    END IF;
    WITH fresh AS (
        INSERT INTO model_call (tribe_id, call_id, at, agent_id, decision_id, purpose, model, ended, input_tokens, output_tokens,
                                cost_usd, ms)
        SELECT c.tribe_id, c.call_id, c.at, c.agent_id, c.decision_id, c.purpose, c.model, c.ended, c.input_tokens, c.output_tokens,
               c.cost_usd, c.ms
        FROM jsonb_to_recordset(p_calls) AS c(
            tribe_id uuid, call_id uuid, at timestamptz, agent_id uuid, decision_id uuid, purpose text, model text, ended text,
            input_tokens bigint, output_tokens bigint, cost_usd numeric, ms double precision)
        ORDER BY c.tribe_id, c.call_id
        ON CONFLICT (tribe_id, call_id) DO NOTHING
        RETURNING *)
    INSERT INTO model_day AS d (tribe_id, day, purpose, model, agent, calls, failed, unpriced, input_tokens, output_tokens, cost_usd, ms)
    SELECT f.tribe_id, (f.at AT TIME ZONE 'UTC')::date, f.purpose, f.model, coalesce(f.agent_id::text, ''), count(*),
           count(*) FILTER (WHERE f.ended <> 'answered'),
           -- a provider that took no request, or was away, asks for nothing
           count(*) FILTER (WHERE f.cost_usd IS NULL AND f.ended NOT IN ('throttled', 'failed')),
           coalesce(sum(f.input_tokens), 0), coalesce(sum(f.output_tokens), 0), coalesce(sum(f.cost_usd), 0), sum(f.ms)
    FROM fresh f GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (tribe_id, day, purpose, model, agent) DO UPDATE SET
        calls = d.calls + excluded.calls, failed = d.failed + excluded.failed, unpriced = d.unpriced + excluded.unpriced,
        input_tokens = d.input_tokens + excluded.input_tokens, output_tokens = d.output_tokens + excluded.output_tokens,
        cost_usd = d.cost_usd + excluded.cost_usd, ms = d.ms + excluded.ms;
    RETURN true;
END
$$;

-- What a tribe has used of a day's budget: {calls, cost_usd}, money as text, which loses nothing on the way.
CREATE FUNCTION tributary.spent_v1(p_tribe uuid, p_day date) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT json_build_object('calls', coalesce(sum(calls), 0), 'cost_usd', coalesce(sum(cost_usd), 0)::text)
    FROM model_day WHERE tribe_id = p_tribe AND day = p_day
$$;

-- What calls of models cost a tribe from one day (UTC) to another, both included, by p_by: day, purpose, model or agent. The dearest come
-- first, days in their order. For curators: TB403 for others.
CREATE FUNCTION tributary.costs_v1(p_tribe uuid, p_actor uuid, p_from date, p_to date, p_by text, p_today date) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
BEGIN
    PERFORM require_role_v1(p_tribe, p_actor, 'curator');
    RETURN (
        WITH spent AS MATERIALIZED (
            SELECT CASE p_by WHEN 'day' THEN d.day::text WHEN 'purpose' THEN d.purpose WHEN 'model' THEN d.model ELSE d.agent END AS key,
                   d.model, d.calls, d.failed, d.unpriced, d.input_tokens, d.output_tokens, d.cost_usd
            FROM model_day d WHERE d.tribe_id = p_tribe AND d.day BETWEEN p_from AND p_to),
        sums AS (
            SELECT s.key, GROUPING(s.key) = 1 AS whole, coalesce(sum(s.calls), 0) AS calls, coalesce(sum(s.failed), 0) AS failed,
                   coalesce(sum(s.unpriced), 0) AS unpriced, coalesce(sum(s.input_tokens), 0) AS input_tokens,
                   coalesce(sum(s.output_tokens), 0) AS output_tokens, coalesce(sum(s.cost_usd), 0) AS cost_usd
            FROM spent s GROUP BY GROUPING SETS ((s.key), ()))
        SELECT json_build_object(
            'rows', coalesce(json_agg(json_build_object(
                'key', n.key, 'name', a.name, 'calls', n.calls, 'failed', n.failed, 'unpriced', n.unpriced,
                'input_tokens', n.input_tokens, 'output_tokens', n.output_tokens, 'cost_usd', n.cost_usd::text)
                ORDER BY CASE WHEN p_by = 'day' THEN n.key END, n.cost_usd DESC, n.calls DESC, n.key) FILTER (WHERE NOT n.whole), '[]'),
            'total', (SELECT json_build_object(
                'key', 'total', 'name', NULL, 'calls', t.calls, 'failed', t.failed, 'unpriced', t.unpriced,
                'input_tokens', t.input_tokens, 'output_tokens', t.output_tokens, 'cost_usd', t.cost_usd::text) FROM sums t WHERE t.whole),
            'unpriced_models', (SELECT coalesce(json_agg(DISTINCT s.model ORDER BY s.model), '[]') FROM spent s WHERE s.unpriced > 0),
            'today', spent_v1(p_tribe, p_today))
        FROM sums n LEFT JOIN agent a ON p_by = 'agent' AND a.tribe_id = p_tribe AND a.agent_id::text = n.key);
END
$$;
