-- People at the dashboard: an agent's token is handed in once, and the secret of a session stands for it from then on.
--
--   session          who is signed in. It ends by itself, and with its token or its agent: that is looked at each time when it is read
--   failed_sign_in   global: where tokens that are not let in came from of late, whichever tribe was meant
--
-- Lock order: the lock of the source, then the token, then session. Written outside of the gate; no belief changes, so no tick.
CREATE TABLE tributary.session (
    tribe_id      uuid NOT NULL,
    session_hash  bytea NOT NULL UNIQUE CHECK (octet_length(session_hash) = 32), -- SHA-256, as of a token
    agent_id      uuid NOT NULL,
    token_id      uuid NOT NULL,
    begun_at      timestamptz NOT NULL,
    ends_at       timestamptz NOT NULL,
    PRIMARY KEY (tribe_id, session_hash),
    FOREIGN KEY (tribe_id, agent_id) REFERENCES tributary.agent,
    FOREIGN KEY (tribe_id, token_id) REFERENCES tributary.token,
    CONSTRAINT session_interval CHECK (ends_at > begun_at)
);
CREATE INDEX session_token ON tributary.session (tribe_id, token_id, begun_at);
CREATE INDEX session_end ON tributary.session (tribe_id, ends_at);

CREATE TABLE tributary.failed_sign_in (
    source_hash     bytea PRIMARY KEY CHECK (octet_length(source_hash) = 32),
    failed_at       timestamptz[] NOT NULL CHECK (cardinality(failed_at) > 0), -- the last ones, oldest first; no more than make it wait
    last_failed_at  timestamptz NOT NULL
);
CREATE INDEX failed_sign_in_last ON tributary.failed_sign_in (last_failed_at);

-- A token that is not let in any more is written down once a day, however often it is tried.
CREATE UNIQUE INDEX audit_refused_sign_in ON tributary.audit (tribe_id, detail, ((at AT TIME ZONE 'UTC')::date))
    WHERE action = 'dashboard.sign_in' AND code <> 'done';

-- What a source is known by. There are few enough addresses to hash them all, so a secret goes in, under a purpose of its own: that of
-- the first signing key, which every database has from its beginning and keeps when keys are rotated.
CREATE FUNCTION tributary.sign_in_source_v1(p_source bytea) RETURNS bytea
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT sha256(k.secret || convert_to('sign_in', 'UTF8') || p_source) FROM signing_key k ORDER BY k.created_at, k.key_id LIMIT 1
$$;

-- For how many seconds a source is to wait since p_most of its tries failed within p_within; NULL when it may try.
CREATE FUNCTION tributary.sign_in_wait_v1(p_source bytea, p_most integer, p_within interval, p_now timestamptz) RETURNS integer
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT ceil(extract(epoch FROM o.oldest + p_within - p_now))::integer
    FROM failed_sign_in f CROSS JOIN LATERAL (SELECT f.failed_at[cardinality(f.failed_at) - p_most + 1] AS oldest) o
    WHERE f.source_hash = p_source AND o.oldest + p_within > p_now AND o.oldest <= p_now -- not of a clock that was put back since
$$;

