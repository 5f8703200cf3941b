-- Agents and their tokens, as curators manage them. Each change is one call and one transaction: it opens the gate, so that no two
-- curators of a tribe act on one another at once; looks at the actor's role as it is stored now; and leaves its line in the audit, with
-- names and ids. No belief changes, so no tick.
--
-- A change carries the id of its line in the audit. One that is sent again, since the connection was lost before its reply came, finds
-- that line and is not made twice.

CREATE FUNCTION tributary.shown_id_v1(p_prefix text, p_id uuid) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT p_prefix || '_' || replace(p_id::text, '-', '')
$$;

CREATE FUNCTION tributary.shown_time_v1(p_at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
$$;

-- When an agent was last let in, by a token or as an AWS principal; NULL when it never was.
CREATE FUNCTION tributary.last_used_v1(p_tribe uuid, p_agent uuid) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT greatest(
        (SELECT max(t.last_used_at) FROM token t WHERE t.tribe_id = p_tribe AND t.agent_id = p_agent),
        (SELECT max(p.last_used_at) FROM agent_principal p WHERE p.tribe_id = p_tribe AND p.agent_id = p_agent))
$$;

CREATE FUNCTION tributary.agent_document_v1(p_tribe uuid, p_agent uuid) RETURNS json
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT json_build_object(
        'agent_id', a.agent_id, 'name', a.name, 'role', a.role, 'created_at', a.created_at, 'revoked_at', a.revoked_at,
        'last_used_at', last_used_v1(p_tribe, p_agent))
    FROM agent a WHERE a.tribe_id = p_tribe AND a.agent_id = p_agent
$$;

-- All of a token but its hash. It counts as revoked when its agent is.
CREATE FUNCTION tributary.token_document_v1(p_tribe uuid, p_token uuid) RETURNS json
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT json_build_object(
        'token_id', t.token_id, 'agent_id', t.agent_id, 'created_at', t.created_at, 'expires_at', t.expires_at,
        'revoked_at', coalesce(t.revoked_at, a.revoked_at), 'last_used_at', t.last_used_at)
    FROM token t JOIN agent a USING (tribe_id, agent_id) WHERE t.tribe_id = p_tribe AND t.token_id = p_token
$$;

-- Opens the gate to a curator; tells whether this very change was made already.
CREATE FUNCTION tributary.manage_v1(p_tribe uuid, p_actor uuid, p_audit uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
BEGIN
    PERFORM gate_v1(p_tribe);
    IF EXISTS (SELECT FROM audit u WHERE u.tribe_id = p_tribe AND u.audit_id = p_audit) THEN
        RETURN true;
    END IF;
    PERFORM require_role_v1(p_tribe, p_actor, 'curator');
    RETURN false;
END
$$;

-- The agent that a change is about, and that stays as it is while the gate is open.
CREATE FUNCTION tributary.managed_agent_v1(p_tribe uuid, p_agent uuid) RETURNS tributary.agent
LANGUAGE plpgsql STABLE SET search_path = tributary, pg_temp AS $$
DECLARE
    found_agent agent;
BEGIN
    SELECT * INTO found_agent FROM agent a WHERE a.tribe_id = p_tribe AND a.agent_id = p_agent;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such agent' USING ERRCODE = 'TB404';
    END IF;
    RETURN found_agent;
END
$$;

-- Whether somebody can manage the tribe: a curator who is not revoked and has a token that is let in.
CREATE FUNCTION tributary.has_curator_v1(p_tribe uuid, p_now timestamptz) RETURNS boolean
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM agent a JOIN token t USING (tribe_id, agent_id)
        WHERE a.tribe_id = p_tribe AND a.role = 'curator' AND a.revoked_at IS NULL AND t.revoked_at IS NULL AND t.expires_at > p_now)
$$;

-- Refuses a change that took the last curator who can act; called after it, so what is refused is rolled back.
CREATE FUNCTION tributary.keep_curator_v1(p_tribe uuid, p_now timestamptz) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = tributary, pg_temp AS $$
BEGIN
    IF NOT has_curator_v1(p_tribe, p_now) THEN
        RAISE EXCEPTION 'this would leave the tribe without a curator who can act; make another curator, or another token, first'
            USING ERRCODE = 'TB410';
    END IF;
END
$$;

CREATE FUNCTION tributary.record_change_v1(p_tribe uuid, p_actor uuid, p_audit uuid, p_action text, p_detail text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    INSERT INTO audit (tribe_id, audit_id, agent_id, action, code, detail)
    VALUES (p_tribe, p_audit, p_actor, p_action, 'done', p_detail)
$$;

-- A new agent; the caller holds the tribe's row. p_most: so many agents that are not revoked may a tribe have.
CREATE FUNCTION tributary.add_agent_v1(p_tribe uuid, p_agent uuid, p_name text, p_role text, p_most integer) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
BEGIN
    INSERT INTO agent (tribe_id, agent_id, name, role) VALUES (p_tribe, p_agent, p_name, p_role)
    ON CONFLICT (tribe_id, name) DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the tribe has an agent named ''%'' already; names of revoked ones are not given again', p_name
            USING ERRCODE = 'TB410';
    ELSIF (SELECT count(*) FROM agent a WHERE a.tribe_id = p_tribe AND a.revoked_at IS NULL) > p_most THEN
        RAISE EXCEPTION 'the tribe has % agents already; revoke one that is not needed any more', p_most USING ERRCODE = 'TB410';
    END IF;
END
$$;

-- A new token of an agent, known by its hash; the caller holds the tribe's row. p_most: so many usable ones may an agent have.
CREATE FUNCTION tributary.add_token_v1(
    p_tribe uuid, p_agent uuid, p_token uuid, p_hash bytea, p_expires timestamptz, p_most integer, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
BEGIN
    IF (managed_agent_v1(p_tribe, p_agent)).revoked_at IS NOT NULL THEN
        RAISE EXCEPTION 'the agent is revoked' USING ERRCODE = 'TB410';
    END IF;
    INSERT INTO token (tribe_id, token_id, agent_id, token_hash, expires_at) VALUES (p_tribe, p_token, p_agent, p_hash, p_expires);
    IF (SELECT count(*) FROM token t
        WHERE t.tribe_id = p_tribe AND t.agent_id = p_agent AND t.revoked_at IS NULL AND t.expires_at > p_now) > p_most THEN
        RAISE EXCEPTION 'the agent has % usable tokens already; revoke one first', p_most USING ERRCODE = 'TB410';
    END IF;
END
$$;

-- Lets an AWS principal act as an agent; the caller holds the tribe's row. For the operator alone. Binding it again changes nothing.
CREATE FUNCTION tributary.bind_principal_v1(p_tribe uuid, p_agent uuid, p_principal text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    holder record;
BEGIN
    IF (managed_agent_v1(p_tribe, p_agent)).revoked_at IS NOT NULL THEN
        RAISE EXCEPTION 'the agent is revoked' USING ERRCODE = 'TB410';
    END IF;
    INSERT INTO agent_principal (tribe_id, agent_id, principal) VALUES (p_tribe, p_agent, p_principal)
    ON CONFLICT (principal) DO NOTHING;
    SELECT p.tribe_id, p.agent_id, t.name AS tribe, a.name AS agent INTO holder
    FROM agent_principal p JOIN agent a USING (tribe_id, agent_id) JOIN tribe t USING (tribe_id) WHERE p.principal = p_principal;
    IF (holder.tribe_id, holder.agent_id) IS DISTINCT FROM (p_tribe, p_agent) THEN
        RAISE EXCEPTION 'it is bound to agent ''%'' of tribe ''%'', and a principal is one agent; unbind it there first',
            holder.agent, holder.tribe USING ERRCODE = 'TB410';
    END IF;
END
$$;

CREATE FUNCTION tributary.create_agent_v1(
    p_tribe uuid, p_actor uuid, p_audit uuid, p_agent uuid, p_name text, p_role text, p_token uuid, p_hash bytea,
    p_expires timestamptz, p_most_agents integer, p_most_tokens integer, p_now timestamptz) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
BEGIN
    IF NOT manage_v1(p_tribe, p_actor, p_audit) THEN
        PERFORM add_agent_v1(p_tribe, p_agent, p_name, p_role, p_most_agents);
        PERFORM add_token_v1(p_tribe, p_agent, p_token, p_hash, p_expires, p_most_tokens, p_now);
        PERFORM record_change_v1(p_tribe, p_actor, p_audit, 'create_agent', format(
            '%s (%s) as %s; token %s until %s', p_name, shown_id_v1('agt', p_agent), p_role, shown_id_v1('tok', p_token),
            shown_time_v1(p_expires)));
    END IF;
    RETURN agent_document_v1(p_tribe, p_agent);
END
$$;

-- Another token of an agent. p_revoke_others: in place of all that it has. p_newest: the one that the curator knows as its newest, so
-- that a request that comes twice makes one; NULL for a curator who knows none.
CREATE FUNCTION tributary.new_token_v1(
    p_tribe uuid, p_actor uuid, p_audit uuid, p_agent uuid, p_token uuid, p_hash bytea, p_expires timestamptz,
    p_revoke_others boolean, p_newest uuid, p_most integer, p_now timestamptz) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    ended text;
BEGIN
    IF NOT manage_v1(p_tribe, p_actor, p_audit) THEN
        IF p_newest <> (SELECT t.token_id FROM token t WHERE t.tribe_id = p_tribe AND t.agent_id = p_agent
                        ORDER BY t.token_id DESC LIMIT 1) THEN
            RAISE EXCEPTION 'the agent was given another token meanwhile, maybe by this very request; none was made now. If nobody has '
                'the secret of its newest, revoke that one and make another' USING ERRCODE = 'TB410';
        END IF;
        WITH gone AS (
            UPDATE token t SET revoked_at = clock_timestamp()
            WHERE p_revoke_others AND t.tribe_id = p_tribe AND t.agent_id = p_agent AND t.revoked_at IS NULL AND t.expires_at > p_now
            RETURNING t.token_id)
        SELECT string_agg(shown_id_v1('tok', g.token_id), ', ' ORDER BY g.token_id) INTO ended FROM gone g;
        PERFORM add_token_v1(p_tribe, p_agent, p_token, p_hash, p_expires, p_most, p_now);
        PERFORM record_change_v1(p_tribe, p_actor, p_audit, 'new_token', format(
            '%s (%s): token %s until %s; revoked: %s', (managed_agent_v1(p_tribe, p_agent)).name, shown_id_v1('agt', p_agent),
            shown_id_v1('tok', p_token), shown_time_v1(p_expires), coalesce(ended, 'none')));
    END IF;
    RETURN agent_document_v1(p_tribe, p_agent);
END
$$;

CREATE FUNCTION tributary.revoke_token_v1(p_tribe uuid, p_actor uuid, p_audit uuid, p_token uuid, p_now timestamptz) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    of_agent agent;
    given token;
BEGIN
    IF NOT manage_v1(p_tribe, p_actor, p_audit) THEN
        SELECT * INTO given FROM token t WHERE t.tribe_id = p_tribe AND t.token_id = p_token;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'no such token' USING ERRCODE = 'TB404';
        END IF;
        of_agent := managed_agent_v1(p_tribe, given.agent_id);
        IF given.revoked_at IS NULL THEN
            UPDATE token SET revoked_at = clock_timestamp() WHERE tribe_id = p_tribe AND token_id = p_token;
            IF of_agent.role = 'curator' THEN
                PERFORM keep_curator_v1(p_tribe, p_now);
            END IF;
            PERFORM record_change_v1(p_tribe, p_actor, p_audit, 'revoke_token', format(
                '%s of %s (%s)', shown_id_v1('tok', p_token), of_agent.name, shown_id_v1('agt', of_agent.agent_id)));
        END IF;
    END IF;
    RETURN token_document_v1(p_tribe, p_token);
END
$$;

-- Ends an agent and with it its tokens; keeps the first time when it was revoked before.
CREATE FUNCTION tributary.revoke_agent_v1(p_tribe uuid, p_actor uuid, p_audit uuid, p_agent uuid, p_now timestamptz) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    known agent;
BEGIN
    IF NOT manage_v1(p_tribe, p_actor, p_audit) THEN
        known := managed_agent_v1(p_tribe, p_agent);
        IF known.revoked_at IS NULL THEN
            UPDATE agent SET revoked_at = clock_timestamp() WHERE tribe_id = p_tribe AND agent_id = p_agent;
            IF known.role = 'curator' THEN
                PERFORM keep_curator_v1(p_tribe, p_now);
            END IF;
            PERFORM record_change_v1(p_tribe, p_actor, p_audit, 'revoke_agent', format(
                '%s (%s), a %s', known.name, shown_id_v1('agt', p_agent), known.role));
        END IF;
    END IF;
    RETURN agent_document_v1(p_tribe, p_agent);
END
$$;

CREATE FUNCTION tributary.set_role_v1(
    p_tribe uuid, p_actor uuid, p_audit uuid, p_agent uuid, p_role text, p_now timestamptz) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    known agent;
BEGIN
    IF NOT manage_v1(p_tribe, p_actor, p_audit) THEN
        known := managed_agent_v1(p_tribe, p_agent);
        IF known.revoked_at IS NOT NULL THEN
            RAISE EXCEPTION 'the agent is revoked' USING ERRCODE = 'TB410';
        ELSIF known.role <> p_role THEN
            UPDATE agent SET role = p_role WHERE tribe_id = p_tribe AND agent_id = p_agent;
            IF known.role = 'curator' THEN
                PERFORM keep_curator_v1(p_tribe, p_now);
            END IF;
            PERFORM record_change_v1(p_tribe, p_actor, p_audit, 'set_role', format(
                '%s (%s) from %s to %s', known.name, shown_id_v1('agt', p_agent), known.role, p_role));
        END IF;
    END IF;
    RETURN agent_document_v1(p_tribe, p_agent);
END
$$;

-- The agents of a tribe, the revoked ones too, newest first. Ids rise with time, so a page begins after one of them. For curators.
CREATE FUNCTION tributary.agents_v1(p_tribe uuid, p_actor uuid, p_limit integer, p_before_id uuid, p_now timestamptz) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
DECLARE
    moment record;
    page uuid[];
BEGIN
    PERFORM require_role_v1(p_tribe, p_actor, 'curator');
    SELECT * INTO moment FROM resolve_v1(p_tribe, NULL, NULL, coalesce(p_now, clock_timestamp()));
    page := ARRAY(SELECT a.agent_id FROM agent a WHERE a.tribe_id = p_tribe AND (p_before_id IS NULL OR a.agent_id < p_before_id)
                  ORDER BY a.agent_id DESC LIMIT p_limit + 1);
    RETURN json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'more', cardinality(page) > p_limit,
        'agents', (SELECT coalesce(json_agg(agent_document_v1(p_tribe, o.id) ORDER BY o.place), '[]')
                   FROM unnest(page[1:p_limit]) WITH ORDINALITY AS o(id, place)));
END
$$;

-- One agent of a tribe, a revoked one too. For curators.
CREATE FUNCTION tributary.agent_v1(p_tribe uuid, p_actor uuid, p_agent uuid) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
BEGIN
    PERFORM require_role_v1(p_tribe, p_actor, 'curator');
    RETURN agent_document_v1(p_tribe, (managed_agent_v1(p_tribe, p_agent)).agent_id);
END
$$;

-- The tokens of an agent, those that are not let in any more too, newest first. For curators.
CREATE FUNCTION tributary.tokens_v1(
    p_tribe uuid, p_actor uuid, p_agent uuid, p_limit integer, p_before_id uuid, p_now timestamptz) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
DECLARE
    moment record;
    page uuid[];
BEGIN
    PERFORM require_role_v1(p_tribe, p_actor, 'curator');
    PERFORM managed_agent_v1(p_tribe, p_agent);
    SELECT * INTO moment FROM resolve_v1(p_tribe, NULL, NULL, coalesce(p_now, clock_timestamp()));
    page := ARRAY(SELECT t.token_id FROM token t
                  WHERE t.tribe_id = p_tribe AND t.agent_id = p_agent AND (p_before_id IS NULL OR t.token_id < p_before_id)
                  ORDER BY t.token_id DESC LIMIT p_limit + 1);
    RETURN json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'more', cardinality(page) > p_limit,
        'tokens', (SELECT coalesce(json_agg(token_document_v1(p_tribe, o.id) ORDER BY o.place), '[]')
                   FROM unnest(page[1:p_limit]) WITH ORDINALITY AS o(id, place)));
END
$$;
