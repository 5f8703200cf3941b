-- The gardener: what time, room and missing models left to do. Belief changes go through the gate and are one tick each call; an
-- event of the gardener's carries the lesson's author as its agent, since nobody else had a word in it.
--
-- What may be asked again without harm is: each function changes only what still is as the gardener read it.

-- when the policy was changed: a write that has no tick
CREATE INDEX audit_policy ON tributary.audit (tribe_id, at DESC) WHERE action = 'set_policy';
-- a refused eviction is recorded once for a lesson on a day (UTC), however often the gardener comes by
CREATE UNIQUE INDEX audit_eviction ON tributary.audit (tribe_id, detail, ((at AT TIME ZONE 'UTC')::date)) WHERE action = 'evict';
CREATE INDEX idempotency_at ON tributary.idempotency (tribe_id, at);

CREATE FUNCTION tributary.garden_tribes_v1() RETURNS TABLE (tribe_id uuid, name text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT t.tribe_id, t.name FROM tribe t ORDER BY t.name
$$;

-- What there is to do in a tribe, from counters and partial indexes: the one query of a run that finds nothing to do.
--   p_replies_before, p_days_before, p_spent_before, p_calls_before   how old replies, daily counts, spent pace and calls of models may be
--   p_now      when leases count as run out; NULL for the database's own time
CREATE FUNCTION tributary.garden_survey_v1(
    p_tribe uuid, p_exact_limit bigint, p_replies_before timestamptz, p_days_before date, p_spent_before timestamptz,
    p_calls_before timestamptz, p_hours_before timestamptz, p_now timestamptz)
RETURNS json LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
    SELECT json_build_object(
        'at', statement_timestamp(), 'tick', t.clock, 'policy', t.policy, 'policy_version', t.policy_version,
        'oldest_code', (SELECT oldest_code FROM schema_requirement),
        'active', coalesce(n.active, 0), 'pending', coalesce(n.pending, 0), 'quarantined', coalesce(n.quarantined, 0),
        'disputes', o.disputes, 'challenges', o.challenges, 'oldest_dispute_s', o.oldest_dispute_s,
        'clock_ahead_s', greatest(0, extract(epoch FROM t.clock_at - statement_timestamp()))::float8,
        'unscreened', (
            SELECT count(*) FROM decision d JOIN lesson l USING (tribe_id, lesson_id)
            WHERE d.tribe_id = p_tribe AND d.unjudged AND l.status = 'quarantined'
              AND d.screening -> 'reasons' = '["screen_unavailable"]'),
        'unjudged', (
            SELECT count(*) FROM decision d JOIN lesson l USING (tribe_id, lesson_id)
            WHERE d.tribe_id = p_tribe AND d.unjudged AND l.status = 'active'),
        'overdue', (
            SELECT count(*) FROM action a
            WHERE a.tribe_id = p_tribe AND overdue_v1(a, coalesce(p_now, statement_timestamp()))),
        'in_doubt', (SELECT count(*) FROM action a WHERE a.tribe_id = p_tribe AND a.state = 'in_doubt'),
        'space_id', s.space_id,
        'unembedded', coalesce(n.active, 0) - s.vectors + (
            SELECT count(*) FROM lesson l
            WHERE l.tribe_id = p_tribe AND (l.status IN ('pending', 'disputed') OR l.rejected_as IS NOT NULL) AND l.status <> 'erased'
              AND NOT EXISTS (SELECT FROM lesson_vector v
                              WHERE v.tribe_id = p_tribe AND v.space_id = s.space_id AND v.lesson_id = l.lesson_id)),
        'building', (
            SELECT json_build_object('space_id', ts.space_id, 'name', n.name, 'missing', space_left_v1(p_tribe, ts.space_id))
            FROM tribe_space ts JOIN space n USING (space_id) WHERE ts.tribe_id = p_tribe AND ts.state = 'building'),
        'outgrown', s.vectors > p_exact_limit AND NOT has_index_v1(p_tribe, s.space_id)
                 OR s.vectors > p_exact_limit AND s.past > least(p_exact_limit, 2000) AND NOT has_index_v1(p_tribe, s.space_id, true),
        'unindexed', CASE WHEN has_index_v1(p_tribe, s.space_id) THEN (
            SELECT count(*) FROM lesson_vector v
            WHERE v.tribe_id = p_tribe AND v.space_id = s.space_id AND v.believed AND NOT v.indexed) ELSE 0 END
            + CASE WHEN has_index_v1(p_tribe, s.space_id, true) THEN (
            SELECT count(*) FROM lesson_vector v JOIN lesson l USING (tribe_id, lesson_id)
            WHERE v.tribe_id = p_tribe AND v.space_id = s.space_id AND NOT v.believed AND NOT v.indexed
              AND l.deactivated_tick IS NOT NULL) ELSE 0 END,
        'prunable', EXISTS (SELECT FROM idempotency i WHERE i.tribe_id = p_tribe AND i.at < p_replies_before)
            OR EXISTS (SELECT FROM usage u WHERE u.tribe_id = p_tribe AND u.day < p_days_before)
            OR EXISTS (SELECT FROM tribe_day y WHERE y.tribe_id = p_tribe AND y.day < p_days_before)
            OR EXISTS (SELECT FROM pace c WHERE c.tribe_id = p_tribe AND c.spent_until < p_spent_before)
            OR EXISTS (SELECT FROM session g WHERE g.tribe_id = p_tribe AND g.ends_at < p_spent_before)
            OR EXISTS (SELECT FROM failed_sign_in f WHERE f.last_failed_at < p_spent_before)
            OR EXISTS (SELECT FROM model_call m WHERE m.tribe_id = p_tribe AND m.at < p_calls_before)
            OR EXISTS (SELECT FROM activity v WHERE v.tribe_id = p_tribe AND v.hour < p_hours_before))
    FROM tribe t
    LEFT JOIN tribe_space s ON s.tribe_id = t.tribe_id AND s.state = 'serving'
    CROSS JOIN LATERAL (
        SELECT max(c.lessons) FILTER (WHERE c.status = 'active') AS active,
               max(c.lessons) FILTER (WHERE c.status = 'pending') AS pending,
               max(c.lessons) FILTER (WHERE c.status = 'quarantined') AS quarantined
        FROM tribe_count c WHERE c.tribe_id = p_tribe) n
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE d.kind = 'conflict') AS disputes, count(*) FILTER (WHERE d.kind = 'unsure') AS challenges,
               coalesce(greatest(0, extract(epoch FROM statement_timestamp()
                   - min(d.opened_at) FILTER (WHERE d.kind = 'conflict'))), 0)::float8 AS oldest_dispute_s
        FROM dispute d WHERE d.tribe_id = p_tribe AND d.state = 'open') o
    WHERE t.tribe_id = p_tribe
