-- learn: what it reads before it judges, and its commit under the gate.

-- Candidates of a new lesson at one tick, from three sides, and what the outcome will depend on besides them.
--   p_near, p_subject_limit, p_by_terms   how many each side may bring
--   p_rare, p_cap                         how many of the rarest terms count, and how many holders make a term common
--   p_also                                lessons that are candidates whatever the sides bring: the one contested, or settled
CREATE FUNCTION tributary.learn_read_v1(
    p_tribe uuid, p_agent uuid, p_space integer, p_vector text, p_terms text[], p_subject_key text, p_hash bytea,
    p_near integer, p_subject_limit integer, p_by_terms integer, p_rare integer, p_cap integer, p_exact_limit bigint,
    p_also uuid[])
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_generic_plan -- all but nearest_v1, which plans its own query, look up by key
AS $$
DECLARE
    vector halfvec := p_vector::halfvec;
    path text := vector_path_v1(p_tribe, p_space, p_exact_limit);
    near near;
    held text[]; -- the rarest terms that some lesson holds, with how many do
    holders integer[];
    unheld text[]; -- by these a lesson that is learned meanwhile may be found
    found_ids uuid[];
BEGIN
    near := nearest_v1(p_tribe, p_space, vector, p_near, path);
    SELECT array_agg(h.term) FILTER (WHERE h.holders > 0 AND h.place <= p_rare),
           array_agg(h.holders) FILTER (WHERE h.holders > 0 AND h.place <= p_rare),
           array_agg(h.term) FILTER (WHERE h.holders = 0)
    INTO held, holders, unheld
    FROM (SELECT t.term, t.holders,
                 row_number() OVER (ORDER BY t.holders = 0, t.holders, length(t.term) DESC, t.term) AS place
          FROM term_holders_v1(p_tribe, p_terms, p_cap, latest_v1()) t WHERE t.holders <= p_cap) h;
    SELECT array_agg(DISTINCT s.lesson_id) INTO found_ids FROM (
        SELECT unnest(near.lesson_ids) AS lesson_id
        UNION ALL
        -- believed lessons have places of their own on each side: however many disputed ones there are, none crowds them out
        (SELECT l.lesson_id FROM lesson l
         WHERE l.tribe_id = p_tribe AND l.subject_key = p_subject_key AND l.believed
         ORDER BY l.lesson_id DESC LIMIT p_subject_limit)
        UNION ALL
        (SELECT l.lesson_id FROM lesson l
         WHERE l.tribe_id = p_tribe AND l.subject_key = p_subject_key AND l.status IN ('pending', 'disputed')
         ORDER BY l.lesson_id DESC LIMIT p_near)
        UNION ALL
        -- one shared term that is really rare says more than several that are less so
        (SELECT x.lesson_id FROM unnest(held, holders) AS h(term, holders)
         JOIN lesson_term x ON x.tribe_id = p_tribe AND x.term = h.term
         JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = x.lesson_id AND l.believed
         GROUP BY x.lesson_id ORDER BY min(h.holders), count(*) DESC, x.lesson_id DESC LIMIT p_by_terms)
        UNION ALL
        (SELECT x.lesson_id FROM unnest(held, holders) AS h(term, holders)
         JOIN lesson_term x ON x.tribe_id = p_tribe AND x.term = h.term
         JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = x.lesson_id AND l.status IN ('pending', 'disputed')
         GROUP BY x.lesson_id ORDER BY min(h.holders), count(*) DESC, x.lesson_id DESC LIMIT p_by_terms)
        UNION ALL
        -- what is not believed yet has no place in the index of believed vectors; there are few of them
        (SELECT l.lesson_id FROM lesson l JOIN lesson_vector v USING (tribe_id, lesson_id)
         WHERE l.tribe_id = p_tribe AND l.status IN ('pending', 'disputed') AND v.space_id = p_space
         ORDER BY v.embedding <=> vector LIMIT p_near)
        UNION ALL
        -- what a curator rejected has its own places, too: nobody may crowd it out with claims that nothing was decided about
        (SELECT l.lesson_id FROM lesson l JOIN lesson_vector v USING (tribe_id, lesson_id)
         WHERE l.tribe_id = p_tribe AND l.rejected_as IS NOT NULL AND v.space_id = p_space
         ORDER BY v.embedding <=> vector LIMIT p_near)
        UNION ALL
        (SELECT l.lesson_id FROM lesson l
         WHERE l.tribe_id = p_tribe AND l.subject_key = p_subject_key AND l.rejected_as IS NOT NULL
         ORDER BY l.lesson_id DESC LIMIT p_near)
        UNION ALL
        (SELECT x.lesson_id FROM unnest(held, holders) AS h(term, holders)
         JOIN lesson_term x ON x.tribe_id = p_tribe AND x.term = h.term
         JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = x.lesson_id AND l.rejected_as IS NOT NULL
         GROUP BY x.lesson_id ORDER BY min(h.holders), count(*) DESC, x.lesson_id DESC LIMIT p_by_terms)
        UNION ALL
        (SELECT l.lesson_id FROM lesson l WHERE l.tribe_id = p_tribe AND l.content_hash = p_hash AND l.believed)
        UNION ALL
        (SELECT l.lesson_id FROM lesson l
         WHERE l.tribe_id = p_tribe AND l.content_hash = p_hash AND l.rejected_as IS NOT NULL AND l.status <> 'erased')
        UNION ALL
        SELECT unnest(p_also)
    ) s;
    -- what speaks against a candidate may speak against the new lesson, too
    found_ids := found_ids || ARRAY(
        SELECT CASE WHEN r.a = ANY (found_ids) THEN r.b ELSE r.a END FROM rival r
        WHERE r.tribe_id = p_tribe AND (r.a = ANY (found_ids) AND r.b_on OR r.b = ANY (found_ids) AND r.a_on));
    RETURN (
        SELECT json_build_object(
            'tick', t.clock, 'at', clock_timestamp(), 'policy', t.policy, 'policy_version', t.policy_version,
            'role', (SELECT a.role FROM agent a
                     WHERE a.tribe_id = p_tribe AND a.agent_id = p_agent AND a.revoked_at IS NULL),
            'authority', authority_v1(p_tribe, p_also[1]),
            'serving', path IS NOT NULL,
            'building', (SELECT s.space_id FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.state = 'building'),
            'rare', coalesce(held || unheld, '{}'),
            'farthest', CASE WHEN cardinality(near.lesson_ids) >= p_near THEN near.distances[p_near] END,
            'candidates', candidates_v1(p_tribe, found_ids, p_agent, p_space, vector))
        FROM tribe t WHERE t.tribe_id = p_tribe);
