-- What a learn's plan does, once the gate is open and nothing that it depends on has changed.

-- A JSON array of UUIDs as one of PostgreSQL's. Rewrites brackets and quotes, since a subquery would not be folded into its caller.
CREATE FUNCTION tributary.uuids_v1(p jsonb) RETURNS uuid[] LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(translate(p::text, '[]" ', '{}'), '{}')::uuid[]
$$;

-- Whether a verdict is none: the judge gave no answer, and the gardener asks again. The codes are those of core.decision.NoAnswer.
CREATE FUNCTION tributary.no_answer_v1(p_verdict jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(p_verdict ->> 'cause' IN (
        'judge_unavailable', 'judge_timed_out', 'judge_refused', 'judge_malformed', 'budget_spent'), false)
$$;

-- Ends the belief in lessons; gives those that really were believed. The caller holds the gate and has advanced the clock.
CREATE FUNCTION tributary.deactivate_v1(
    p_tribe uuid, p_ids uuid[], p_status text, p_successor uuid, p_tick bigint, p_at timestamptz) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    really uuid[];
BEGIN
    IF cardinality(p_ids) = 0 THEN
        RETURN p_ids;
    END IF;
    WITH ended AS (
        UPDATE lesson SET status = p_status, superseded_by = p_successor, deactivated_tick = p_tick, deactivated_at = p_at
        WHERE tribe_id = p_tribe AND lesson_id = ANY (p_ids) AND believed
        RETURNING lesson_id)
    SELECT coalesce(array_agg(lesson_id), '{}') INTO really FROM ended;
    RETURN really;
END
$$;

-- Closes challenges that have lost their point: an `unsure` one when either of its two lessons is no longer believed, and a
-- conflict when its contender is no longer disputed.
CREATE FUNCTION tributary.settle_disputes_v1(p_tribe uuid, p_touched uuid[], p_tick bigint, p_at timestamptz) RETURNS void
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    UPDATE dispute d SET state = 'settled', ending = 'moot', closed_tick = p_tick, closed_at = p_at
    FROM lesson contender
    WHERE d.tribe_id = p_tribe AND d.state = 'open' AND d.opened_tick < p_tick
      AND contender.tribe_id = p_tribe AND contender.lesson_id = d.lesson_id
      AND (d.lesson_id = ANY (p_touched) OR EXISTS (
              SELECT FROM dispute_about b
              WHERE b.tribe_id = p_tribe AND b.dispute_id = d.dispute_id AND b.lesson_id = ANY (p_touched)))
      AND CASE d.kind
          WHEN 'unsure' THEN NOT contender.believed OR NOT EXISTS (
              SELECT FROM dispute_about b JOIN lesson x USING (tribe_id, lesson_id)
              WHERE b.tribe_id = p_tribe AND b.dispute_id = d.dispute_id AND x.believed)
          ELSE contender.status <> 'disputed' END
$$;

-- Lets go of contenders that nothing believed speaks against any more, since an agent ended what did: they are pending, and will be judged
-- anew as their authors'. Not those that a curator rejected before; and what time ends lets go of nothing, so that it makes no difference
-- when the gardener stamps it. Tells whether there were any.
CREATE FUNCTION tributary.free_contenders_v1(
    p_tribe uuid, p_actor uuid, p_decision uuid, p_ended uuid[], p_tick bigint, p_at timestamptz) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    freed uuid[] := ARRAY(
        SELECT DISTINCT d.lesson_id FROM dispute d JOIN dispute_about b USING (tribe_id, dispute_id)
        WHERE d.tribe_id = p_tribe AND d.state = 'open' AND d.kind = 'conflict' AND d.precedent IS NULL
          AND b.lesson_id = ANY (p_ended)
          AND NOT EXISTS (SELECT FROM dispute_about o JOIN lesson x USING (tribe_id, lesson_id)
                          WHERE o.tribe_id = p_tribe AND o.dispute_id = d.dispute_id AND x.believed
                            AND (x.valid_until IS NULL OR x.valid_until > p_at)) -- over, though nobody has stamped it yet
          AND NOT EXISTS (SELECT FROM lesson x
                          WHERE x.tribe_id = p_tribe AND x.lesson_id = ANY (believed_rivals_v1(p_tribe, d.lesson_id))
                            AND (x.valid_until IS NULL OR x.valid_until > p_at))
        ORDER BY d.lesson_id);
BEGIN
    UPDATE lesson SET status = 'pending' WHERE tribe_id = p_tribe AND lesson_id = ANY (freed) AND status = 'disputed';
    PERFORM record_v1(p_tribe, p_tick, p_at, p_actor, p_decision, 'pended', 'pending', freed, '{"cause": "unopposed"}');
    PERFORM settle_disputes_v1(p_tribe, freed, p_tick, p_at);
    RETURN cardinality(freed) > 0;
END
$$;

-- A UUID of version 7, which rises with time (RFC 9562, section 5.7); PostgreSQL makes them from version 18 on only.
CREATE FUNCTION tributary.uuid7_v1() RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT encode(set_bit(set_bit(overlay(
        uuid_send(gen_random_uuid()) PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- An entry of the audit: who changed what besides learning, in the transaction that did it.
CREATE FUNCTION tributary.note_v1(p_tribe uuid, p_actor uuid, p_action text, p_detail text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    INSERT INTO audit (tribe_id, audit_id, agent_id, action, code, detail)
    VALUES (p_tribe, uuid7_v1(), p_actor, p_action, 'done', p_detail)
$$;

-- An id as users see it.
CREATE FUNCTION tributary.shown_v1(p_prefix text, p_id uuid) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT p_prefix || '_' || replace(p_id::text, '-', '')
$$;

-- TB404 or TB410 unless the dispute that p -> 'resolves' names is open, and is still what the curator saw at 'seen_tick'.
CREATE FUNCTION tributary.resolvable_v1(p jsonb) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = tributary, pg_temp AS $$
DECLARE
    tribe uuid := p ->> 'tribe_id';
    wanted uuid := p #>> '{resolves,dispute_id}';
    seen bigint := p #>> '{resolves,seen_tick}';
    d dispute;
BEGIN
    IF wanted IS NULL THEN
        RETURN;
    END IF;
    SELECT * INTO d FROM dispute WHERE tribe_id = tribe AND dispute_id = wanted;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such dispute' USING ERRCODE = 'TB404';
    ELSIF d.state <> 'open' THEN
        RAISE EXCEPTION 'the dispute was settled at tick %: %', d.closed_tick, d.ending USING ERRCODE = 'TB410';
    ELSIF EXISTS (SELECT FROM dispute_about b
                  WHERE b.tribe_id = tribe AND b.dispute_id = wanted AND b.since_tick > seen) THEN
        RAISE EXCEPTION 'another lesson came into the dispute after tick %; look at it again', seen USING ERRCODE = 'TB410';
    END IF;
END
$$;

-- TB403, TB404 or TB410 unless the writer may replace each lesson that p -> 'replaces' names: the writer's own or, for a curator, any, and
-- believed.
CREATE FUNCTION tributary.replaceable_v1(p jsonb, p_role text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = tributary, pg_temp AS $$
DECLARE
    named record;
BEGIN
    FOR named IN
        SELECT r.lesson_id AS wanted, l.lesson_id, l.agent_id, l.status
        FROM unnest(uuids_v1(p -> 'replaces')) AS r(lesson_id)
        LEFT JOIN lesson l ON l.tribe_id = (p ->> 'tribe_id')::uuid AND l.lesson_id = r.lesson_id
    LOOP
        IF named.lesson_id IS NULL THEN
            RAISE EXCEPTION 'there is no lesson % to replace', shown_v1('les', named.wanted) USING ERRCODE = 'TB404';
        ELSIF named.agent_id <> (p ->> 'agent_id')::uuid AND p_role <> 'curator' THEN
            RAISE EXCEPTION '% is another agent''s; only its author or a curator may replace it', shown_v1('les', named.wanted)
                USING ERRCODE = 'TB403';
        ELSIF named.status <> 'active' THEN
            RAISE EXCEPTION '% is %; only a believed lesson can be replaced', shown_v1('les', named.wanted), named.status
                USING ERRCODE = 'TB410';
        END IF;
    END LOOP;
END
$$;

-- Ends the dispute that p -> 'resolves' names, at its curator's word.
CREATE FUNCTION tributary.close_dispute_v1(p jsonb, p_tick bigint, p_at timestamptz) RETURNS void
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    UPDATE dispute SET state = 'settled', ending = p #>> '{resolves,ending}', closed_tick = p_tick, closed_at = p_at,
        closed_by = (p ->> 'actor_id')::uuid, rationale = p #>> '{resolves,rationale}'
    WHERE tribe_id = (p ->> 'tribe_id')::uuid AND dispute_id = (p #>> '{resolves,dispute_id}')::uuid;
    INSERT INTO tribe_event (tribe_id, tick, event, agent_id, details, at)
    VALUES ((p ->> 'tribe_id')::uuid, p_tick, 'dispute_settled', (p ->> 'actor_id')::uuid,
            jsonb_build_object('dispute', p #>> '{resolves,dispute_id}', 'ending', p #>> '{resolves,ending}'), p_at)
$$;

-- Queues what p -> 'reviews' holds; a case that was queued before is not queued again.
CREATE FUNCTION tributary.queue_reviews_v1(p jsonb, p_decision uuid, p_tick bigint) RETURNS uuid[]
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    WITH queued AS (
        INSERT INTO review (tribe_id, review_id, signal, suite, fingerprint, inputs, found, expected, note, lesson_ids, decision_id,
                            agent_id, state, tick)
        SELECT (p ->> 'tribe_id')::uuid, (r ->> 'review_id')::uuid, r ->> 'signal', r ->> 'suite', decode(r ->> 'fingerprint', 'hex'),
               r -> 'inputs', r ->> 'found', r ->> 'expected', r ->> 'note', uuids_v1(r -> 'lesson_ids'), p_decision,
               (p ->> 'actor_id')::uuid, 'open', p_tick
        FROM jsonb_array_elements(coalesce(p -> 'reviews', '[]')) AS r
        WHERE NOT EXISTS (SELECT FROM lesson l -- erased since the case was made
                          WHERE l.tribe_id = (p ->> 'tribe_id')::uuid AND l.lesson_id = ANY (uuids_v1(r -> 'lesson_ids'))
                            AND l.status = 'erased')
        ON CONFLICT (tribe_id, fingerprint) DO NOTHING
        RETURNING review_id)
    SELECT coalesce(array_agg(review_id), '{}') FROM queued
$$;

CREATE FUNCTION tributary.record_v1(
    p_tribe uuid, p_tick bigint, p_at timestamptz, p_agent uuid, p_decision uuid, p_event text, p_status text, p_ids uuid[],
    p_details jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
BEGIN
    IF cardinality(p_ids) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO lesson_event (tribe_id, tick, seq, lesson_id, event, status, agent_id, decision_id, details, at)
    SELECT p_tribe, p_tick,
           (SELECT coalesce(max(e.seq), 0) FROM lesson_event e WHERE e.tribe_id = p_tribe AND e.tick = p_tick) + i.n,
           i.lesson_id, p_event, p_status, p_agent, p_decision, p_details, p_at
    FROM unnest(p_ids) WITH ORDINALITY AS i(lesson_id, n);
END
$$;

-- Gives a stored lesson, which stands as p ->> 'stands', the standing that it came to.
CREATE FUNCTION tributary.settle_lesson_v1(p jsonb, p_status text, p_tick bigint, p_at timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    stood text;
BEGIN
    IF p_status = 'active' AND EXISTS (
        SELECT FROM lesson l WHERE l.tribe_id = (p ->> 'tribe_id')::uuid AND l.believed
                               AND l.content_hash = decode(p ->> 'content_hash', 'hex')) THEN
        RAISE EXCEPTION 'a believed lesson says the very same words, for another time; only one of the two can be believed'
            USING ERRCODE = 'TB410';
    END IF;
    UPDATE lesson SET status = p_status, held = p_status = 'quarantined',
        activated_tick = CASE WHEN p_status = 'active' THEN p_tick END, activated_at = CASE WHEN p_status = 'active' THEN p_at END
    WHERE tribe_id = (p ->> 'tribe_id')::uuid AND lesson_id = (p #>> '{lesson,lesson_id}')::uuid AND status = p ->> 'stands';
    IF NOT FOUND THEN
        stood := (SELECT l.status FROM lesson l
                  WHERE l.tribe_id = (p ->> 'tribe_id')::uuid AND l.lesson_id = (p #>> '{lesson,lesson_id}')::uuid);
        RAISE EXCEPTION 'the lesson is not % any more but %', p ->> 'stands', stood USING ERRCODE = 'TB410';
    END IF;
    IF p ->> 'stands' = 'quarantined' AND p_status NOT IN ('quarantined', 'retired') THEN
        PERFORM index_lesson_v1(p, p_status = 'active', p_tick);
    END IF;
END
$$;

CREATE FUNCTION tributary.insert_lesson_v1(p jsonb, p_status text, p_tick bigint, p_at timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, public, pg_temp AS $$
DECLARE
    tribe uuid := p ->> 'tribe_id';
    l jsonb := p -> 'lesson';
    active boolean := p_status = 'active';
BEGIN
    INSERT INTO lesson (
        tribe_id, lesson_id, agent_id, kind, status, text, situation, subject, subject_key, tags, source_how, source_ref, evidence,
        rationale, confidence, valid_from, valid_until, keep_until, content_hash, text_hash, admitted_as, held, learned_tick, learned_at,
        activated_tick, activated_at)
    VALUES (
        tribe, (l ->> 'lesson_id')::uuid, (p ->> 'agent_id')::uuid, l ->> 'kind', p_status, l ->> 'text', l ->> 'situation',
        l ->> 'subject', p ->> 'subject_key', l -> 'tags', l ->> 'source_how', l ->> 'source_ref', l -> 'evidence', l ->> 'rationale',
        (l ->> 'confidence')::double precision, (l ->> 'valid_from')::timestamptz, (l ->> 'valid_until')::timestamptz,
        (l ->> 'keep_until')::timestamptz, decode(p ->> 'content_hash', 'hex'), decode(l ->> 'text_hash', 'hex'), p ->> 'role',
        p_status = 'quarantined', p_tick, p_at,
        CASE WHEN active THEN p_tick END, CASE WHEN active THEN p_at END);
    IF p_status <> 'quarantined' THEN -- nothing may find it before a curator releases it
        PERFORM index_lesson_v1(p, active, p_tick);
    END IF;
END
$$;

-- What a lesson is found by from a tick on: its vectors, its terms, and what it can be filtered by. One that was pending before it was held
-- back has them already.
CREATE FUNCTION tributary.index_lesson_v1(p jsonb, p_active boolean, p_tick bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, public, pg_temp AS $$
DECLARE
    tribe uuid := p ->> 'tribe_id';
    new_id uuid := p #>> '{lesson,lesson_id}';
BEGIN
    -- in the space that the tribe serves from and in the one that it builds, if it still has them
    INSERT INTO lesson_vector (tribe_id, space_id, lesson_id, believed, embedding)
    SELECT tribe, s.space_id, new_id, p_active, e.embedding::halfvec
    FROM (VALUES ((p ->> 'space_id')::integer, p ->> 'embedding'),
                 ((p ->> 'also_space_id')::integer, p ->> 'also_embedding')) AS e(space_id, embedding)
    JOIN tribe_space s ON s.tribe_id = tribe AND s.space_id = e.space_id AND s.state <> 'dropping'
    WHERE e.embedding IS NOT NULL
    ON CONFLICT DO NOTHING;
    INSERT INTO lesson_facet (tribe_id, facet, lesson_id)
    SELECT DISTINCT tribe, f.facet, l.lesson_id FROM lesson l, unnest(facets_v1(l)) AS f(facet)
    WHERE l.tribe_id = tribe AND l.lesson_id = new_id
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        INSERT INTO lesson_term (tribe_id, term, since_tick, lesson_id)
        SELECT tribe, t.term, p_tick, new_id FROM jsonb_array_elements_text(p -> 'terms') AS t(term) ORDER BY t.term;
    END IF;
END
$$;

-- Has two lessons known as rivals, of which at most one is believed.
CREATE FUNCTION tributary.make_rivals_v1(p_tribe uuid, p_lesson uuid, p_others uuid[], p_tick bigint) RETURNS void
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    INSERT INTO rival (tribe_id, a, b, a_on, b_on, since_tick)
    SELECT p_tribe, x.lesson_id, y.lesson_id, x.believed, y.believed, p_tick
    FROM unnest(p_others) AS r(lesson_id)
    -- looked up one by one, which OFFSET keeps so: without statistics the planner joined all of the tribe's lessons with each other
    CROSS JOIN LATERAL (SELECT l.lesson_id, l.believed FROM lesson l
                        WHERE l.tribe_id = p_tribe AND l.lesson_id = least(r.lesson_id, p_lesson) OFFSET 0) x
    CROSS JOIN LATERAL (SELECT l.lesson_id, l.believed FROM lesson l
                        WHERE l.tribe_id = p_tribe AND l.lesson_id = greatest(r.lesson_id, p_lesson) OFFSET 0) y
    ON CONFLICT DO NOTHING -- another learn found the same of a pending lesson before
$$;

-- The believed lessons that an earlier verdict made rivals of a lesson.
CREATE FUNCTION tributary.believed_rivals_v1(p_tribe uuid, p_lesson uuid) RETURNS uuid[]
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT ARRAY(SELECT CASE WHEN r.a = p_lesson THEN r.b ELSE r.a END FROM rival r
                 WHERE r.tribe_id = p_tribe AND (r.a = p_lesson AND r.b_on OR r.b = p_lesson AND r.a_on))
$$;

-- Opens a dispute or challenge by `p_contender` about lessons.
CREATE FUNCTION tributary.open_dispute_v1(
    p_tribe uuid, p_dispute uuid, p_kind text, p_contender uuid, p_about uuid[], p_decision uuid, p_precedent uuid, p_tick bigint,
    p_at timestamptz) RETURNS void
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    INSERT INTO dispute (tribe_id, dispute_id, kind, lesson_id, decision_id, precedent, state, opened_tick, opened_at)
    VALUES (p_tribe, p_dispute, p_kind, p_contender, p_decision, p_precedent, 'open', p_tick, p_at);
    INSERT INTO dispute_about (tribe_id, lesson_id, dispute_id, since_tick)
    SELECT p_tribe, a.lesson_id, p_dispute, p_tick FROM unnest(p_about) AS a(lesson_id)
$$;

-- Applies the plan in p -> 'plan', writes its events, decision and idempotency key, and returns the reply.
CREATE FUNCTION tributary.learn_apply_v1(p jsonb, p_clock bigint, p_clock_at timestamptz) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = tributary, public, pg_temp AS $$
DECLARE
    tribe uuid := p ->> 'tribe_id';
    agent uuid := p ->> 'agent_id';
    actor uuid := p ->> 'actor_id';
    plan jsonb := p -> 'plan';
    decision uuid := p ->> 'decision_id';
    new_id uuid := p #>> '{lesson,lesson_id}';
    known uuid := plan ->> 'confirm';
    outcome text := plan ->> 'outcome';
    reason text := plan ->> 'reason';
    supersede uuid[] := uuids_v1(plan -> 'supersede');
    retire uuid[] := uuids_v1(plan -> 'retire');
    lapse uuid[] := uuids_v1(plan -> 'lapse');
    settle uuid[] := uuids_v1(plan -> 'settle');
    contradicts uuid[] := uuids_v1(plan -> 'dispute');
    challenges uuid[] := uuids_v1(plan -> 'challenge_ids');
    stands text := p ->> 'stands';
    ending text := p #>> '{resolves,ending}';
    resolved uuid := p #>> '{resolves,dispute_id}';
    cleared uuid[];
    held uuid[];
    challenged uuid[];
    opponents uuid[];
    joined uuid[] := '{}';
    confirms boolean;
    standing text; -- of the new lesson
    freed boolean := false; -- whether contenders were let go of
    tick bigint := p_clock;
    at timestamptz := p_clock_at;
    dispute uuid;
    precedent uuid; -- of the dispute that it joins
    about jsonb := jsonb_strip_nulls(jsonb_build_object('dispute', resolved, 'ending', ending));
    reply jsonb;
BEGIN
    IF EXISTS (SELECT FROM lesson l
               WHERE l.tribe_id = tribe AND l.status = 'erased' AND l.text_hash = decode(p #>> '{lesson,text_hash}', 'hex')) THEN
        RAISE EXCEPTION 'a curator erased the very same words; they are not kept again' USING ERRCODE = 'TB410';
    END IF;
    IF stands IS NOT NULL AND NOT EXISTS (SELECT FROM lesson l
                                          WHERE l.tribe_id = tribe AND l.lesson_id = new_id AND l.status = stands) THEN
        RAISE EXCEPTION 'the lesson is not % any more', stands USING ERRCODE = 'TB410';
    END IF;
    confirms := known IS NOT NULL AND outcome <> 'unchanged' AND NOT EXISTS (
        SELECT FROM confirmation f WHERE f.tribe_id = tribe AND f.lesson_id = known AND f.agent_id = agent
        UNION ALL SELECT FROM lesson l WHERE l.tribe_id = tribe AND l.lesson_id = known AND l.agent_id = agent);
    IF outcome = 'reinforced' AND NOT confirms THEN
        outcome := 'unchanged'; -- this agent came to count for it in the meantime
    END IF;
    standing := CASE WHEN known IS NULL THEN
        CASE outcome WHEN 'learned' THEN 'active' WHEN 'superseded' THEN 'active' ELSE outcome END END;

    IF ending = 'both_stand' THEN
        -- the verdict was wrong: these are no rivals
        cleared := ARRAY(SELECT b.lesson_id FROM dispute_about b WHERE b.tribe_id = tribe AND b.dispute_id = resolved);
        DELETE FROM rival r WHERE r.tribe_id = tribe AND (r.a = new_id AND r.b = ANY (cleared) OR r.b = new_id AND r.a = ANY (cleared));
    END IF;
    IF stands IS NOT NULL AND standing = 'active' THEN
        held := ARRAY(SELECT unnest(believed_rivals_v1(tribe, new_id)) EXCEPT SELECT unnest(supersede || lapse || retire));
        IF ending = 'accepted' AND cardinality(held) > 0 THEN
            supersede := supersede || held; -- every rival, whichever the plan knew of
            outcome := 'superseded';
        ELSIF cardinality(held) > 0 THEN
            -- an earlier verdict made it a rival of what is believed now: this verdict alone cannot undo that
            outcome := 'disputed';
            standing := 'disputed';
            contradicts := held;
            reason := 'an earlier verdict made it a rival of a believed lesson; a curator decides';
            supersede := '{}';
            settle := '{}';
            challenges := '{}';
        END IF;
    END IF;
    -- only with what stays believed, and once for each pair
    IF cardinality(challenges) > 0 THEN
        SELECT coalesce(array_agg(c.dispute_id), '{}'), coalesce(array_agg(c.about), '{}') INTO challenges, challenged
        FROM unnest(challenges, uuids_v1(plan -> 'challenge')) AS c(dispute_id, about)
        WHERE c.about <> ALL (supersede || retire || lapse) AND NOT EXISTS (
            SELECT FROM dispute d JOIN dispute_about b USING (tribe_id, dispute_id)
            WHERE d.tribe_id = tribe AND d.kind = 'unsure' AND d.state = 'open'
              AND (d.lesson_id = known AND b.lesson_id = c.about OR d.lesson_id = c.about AND b.lesson_id = known));
    END IF;
    IF known IS NOT NULL AND outcome = 'disputed' THEN
        -- what joins a dispute brings what it contradicts along
        joined := ARRAY(SELECT unnest(contradicts) EXCEPT SELECT b.lesson_id FROM dispute_about b JOIN dispute d USING (tribe_id, dispute_id)
                        WHERE d.tribe_id = tribe AND d.lesson_id = known AND d.state = 'open');
    END IF;
    IF known IS NULL AND standing IS DISTINCT FROM stands OR confirms OR resolved IS NOT NULL OR known IS NOT NULL AND stands IS NOT NULL
       OR cardinality(lapse || retire || challenges || joined) > 0 THEN
        SELECT a.tick, a.at INTO tick, at FROM advance_v1(tribe) a;
        lapse := deactivate_v1(tribe, lapse, 'retired', NULL, tick, at);
        PERFORM record_v1(tribe, tick, at, actor, decision, 'retired', 'retired', lapse, '{"cause": "lapsed"}');
        retire := deactivate_v1(tribe, retire, 'retired', NULL, tick, at);
        PERFORM record_v1(tribe, tick, at, actor, decision, 'retired', 'retired', retire,
                          about || jsonb_build_object('cause', CASE WHEN resolved IS NULL THEN 'contradicted' ELSE 'dispute_accepted' END,
                                                      'lesson', known));
    END IF;
    IF confirms THEN
        INSERT INTO confirmation (tribe_id, lesson_id, agent_id, tick, at) VALUES (tribe, known, agent, tick, at);
        PERFORM record_v1(tribe, tick, at, actor, decision, 'reinforced', l.status, ARRAY[known], '{}')
        FROM lesson l WHERE l.tribe_id = tribe AND l.lesson_id = known;
    END IF;
    IF stands IS NOT NULL AND known IS NOT NULL THEN
        PERFORM settle_lesson_v1(p, 'retired', tick, at);
        PERFORM record_v1(tribe, tick, at, actor, decision, 'retired', 'retired', ARRAY[new_id],
                          about || jsonb_build_object('cause', 'same_as_known', 'lesson', known));
    ELSIF standing IS NOT NULL THEN
        -- first what ends, then what begins: at no moment may two rivals be on
        supersede := deactivate_v1(tribe, supersede, 'superseded', new_id, tick, at);
        IF cardinality(settle) > 0 THEN
            UPDATE lesson SET status = 'retired' WHERE tribe_id = tribe AND lesson_id = ANY (settle) AND status = 'disputed';
        END IF;
        IF stands IS NULL THEN
            PERFORM insert_lesson_v1(p, standing, tick, at);
        ELSIF standing <> stands THEN
            PERFORM settle_lesson_v1(p, standing, tick, at);
        END IF;
        IF standing IS DISTINCT FROM stands THEN
            PERFORM record_v1(tribe, tick, at, actor, decision, CASE standing WHEN 'active' THEN 'learned' WHEN 'pending' THEN 'pended'
                              ELSE standing END, standing, ARRAY[new_id], about);
        END IF;
        PERFORM record_v1(tribe, tick, at, actor, decision, 'superseded', 'superseded', supersede,
                          about || jsonb_build_object('successor', new_id));
        PERFORM record_v1(tribe, tick, at, actor, decision, 'retired', 'retired', settle,
                          jsonb_build_object('cause', 'same_as_believed', 'lesson', new_id));
        opponents := uuids_v1(plan -> 'rivals') || contradicts;
        IF standing IN ('pending', 'quarantined') THEN
            opponents := opponents || uuids_v1(p -> 'against'); -- to be remembered until it is settled
        END IF;
        IF cardinality(opponents) > 0 THEN
            PERFORM make_rivals_v1(tribe, new_id, opponents, tick);
        END IF;
        IF outcome = 'disputed' THEN
            dispute := plan ->> 'dispute_id';
            PERFORM open_dispute_v1(tribe, dispute, 'conflict', new_id, contradicts, decision, (plan ->> 'precedent')::uuid, tick, at);
            PERFORM record_v1(tribe, tick, at, actor, decision, 'challenged', 'active', contradicts,
                              jsonb_build_object('dispute', dispute));
        END IF;
        IF standing = 'active' AND plan -> 'contend' <> '[]' THEN
            INSERT INTO dispute_about (tribe_id, lesson_id, dispute_id, since_tick)
            SELECT tribe, new_id, d.dispute_id, tick FROM dispute d
            WHERE d.tribe_id = tribe AND d.dispute_id = ANY (uuids_v1(plan -> 'contend')) AND d.state = 'open'
              AND d.dispute_id IS DISTINCT FROM resolved
            ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    IF (standing = 'active' OR known IS NOT NULL) AND cardinality(challenges) > 0 THEN
        PERFORM open_dispute_v1(tribe, c.dispute_id, 'unsure', coalesce(known, new_id), ARRAY[c.about], decision, NULL, tick, at)
        FROM unnest(challenges, challenged) AS c(dispute_id, about);
        PERFORM record_v1(tribe, tick, at, actor, decision, 'challenged', 'active', challenged, '{}');
    END IF;
    IF cardinality(joined) > 0 THEN
        INSERT INTO dispute_about (tribe_id, lesson_id, dispute_id, since_tick)
        SELECT tribe, j.lesson_id, d.dispute_id, tick
        FROM (SELECT x.dispute_id FROM dispute x WHERE x.tribe_id = tribe AND x.lesson_id = known AND x.kind = 'conflict'
              AND x.state = 'open' LIMIT 1) d, unnest(joined) AS j(lesson_id)
        ON CONFLICT DO NOTHING;
        PERFORM make_rivals_v1(tribe, known, joined, tick);
        PERFORM record_v1(tribe, tick, at, actor, decision, 'challenged', 'active', joined, '{}');
    END IF;
    IF resolved IS NOT NULL THEN
        PERFORM close_dispute_v1(p, tick, at);
        PERFORM record_v1(tribe, tick, at, actor, decision, 'cleared', l.status, ARRAY[l.lesson_id], about)
        FROM lesson l WHERE l.tribe_id = tribe AND l.lesson_id = ANY (cleared);
        -- what the curator saw: not what was found to contradict it only now
        UPDATE lesson SET rejected_as = 'wrong' WHERE tribe_id = tribe AND lesson_id = ANY (supersede || retire) AND lesson_id IN (
            SELECT b.lesson_id FROM dispute_about b WHERE b.tribe_id = tribe AND b.dispute_id = resolved);
    END IF;
    IF stands IS NOT NULL AND p ->> 'needs' IS NOT NULL AND plan -> 'overturn' <> '[]' THEN
        PERFORM record_v1(tribe, tick, at, actor, decision, 'cleared', l.status, ARRAY[l.lesson_id], about || '{"cause": "overturned"}')
        FROM lesson l WHERE l.tribe_id = tribe AND l.lesson_id = ANY (uuids_v1(plan -> 'overturn')) AND l.rejected_as IS NOT NULL;
        UPDATE lesson SET rejected_as = NULL
        WHERE tribe_id = tribe AND lesson_id = ANY (uuids_v1(plan -> 'overturn')) AND rejected_as IS NOT NULL;
    END IF;
    IF cardinality(lapse || retire || supersede || settle) > 0 OR stands = 'disputed' THEN
        PERFORM settle_disputes_v1(tribe, lapse || retire || supersede || settle || new_id, tick, at);
    END IF;
    IF cardinality(retire || supersede) > 0 THEN
        freed := free_contenders_v1(tribe, actor, decision, retire || supersede, tick, at);
    END IF;
    IF known IS NOT NULL AND outcome = 'disputed' THEN
        -- its open dispute; or, when the very agent says again what a curator rejected, the dispute in which that was done
        SELECT d.dispute_id, d.precedent INTO dispute, precedent FROM dispute d
        WHERE d.tribe_id = tribe AND d.lesson_id = known AND d.kind = 'conflict'
        ORDER BY d.state = 'open' DESC, d.opened_tick DESC LIMIT 1;
    END IF;
    IF stands IS NOT NULL AND p ->> 'needs' IS NOT NULL THEN
        PERFORM note_v1(tribe, actor, coalesce(ending, 'released'),
                        concat_ws(' ', shown_v1('dis', resolved), shown_v1('les', new_id), 'came to', outcome));
    END IF;

    reply := jsonb_build_object(
        'outcome', outcome, 'lesson_id', coalesce(known, new_id), 'replaced', supersede, 'retired', retire, 'dispute_id', dispute,
        'precedent', coalesce((plan ->> 'precedent')::uuid, precedent), 'challenges', challenges, 'reason', reason, 'decision_id', decision, 'tick', tick,
        'resolved', resolved, 'ending', ending);
    IF stands IS NOT NULL THEN
        UPDATE decision SET unjudged = false WHERE tribe_id = tribe AND lesson_id = new_id AND unjudged;
    END IF;
    INSERT INTO decision (tribe_id, decision_id, tick, at, agent_id, actor_id, lesson_id, draft, judged_tick, replans, candidates,
                          verdicts, screening, outcome, reason, unjudged, receipts)
    VALUES (tribe, decision, tick, clock_timestamp(), agent, actor, coalesce(known, new_id),
            CASE WHEN known IS NOT NULL AND stands IS NULL THEN p -> 'lesson' END, (p ->> 'read_tick')::bigint,
            (p ->> 'replans')::integer, p -> 'candidates', p -> 'verdicts', p -> 'screening', outcome, reason,
            coalesce(standing = 'active' AND EXISTS (
                         SELECT FROM jsonb_array_elements(p -> 'verdicts') AS v(verdict) WHERE no_answer_v1(v.verdict))
                     OR standing = 'quarantined' AND p #> '{screening,reasons}' ? 'screen_unavailable', false),
            coalesce(p -> 'receipts', '[]'));
    IF p -> 'reviews' <> '[]' THEN
        PERFORM queue_reviews_v1(p, decision, tick);
    END IF;
    INSERT INTO idempotency (tribe_id, agent_id, key, request_digest, reply, at)
    VALUES (tribe, actor, p ->> 'key', decode(p ->> 'request_digest', 'hex'), reply, clock_timestamp());
    RETURN jsonb_build_object(
        'committed', true, 'replayed', false, 'reply', reply, 'pended', freed OR standing IS NOT DISTINCT FROM 'pending',
        'lesson', lesson_document_v1(tribe, coalesce(known, new_id)));
END
$$;