$$;

-- What a missing model left is asked about again in a fair order: what was tried longest ago goes first, and what was never tried before
-- all, so that nothing that fails for ever keeps anything else waiting. A run begins at p_before, takes each decision once, and goes on
-- after (p_after_tried, p_after).

-- Quarantined lessons that are held back for want of a screen alone, each with the authority that it is judged with:
-- [{lesson, role, decision_id, tried_at}].
CREATE FUNCTION tributary.garden_unscreened_v1(
    p_tribe uuid, p_before timestamptz, p_after_tried timestamptz, p_after uuid, p_limit integer) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT coalesce(json_agg(json_build_object(
        'lesson', lesson_document_v1(p_tribe, h.lesson_id), 'role', authority_v1(p_tribe, h.lesson_id),
        'decision_id', h.decision_id, 'tried_at', h.tried_at) ORDER BY h.tried_at, h.decision_id), '[]')
    FROM (SELECT l.lesson_id, l.agent_id, d.decision_id, coalesce(d.tried_at, '-infinity') AS tried_at
          FROM decision d JOIN lesson l USING (tribe_id, lesson_id)
          WHERE d.tribe_id = p_tribe AND d.unjudged AND l.status = 'quarantined'
            AND d.screening -> 'reasons' = '["screen_unavailable"]' AND coalesce(d.tried_at, '-infinity') < p_before
            AND (coalesce(d.tried_at, '-infinity'), d.decision_id) > (p_after_tried, p_after)
          ORDER BY coalesce(d.tried_at, '-infinity'), d.decision_id LIMIT p_limit) h