END
$$;

-- With what authority a stored lesson is given another standing: the lower of the role that its author had when it came in and the one that
-- the author has now. An author who may not even write any more counts as a writer: what was let in is kept, and replaces no more than
-- a writer's would.
CREATE FUNCTION tributary.authority_v1(p_tribe uuid, p_lesson uuid) RETURNS text
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT CASE WHEN a.role = 'curator' AND a.revoked_at IS NULL THEN l.admitted_as ELSE 'writer' END
    FROM lesson l JOIN agent a USING (tribe_id, agent_id)
    WHERE l.tribe_id = p_tribe AND l.lesson_id = p_lesson
$$;

-- An idempotency key's stored reply: NULL when it is new; TB409 when it was used for another request.
CREATE FUNCTION tributary.replay_v1(p_tribe uuid, p_agent uuid, p_key text, p_digest bytea) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    stored idempotency;
BEGIN
    SELECT * INTO stored FROM idempotency WHERE tribe_id = p_tribe AND agent_id = p_agent AND key = p_key;
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF stored.request_digest <> p_digest THEN
        RAISE EXCEPTION 'key used before' USING ERRCODE = 'TB409';
    END IF;
    RETURN jsonb_build_object(
        'committed', true, 'replayed', true, 'reply', stored.reply,
        'lesson', lesson_for_v1(p_tribe, (stored.reply ->> 'lesson_id')::uuid, p_agent));
