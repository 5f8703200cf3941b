-- What a learn's plan does, once the gate is open and nothing that it depends on has changed.

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
    UPDATE dispute d SET state = 'settled', closed_tick = p_tick, closed_at = p_at
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

-- A JSON array of UUIDs as one of PostgreSQL's. Rewrites brackets and quotes, since a subquery would not be folded into its caller.
CREATE FUNCTION tributary.uuids_v1(p jsonb) RETURNS uuid[] LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(translate(p::text, '[]" ', '{}'), '{}')::uuid[]
$$;

-- Gives a pending lesson the standing that it came to.
CREATE FUNCTION tributary.settle_lesson_v1(p_tribe uuid, p_lesson uuid, p_status text, p_tick bigint, p_at timestamptz)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
BEGIN
    UPDATE lesson SET status = p_status,
        activated_tick = CASE WHEN p_status = 'active' THEN p_tick END, activated_at = CASE WHEN p_status = 'active' THEN p_at END
    WHERE tribe_id = p_tribe AND lesson_id = p_lesson AND status = 'pending';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the lesson is not pending any more' USING ERRCODE = 'TB410';
    END IF;
END
$$;

CREATE FUNCTION tributary.insert_lesson_v1(p jsonb, p_status text, p_tick bigint, p_at timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, public, pg_temp AS $$
DECLARE
    tribe uuid := p ->> 'tribe_id';
    l jsonb := p -> 'lesson';
    lesson uuid := l ->> 'lesson_id';
    active boolean := p_status = 'active';
BEGIN
    INSERT INTO lesson (
        tribe_id, lesson_id, agent_id, kind, status, text, situation, subject, subject_key, tags, source_how, source_ref, evidence,
        rationale, confidence, valid_from, valid_until, keep_until, content_hash, learned_tick, learned_at, activated_tick,
        activated_at)
    VALUES (
        tribe, lesson, (p ->> 'agent_id')::uuid, l ->> 'kind', p_status, l ->> 'text', l ->> 'situation', l ->> 'subject',
        p ->> 'subject_key', l -> 'tags', l ->> 'source_how', l ->> 'source_ref', l -> 'evidence', l ->> 'rationale',
        (l ->> 'confidence')::double precision, (l ->> 'valid_from')::timestamptz, (l ->> 'valid_until')::timestamptz,
        (l ->> 'keep_until')::timestamptz, decode(p ->> 'content_hash', 'hex'), p_tick, p_at,
        CASE WHEN active THEN p_tick END, CASE WHEN active THEN p_at END);
    IF p_status = 'quarantined' THEN
        RETURN; -- nothing may find it before a curator releases it
    END IF;
    IF p ->> 'embedding' IS NOT NULL THEN
        INSERT INTO lesson_vector (tribe_id, space_id, lesson_id, believed, embedding)
        VALUES (tribe, (p ->> 'space_id')::integer, lesson, active, (p ->> 'embedding')::halfvec);
    END IF;
    INSERT INTO lesson_term (tribe_id, term, lesson_id)
    SELECT tribe, t.term, lesson FROM jsonb_array_elements_text(p -> 'terms') AS t(term) ORDER BY t.term;
END
$$;

-- Opens a dispute or challenge by `p_contender` about lessons.
CREATE FUNCTION tributary.open_dispute_v1(
    p_tribe uuid, p_dispute uuid, p_kind text, p_contender uuid, p_about uuid[], p_decision uuid, p_tick bigint,
    p_at timestamptz) RETURNS void
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    INSERT INTO dispute (tribe_id, dispute_id, kind, lesson_id, decision_id, state, opened_tick, opened_at)
    VALUES (p_tribe, p_dispute, p_kind, p_contender, p_decision, 'open', p_tick, p_at);
    INSERT INTO dispute_about (tribe_id, lesson_id, dispute_id, since_tick)
    SELECT p_tribe, a.lesson_id, p_dispute, p_tick FROM unnest(p_about) AS a(lesson_id)
$$;

-- Applies the plan in p -> 'plan', writes its events, decision and idempotency key, and returns the reply.
CREATE FUNCTION tributary.learn_apply_v1(p jsonb, p_clock bigint, p_clock_at timestamptz) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = tributary, public, pg_temp AS $$
DECLARE
    tribe uuid := p ->> 'tribe_id';
    agent uuid := p ->> 'agent_id';
    plan jsonb := p -> 'plan';
    decision uuid := p ->> 'decision_id';
    new_id uuid := p #>> '{lesson,lesson_id}';
    known uuid := plan ->> 'confirm';
    outcome text := plan ->> 'outcome';
    supersede uuid[] := uuids_v1(plan -> 'supersede');
    lapse uuid[] := uuids_v1(plan -> 'lapse');
    settle uuid[] := uuids_v1(plan -> 'settle');
    contradicts uuid[] := uuids_v1(plan -> 'dispute');
    held uuid[];
    reason text := plan ->> 'reason';
    confirms boolean;
    settles boolean := (p -> 'settles')::boolean;
    standing text; -- of the new lesson
    tick bigint := p_clock;
    at timestamptz := p_clock_at;
    dispute uuid;
    challenges uuid[] := uuids_v1(plan -> 'challenge_ids');
    reply jsonb;
BEGIN
    confirms := known IS NOT NULL AND outcome <> 'unchanged' AND NOT EXISTS (
        SELECT FROM confirmation f WHERE f.tribe_id = tribe AND f.lesson_id = known AND f.agent_id = agent
        UNION ALL SELECT FROM lesson l WHERE l.tribe_id = tribe AND l.lesson_id = known AND l.agent_id = agent);
    IF outcome = 'reinforced' AND NOT confirms THEN
        outcome := 'unchanged'; -- this agent came to count for it in the meantime
    END IF;
    standing := CASE WHEN known IS NULL THEN
        CASE outcome WHEN 'learned' THEN 'active' WHEN 'superseded' THEN 'active' ELSE outcome END END;

    IF settles AND standing = 'active' THEN
        -- an earlier verdict made it a rival of what is believed now: this verdict alone cannot undo that
        held := ARRAY(
            SELECT CASE WHEN r.a = new_id THEN r.b ELSE r.a END FROM rival r
            WHERE r.tribe_id = tribe AND (r.a = new_id AND r.b_on OR r.b = new_id AND r.a_on));
        held := ARRAY(SELECT unnest(held) EXCEPT SELECT unnest(supersede || lapse));
        IF cardinality(held) > 0 THEN
            outcome := 'disputed';
            standing := 'disputed';
            contradicts := held;
            reason := 'an earlier verdict made it a rival of a believed lesson; a curator decides';
            supersede := '{}';
            settle := '{}';
            challenges := '{}';
        END IF;
    END IF;
    IF known IS NULL OR confirms OR settles OR cardinality(lapse) > 0 THEN
        SELECT a.tick, a.at INTO tick, at FROM advance_v1(tribe) a;
        lapse := deactivate_v1(tribe, lapse, 'retired', NULL, tick, at);
        PERFORM record_v1(tribe, tick, at, agent, decision, 'retired', 'retired', lapse, '{"cause": "lapsed"}');
    END IF;
    IF confirms THEN
        INSERT INTO confirmation (tribe_id, lesson_id, agent_id, tick, at) VALUES (tribe, known, agent, tick, at);
        PERFORM record_v1(tribe, tick, at, agent, decision, 'reinforced', l.status, ARRAY[known], '{}')
        FROM lesson l WHERE l.tribe_id = tribe AND l.lesson_id = known;
    END IF;
    IF settles AND known IS NOT NULL THEN
        PERFORM settle_lesson_v1(tribe, new_id, 'retired', tick, at);
        PERFORM record_v1(tribe, tick, at, agent, decision, 'retired', 'retired', ARRAY[new_id],
                          jsonb_build_object('cause', 'same_as_known', 'lesson', known));
    ELSIF standing IS NOT NULL THEN
        -- first what ends, then what begins: at no moment may two rivals be on
        supersede := deactivate_v1(tribe, supersede, 'superseded', new_id, tick, at);
        IF cardinality(settle) > 0 THEN
            UPDATE lesson SET status = 'retired' WHERE tribe_id = tribe AND lesson_id = ANY (settle) AND status = 'disputed';
        END IF;
        IF settles THEN
            PERFORM settle_lesson_v1(tribe, new_id, standing, tick, at);
        ELSE
            PERFORM insert_lesson_v1(p, standing, tick, at);
        END IF;
        PERFORM record_v1(tribe, tick, at, agent, decision, CASE standing WHEN 'active' THEN 'learned' WHEN 'pending' THEN 'pended'
                          ELSE standing END, standing, ARRAY[new_id], '{}');
        PERFORM record_v1(tribe, tick, at, agent, decision, 'superseded', 'superseded', supersede,
                          jsonb_build_object('successor', new_id));
        PERFORM record_v1(tribe, tick, at, agent, decision, 'retired', 'retired', settle,
                          jsonb_build_object('cause', 'same_as_believed', 'lesson', new_id));
        IF plan -> 'rivals' <> '[]' THEN
            INSERT INTO rival (tribe_id, a, b, a_on, b_on, since_tick)
            SELECT tribe, x.lesson_id, y.lesson_id, x.believed, y.believed, tick
            FROM unnest(uuids_v1(plan -> 'rivals')) AS r(lesson_id)
            JOIN lesson x ON x.tribe_id = tribe AND x.lesson_id = least(r.lesson_id, new_id)
            JOIN lesson y ON y.tribe_id = tribe AND y.lesson_id = greatest(r.lesson_id, new_id)
            ON CONFLICT DO NOTHING; -- another learn found the same of a pending lesson before
        END IF;
        IF outcome = 'disputed' THEN
            dispute := plan ->> 'dispute_id';
            PERFORM open_dispute_v1(tribe, dispute, 'conflict', new_id, contradicts, decision, tick, at);
            PERFORM record_v1(tribe, tick, at, agent, decision, 'challenged', 'active', contradicts,
                              jsonb_build_object('dispute', dispute));
        END IF;
        IF standing = 'active' AND cardinality(challenges) > 0 THEN
            PERFORM open_dispute_v1(tribe, c.dispute_id, 'unsure', new_id, ARRAY[c.about], decision, tick, at)
            FROM unnest(challenges, uuids_v1(plan -> 'challenge')) AS c(dispute_id, about);
            PERFORM record_v1(tribe, tick, at, agent, decision, 'challenged', 'active', uuids_v1(plan -> 'challenge'), '{}');
        END IF;
        IF standing = 'active' AND plan -> 'contend' <> '[]' THEN
            INSERT INTO dispute_about (tribe_id, lesson_id, dispute_id, since_tick)
            SELECT tribe, new_id, d.dispute_id, tick FROM dispute d
            WHERE d.tribe_id = tribe AND d.dispute_id = ANY (uuids_v1(plan -> 'contend')) AND d.state = 'open'
            ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    IF cardinality(lapse || supersede || settle) > 0 THEN
        PERFORM settle_disputes_v1(tribe, lapse || supersede || settle, tick, at);
    END IF;
    IF known IS NOT NULL AND outcome = 'disputed' THEN
        dispute := (SELECT d.dispute_id FROM dispute d WHERE d.tribe_id = tribe AND d.lesson_id = known AND d.state = 'open'
                    AND d.kind = 'conflict' LIMIT 1);
    END IF;

    reply := jsonb_build_object(
        'outcome', outcome, 'lesson_id', coalesce(known, new_id), 'replaced', supersede, 'dispute_id', dispute,
        'challenges', challenges, 'reason', reason, 'decision_id', decision, 'tick', tick);
    INSERT INTO decision (tribe_id, decision_id, tick, at, agent_id, lesson_id, draft, judged_tick, replans, candidates, verdicts,
                          screening, outcome, reason)
    VALUES (tribe, decision, tick, clock_timestamp(), agent, coalesce(known, new_id),
            CASE WHEN known IS NOT NULL THEN p -> 'lesson' END, (p ->> 'read_tick')::bigint, (p ->> 'replans')::integer,
            p -> 'candidates', p -> 'verdicts', p -> 'screening', outcome, reason);
    INSERT INTO idempotency (tribe_id, agent_id, key, request_digest, reply, at)
    VALUES (tribe, agent, p ->> 'key', decode(p ->> 'request_digest', 'hex'), reply, clock_timestamp());
    INSERT INTO usage AS u (tribe_id, agent_id, day, operation, calls) VALUES (tribe, agent, current_date, 'learn', 1)
    ON CONFLICT (tribe_id, agent_id, day, operation) DO UPDATE SET calls = u.calls + 1;
    RETURN jsonb_build_object(
        'committed', true, 'replayed', false, 'reply', reply,
        'lesson', lesson_document_v1(tribe, coalesce(known, new_id)));
END
$$;

-- Confirms a believed lesson. One call, one transaction; the same gate and key rules as a learn.
CREATE FUNCTION tributary.reinforce_v1(p_tribe uuid, p_agent uuid, p_lesson uuid, p_key text, p_digest bytea) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    opened tributary.tribe := gate_v1(p_tribe);
    replay jsonb := replay_v1(p_tribe, p_agent, p_key, p_digest);
    role text := (SELECT a.role FROM agent a WHERE a.tribe_id = p_tribe AND a.agent_id = p_agent AND a.revoked_at IS NULL);
    l lesson;
    tick bigint := opened.clock;
    at timestamptz;
    outcome text := 'unchanged';
    reply jsonb;
BEGIN
    IF replay IS NOT NULL THEN
        RETURN replay;
    ELSIF role IS NULL OR role = 'reader' THEN
        RAISE EXCEPTION 'the agent may not write' USING ERRCODE = 'TB403';
    END IF;
    SELECT * INTO l FROM lesson WHERE tribe_id = p_tribe AND lesson_id = p_lesson;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such lesson' USING ERRCODE = 'TB404';
    ELSIF NOT l.believed THEN
        RAISE EXCEPTION 'the lesson is %', l.status USING ERRCODE = 'TB410';
    END IF;
    IF l.agent_id <> p_agent AND NOT EXISTS (
        SELECT FROM confirmation f WHERE f.tribe_id = p_tribe AND f.lesson_id = p_lesson AND f.agent_id = p_agent) THEN
        SELECT a.tick, a.at INTO tick, at FROM advance_v1(p_tribe) a;
        INSERT INTO confirmation (tribe_id, lesson_id, agent_id, tick, at) VALUES (p_tribe, p_lesson, p_agent, tick, at);
        PERFORM record_v1(p_tribe, tick, at, p_agent, NULL, 'reinforced', 'active', ARRAY[p_lesson], '{}');
        outcome := 'reinforced';
    END IF;
    reply := jsonb_build_object('outcome', outcome, 'lesson_id', p_lesson, 'tick', tick);
    INSERT INTO idempotency (tribe_id, agent_id, key, request_digest, reply, at)
    VALUES (p_tribe, p_agent, p_key, p_digest, reply, clock_timestamp());
    RETURN jsonb_build_object('committed', true, 'replayed', false, 'reply', reply,
        'lesson', lesson_document_v1(p_tribe, p_lesson));
END
$$;