$$;

-- The open `unsure` challenge between two lessons, whichever of them made it.
CREATE FUNCTION tributary.challenge_between_v1(p_tribe uuid, p_one uuid, p_other uuid) RETURNS uuid
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT d.dispute_id FROM dispute d JOIN dispute_about b USING (tribe_id, dispute_id)
    WHERE d.tribe_id = p_tribe AND d.kind = 'unsure' AND d.state = 'open'
      AND (d.lesson_id = p_one AND b.lesson_id = p_other OR d.lesson_id = p_other AND b.lesson_id = p_one)
    ORDER BY d.dispute_id LIMIT 1
$$;

-- Lessons that the judge gave no answer about when p_decision was made, and that are to be compared still: believed, not answered by a
-- later decision, and no curator had a word in it.
CREATE FUNCTION tributary.garden_pairs_v1(p_tribe uuid, p_decision uuid) RETURNS uuid[]
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT ARRAY(
        SELECT DISTINCT o.lesson_id
        FROM decision d
        CROSS JOIN LATERAL jsonb_array_elements(d.verdicts) AS v
        JOIN lesson o ON o.tribe_id = p_tribe AND o.lesson_id = (v ->> 'lesson_id')::uuid AND o.believed
        WHERE d.tribe_id = p_tribe AND d.decision_id = p_decision AND no_answer_v1(v)
          AND NOT EXISTS (
              SELECT FROM decision later CROSS JOIN LATERAL jsonb_array_elements(later.verdicts) AS a
              WHERE later.tribe_id = p_tribe AND later.lesson_id = d.lesson_id AND later.decision_id <> d.decision_id
                AND later.tick >= d.tick AND a ->> 'lesson_id' = v ->> 'lesson_id' AND NOT no_answer_v1(a))
          AND NOT EXISTS (
              SELECT FROM dispute x JOIN dispute_about b USING (tribe_id, dispute_id)
              WHERE x.tribe_id = p_tribe AND x.closed_by IS NOT NULL
                AND (x.lesson_id = d.lesson_id AND b.lesson_id = o.lesson_id OR x.lesson_id = o.lesson_id AND b.lesson_id = d.lesson_id))
        ORDER BY 1)
$$;

-- Why the judge gave no answer about two lessons when it was last asked.
CREATE FUNCTION tributary.garden_cause_v1(p_tribe uuid, p_lesson uuid, p_other uuid) RETURNS text
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT v ->> 'cause' FROM decision d CROSS JOIN LATERAL jsonb_array_elements(d.verdicts) AS v
    WHERE d.tribe_id = p_tribe AND d.lesson_id = p_lesson AND v ->> 'lesson_id' = p_other::text AND no_answer_v1(v)
    ORDER BY d.tick DESC, d.at DESC, d.decision_id DESC LIMIT 1
$$;