END
$$;

-- The gate: from here to the end of the transaction this tribe's beliefs change nowhere else. Every belief write calls it first.
CREATE FUNCTION tributary.gate_v1(p_tribe uuid) RETURNS tributary.tribe
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    opened tribe;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        -- a snapshot older than the gate would hide what was committed before it opened
        RAISE EXCEPTION 'a commit must run at READ COMMITTED' USING ERRCODE = 'TB500';
    END IF;
    SELECT * INTO opened FROM tribe WHERE tribe_id = p_tribe FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such tribe' USING ERRCODE = 'TB404';
    END IF;
    RETURN opened;
END
$$;

-- The next tick; the caller holds the gate. Wall-clock times of ticks always rise, whatever the server's clock does.
CREATE FUNCTION tributary.advance_v1(p_tribe uuid, OUT tick bigint, OUT at timestamptz)
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    UPDATE tribe SET clock = clock + 1, clock_at = greatest(clock_at + interval '1 microsecond', clock_timestamp())
    WHERE tribe_id = p_tribe RETURNING clock, clock_at
$$;

-- How much was committed since the learner read, and matters to it:
--   changed   candidates, or what speaks against them, whose standing is another now
--   fresh     lessons that would have been candidates: same subject or content, a shared rare term, nearer than the farthest
--             candidate (or too few were found), without a vector to tell by, or speaking against a candidate
CREATE FUNCTION tributary.learn_delta_v1(p jsonb, p_clock bigint, OUT changed bigint, OUT fresh bigint)
LANGUAGE plpgsql STABLE
SET search_path = tributary, public, pg_temp
AS $$
DECLARE
    tribe uuid := p ->> 'tribe_id';
    space integer := p ->> 'space_id';
    vector halfvec;
    judged uuid[];
    rare text[];
    touched uuid[];