-- Writes a failed try down. The table keeps the p_most_sources that failed last, so that nobody makes it grow without end.
CREATE FUNCTION tributary.count_failed_sign_in_v1(p_source bytea, p_most integer, p_most_sources integer, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
BEGIN
    INSERT INTO failed_sign_in AS f (source_hash, failed_at, last_failed_at) VALUES (p_source, ARRAY[p_now], p_now)
    ON CONFLICT (source_hash) DO UPDATE
        SET failed_at = (f.failed_at || p_now)[greatest(1, cardinality(f.failed_at) + 2 - p_most):], last_failed_at = p_now;
    -- who counts a try of one of those at this moment keeps it, and nobody waits
    DELETE FROM failed_sign_in WHERE source_hash = ANY (ARRAY(
        SELECT f.source_hash FROM failed_sign_in f
        WHERE f.source_hash = ANY (ARRAY(
            SELECT o.source_hash FROM failed_sign_in o ORDER BY o.last_failed_at DESC OFFSET p_most_sources LIMIT 10))
        FOR UPDATE SKIP LOCKED));
END
$$;

-- Signs somebody in by the hash of a token: gives the agent and when the session ends; NULL when the token is unknown, expired or revoked,
-- which is counted against the source; or `wait_s`, the seconds for which the source is not to try again, whatever its token.
--   p_source          of what the try came from: 32 bytes
--   p_session         the hash of the new session's secret. One that is sent again, its reply lost, finds its session and begins no other
--   p_most_failures, p_within   so many within that time make a source wait
--   p_lasts           how long a session lasts that its token outlives
--   p_most_sessions   so many has a token; one more ends the oldest
CREATE FUNCTION tributary.begin_session_v1(
    p_source bytea, p_token_hash bytea, p_session bytea, p_audit uuid, p_most_failures integer, p_within interval,
    p_most_sources integer, p_lasts interval, p_most_sessions integer, p_now timestamptz)
RETURNS json LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    source bytea := sign_in_source_v1(p_source);
    now timestamptz := coalesce(p_now, clock_timestamp());
    wait_s integer := sign_in_wait_v1(source, p_most_failures, p_within, now);
    given record;
BEGIN
    IF wait_s IS NULL THEN
        -- Tries of one source are looked at one after another, so that however many come at once no more of them count. One that has to
        -- wait already waits for no lock either, and writes nothing.
        PERFORM pg_advisory_xact_lock(hashtextextended('sign_in:' || encode(source, 'hex'), 0));
        now := coalesce(p_now, clock_timestamp());
        wait_s := sign_in_wait_v1(source, p_most_failures, p_within, now);
    END IF;
    IF wait_s IS NOT NULL THEN
        RETURN json_build_object('wait_s', wait_s);
    END IF;
    SELECT t.tribe_id, t.token_id, t.expires_at, a.agent_id, a.name, a.role,
           t.revoked_at IS NULL AND t.expires_at > now AND a.revoked_at IS NULL AS let_in INTO given
    FROM token t JOIN agent a USING (tribe_id, agent_id) WHERE t.token_hash = p_token_hash FOR NO KEY UPDATE OF t;
    IF given.let_in IS NOT TRUE THEN
        PERFORM count_failed_sign_in_v1(source, p_most_failures, p_most_sources, now);
        IF given.tribe_id IS NOT NULL THEN
            INSERT INTO audit (tribe_id, audit_id, at, agent_id, action, code, detail)
            VALUES (given.tribe_id, p_audit, now, given.agent_id, 'dashboard.sign_in', 'unauthenticated',
                    format('%s is revoked or expired', shown_id_v1('tok', given.token_id)))
            ON CONFLICT DO NOTHING;
        END IF;
        RETURN NULL;
    END IF;
    INSERT INTO session (tribe_id, session_hash, agent_id, token_id, begun_at, ends_at)
    VALUES (given.tribe_id, p_session, given.agent_id, given.token_id, now, least(now + p_lasts, given.expires_at))
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        UPDATE token SET last_used_at = clock_timestamp() WHERE tribe_id = given.tribe_id AND token_id = given.token_id;
        DELETE FROM session s WHERE s.tribe_id = given.tribe_id AND s.session_hash = ANY (ARRAY(
            SELECT o.session_hash FROM session o WHERE o.tribe_id = given.tribe_id AND o.token_id = given.token_id
            ORDER BY o.begun_at DESC, o.session_hash OFFSET p_most_sessions));
        INSERT INTO audit (tribe_id, audit_id, at, agent_id, action, code, detail)
        VALUES (given.tribe_id, p_audit, now, given.agent_id, 'dashboard.sign_in', 'done', format(
            'by %s until %s', shown_id_v1('tok', given.token_id), shown_time_v1(least(now + p_lasts, given.expires_at))));
    END IF;
    RETURN (SELECT json_build_object('tribe_id', given.tribe_id, 'agent_id', given.agent_id, 'name', given.name, 'role', given.role,
                                     'ends_at', s.ends_at)
            FROM session s WHERE s.tribe_id = given.tribe_id AND s.session_hash = p_session);
END
$$;

-- The agent that is signed in, with its role as stored now: NULL when the session is unknown or has ended, or its token or its agent has.
CREATE FUNCTION tributary.session_v1(p_session bytea, p_now timestamptz) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT json_build_object('tribe_id', a.tribe_id, 'agent_id', a.agent_id, 'name', a.name, 'role', a.role)
    FROM session s
    JOIN token t ON t.tribe_id = s.tribe_id AND t.token_id = s.token_id
    JOIN agent a ON a.tribe_id = s.tribe_id AND a.agent_id = s.agent_id
    CROSS JOIN (SELECT coalesce(p_now, clock_timestamp()) AS now) n
    WHERE s.session_hash = p_session AND s.ends_at > n.now
      AND s.begun_at <= n.now + interval '1 minute' -- else the clock was put back since, and it would last that much longer
      AND t.revoked_at IS NULL AND t.expires_at > n.now AND a.revoked_at IS NULL
$$;

-- Signs somebody out. Once, however often its call is sent.
CREATE FUNCTION tributary.end_session_v1(p_session bytea, p_audit uuid, p_now timestamptz) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    WITH ended AS (DELETE FROM session s WHERE s.session_hash = p_session RETURNING s.tribe_id, s.agent_id, s.token_id)
    INSERT INTO audit (tribe_id, audit_id, at, agent_id, action, code, detail)
    SELECT e.tribe_id, p_audit, coalesce(p_now, clock_timestamp()), e.agent_id, 'dashboard.sign_out', 'done',
           'by ' || shown_id_v1('tok', e.token_id)
    FROM ended e
$$;