-- The next unjudged decision whose lesson is believed, with the lesson, the pairs to ask about, why there is no answer
-- yet, and what is open between them: {other: cause}, {other: dispute_id}. `pairs` counts those that are left out as well: without
-- p_spend the ones that wait for the strong judge, who is not asked while the budget of the day is spent. NULL when there is none.
CREATE FUNCTION tributary.garden_unjudged_v1(
    p_tribe uuid, p_before timestamptz, p_after_tried timestamptz, p_after uuid, p_spend boolean) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
    SELECT json_build_object(
        'decision_id', f.decision_id, 'tried_at', f.tried_at, 'tick', t.clock, 'policy', t.policy, 'policy_version', t.policy_version,
        'role', authority_v1(p_tribe, f.lesson_id), 'lesson', lesson_document_v1(p_tribe, f.lesson_id),
        'candidates', candidates_v1(p_tribe, f.others, f.agent_id, s.space_id, (
            SELECT v.embedding FROM lesson_vector v
            WHERE v.tribe_id = p_tribe AND v.space_id = s.space_id AND v.lesson_id = f.lesson_id)),
        'pairs', cardinality(f.pairs),
        'causes', (SELECT coalesce(json_object_agg(o.id, garden_cause_v1(p_tribe, f.lesson_id, o.id)), '{}')
                   FROM unnest(f.others) AS o(id)),
        'challenges', (SELECT coalesce(json_object_agg(o.id, challenge_between_v1(p_tribe, f.lesson_id, o.id)), '{}')
                       FROM unnest(f.others) AS o(id)))
    FROM (SELECT d.decision_id, coalesce(d.tried_at, '-infinity') AS tried_at, l.lesson_id, l.agent_id, a.pairs, b.others
          FROM decision d JOIN lesson l USING (tribe_id, lesson_id)
          CROSS JOIN LATERAL (SELECT garden_pairs_v1(p_tribe, d.decision_id) AS pairs) a
          CROSS JOIN LATERAL (
              SELECT CASE WHEN p_spend THEN a.pairs ELSE ARRAY(
                  SELECT o.id FROM unnest(a.pairs) AS o(id)
                  WHERE garden_cause_v1(p_tribe, l.lesson_id, o.id) IS DISTINCT FROM 'budget_spent') END AS others) b
          WHERE d.tribe_id = p_tribe AND d.unjudged AND l.believed AND coalesce(d.tried_at, '-infinity') < p_before
            AND (coalesce(d.tried_at, '-infinity'), d.decision_id) > (p_after_tried, p_after)
            AND (cardinality(b.others) > 0 OR cardinality(a.pairs) = 0)
          ORDER BY coalesce(d.tried_at, '-infinity'), d.decision_id LIMIT 1) f
    JOIN tribe t ON t.tribe_id = p_tribe
    LEFT JOIN tribe_space s ON s.tribe_id = p_tribe AND s.state = 'serving'
$$;

-- Takes a decision's turn: it is asked about again now, and goes behind all others. Returns true; NULL when another gardener took it since
-- p_before, or nothing is to be asked any more. It changes no belief, so it needs no gate, and nor does what counts the tries.
CREATE FUNCTION tributary.garden_try_v1(p_tribe uuid, p_decision uuid, p_before timestamptz) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    UPDATE decision SET tried_at = clock_timestamp()
    WHERE tribe_id = p_tribe AND decision_id = p_decision AND unjudged AND coalesce(tried_at, '-infinity') < p_before
    RETURNING true
$$;

-- Counts that a model was asked again about a decision and replied with nothing of use, or (p_late) not in time. Returns whether it was so
-- p_most times: with p_close it is left to the curators then. NULL when nothing is to be asked any more.
CREATE FUNCTION tributary.garden_useless_v1(p_tribe uuid, p_decision uuid, p_late boolean, p_most integer, p_close boolean) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    UPDATE decision SET useless = useless + (NOT p_late)::integer, timed_out = timed_out + p_late::integer,
                        unjudged = NOT p_close OR CASE WHEN p_late THEN timed_out ELSE useless END + 1 < p_most
    WHERE tribe_id = p_tribe AND decision_id = p_decision AND unjudged
    RETURNING CASE WHEN p_late THEN timed_out ELSE useless END >= p_most
$$;

-- Applies what the judge answered in the end about pairs that it had left open.
--   decision_id, judged_again   the decision that was left unjudged, and the new one's id
--   role, policy_version        what the answers were weighed by; challenges: what was open then, {other: dispute_id}
--   answered, complete          the others that were answered, and whether these are all
--   verdicts, reviews           what was said, of pairs that wait for another day too, and cases for the review queue
--   same | replace, clear, challenge, challenge_ids   what comes of it, by the other lesson
-- Returns whether it was applied: not when anything about a pair is another by now.
CREATE FUNCTION tributary.garden_rejudge_v1(p jsonb) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
DECLARE
    tribe uuid := p ->> 'tribe_id';
    opened tributary.tribe := gate_v1(tribe);
    left_open decision;
    l lesson;
    answered uuid[] := uuids_v1(p -> 'answered');
    known uuid := p ->> 'same';
    replace_ids uuid[] := uuids_v1(p -> 'replace');
    clear_ids uuid[] := uuids_v1(p -> 'clear');
    challenge uuid[] := uuids_v1(p -> 'challenge');
    cleared uuid[];
    again uuid := p ->> 'judged_again';
    tick bigint := opened.clock;
    at timestamptz := opened.clock_at;