BEGIN
    changed := 0;
    fresh := 0;
    SELECT array_agg(DISTINCT e.lesson_id) INTO touched FROM lesson_event e
    WHERE e.tribe_id = tribe AND e.tick > (p ->> 'read_tick')::bigint AND e.tick <= p_clock AND e.event <> 'reinforced';
    IF touched IS NULL THEN
        RETURN;
    END IF;
    vector := p ->> 'embedding';
    judged := uuids_v1(p -> 'judged');
    rare := ARRAY(SELECT jsonb_array_elements_text(p -> 'rare'));
    changed := cardinality(ARRAY(SELECT unnest(touched) INTERSECT SELECT unnest(judged || uuids_v1(p -> 'opponents'))));
    SELECT count(*) INTO fresh
    FROM lesson l
    LEFT JOIN lesson_vector v ON v.tribe_id = tribe AND v.space_id = space AND v.lesson_id = l.lesson_id
    WHERE l.tribe_id = tribe AND l.lesson_id = ANY (touched) AND l.lesson_id <> ALL (judged)
      AND l.lesson_id <> (p #>> '{lesson,lesson_id}')::uuid -- itself, when a stored lesson is being settled
      AND (l.status IN ('active', 'pending', 'disputed') OR l.rejected_as IS NOT NULL AND l.status <> 'erased')
      AND (l.subject_key = p ->> 'subject_key'
           OR l.content_hash = decode(p ->> 'content_hash', 'hex')
           OR v.embedding IS NULL OR vector IS NULL
           OR p ->> 'farthest' IS NULL
           OR v.embedding <=> vector <= (p ->> 'farthest')::double precision
           OR EXISTS (SELECT FROM lesson_term x
                      WHERE x.tribe_id = tribe AND x.lesson_id = l.lesson_id AND x.term = ANY (rare))
           OR EXISTS (SELECT FROM rival r
                      WHERE r.tribe_id = tribe AND (r.a = l.lesson_id AND r.b = ANY (judged)
                                                    OR r.b = l.lesson_id AND r.a = ANY (judged))));
END
$$;

-- A page of a tribe's pending lessons, oldest first and after p_after, each with its author as the one to settle it for:
-- [{lesson, role, since, released}]. `role` is the authority that it is settled with, `since` the tick at which it was kept; `released`
-- tells that a curator let it in although the screen had held it back.
CREATE FUNCTION tributary.pending_lessons_v1(p_tribe uuid, p_after uuid, p_limit integer) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT coalesce(json_agg(json_build_object(
        'since', (SELECT max(e.tick) FROM lesson_event e
                  WHERE e.tribe_id = p_tribe AND e.lesson_id = n.lesson_id AND e.event = 'pended'),
        'released', EXISTS (SELECT FROM lesson_event e
                            WHERE e.tribe_id = p_tribe AND e.lesson_id = n.lesson_id AND e.event = 'quarantined'),
        'lesson', row_to_json(n), 'role', authority_v1(p_tribe, n.lesson_id)) ORDER BY n.lesson_id), '[]')
    FROM lesson_rows_v1(p_tribe, ARRAY(
             SELECT l.lesson_id FROM lesson l WHERE l.tribe_id = p_tribe AND l.status = 'pending' AND l.lesson_id > p_after
             ORDER BY l.lesson_id LIMIT p_limit), latest_v1()) n
$$;

-- The tribes that have pending lessons.
CREATE FUNCTION tributary.tribes_with_pending_v1() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT tribe_id FROM tribe_count WHERE status = 'pending' AND lessons > 0
$$;

-- Takes a tribe's turn to be settled, for so many seconds: true, or false while another holder has it. NULL when nothing is pending. It
-- changes no belief and needs no gate, and no lock outlives the call.
CREATE FUNCTION tributary.take_turn_v1(p_tribe uuid, p_holder uuid, p_seconds double precision) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM tribe_count c WHERE c.tribe_id = p_tribe AND c.status = 'pending' AND c.lessons > 0) THEN
        RETURN NULL;
    END IF;
    INSERT INTO settling_turn AS t (tribe_id, holder, until)
    VALUES (p_tribe, p_holder, clock_timestamp() + make_interval(secs => p_seconds))
    ON CONFLICT (tribe_id) DO UPDATE SET holder = excluded.holder, until = excluded.until
    WHERE t.holder = p_holder OR t.until <= clock_timestamp()
       OR t.until > clock_timestamp() + interval '15 minutes'; -- longer than any turn is: of a clock that was put back since
    RETURN FOUND;
END
$$;

-- Ends a holder's turn; one that another took in the meantime stays.
CREATE FUNCTION tributary.end_turn_v1(p_tribe uuid, p_holder uuid) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    DELETE FROM settling_turn WHERE tribe_id = p_tribe AND holder = p_holder
$$;

-- What every write under the gate begins with: the gate, the key's first reply if there was one, and the actor's role as it is
-- stored now. TB403 when it does not reach p_needs.
CREATE FUNCTION tributary.enter_v1(
    p_tribe uuid, p_actor uuid, p_key text, p_digest bytea, p_needs text, OUT clock bigint, OUT clock_at timestamptz,
    OUT replay jsonb, OUT role text)
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    opened tribe := gate_v1(p_tribe);
BEGIN
    clock := opened.clock;
    clock_at := opened.clock_at;
    replay := replay_v1(p_tribe, p_actor, p_key, p_digest);
    IF replay IS NULL THEN
        role := require_role_v1(p_tribe, p_actor, p_needs);
    END IF;
END
$$;

