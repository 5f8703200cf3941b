-- Who is asking, and what a process must know of a tribe before it can serve it.

-- The agent behind a token's hash: NULL when unknown, expired or revoked.
CREATE FUNCTION tributary.authenticate_v1(p_hash bytea) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT json_build_object('tribe_id', a.tribe_id, 'agent_id', a.agent_id, 'name', a.name, 'role', a.role)
    FROM token t JOIN agent a USING (tribe_id, agent_id)
    WHERE t.token_hash = p_hash AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp() AND a.revoked_at IS NULL
$$;

-- What does not change while a process runs (the commit checks the serving space again): the key of the tribe's content
-- hashes, the space it serves from, and the oldest code that may serve it.
CREATE FUNCTION tributary.tribe_profile_v1(p_tribe uuid) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT json_build_object('secret', encode(t.secret, 'hex'), 'space_id', s.space_id, 'space', s.name,
                             'oldest_code', (SELECT oldest_code FROM schema_requirement))
    FROM tribe t
    LEFT JOIN (tribe_space ts JOIN space s USING (space_id)) ON ts.tribe_id = t.tribe_id AND ts.state = 'serving'
    WHERE t.tribe_id = p_tribe
$$;