BEGIN
    SELECT * INTO left_open FROM decision WHERE tribe_id = tribe AND decision_id = (p ->> 'decision_id')::uuid;
    SELECT * INTO l FROM lesson WHERE tribe_id = tribe AND lesson_id = left_open.lesson_id;
    IF (left_open.unjudged AND l.believed) IS NOT TRUE OR opened.policy_version <> (p ->> 'policy_version')::integer
       OR authority_v1(tribe, l.lesson_id) <> p ->> 'role'
       OR NOT answered <@ garden_pairs_v1(tribe, left_open.decision_id)
       OR (p ->> 'complete')::boolean AND NOT garden_pairs_v1(tribe, left_open.decision_id) <@ answered
       OR EXISTS (SELECT FROM unnest(answered) AS o(id)
                  WHERE challenge_between_v1(tribe, l.lesson_id, o.id) IS DISTINCT FROM (p -> 'challenges' ->> o.id::text)::uuid) THEN
        RETURN false;
    END IF;
    IF known IS NOT NULL OR cardinality(replace_ids || clear_ids || challenge) > 0 THEN
        SELECT a.tick, a.at INTO tick, at FROM advance_v1(tribe) a;
    END IF;
    IF known IS NOT NULL THEN
        PERFORM deactivate_v1(tribe, ARRAY[l.lesson_id], 'retired', NULL, tick, at);
        PERFORM record_v1(tribe, tick, at, l.agent_id, again, 'retired', 'retired', ARRAY[l.lesson_id],
                          jsonb_build_object('cause', 'same_as_known', 'lesson', known));
        IF NOT EXISTS (SELECT FROM lesson o WHERE o.tribe_id = tribe AND o.lesson_id = known AND o.agent_id = l.agent_id
                       UNION ALL SELECT FROM confirmation f
                       WHERE f.tribe_id = tribe AND f.lesson_id = known AND f.agent_id = l.agent_id) THEN
            INSERT INTO confirmation (tribe_id, lesson_id, agent_id, tick, at) VALUES (tribe, known, l.agent_id, tick, at);
            PERFORM record_v1(tribe, tick, at, l.agent_id, again, 'reinforced', 'active', ARRAY[known], '{}');
        END IF;
        PERFORM settle_disputes_v1(tribe, ARRAY[l.lesson_id], tick, at);
    ELSE
        PERFORM deactivate_v1(tribe, replace_ids, 'retired', NULL, tick, at);
        PERFORM record_v1(tribe, tick, at, l.agent_id, again, 'retired', 'retired', replace_ids,
                          jsonb_build_object('cause', 'contradicted', 'lesson', l.lesson_id));
        PERFORM make_rivals_v1(tribe, l.lesson_id, replace_ids, tick);
        PERFORM settle_disputes_v1(tribe, replace_ids, tick, at);
        IF cardinality(clear_ids) > 0 THEN
            cleared := ARRAY(SELECT challenge_between_v1(tribe, l.lesson_id, o.id) FROM unnest(clear_ids) AS o(id));
            UPDATE dispute SET state = 'settled', ending = 'moot', closed_tick = tick, closed_at = at
            WHERE tribe_id = tribe AND dispute_id = ANY (cleared);
            PERFORM record_v1(tribe, tick, at, l.agent_id, again, 'cleared', 'active', clear_ids || l.lesson_id,
                              jsonb_build_object('disputes', cleared, 'cause', 'judged_again'));
        END IF;
        PERFORM open_dispute_v1(tribe, c.id, 'unsure', l.lesson_id, ARRAY[c.about], again, NULL, tick, at)
        FROM unnest(uuids_v1(p -> 'challenge_ids'), challenge) AS c(id, about);
        PERFORM record_v1(tribe, tick, at, l.agent_id, again, 'challenged', 'active', challenge, '{}');
    END IF;
    IF (p ->> 'complete')::boolean THEN
        UPDATE decision SET unjudged = false WHERE tribe_id = tribe AND decision_id = left_open.decision_id;
    END IF;
    IF p -> 'verdicts' <> '[]' THEN
        INSERT INTO decision (tribe_id, decision_id, tick, at, agent_id, actor_id, lesson_id, judged_tick, replans, candidates, verdicts,
                              screening, outcome, reason)
        VALUES (tribe, again, tick, clock_timestamp(), l.agent_id, l.agent_id, coalesce(known, l.lesson_id),
                (p ->> 'read_tick')::bigint, 0, p -> 'candidates', p -> 'verdicts', left_open.screening, p ->> 'outcome', p ->> 'reason');
        PERFORM queue_reviews_v1(p || jsonb_build_object('actor_id', l.agent_id), again, tick);
    END IF;
    RETURN true;