-- The role that is stored for the agent now; raises TB403 when the agent was revoked, or when this needs a higher one.
CREATE FUNCTION tributary.require_role_v1(p_tribe uuid, p_agent uuid, p_needs text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    ranks constant text[] := ARRAY['reader', 'writer', 'curator'];
    role text := (SELECT a.role FROM tributary.agent a WHERE a.tribe_id = p_tribe AND a.agent_id = p_agent AND a.revoked_at IS NULL);
BEGIN
    IF role IS NULL THEN
        RAISE EXCEPTION 'the agent was revoked' USING ERRCODE = 'TB403';
    ELSIF array_position(ranks, role) < array_position(ranks, p_needs) THEN
        RAISE EXCEPTION 'the role of this agent is % by now; this needs %', role, p_needs USING ERRCODE = 'TB403';
    END IF;
    RETURN role;
END
$$;

-- The commit of a learn, or of a stored lesson that is given another standing: one call, one transaction.
--   agent_id, role      for whom it is decided, and with which role that was planned: of a pending or quarantined lesson, its
--                       authority_v1
--   actor_id, needs     who asks, and the role that this needs; absent when a worker settles
--   stands              the status that the stored lesson must still have; absent when it is new
--   resolves            the dispute that this ends: {dispute_id, ending, rationale, seen_tick}
--   completes           the action that is completed in the same transaction (complete_with_lesson_v1)
--   against, replaces   the lessons that the writer says it contradicts, and those among them whose place it takes
-- Returns {committed: true, reply, lesson, pended} or, having written nothing and spent no tick, {committed: false, changed, fresh}: then
-- everything is to be read again. Either also says for how many ms the gate was waited for; that is of this call alone, and not kept.
CREATE FUNCTION tributary.learn_commit_v1(p jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_generic_plan -- every statement looks up by key; planning them anew took a third of the gate's time
AS $$
DECLARE
    tribe uuid := p ->> 'tribe_id';
    agent uuid := p ->> 'agent_id';
    actor uuid := p ->> 'actor_id';
    began timestamptz := clock_timestamp();
    opened tributary.tribe := gate_v1(tribe);
    waited jsonb := jsonb_build_object(
        'gate_wait_ms', greatest(0, round(1000 * extract(epoch FROM clock_timestamp() - began), 3)));
    replay jsonb := replay_v1(tribe, actor, p ->> 'key', decode(p ->> 'request_digest', 'hex'));
    role text := p ->> 'role';
    serving boolean := EXISTS (SELECT FROM tribe_space s WHERE s.tribe_id = tribe AND s.space_id = (p ->> 'space_id')::integer
                               AND s.state = 'serving');
    -- kept unjudged, or held back by the screen: depends on no other lesson
    unconditional boolean := p #>> '{plan,confirm}' IS NULL
        AND (p #>> '{plan,outcome}' = 'pending' OR p #>> '{plan,outcome}' = 'quarantined' AND (p -> 'caught')::boolean);
    changed bigint := 0;
    fresh bigint := 0;
    applied jsonb;
BEGIN
    IF replay IS NOT NULL THEN
        RETURN replay || waited;
    END IF;
    IF p ->> 'needs' IS NOT NULL THEN
        role := require_role_v1(tribe, actor, p ->> 'needs');
    END IF;
    IF p ->> 'stands' IN ('pending', 'quarantined') THEN
        role := authority_v1(tribe, (p #>> '{lesson,lesson_id}')::uuid); -- whoever asks for it
    END IF;
    PERFORM resolvable_v1(p);
    PERFORM replaceable_v1(p, role);
    IF opened.clock > (p ->> 'read_tick')::bigint AND NOT unconditional THEN
        SELECT d.changed, d.fresh INTO changed, fresh FROM learn_delta_v1(p, opened.clock) d;
    END IF;
    -- what was read at a tick that is not reached any more (the database was set back, as by a failover) is nothing to go by
    IF NOT serving OR opened.clock < (p ->> 'read_tick')::bigint OR NOT unconditional AND (
           changed + fresh > 0 OR role <> p ->> 'role' OR opened.policy_version <> (p ->> 'policy_version')::integer) THEN
        RETURN jsonb_build_object('committed', false, 'changed', changed, 'fresh', fresh) || waited;
    END IF;
    applied := learn_apply_v1(p || jsonb_build_object('role', role), opened.clock, opened.clock_at);
    IF p ? 'completes' THEN
        PERFORM complete_with_lesson_v1(p);
    END IF;
    RETURN applied || waited;
END
$$;
