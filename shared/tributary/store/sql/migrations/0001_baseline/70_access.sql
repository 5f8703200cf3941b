-- Who is asking, and what a process must know of a tribe before it can serve it.

-- The agent behind a token's hash: NULL when unknown, expired or revoked. Writes down that the token was used, once a minute at most.
CREATE FUNCTION tributary.authenticate_v1(p_hash bytea) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    known record;
BEGIN
    SELECT t.tribe_id, t.token_id, t.last_used_at, a.agent_id, a.name, a.role INTO known
    FROM token t JOIN agent a USING (tribe_id, agent_id)
    WHERE t.token_hash = p_hash AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp() AND a.revoked_at IS NULL;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    -- a replica lets anybody in whom it knows, and writes nothing; in recovery every transaction is read-only
    IF coalesce(known.last_used_at <= clock_timestamp() - interval '1 minute', true)
       AND current_setting('transaction_read_only') = 'off' THEN
        -- losing this in a crash is harmless, and nobody waits to write it: whoever holds the row writes the same, or revokes it
        PERFORM set_config('synchronous_commit', 'off', true);
        UPDATE token t SET last_used_at = clock_timestamp()
        FROM (SELECT u.token_id FROM token u
              WHERE u.tribe_id = known.tribe_id AND u.token_id = known.token_id
                AND u.last_used_at IS NOT DISTINCT FROM known.last_used_at
              FOR NO KEY UPDATE SKIP LOCKED) held
        WHERE t.tribe_id = known.tribe_id AND t.token_id = held.token_id;
    END IF;
    RETURN json_build_object('tribe_id', known.tribe_id, 'agent_id', known.agent_id, 'name', known.name, 'role', known.role);
END
$$;

-- The agent that an AWS principal is bound to: NULL when none is, or it is revoked. Writes down the use as authenticate_v1 does.
CREATE FUNCTION tributary.authenticate_principal_v1(p_principal text) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    known record;
BEGIN
    SELECT p.tribe_id, p.last_used_at, a.agent_id, a.name, a.role INTO known
    FROM agent_principal p JOIN agent a USING (tribe_id, agent_id)
    WHERE p.principal = p_principal AND a.revoked_at IS NULL;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF coalesce(known.last_used_at <= clock_timestamp() - interval '1 minute', true)
       AND current_setting('transaction_read_only') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'off', true);
        UPDATE agent_principal p SET last_used_at = clock_timestamp()
        FROM (SELECT u.principal FROM agent_principal u
              WHERE u.principal = p_principal AND u.last_used_at IS NOT DISTINCT FROM known.last_used_at
              FOR NO KEY UPDATE SKIP LOCKED) held
        WHERE p.principal = held.principal;
    END IF;
    RETURN json_build_object('tribe_id', known.tribe_id, 'agent_id', known.agent_id, 'name', known.name, 'role', known.role);
END
$$;

-- What seldom changes while a process runs (recall and commit check the serving space again): the key of the tribe's content
-- hashes, the space it serves from, the one that it builds, if any, and the oldest code that may serve it.
CREATE FUNCTION tributary.tribe_profile_v1(p_tribe uuid) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT json_build_object('secret', encode(t.secret, 'hex'), 'space_id', s.space_id, 'space', s.name,
                             'building_id', bs.space_id, 'building', bs.name,
                             'oldest_code', (SELECT oldest_code FROM schema_requirement))
    FROM tribe t
    LEFT JOIN (tribe_space ts JOIN space s USING (space_id)) ON ts.tribe_id = t.tribe_id AND ts.state = 'serving'
    LEFT JOIN (tribe_space bts JOIN space bs USING (space_id)) ON bts.tribe_id = t.tribe_id AND bts.state = 'building'
    WHERE t.tribe_id = p_tribe
$$;

-- From when an agent's next write counts. Nobody is let in who is more than a minute ahead of his own look at the clock, and of those who
-- come at once one may have looked a little earlier than the one who was counted before him. Whoever is found to be further ahead was
-- counted by a clock that has been put back since: he begins anew, rather than wait until that time has come again.
CREATE FUNCTION tributary.paced_from_v1(p_spent_until timestamptz, p_now timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_spent_until > p_now + interval '2 minutes' THEN p_now ELSE greatest(p_spent_until, p_now) END
$$;

-- Lets one write in before any model is asked: gives the key's first reply (which costs nothing), or counts the write. TB429, with the
-- seconds to wait as its DETAIL, when the agent is ahead of its pace or the tribe's day is full; nothing is counted then.
--   p_key, p_digest    the idempotency key and the digest of its request; NULL when the server makes the key
--   p_per_minute       writes a minute that an agent may go on with; as many may come at once
--   p_per_day          writes of a tribe on one day (UTC)
CREATE FUNCTION tributary.admit_v1(
    p_tribe uuid, p_agent uuid, p_key text, p_digest bytea, p_operation text, p_per_minute integer, p_per_day bigint,
    p_now timestamptz)
RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    replay jsonb := CASE WHEN p_key IS NOT NULL THEN replay_v1(p_tribe, p_agent, p_key, p_digest) END;
    now timestamptz := coalesce(p_now, clock_timestamp());
    today date := (now AT TIME ZONE 'UTC')::date;
    spent timestamptz;
    written bigint;
BEGIN
    IF replay IS NOT NULL THEN
        -- Where commits wait for a standby, one whose wait was cut off is seen here before the standby has it, and a promotion would lose it.
        -- A lock is written to the log behind it, so this reply waits for what it repeats.
        PERFORM FROM idempotency WHERE tribe_id = p_tribe AND agent_id = p_agent AND key = p_key FOR KEY SHARE;
        RETURN replay;
    END IF;
    -- losing the last counts in a crash is harmless; waiting for their flush would serialise a tribe's writers a second time
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO pace AS c (tribe_id, agent_id, spent_until) VALUES (p_tribe, p_agent, now + interval '1 minute' / p_per_minute)
    ON CONFLICT (tribe_id, agent_id) DO UPDATE
        SET spent_until = paced_from_v1(c.spent_until, now) + interval '1 minute' / p_per_minute
    RETURNING spent_until INTO spent;
    IF spent > now + interval '1 minute' THEN
        RAISE EXCEPTION 'this agent may write % times a minute', p_per_minute USING ERRCODE = 'TB429',
            DETAIL = ceil(extract(epoch FROM spent - now - interval '1 minute'))::text;
    END IF;
    INSERT INTO tribe_day AS d (tribe_id, day, writes) VALUES (p_tribe, today, 1)
    ON CONFLICT (tribe_id, day) DO UPDATE SET writes = d.writes + 1
    RETURNING writes INTO written;
    IF written > p_per_day THEN
        RAISE EXCEPTION 'this tribe may write % times a day', p_per_day USING ERRCODE = 'TB429',
            DETAIL = ceil(extract(epoch FROM (today + 1)::timestamp AT TIME ZONE 'UTC' - now))::text;
    END IF;
    INSERT INTO usage AS u (tribe_id, agent_id, day, operation, calls) VALUES (p_tribe, p_agent, today, p_operation, 1)
    ON CONFLICT (tribe_id, agent_id, day, operation) DO UPDATE SET calls = u.calls + 1;
    RETURN NULL;
END
$$;