END
$$;

CREATE TYPE tributary.garden_belief AS (
    lesson_id uuid, kind text, confidence double precision, confirmations bigint, contradictions bigint, learned_at timestamptz,
    activated_at timestamptz, last_confirmed_at timestamptz, valid_until timestamptz, keep_until timestamptz);

-- Believed lessons without what they say, those first that will lapse first, by an estimate: the rule itself is core/confidence.py.
--   p_half_lives   by kind, in seconds
--   p_weight, p_withered_below   the prior's weight, and under what confidence a lesson withers
--   p_limit        how many; NULL for all
CREATE FUNCTION tributary.garden_beliefs_v1(
    p_tribe uuid, p_half_lives jsonb, p_weight double precision, p_withered_below double precision, p_limit integer)
RETURNS SETOF tributary.garden_belief LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT b.lesson_id, b.kind, b.confidence, b.confirmations, b.contradictions, b.learned_at, b.activated_at, b.confirmed_at,
           b.valid_until, b.keep_until
    FROM (SELECT l.*, coalesce(c.agents, 0) AS confirmations, coalesce(s.agents, 0) AS contradictions,
                 greatest(l.learned_at, c.last_at) AS confirmed_at,
                 (p_half_lives ->> l.kind)::double precision AS half_life_s
          FROM lesson l
          LEFT JOIN (SELECT f.lesson_id, count(*) AS agents, max(f.at) AS last_at FROM confirmation f
                     WHERE f.tribe_id = p_tribe GROUP BY f.lesson_id) c ON c.lesson_id = l.lesson_id
          LEFT JOIN (SELECT n.lesson_id, count(DISTINCT n.agent_id) AS agents FROM contradiction n
                     WHERE n.tribe_id = p_tribe AND n.state = 'open' GROUP BY n.lesson_id) s
                 ON s.lesson_id = l.lesson_id
          WHERE l.tribe_id = p_tribe AND l.believed) b
    ORDER BY least(b.valid_until, withers_at_v1(b.confirmed_at, b.half_life_s, b.confidence, b.confirmations, b.contradictions,
                                                p_weight, p_withered_below)), b.lesson_id
    LIMIT p_limit
$$;

-- When the tribe's beliefs were last changed by anything but the gardener's own stamping and evicting, or its policy was.
CREATE FUNCTION tributary.garden_last_write_v1(p_tribe uuid) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT greatest(
        (SELECT e.at FROM lesson_event e
         WHERE e.tribe_id = p_tribe
           AND NOT (e.event = 'evicted' OR e.event = 'retired' AND e.details ->> 'cause' IN ('expired', 'withered'))
         ORDER BY e.tick DESC, e.seq DESC LIMIT 1),
        (SELECT max(a.at) FROM audit a WHERE a.tribe_id = p_tribe AND a.action = 'set_policy'))
$$;

