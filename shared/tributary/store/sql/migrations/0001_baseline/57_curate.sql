-- What agents do to lessons besides learning: reinforce, retire, erase, end disputes, report, and set the policy. Each is one call, one
-- transaction, under the gate, with the key rules of a learn.

-- Keeps the reply of a write for its key and gives it back.
CREATE FUNCTION tributary.reply_v1(p_tribe uuid, p_actor uuid, p_key text, p_digest bytea, p_reply jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    INSERT INTO idempotency (tribe_id, agent_id, key, request_digest, reply, at)
    VALUES (p_tribe, p_actor, p_key, p_digest, p_reply, clock_timestamp());
    SELECT jsonb_build_object(
        'committed', true, 'replayed', false, 'reply', p_reply,
        'lesson', lesson_document_v1(p_tribe, (p_reply ->> 'lesson_id')::uuid))
$$;

-- Confirms a believed lesson. p_details: ids of the receipt that served it.
CREATE FUNCTION tributary.reinforce_v1(
    p_tribe uuid, p_actor uuid, p_lesson uuid, p_details jsonb, p_key text, p_digest bytea) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    entered record := enter_v1(p_tribe, p_actor, p_key, p_digest, 'writer');
    l lesson;
    tick bigint := entered.clock;
    at timestamptz;
    outcome text := 'unchanged';
BEGIN
    IF entered.replay IS NOT NULL THEN
        RETURN entered.replay;
    END IF;
    SELECT * INTO l FROM lesson WHERE tribe_id = p_tribe AND lesson_id = p_lesson;
    IF NOT FOUND OR l.status = 'quarantined' AND l.agent_id <> p_actor AND entered.role <> 'curator' THEN
        RAISE EXCEPTION 'no such lesson' USING ERRCODE = 'TB404';
    ELSIF NOT l.believed THEN
        RAISE EXCEPTION 'the lesson is %; only a believed lesson can be confirmed', l.status USING ERRCODE = 'TB410';
    END IF;
    IF l.agent_id <> p_actor AND NOT EXISTS (
        SELECT FROM confirmation f WHERE f.tribe_id = p_tribe AND f.lesson_id = p_lesson AND f.agent_id = p_actor) THEN
        SELECT a.tick, a.at INTO tick, at FROM advance_v1(p_tribe) a;
        INSERT INTO confirmation (tribe_id, lesson_id, agent_id, tick, at) VALUES (p_tribe, p_lesson, p_actor, tick, at);
        PERFORM record_v1(p_tribe, tick, at, p_actor, NULL, 'reinforced', 'active', ARRAY[p_lesson], p_details);
        outcome := 'reinforced';
    END IF;
    RETURN reply_v1(p_tribe, p_actor, p_key, p_digest,
                    jsonb_build_object('outcome', outcome, 'lesson_id', p_lesson, 'tick', tick));
END
$$;

-- Ends a lesson for good: its author takes it back, or a curator retires it.
--   p_cause    outdated, wrong or injection; the last is a curator's word alone. What a curator called wrong or an injection is
--              not silently believed when it comes again
--   p_index    what a held back lesson is to be found by (as learn_commit_v1 has it), when it is to be remembered
--   p_reviews  for the review queue
CREATE FUNCTION tributary.retire_v1(
    p_tribe uuid, p_actor uuid, p_lesson uuid, p_cause text, p_index jsonb, p_reviews jsonb, p_key text, p_digest bytea)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    entered record := enter_v1(p_tribe, p_actor, p_key, p_digest, 'writer');
    l lesson;
    at timestamptz;
    tick bigint;
    freed boolean;
    decision uuid;
BEGIN
    IF entered.replay IS NOT NULL THEN
        RETURN entered.replay;
    END IF;
    SELECT * INTO l FROM lesson WHERE tribe_id = p_tribe AND lesson_id = p_lesson;
    IF NOT FOUND OR l.status = 'quarantined' AND l.agent_id <> p_actor AND entered.role <> 'curator' THEN
        RAISE EXCEPTION 'no such lesson' USING ERRCODE = 'TB404';
    ELSIF l.agent_id <> p_actor AND entered.role <> 'curator' THEN
        RAISE EXCEPTION 'only its author or a curator may retire a lesson' USING ERRCODE = 'TB403';
    ELSIF p_cause = 'injection' AND entered.role <> 'curator' THEN
        RAISE EXCEPTION 'only a curator may retire a lesson as an injection' USING ERRCODE = 'TB403';
    ELSIF l.status NOT IN ('active', 'pending', 'disputed', 'quarantined') THEN
        RAISE EXCEPTION 'the lesson is % already', l.status USING ERRCODE = 'TB410';
    ELSIF entered.role <> 'curator' AND l.status = 'quarantined' THEN
        RAISE EXCEPTION 'what is held back is a curator''s to retire' USING ERRCODE = 'TB403';
    ELSIF entered.role <> 'curator' AND l.status IN ('pending', 'disputed') AND EXISTS (
        SELECT FROM confirmation f WHERE f.tribe_id = p_tribe AND f.lesson_id = p_lesson) THEN
        RAISE EXCEPTION 'other agents said the same; a curator may retire it' USING ERRCODE = 'TB410';
    END IF;
    SELECT a.tick, a.at INTO tick, at FROM advance_v1(p_tribe) a;
    IF p_index IS NOT NULL THEN
        PERFORM index_lesson_v1(p_index, false, tick); -- so that the same is found when it comes again
    END IF;
    UPDATE lesson SET
        status = 'retired',
        rejected_as = CASE WHEN entered.role = 'curator' AND p_cause <> 'outdated' THEN p_cause END,
        deactivated_tick = CASE WHEN believed THEN tick END,
        deactivated_at = CASE WHEN believed THEN at END
    WHERE tribe_id = p_tribe AND lesson_id = p_lesson;
    PERFORM record_v1(p_tribe, tick, at, p_actor, NULL, 'retired', 'retired', ARRAY[p_lesson],
                      jsonb_build_object('cause', p_cause));
    PERFORM settle_disputes_v1(p_tribe, ARRAY[p_lesson], tick, at);
    freed := free_contenders_v1(p_tribe, p_actor, NULL, ARRAY[p_lesson], tick, at);
    PERFORM note_v1(p_tribe, p_actor, 'retired', shown_v1('les', p_lesson) || ' as ' || p_cause);
    decision := (SELECT d.decision_id FROM decision d WHERE d.tribe_id = p_tribe AND d.lesson_id = p_lesson
                 ORDER BY d.tick, d.decision_id LIMIT 1);
    PERFORM queue_reviews_v1(jsonb_build_object('tribe_id', p_tribe, 'actor_id', p_actor, 'reviews', p_reviews), decision, tick);
    RETURN reply_v1(p_tribe, p_actor, p_key, p_digest, jsonb_build_object('lesson_id', p_lesson, 'cause', p_cause, 'tick', tick))
        || jsonb_build_object('pended', freed);
END
$$;

-- Removes what a lesson says, wherever it is kept: in the lesson and in every other one of the very same words, in vectors and
-- terms, in the drafts of decisions, in the rationale of disputes and in the review queue. Files that nothing refers to any more are
-- handed out no longer. Tombstones stay.
CREATE FUNCTION tributary.erase_v1(p_tribe uuid, p_actor uuid, p_lesson uuid, p_key text, p_digest bytea) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    entered record := enter_v1(p_tribe, p_actor, p_key, p_digest, 'curator');
    said text;
    hash bytea;
    gone uuid[];
    files bytea[];
    at timestamptz;
    tick bigint;
    freed boolean;
BEGIN
    IF entered.replay IS NOT NULL THEN
        RETURN entered.replay;
    END IF;
    SELECT l.text, l.text_hash INTO said, hash FROM lesson l WHERE l.tribe_id = p_tribe AND l.lesson_id = p_lesson;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such lesson' USING ERRCODE = 'TB404';
    ELSIF said IS NULL THEN
        RAISE EXCEPTION 'the lesson is erased already' USING ERRCODE = 'TB410';
    END IF;
    gone := ARRAY(SELECT l.lesson_id FROM lesson l
                  WHERE l.tribe_id = p_tribe AND l.text IS NOT NULL AND (l.text = said OR l.text_hash = hash) ORDER BY l.lesson_id);
    files := files_of_v1(p_tribe, gone);
    SELECT a.tick, a.at INTO tick, at FROM advance_v1(p_tribe) a;
    UPDATE lesson SET
        status = 'erased', text = NULL, situation = NULL, subject = NULL, subject_key = NULL, tags = '{}', source_ref = NULL,
        evidence = '[]', rationale = NULL,
        deactivated_tick = CASE WHEN believed THEN tick ELSE deactivated_tick END,
        deactivated_at = CASE WHEN believed THEN at ELSE deactivated_at END
    WHERE tribe_id = p_tribe AND lesson_id = ANY (gone);
    -- after the lessons: whoever was just embedding one has committed by now, and whoever comes later finds it erased
    DELETE FROM lesson_vector WHERE tribe_id = p_tribe AND lesson_id = ANY (gone);
    DELETE FROM lesson_term WHERE tribe_id = p_tribe AND lesson_id = ANY (gone);
    DELETE FROM lesson_facet WHERE tribe_id = p_tribe AND lesson_id = ANY (gone);
    UPDATE decision SET draft = NULL
    WHERE tribe_id = p_tribe AND draft IS NOT NULL AND (
        lesson_id = ANY (gone) OR draft ->> 'text' = said OR decode(draft ->> 'text_hash', 'hex') = hash);
    PERFORM release_files_v1(p_tribe, files, at);
    UPDATE dispute d SET rationale = NULL
    WHERE d.tribe_id = p_tribe AND d.rationale IS NOT NULL AND (d.lesson_id = ANY (gone) OR EXISTS (
        SELECT FROM dispute_about b
        WHERE b.tribe_id = p_tribe AND b.dispute_id = d.dispute_id AND b.lesson_id = ANY (gone)));
    DELETE FROM review r
    WHERE r.tribe_id = p_tribe AND (r.lesson_ids && gone OR said IN (
        r.inputs ->> 'text', r.inputs #>> '{old,text}', r.inputs #>> '{new,text}'));
    PERFORM record_v1(p_tribe, tick, at, p_actor, NULL, 'erased', 'erased', gone, '{}');
    PERFORM settle_disputes_v1(p_tribe, gone, tick, at);
    freed := free_contenders_v1(p_tribe, p_actor, NULL, gone, tick, at);
    PERFORM note_v1(p_tribe, p_actor, 'erased', (SELECT string_agg(shown_v1('les', g.id), ' ') FROM unnest(gone) AS g(id)));
    RETURN reply_v1(p_tribe, p_actor, p_key, p_digest, jsonb_build_object('lesson_id', p_lesson, 'erased', gone, 'tick', tick))
        || jsonb_build_object('pended', freed);
END
$$;

-- Ends a dispute without believing anything new: one about a conflict is rejected, or a challenge between two believed lessons gets any
-- of the three endings (accepted: the newer one is right). What loses is retired as wrong. The other endings of a conflict are commits of
-- learn (learn_apply_v1), since the contender is judged again.
CREATE FUNCTION tributary.end_dispute_v1(p jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    tribe uuid := p ->> 'tribe_id';
    actor uuid := p ->> 'actor_id';
    digest bytea := decode(p ->> 'request_digest', 'hex');
    resolved uuid := p #>> '{resolves,dispute_id}';
    ending text := p #>> '{resolves,ending}';
    entered record := enter_v1(tribe, actor, p ->> 'key', digest, 'curator');
    d dispute;
    about uuid[];
    loses uuid[] := '{}';
    stays uuid[];
    tick bigint;
    freed boolean;
    at timestamptz;
    details jsonb := jsonb_build_object('dispute', resolved, 'ending', ending);
BEGIN
    IF entered.replay IS NOT NULL THEN
        RETURN entered.replay;
    END IF;
    PERFORM resolvable_v1(p);
    SELECT * INTO d FROM dispute WHERE tribe_id = tribe AND dispute_id = resolved;
    IF d.kind = 'conflict' AND ending <> 'rejected' THEN
        RAISE EXCEPTION 'this ending needs a commit of learn' USING ERRCODE = 'TB500';
    END IF;
    about := ARRAY(SELECT b.lesson_id FROM dispute_about b WHERE b.tribe_id = tribe AND b.dispute_id = resolved ORDER BY 1);
    IF ending = 'rejected' THEN
        loses := ARRAY[d.lesson_id];
    ELSIF ending = 'accepted' THEN
        loses := about;
    END IF;
    SELECT a.tick, a.at INTO tick, at FROM advance_v1(tribe) a;
    WITH ended AS (
        UPDATE lesson SET
            status = 'retired', rejected_as = 'wrong',
            deactivated_tick = CASE WHEN believed THEN tick END, deactivated_at = CASE WHEN believed THEN at END
        WHERE tribe_id = tribe AND lesson_id = ANY (loses) AND status IN ('active', 'disputed') RETURNING lesson_id)
    SELECT coalesce(array_agg(e.lesson_id ORDER BY e.lesson_id), '{}') INTO loses FROM ended e;
    PERFORM record_v1(tribe, tick, at, actor, NULL, 'retired', 'retired', loses, details || '{"cause": "rejected"}');
    IF d.kind = 'unsure' AND ending <> 'both_stand' THEN
        PERFORM make_rivals_v1(tribe, d.lesson_id, about, tick);
    END IF;
    stays := ARRAY(SELECT l.lesson_id FROM lesson l
                   WHERE l.tribe_id = tribe AND l.lesson_id = ANY (about || d.lesson_id) AND l.believed ORDER BY 1);
    PERFORM record_v1(tribe, tick, at, actor, NULL, 'cleared', 'active', stays, details);
    PERFORM close_dispute_v1(p, tick, at);
    PERFORM settle_disputes_v1(tribe, loses, tick, at);
    freed := free_contenders_v1(tribe, actor, NULL, loses, tick, at);
    PERFORM note_v1(tribe, actor, ending, shown_v1('dis', resolved));
    PERFORM queue_reviews_v1(p, d.decision_id, tick);
    RETURN reply_v1(tribe, actor, p ->> 'key', digest, jsonb_build_object(
        'lesson_id', d.lesson_id, 'resolved', resolved, 'ending', ending, 'outcome', NULL, 'replaced', '[]'::jsonb, 'retired', loses,
        'dispute_id', NULL, 'challenges', '[]'::jsonb, 'decision_id', NULL, 'tick', tick,
        'reason', CASE WHEN ending = 'both_stand' THEN 'the two lessons do not contradict each other'
                       WHEN ending = 'rejected' THEN 'a curator rejected what was said' ELSE 'a curator found it right' END))
        || jsonb_build_object('pended', freed);
END
$$;

-- An agent says that a decision was wrong: a case for the review queue. TB404 for a decision that it may not see.
CREATE FUNCTION tributary.report_v1(p jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    tribe uuid := p ->> 'tribe_id';
    actor uuid := p ->> 'actor_id';
    digest bytea := decode(p ->> 'request_digest', 'hex');
    entered record := enter_v1(tribe, actor, p ->> 'key', digest, 'writer');
    d decision;
    queued uuid[];
BEGIN
    IF entered.replay IS NOT NULL THEN
        RETURN entered.replay;
    END IF;
    SELECT * INTO d FROM decision WHERE tribe_id = tribe AND decision_id = (p ->> 'decision_id')::uuid;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such decision' USING ERRCODE = 'TB404';
    ELSIF EXISTS (SELECT FROM lesson l WHERE l.tribe_id = tribe AND l.status = 'erased' AND l.lesson_id IN (
              SELECT d.lesson_id UNION ALL SELECT unnest(uuids_v1(p #> '{reviews,0,lesson_ids}')))) THEN
        RAISE EXCEPTION 'what the decision was about is erased' USING ERRCODE = 'TB410';
    END IF;
    queued := queue_reviews_v1(p, d.decision_id, entered.clock);
    RETURN reply_v1(tribe, actor, p ->> 'key', digest, jsonb_build_object(
        'lesson_id', d.lesson_id, 'decision_id', d.decision_id, 'queued', cardinality(queued) > 0, 'tick', entered.clock,
        'review_id', (SELECT r.review_id FROM review r WHERE r.tribe_id = tribe
                      AND r.fingerprint = decode(p #>> '{reviews,0,fingerprint}', 'hex'))));
END
$$;

-- A curator takes a case off the review queue: accepted as the row p_golden of a golden set, or rejected, for p_reason if one is
-- given. Accepted as the same row once more it stays as it is, so that a tool that died in between can be run again.
CREATE FUNCTION tributary.close_review_v1(
    p_tribe uuid, p_actor uuid, p_review uuid, p_golden text, p_reason text, p_key text, p_digest bytea) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    entered record := enter_v1(p_tribe, p_actor, p_key, p_digest, 'curator');
    wanted text := CASE WHEN p_golden IS NULL THEN 'rejected' ELSE 'accepted' END;
    r review;
BEGIN
    IF entered.replay IS NOT NULL THEN
        RETURN entered.replay;
    END IF;
    SELECT * INTO r FROM review WHERE tribe_id = p_tribe AND review_id = p_review;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such review' USING ERRCODE = 'TB404';
    ELSIF r.state = 'open' THEN
        UPDATE review SET state = wanted, golden = p_golden, reason = p_reason, closed_at = clock_timestamp(), closed_by = p_actor
        WHERE tribe_id = p_tribe AND review_id = p_review;
    ELSIF r.golden IS DISTINCT FROM p_golden OR p_golden IS NULL THEN
        RAISE EXCEPTION 'the case was % already', r.state USING ERRCODE = 'TB410';
    END IF;
    RETURN reply_v1(p_tribe, p_actor, p_key, p_digest,
                    jsonb_build_object('lesson_id', NULL, 'review_id', p_review, 'state', wanted, 'tick', entered.clock));
END
$$;

-- A curator sets the tribe's policy, in place of the version that it has seen. Audited; no belief changes, so no tick.
CREATE FUNCTION tributary.set_policy_v1(p_tribe uuid, p_actor uuid, p_audit uuid, p_policy jsonb, p_version integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    opened tribe := gate_v1(p_tribe);
BEGIN
    PERFORM require_role_v1(p_tribe, p_actor, 'curator');
    IF opened.policy = p_policy AND opened.policy_version = p_version + 1 THEN
        RETURN json_build_object('policy', opened.policy, 'version', opened.policy_version); -- sent again: its reply was lost
    ELSIF opened.policy_version <> p_version THEN
        RAISE EXCEPTION 'the policy is at version % by now, not at %; look at it again', opened.policy_version, p_version
            USING ERRCODE = 'TB410';
    END IF;
    UPDATE tribe SET policy = p_policy, policy_version = p_version + 1 WHERE tribe_id = p_tribe;
    INSERT INTO audit (tribe_id, audit_id, agent_id, action, code, detail)
    VALUES (p_tribe, p_audit, p_actor, 'set_policy', 'done', format('from %s to %s', opened.policy, p_policy));
    RETURN json_build_object('policy', p_policy, 'version', p_version + 1);
END
$$;

CREATE FUNCTION tributary.policy_v1(p_tribe uuid) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT json_build_object('policy', t.policy, 'version', t.policy_version) FROM tribe t WHERE t.tribe_id = p_tribe
$$;
