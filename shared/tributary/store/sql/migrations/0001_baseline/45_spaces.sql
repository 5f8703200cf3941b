-- Embedding spaces of a tribe: one is served from; another is built beside it, online, and takes its place in one tick.
--
--   building ──► serving ──► retired ──► building          building | retired ──► dropping ──► gone
--
-- Lock order beside the gate: a tribe's space first, then lessons (passing over those that are being changed), then their vectors. What
-- removes a space from a tribe opens the gate first, so that no commit finds it gone halfway.

-- A few sentences and what the first embedder of a space made of them: whoever embeds in the space later is compared with that.
CREATE TABLE tributary.space_reference (
    space_id   integer NOT NULL REFERENCES tributary.space ON DELETE CASCADE,
    sentence   text NOT NULL CHECK (octet_length(sentence) BETWEEN 1 AND 1024),
    embedding  public.halfvec NOT NULL,
    PRIMARY KEY (space_id, sentence)
);
CREATE TRIGGER vector_has_the_width_of_its_space BEFORE INSERT OR UPDATE ON tributary.space_reference
    FOR EACH ROW EXECUTE FUNCTION tributary.vector_has_the_width_of_its_space();

-- Whether a search, now or as of the past, or a learn may look for a lesson by its vector.
CREATE FUNCTION tributary.needs_vector_v1(p_status text, p_activated bigint, p_rejected text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT p_status <> 'erased' AND (p_status IN ('active', 'pending', 'disputed') OR p_activated IS NOT NULL OR p_rejected IS NOT NULL)
$$;

-- Lessons without a vector in a space, with what is embedded of them, among the next thousand after p_after by id: {after, lessons:
-- [{lesson_id, situation, text}]}; `after` is where to go on, NULL at the end. However many have their vectors already, a call is short, and
-- the planner has no reason to read the whole space for it.
CREATE FUNCTION tributary.space_unembedded_v1(p_tribe uuid, p_space integer, p_after uuid, p_limit integer) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp
SET enable_sort = off -- by the key, in its order: a planner without statistics would read and sort all that the tribe has
AS $$
    WITH looked AS MATERIALIZED (
        SELECT l.lesson_id FROM lesson l
        WHERE l.tribe_id = p_tribe AND l.lesson_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
          AND needs_vector_v1(l.status, l.activated_tick, l.rejected_as)
        ORDER BY l.lesson_id LIMIT 1000
    ), found AS MATERIALIZED (
        SELECT k.lesson_id FROM looked k
        WHERE NOT EXISTS (SELECT FROM lesson_vector v
                          WHERE v.tribe_id = p_tribe AND v.space_id = p_space AND v.lesson_id = k.lesson_id)
        ORDER BY k.lesson_id LIMIT p_limit
    )
    SELECT json_build_object(
        'after', CASE WHEN (SELECT count(*) FROM found) = p_limit THEN (SELECT f.lesson_id FROM found f ORDER BY 1 DESC LIMIT 1)
                      WHEN (SELECT count(*) FROM looked) = 1000 THEN (SELECT k.lesson_id FROM looked k ORDER BY 1 DESC LIMIT 1) END,
        'lessons', coalesce(json_agg(json_build_object('lesson_id', l.lesson_id, 'situation', l.situation, 'text', l.text)
                                     ORDER BY l.lesson_id), '[]'))
    FROM found f JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = f.lesson_id
$$;

-- Gives lessons their vectors in a space of the tribe's and returns how many. No gate: no belief changes. The space's counter is locked
-- first and a lesson that is being changed is passed over, so that nobody waits for somebody who waits for this. A change of status locks
-- the row as a change of key does, whether or not belief changes, since `believed` is generated from it: KEY SHARE keeps an erasure out.
CREATE FUNCTION tributary.space_embed_v1(p_tribe uuid, p_space integer, p_lessons uuid[], p_vectors text[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
DECLARE
    made bigint;
BEGIN
    PERFORM FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space AND s.state <> 'dropping' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    INSERT INTO lesson_vector (tribe_id, space_id, lesson_id, believed, embedding)
    SELECT p_tribe, p_space, l.lesson_id, l.believed, e.vector::halfvec
    FROM unnest(p_lessons, p_vectors) AS e(lesson_id, vector)
    JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = e.lesson_id
    WHERE needs_vector_v1(l.status, l.activated_tick, l.rejected_as)
    FOR KEY SHARE OF l SKIP LOCKED
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS made = ROW_COUNT;
    RETURN made;
END
$$;

-- How many lessons still need a vector in a space. Once it was found complete, only what happened since is looked at.
CREATE FUNCTION tributary.space_left_v1(p_tribe uuid, p_space integer) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    since bigint := (SELECT s.complete_tick FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space);
BEGIN
    IF since IS NULL THEN
        RETURN (
            SELECT count(*) FROM lesson l
            WHERE l.tribe_id = p_tribe AND needs_vector_v1(l.status, l.activated_tick, l.rejected_as)
              AND NOT EXISTS (SELECT FROM lesson_vector v
                              WHERE v.tribe_id = p_tribe AND v.space_id = p_space AND v.lesson_id = l.lesson_id));
    END IF;
    RETURN (
        SELECT count(*) FROM (SELECT DISTINCT e.lesson_id FROM lesson_event e WHERE e.tribe_id = p_tribe AND e.tick > since) e
        JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = e.lesson_id
        WHERE needs_vector_v1(l.status, l.activated_tick, l.rejected_as)
          AND NOT EXISTS (SELECT FROM lesson_vector v
                          WHERE v.tribe_id = p_tribe AND v.space_id = p_space AND v.lesson_id = l.lesson_id));
END
$$;

-- The same, and where it is none writes down up to which tick. It waits for no commit and none waits for it: KEY SHARE only keeps the
-- space from being taken from the tribe (and perhaps begun anew) meanwhile.
CREATE FUNCTION tributary.space_check_v1(p_tribe uuid, p_space integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    reached bigint;
    missing bigint;
BEGIN
    PERFORM FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such space' USING ERRCODE = 'TB404';
    END IF;
    reached := (SELECT t.clock FROM tribe t WHERE t.tribe_id = p_tribe); -- read before what it says of, so never too late a tick
    missing := space_left_v1(p_tribe, p_space);
    IF missing = 0 THEN
        UPDATE tribe_space s SET complete_tick = reached
        WHERE s.tribe_id = p_tribe AND s.space_id = p_space AND s.state <> 'dropping'
          AND (s.complete_tick IS NULL OR s.complete_tick < reached);
    END IF;
    RETURN missing;
END
$$;

-- Operator: the number of the space of this definition, made when it is new. Its row stays locked, so that it is not just being removed.
CREATE FUNCTION tributary.space_ensure_v1(
    p_name text, p_model text, p_pooling text, p_windowing text, p_quantisation text, p_dimension integer) RETURNS integer
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    INSERT INTO space AS s (name, model, pooling, windowing, quantisation, dimension)
    VALUES (p_name, p_model, p_pooling, p_windowing, p_quantisation, p_dimension)
    ON CONFLICT (name) DO UPDATE SET model = s.model RETURNING space_id
$$;

-- Operator: a tribe begins to build the space of this definition, or to bring one that it served from up to date; the state in which it
-- has it by then, so that to say it again is harmless.
CREATE FUNCTION tributary.space_begin_v1(
    p_tribe uuid, p_name text, p_model text, p_pooling text, p_windowing text, p_quantisation text, p_dimension integer) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    opened tribe := gate_v1(p_tribe); -- of two that begin at once the second sees what the first did
    wanted integer := space_ensure_v1(p_name, p_model, p_pooling, p_windowing, p_quantisation, p_dimension);
    other text := (SELECT s.name FROM tribe_space ts JOIN space s USING (space_id)
                   WHERE ts.tribe_id = p_tribe AND ts.state = 'building' AND ts.space_id <> wanted);
BEGIN
    IF other IS NOT NULL THEN
        RAISE EXCEPTION 'the tribe builds the space ''%'' already; switch to it or drop it first', other USING ERRCODE = 'TB410';
    END IF;
    INSERT INTO tribe_space AS ts (tribe_id, space_id, state) VALUES (p_tribe, wanted, 'building')
    ON CONFLICT (tribe_id, space_id) DO UPDATE SET state = 'building' WHERE ts.state = 'retired';
    RETURN (SELECT ts.state FROM tribe_space ts WHERE ts.tribe_id = p_tribe AND ts.space_id = wanted);
END
$$;

-- Operator: from the next tick on, which this returns, the tribe serves from another of its spaces. TB410 while that is not fit to serve:
-- lessons lack a vector there, or (unless p_exact) there is no index though more than p_exact_limit vectors are to be compared.
-- space_check_v1 is to be called before, so that little is left to look at under the gate.
CREATE FUNCTION tributary.space_switch_v1(p_tribe uuid, p_space integer, p_exact_limit bigint, p_exact boolean) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    opened tribe := gate_v1(p_tribe);
    target record;
    serving record;
    missing bigint;
    now record;
BEGIN
    SELECT ts.state, ts.vectors, ts.complete_tick, s.name INTO target FROM tribe_space ts JOIN space s USING (space_id)
    WHERE ts.tribe_id = p_tribe AND ts.space_id = p_space FOR NO KEY UPDATE OF ts;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such space' USING ERRCODE = 'TB404';
    ELSIF target.state = 'serving' THEN
        RAISE EXCEPTION 'the tribe serves from the space ''%'' already', target.name USING ERRCODE = 'TB410';
    ELSIF target.state = 'dropping' THEN
        RAISE EXCEPTION 'the space ''%'' is being dropped', target.name USING ERRCODE = 'TB410';
    END IF;
    missing := CASE WHEN target.complete_tick IS NOT NULL THEN space_left_v1(p_tribe, p_space) END;
    IF missing IS DISTINCT FROM 0 THEN
        RAISE EXCEPTION '% lesson(s) lack a vector in the space ''%''; build it again', coalesce(missing::text, 'Some'), target.name
            USING ERRCODE = 'TB410';
    ELSIF NOT p_exact AND target.vectors > p_exact_limit AND NOT has_index_v1(p_tribe, p_space) THEN
        RAISE EXCEPTION '% vectors of the space ''%'' have no index; build it again, or switch with exact search', target.vectors, target.name
            USING ERRCODE = 'TB410';
    END IF;
    SELECT ts.space_id, s.name INTO serving FROM tribe_space ts JOIN space s USING (space_id)
    WHERE ts.tribe_id = p_tribe AND ts.state = 'serving';
    SELECT a.tick, a.at INTO now FROM advance_v1(p_tribe) a;
    UPDATE tribe_space SET state = 'retired' WHERE tribe_id = p_tribe AND space_id = serving.space_id;
    UPDATE tribe_space SET state = 'serving' WHERE tribe_id = p_tribe AND space_id = p_space;
    INSERT INTO tribe_event (tribe_id, tick, event, details, at)
    VALUES (p_tribe, now.tick, 'space_switched', jsonb_build_object('from', serving.name, 'to', target.name), now.at);
    RETURN now.tick;
END
$$;

-- Operator: nobody puts anything into a space of the tribe's any more, which is about to be removed. Never the one that it serves from.
CREATE FUNCTION tributary.space_dropping_v1(p_tribe uuid, p_space integer) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    opened tribe := gate_v1(p_tribe);
BEGIN
    IF EXISTS (SELECT FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space AND s.state = 'serving') THEN
        RAISE EXCEPTION 'the tribe serves from this space; switch to another one first' USING ERRCODE = 'TB410';
    END IF;
    UPDATE tribe_space SET state = 'dropping' WHERE tribe_id = p_tribe AND space_id = p_space;
END
$$;

-- Operator: removes up to p_limit vectors of a space that is being dropped; tells how many. One that a commit is changing is left for the
-- next time.
CREATE FUNCTION tributary.space_clear_v1(p_tribe uuid, p_space integer, p_limit integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    gone bigint;
BEGIN
    PERFORM FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space AND s.state = 'dropping' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    DELETE FROM lesson_vector v WHERE v.tribe_id = p_tribe AND v.space_id = p_space AND v.lesson_id = ANY (ARRAY(
        SELECT o.lesson_id FROM lesson_vector o WHERE o.tribe_id = p_tribe AND o.space_id = p_space
        LIMIT p_limit FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$$;

-- Operator: takes a space that is being dropped from the tribe, with the few vectors that are left of it, and forgets the space where no
-- other tribe has it. Tells whether it did that.
CREATE FUNCTION tributary.space_end_v1(p_tribe uuid, p_space integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    opened tribe := gate_v1(p_tribe);
BEGIN
    PERFORM FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space AND s.state = 'dropping' FOR UPDATE;
    IF FOUND THEN
        DELETE FROM lesson_vector v WHERE v.tribe_id = p_tribe AND v.space_id = p_space;
        DELETE FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space;
    END IF;
    PERFORM FROM space s WHERE s.space_id = p_space FOR UPDATE; -- whoever begins to use it meanwhile is seen from here on
    DELETE FROM space s WHERE s.space_id = p_space AND NOT EXISTS (SELECT FROM tribe_space ts WHERE ts.space_id = p_space);
    RETURN FOUND;
END
$$;

-- Operator: the spaces of a tribe, oldest first, with what is missing there and whether there is an index.
CREATE FUNCTION tributary.spaces_v1(p_tribe uuid)
RETURNS TABLE (space_id integer, name text, dimension integer, state text, vectors bigint, missing bigint, indexed boolean)
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT s.space_id, s.name, s.dimension, ts.state, ts.vectors, space_left_v1(p_tribe, s.space_id), has_index_v1(p_tribe, s.space_id)
    FROM tribe_space ts JOIN space s USING (space_id) WHERE ts.tribe_id = p_tribe ORDER BY s.space_id
$$;

-- The reference sentences of a space with their vectors, {sentence: vector as text}; NULL when there is no such space.
CREATE FUNCTION tributary.space_references_v1(p_name text) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
    SELECT (SELECT coalesce(json_object_agg(r.sentence, r.embedding::text), '{}') FROM space_reference r WHERE r.space_id = s.space_id)
    FROM space s WHERE s.name = p_name
$$;

-- Keeps the reference sentences of a space that has none, and returns those that it has then. On a replica it keeps none.
CREATE FUNCTION tributary.space_keep_references_v1(p_name text, p_sentences text[], p_vectors text[]) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
DECLARE
    known integer := (SELECT s.space_id FROM space s WHERE s.name = p_name);
BEGIN
    IF current_setting('transaction_read_only') = 'off' AND NOT EXISTS (SELECT FROM space_reference r WHERE r.space_id = known) THEN
        INSERT INTO space_reference (space_id, sentence, embedding)
        SELECT known, e.sentence, e.vector::halfvec FROM unnest(p_sentences, p_vectors) AS e(sentence, vector)
        WHERE known IS NOT NULL
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN space_references_v1(p_name);
END
$$;