-- Ends beliefs that time ended, or for which there is no room, in the order that they are given: expired, withered or capacity.
-- What is not believed any more, was confirmed after p_read_tick, or may not be evicted (yet, or since there is room) stays as it is.
CREATE FUNCTION tributary.garden_end_v1(
    p_tribe uuid, p_ids uuid[], p_causes text[], p_since timestamptz[], p_read_tick bigint, p_capacity bigint,
    p_policy_version integer, p_grace interval, p_now timestamptz, OUT retired integer, OUT evicted integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    opened tributary.tribe := gate_v1(p_tribe);
    believed_now bigint := coalesce((SELECT c.lessons FROM tribe_count c WHERE c.tribe_id = p_tribe AND c.status = 'active'), 0);
    stamp uuid[];
    evict uuid[];
    tick bigint;
    at timestamptz;
BEGIN
    SELECT coalesce(array_agg(g.lesson_id ORDER BY g.place) FILTER (WHERE g.cause <> 'capacity'), '{}'),
           -- as many as there were believed when its turn came, less those given before it
           coalesce(array_agg(g.lesson_id ORDER BY g.place) FILTER (
               WHERE g.cause = 'capacity' AND believed_now - (g.nth - 1) > p_capacity), '{}')
    INTO stamp, evict
    FROM (SELECT e.lesson_id, e.cause, e.place, row_number() OVER (ORDER BY e.place) AS nth
          FROM unnest(p_ids, p_causes) WITH ORDINALITY AS e(lesson_id, cause, place)
          JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = e.lesson_id AND l.believed
          WHERE CASE WHEN e.cause = 'expired' THEN l.valid_until <= p_now
                     ELSE NOT EXISTS (SELECT FROM confirmation f WHERE f.tribe_id = p_tribe AND f.lesson_id = e.lesson_id
                                      AND f.tick > p_read_tick) END
            AND (e.cause <> 'capacity' OR opened.policy_version = p_policy_version AND l.learned_at <= p_now - p_grace
                 AND (l.keep_until IS NULL OR l.keep_until <= p_now))) g;
    retired := cardinality(stamp);
    evicted := cardinality(evict);
    IF retired + evicted = 0 THEN
        RETURN;
    END IF;
    SELECT a.tick, a.at INTO tick, at FROM advance_v1(p_tribe) a;
    PERFORM deactivate_v1(p_tribe, stamp, 'retired', NULL, tick, at);
    PERFORM deactivate_v1(p_tribe, evict, 'evicted', NULL, tick, at);
    INSERT INTO lesson_event (tribe_id, tick, seq, lesson_id, event, status, agent_id, details, at)
    SELECT p_tribe, tick, row_number() OVER (ORDER BY e.place), l.lesson_id, l.status, l.status, l.agent_id,
           CASE e.cause WHEN 'capacity' THEN jsonb_build_object('cause', e.cause)
                        ELSE jsonb_build_object('cause', e.cause, 'since', e.since) END, at
    FROM unnest(p_ids, p_causes, p_since) WITH ORDINALITY AS e(lesson_id, cause, since, place)
    JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = e.lesson_id
    WHERE e.lesson_id = ANY (stamp || evict);
    PERFORM settle_disputes_v1(p_tribe, stamp || evict, tick, at);
END
$$;

-- Records that lessons may not be evicted though there are too many; returns how many of the records are new.
CREATE FUNCTION tributary.garden_refuse_v1(p_tribe uuid, p_audits uuid[], p_lessons text[], p_codes text[], p_now timestamptz)
RETURNS bigint LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    WITH recorded AS (
        INSERT INTO audit (tribe_id, audit_id, at, action, code, detail)
        SELECT p_tribe, r.audit_id, p_now, 'evict', r.code, r.lesson FROM unnest(p_audits, p_lessons, p_codes) AS r(audit_id, lesson, code)
        ON CONFLICT (tribe_id, detail, ((at AT TIME ZONE 'UTC')::date)) WHERE action = 'evict' DO NOTHING
        RETURNING audit_id)
    SELECT count(*) FROM recorded
$$;

-- What is old enough to be forgotten; p_limit rows of each table at most. With p_delete it is.
CREATE FUNCTION tributary.garden_prune_v1(
    p_tribe uuid, p_replies_before timestamptz, p_days_before date, p_spent_before timestamptz, p_calls_before timestamptz,
    p_hours_before timestamptz, p_limit integer, p_delete boolean)
RETURNS json LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    replies tid[] := ARRAY(
        SELECT i.ctid FROM idempotency i
        WHERE i.tribe_id = p_tribe AND i.at < p_replies_before
          -- the key under which a lesson is settled is what keeps it from being settled twice
          AND NOT (i.key LIKE 'server:settle:%' AND EXISTS (
              SELECT FROM lesson l WHERE l.tribe_id = p_tribe AND l.status = 'pending'
                AND i.key LIKE 'server:settle:' || replace(l.lesson_id::text, '-', '') || ':%'))
        LIMIT p_limit);
    uses tid[] := ARRAY(SELECT u.ctid FROM usage u WHERE u.tribe_id = p_tribe AND u.day < p_days_before LIMIT p_limit);
    days tid[] := ARRAY(SELECT d.ctid FROM tribe_day d WHERE d.tribe_id = p_tribe AND d.day < p_days_before LIMIT p_limit);
    paces tid[] := ARRAY(SELECT c.ctid FROM pace c WHERE c.tribe_id = p_tribe AND c.spent_until < p_spent_before LIMIT p_limit);
    calls tid[] := ARRAY(SELECT m.ctid FROM model_call m WHERE m.tribe_id = p_tribe AND m.at < p_calls_before LIMIT p_limit);
    sessions tid[] := ARRAY(SELECT g.ctid FROM session g WHERE g.tribe_id = p_tribe AND g.ends_at < p_spent_before LIMIT p_limit);
    -- of no tribe: whichever is tended first forgets them
    tries tid[] := ARRAY(SELECT f.ctid FROM failed_sign_in f WHERE f.last_failed_at < p_spent_before LIMIT p_limit);
    hours tid[] := ARRAY(SELECT v.ctid FROM activity v WHERE v.tribe_id = p_tribe AND v.hour < p_hours_before LIMIT p_limit);
BEGIN
    IF p_delete THEN
        -- looked at again: a row that was written meanwhile is not old any more
        DELETE FROM idempotency i WHERE i.ctid = ANY (replies) AND i.tribe_id = p_tribe AND i.at < p_replies_before;
        DELETE FROM usage u WHERE u.ctid = ANY (uses) AND u.tribe_id = p_tribe AND u.day < p_days_before;
        DELETE FROM tribe_day d WHERE d.ctid = ANY (days) AND d.tribe_id = p_tribe AND d.day < p_days_before;
        DELETE FROM pace c WHERE c.ctid = ANY (paces) AND c.tribe_id = p_tribe AND c.spent_until < p_spent_before;
        DELETE FROM session g WHERE g.ctid = ANY (sessions) AND g.tribe_id = p_tribe AND g.ends_at < p_spent_before;
        DELETE FROM failed_sign_in f WHERE f.ctid = ANY (tries) AND f.last_failed_at < p_spent_before;
        DELETE FROM model_call m WHERE m.ctid = ANY (calls) AND m.tribe_id = p_tribe AND m.at < p_calls_before; -- model_day stays
        DELETE FROM activity v WHERE v.ctid = ANY (hours) AND v.tribe_id = p_tribe AND v.hour < p_hours_before;
    END IF;
    RETURN json_build_object('idempotency', cardinality(replies), 'usage', cardinality(uses), 'tribe_day', cardinality(days),
                             'pace', cardinality(paces), 'model_call', cardinality(calls), 'activity', cardinality(hours),
                             'session', cardinality(sessions), 'failed_sign_in', cardinality(tries));
END
$$;

-- Keeps how a run in a tribe went that took p_took_s seconds and ends now, in place of the one before; without the gate, since no belief
-- depends on it.
CREATE FUNCTION tributary.garden_ended_v1(p_tribe uuid, p_took_s double precision, p_failed text, p_rules jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true); -- losing the last run's in a crash is harmless
    INSERT INTO gardening (tribe_id, began_at, ended_at, failed, rules)
    VALUES (p_tribe, statement_timestamp() - make_interval(secs => p_took_s), statement_timestamp(), p_failed, p_rules)
    ON CONFLICT (tribe_id) DO UPDATE SET began_at = excluded.began_at, ended_at = excluded.ended_at, failed = excluded.failed,
                                         rules = excluded.rules;
END
$$;
