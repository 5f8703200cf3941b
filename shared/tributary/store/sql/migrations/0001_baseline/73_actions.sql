-- Durable actions: side effects outside of the database that are to happen once. What was meant is committed before the effect, under a
-- key that is unique in the tribe, so that whoever comes second finds the first.
--
--   (no row) ──begin──► begun ──complete──► done
--                        │ ▲ └──fail──────► failed ──begin──► begun, the next attempt
--                        │ └─renew
--                        └── its lease ran out, its holder is not sure, or the database was restored from a backup ──► in_doubt
--   in_doubt ──complete | fail, by the holder of its lease──► done | failed
--   in_doubt ──reconcile, by a curator──────────────────────► done (it happened) | failed (it did not: it may be begun again)
--
-- No belief changes, so no gate and no tick. Each call locks the one row of its action, and after it writes the reply of its idempotency
-- key, so that of two equal requests the second finds the first one's reply. A completion that teaches a lesson goes through the gate
-- (learn_commit_v1), and locks the action's row after it.
--
-- A lease whose time is over counts as in doubt for everybody who looks; begin and the gardener write that down. Times are the
-- database's unless p_now is given.
CREATE TABLE tributary.action (
    tribe_id       uuid NOT NULL,
    action_id      uuid NOT NULL,
    key            text NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 800),
    description    text NOT NULL CHECK (octet_length(description) BETWEEN 1 AND 2048),
    state          text NOT NULL CHECK (state IN ('begun', 'done', 'failed', 'in_doubt')),
    attempt        integer NOT NULL CHECK (attempt >= 1),
    agent_id       uuid NOT NULL, -- who began this attempt
    begun_at       timestamptz NOT NULL, -- as everything below: of this attempt
    lease_until    timestamptz NOT NULL,
    lease_hash     bytea NOT NULL CHECK (octet_length(lease_hash) = 32), -- SHA-256 of the secret that its holder shows
    ended_at       timestamptz,
    result         json CHECK (octet_length(result::text) <= 16384), -- not jsonb, which would write numbers otherwise than they came
    failure        text CHECK (octet_length(failure) BETWEEN 1 AND 2048), -- in its holder's words
    doubt          text CHECK (doubt IN ('lease_ran_out', 'holder_unsure', 'restored')), -- why it was in doubt, if it ever was
    reconciled_by  uuid,
    note           text CHECK (octet_length(note) BETWEEN 1 AND 8192), -- the curator's rationale
    PRIMARY KEY (tribe_id, action_id),
    CONSTRAINT action_once UNIQUE (tribe_id, key),
    FOREIGN KEY (tribe_id, agent_id) REFERENCES tributary.agent,
    CONSTRAINT action_ending CHECK (
        (state IN ('done', 'failed')) = (ended_at IS NOT NULL) AND (state = 'done') = (result IS NOT NULL)
        AND (state <> 'in_doubt' OR doubt IS NOT NULL) AND (state <> 'begun' OR doubt IS NULL AND failure IS NULL)),
    CONSTRAINT action_reconciled CHECK (
        (reconciled_by IS NULL) = (note IS NULL) AND (reconciled_by IS NULL OR doubt IS NOT NULL AND ended_at IS NOT NULL)),
    CONSTRAINT action_lease CHECK (lease_until > begun_at)
) WITH (fillfactor = 70); -- each is rewritten when it ends: room for heap-only updates in its page
CREATE INDEX action_state ON tributary.action (tribe_id, state, action_id);
CREATE INDEX action_leased ON tributary.action (tribe_id, lease_until) WHERE state = 'begun';

-- Whether an action's lease ran out and nobody wrote that down yet. No lease lasts longer than an hour (core/limits.py): what one has left
-- beyond that it has by a clock that was put back since, and nobody knows any more whether it ran out.
CREATE FUNCTION tributary.overdue_v1(p_action tributary.action, p_now timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p_action.state = 'begun' AND (p_action.lease_until <= p_now OR p_action.lease_until > p_now + interval '61 minutes')
$$;

-- An action as it stands, without its lease; NULL when there is none such.
CREATE FUNCTION tributary.action_document_v1(p_tribe uuid, p_action uuid, p_now timestamptz) RETURNS json
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT json_build_object(
        'action_id', a.action_id, 'key', a.key, 'description', a.description, 'attempt', a.attempt,
        'state', CASE WHEN overdue_v1(a, p_now) THEN 'in_doubt' ELSE a.state END,
        'doubt', CASE WHEN overdue_v1(a, p_now) THEN 'lease_ran_out' ELSE a.doubt END,
        'agent', g.name, 'begun_at', a.begun_at, 'lease_until', a.lease_until, 'ended_at', a.ended_at, 'result', a.result,
        'failure', a.failure, 'note', a.note,
        'reconciled_by', (SELECT c.name FROM agent c WHERE c.tribe_id = p_tribe AND c.agent_id = a.reconciled_by))
    FROM action a JOIN agent g USING (tribe_id, agent_id) WHERE a.tribe_id = p_tribe AND a.action_id = p_action
$$;

-- The secret of a lease: the same whenever the same request asks for it, and kept nowhere. It is keyed as HMAC is, with two hashes; the
-- tribe's secret always has 32 bytes.
CREATE FUNCTION tributary.lease_v1(p_tribe uuid, p_action uuid, p_attempt integer, p_request text) RETURNS text
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT 'lease_' || encode(sha256(t.secret || sha256(t.secret || convert_to(concat_ws(':', p_action, p_attempt, p_request), 'UTF8'))), 'hex')
    FROM tribe t WHERE t.tribe_id = p_tribe
$$;

CREATE FUNCTION tributary.lease_hash_v1(p_lease text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(convert_to(p_lease, 'UTF8'))
$$;

-- Keeps a reply for its key. TB409 when another action's request took the key at the same moment.
CREATE FUNCTION tributary.keep_action_reply_v1(p_tribe uuid, p_actor uuid, p_request text, p_digest bytea, p_reply jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
BEGIN
    INSERT INTO idempotency (tribe_id, agent_id, key, request_digest, reply, at)
    VALUES (p_tribe, p_actor, p_request, p_digest, p_reply, clock_timestamp())
    ON CONFLICT (tribe_id, agent_id, key) DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'key used before' USING ERRCODE = 'TB409';
    END IF;
END
$$;

-- Begins an action for its actor, or tells how it stands: {outcome, action, lease}.
--   granted    it is the actor's to carry out, and the lease is what shows that. Its key's reply is kept; it gives the same lease again as
--              long as that attempt runs
--   done, in_doubt, busy    nothing was begun, and nothing is kept for the key
--   p_action   the id if it is new; p_request, p_digest its idempotency key and the digest of what is asked
CREATE FUNCTION tributary.begin_action_v1(
    p_tribe uuid, p_actor uuid, p_action uuid, p_key text, p_description text, p_lease_s integer, p_request text, p_digest bytea,
    p_now timestamptz) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    now timestamptz := coalesce(p_now, clock_timestamp());
    lease interval := make_interval(secs => p_lease_s);
    a action;
    replay jsonb;
    granted boolean;
BEGIN
    PERFORM require_role_v1(p_tribe, p_actor, 'writer');
    INSERT INTO action (tribe_id, action_id, key, description, state, attempt, agent_id, begun_at, lease_until, lease_hash)
    VALUES (p_tribe, p_action, p_key, p_description, 'begun', 1, p_actor, now, now + lease,
            lease_hash_v1(lease_v1(p_tribe, p_action, 1, p_request)))
    ON CONFLICT (tribe_id, key) DO NOTHING RETURNING * INTO a;
    granted := FOUND;
    IF NOT granted THEN
        SELECT * INTO a FROM action WHERE tribe_id = p_tribe AND key = p_key FOR NO KEY UPDATE;
        now := coalesce(p_now, clock_timestamp()); -- the row may have been waited for
    END IF;
    replay := replay_v1(p_tribe, p_actor, p_request, p_digest) -> 'reply';
    IF overdue_v1(a, now) THEN
        UPDATE action SET state = 'in_doubt', doubt = 'lease_ran_out'
        WHERE tribe_id = p_tribe AND action_id = a.action_id RETURNING * INTO a;
    END IF;
    IF replay IS NOT NULL THEN
        granted := a.state = 'begun' AND a.attempt = (replay ->> 'attempt')::integer;
        IF a.state = 'failed' THEN
            RAISE EXCEPTION 'the attempt that this idempotency key began has failed; begin again under a new one' USING ERRCODE = 'TB410';
        END IF;
    ELSIF a.state = 'failed' THEN
        granted := true;
        UPDATE action SET state = 'begun', attempt = attempt + 1, agent_id = p_actor, description = p_description, begun_at = now,
            lease_until = now + lease, lease_hash = lease_hash_v1(lease_v1(p_tribe, a.action_id, a.attempt + 1, p_request)),
            ended_at = NULL, failure = NULL, doubt = NULL, reconciled_by = NULL, note = NULL
        WHERE tribe_id = p_tribe AND action_id = a.action_id RETURNING * INTO a;
    END IF;
    IF granted AND replay IS NULL THEN
        PERFORM keep_action_reply_v1(p_tribe, p_actor, p_request, p_digest,
                                     jsonb_build_object('lesson_id', NULL, 'action_id', a.action_id, 'attempt', a.attempt));
    END IF;
    RETURN json_build_object(
        'outcome', CASE WHEN granted THEN 'granted' WHEN a.state = 'begun' THEN 'busy' ELSE a.state END,
        'lease', CASE WHEN granted THEN lease_v1(p_tribe, a.action_id, a.attempt, p_request) END,
        'action', action_document_v1(p_tribe, a.action_id, now));
END
$$;

-- What every other change of an action begins with: its row, locked; the key's first reply if there was one; the actor's role as it is
-- stored now. TB404 when there is no such action.
CREATE FUNCTION tributary.enter_action_v1(
    p_tribe uuid, p_actor uuid, p_action uuid, p_request text, p_digest bytea, p_needs text) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    replay jsonb;
BEGIN
    PERFORM FROM action WHERE tribe_id = p_tribe AND action_id = p_action FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such action' USING ERRCODE = 'TB404';
    END IF;
    replay := replay_v1(p_tribe, p_actor, p_request, p_digest) -> 'reply';
    IF replay IS NULL THEN
        PERFORM require_role_v1(p_tribe, p_actor, p_needs);
    END IF;
    RETURN replay;
END
$$;

-- Raises why an action was not changed: TB404, TB403 for a lease that is not the present attempt's, else TB410.
CREATE FUNCTION tributary.refuse_action_v1(p_tribe uuid, p_action uuid, p_lease text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = tributary, pg_temp AS $$
DECLARE
    a action;
BEGIN
    SELECT * INTO a FROM action WHERE tribe_id = p_tribe AND action_id = p_action;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such action' USING ERRCODE = 'TB404';
    ELSIF p_lease IS NOT NULL AND a.lease_hash <> lease_hash_v1(p_lease) THEN
        RAISE EXCEPTION 'the lease is not that of the action''s present attempt' USING ERRCODE = 'TB403';
    END IF;
    RAISE EXCEPTION 'the action is %', CASE
        WHEN overdue_v1(a, p_now) THEN 'in doubt, since its lease ran out'
        WHEN a.state = 'in_doubt' THEN 'in doubt'
        WHEN a.state = 'begun' THEN 'under way; only one in doubt can be reconciled'
        ELSE a.state || ' already' END USING ERRCODE = 'TB410';
END
$$;

-- What the holder of a lease says of its action, which nobody ended before. It knows better than the clock, so its word ends a doubt.
--   p_state    done, failed, or in_doubt when the holder cannot tell
CREATE FUNCTION tributary.end_action_v1(
    p_tribe uuid, p_action uuid, p_lease text, p_state text, p_result json, p_failure text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
    UPDATE action a SET
        state = p_state, result = p_result, failure = p_failure, ended_at = CASE WHEN p_state <> 'in_doubt' THEN now END,
        doubt = CASE WHEN overdue_v1(a, now) THEN 'lease_ran_out'
                     WHEN p_state = 'in_doubt' THEN coalesce(a.doubt, 'holder_unsure') ELSE a.doubt END
    WHERE a.tribe_id = p_tribe AND a.action_id = p_action AND a.state IN ('begun', 'in_doubt') AND a.lease_hash = lease_hash_v1(p_lease);
    IF NOT FOUND THEN
        PERFORM refuse_action_v1(p_tribe, p_action, p_lease, now);
    END IF;
END
$$;

-- What a change of an action answers: {replayed, reply, action, learned}. `learned` is the reply of the learn that a completion came with.
CREATE FUNCTION tributary.action_reply_v1(
    p_tribe uuid, p_actor uuid, p_action uuid, p_request text, p_replayed boolean, p_now timestamptz) RETURNS json
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT json_build_object(
        'replayed', p_replayed, 'reply', i.reply, 'action', action_document_v1(p_tribe, p_action, coalesce(p_now, clock_timestamp())),
        'learned', (SELECT replay_v1(p_tribe, p_actor, l.key, l.request_digest) || jsonb_build_object('replayed', p_replayed)
                    FROM idempotency l
                    WHERE l.tribe_id = p_tribe AND l.agent_id = p_actor AND l.key = i.reply ->> 'learned_as'))
    FROM idempotency i WHERE i.tribe_id = p_tribe AND i.agent_id = p_actor AND i.key = p_request
$$;

-- The holder says that the effect happened, and what came of it.
--   p_refused  the code for which the lesson that came with it was refused, for good; NULL when none was
CREATE FUNCTION tributary.complete_action_v1(
    p_tribe uuid, p_actor uuid, p_action uuid, p_lease text, p_result text, p_refused text, p_request text, p_digest bytea,
    p_now timestamptz) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    replay jsonb := enter_action_v1(p_tribe, p_actor, p_action, p_request, p_digest, 'writer');
BEGIN
    IF replay IS NULL THEN
        PERFORM end_action_v1(p_tribe, p_action, p_lease, 'done', p_result::json, NULL, p_now);
        PERFORM keep_action_reply_v1(p_tribe, p_actor, p_request, p_digest, jsonb_build_object(
            'lesson_id', NULL, 'action_id', p_action, 'refused', p_refused, 'learned_as', NULL));
    END IF;
    RETURN action_reply_v1(p_tribe, p_actor, p_action, p_request, replay IS NOT NULL, p_now);
END
$$;

-- The same in the transaction in which the lesson is learned: p -> 'completes' of learn_commit_v1, whose caller holds the gate.
--   {action_id, lease, result, key, request_digest, now}
CREATE FUNCTION tributary.complete_with_lesson_v1(p jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    tribe uuid := p ->> 'tribe_id';
    done jsonb := p -> 'completes';
BEGIN
    PERFORM end_action_v1(tribe, (done ->> 'action_id')::uuid, done ->> 'lease', 'done', (done ->> 'result')::json, NULL,
                          (done ->> 'now')::timestamptz);
    PERFORM keep_action_reply_v1(tribe, (p ->> 'actor_id')::uuid, done ->> 'key', decode(done ->> 'request_digest', 'hex'),
                                 jsonb_build_object('lesson_id', NULL, 'action_id', done ->> 'action_id', 'refused', NULL,
                                                    'learned_as', p ->> 'key'));
END
$$;

-- The holder says that the effect did not happen, or with p_unsure that it cannot tell, and why.
CREATE FUNCTION tributary.fail_action_v1(
    p_tribe uuid, p_actor uuid, p_action uuid, p_lease text, p_failure text, p_unsure boolean, p_request text, p_digest bytea,
    p_now timestamptz) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    replay jsonb := enter_action_v1(p_tribe, p_actor, p_action, p_request, p_digest, 'writer');
BEGIN
    IF replay IS NULL THEN
        PERFORM end_action_v1(p_tribe, p_action, p_lease, CASE WHEN p_unsure THEN 'in_doubt' ELSE 'failed' END, NULL, p_failure, p_now);
        PERFORM keep_action_reply_v1(p_tribe, p_actor, p_request, p_digest,
                                     jsonb_build_object('lesson_id', NULL, 'action_id', p_action));
    END IF;
    RETURN action_reply_v1(p_tribe, p_actor, p_action, p_request, replay IS NOT NULL, p_now);
END
$$;

-- The holder goes on for p_lease_s more seconds. A lease that ran out is not renewed: others have seen the action in doubt, or will.
CREATE FUNCTION tributary.renew_action_v1(
    p_tribe uuid, p_actor uuid, p_action uuid, p_lease text, p_lease_s integer, p_request text, p_digest bytea, p_now timestamptz)
RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    replay jsonb := enter_action_v1(p_tribe, p_actor, p_action, p_request, p_digest, 'writer');
    now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
    IF replay IS NULL THEN
        UPDATE action a SET lease_until = now + make_interval(secs => p_lease_s),
            begun_at = least(a.begun_at, now) -- it cannot have begun later, whatever the clock said then
        WHERE a.tribe_id = p_tribe AND a.action_id = p_action AND a.state = 'begun' AND NOT overdue_v1(a, now)
          AND a.lease_hash = lease_hash_v1(p_lease);
        IF NOT FOUND THEN
            PERFORM refuse_action_v1(p_tribe, p_action, p_lease, now);
        END IF;
        PERFORM keep_action_reply_v1(p_tribe, p_actor, p_request, p_digest,
                                     jsonb_build_object('lesson_id', NULL, 'action_id', p_action));
    END IF;
    RETURN action_reply_v1(p_tribe, p_actor, p_action, p_request, replay IS NOT NULL, p_now);
END
$$;

-- A curator who looked says whether the effect of an action in doubt happened: with p_result it is done, else it may be begun again.
CREATE FUNCTION tributary.reconcile_action_v1(
    p_tribe uuid, p_actor uuid, p_action uuid, p_happened boolean, p_result text, p_note text, p_request text, p_digest bytea,
    p_now timestamptz) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    replay jsonb := enter_action_v1(p_tribe, p_actor, p_action, p_request, p_digest, 'curator');
    now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
    IF replay IS NULL THEN
        UPDATE action a SET
            state = CASE WHEN p_happened THEN 'done' ELSE 'failed' END, result = CASE WHEN p_happened THEN p_result::json END,
            ended_at = now, doubt = coalesce(a.doubt, 'lease_ran_out'), reconciled_by = p_actor, note = p_note
        WHERE a.tribe_id = p_tribe AND a.action_id = p_action AND (a.state = 'in_doubt' OR overdue_v1(a, now));
        IF NOT FOUND THEN
            PERFORM refuse_action_v1(p_tribe, p_action, NULL, now);
        END IF;
        PERFORM note_v1(p_tribe, p_actor, 'reconciled',
                        shown_v1('act', p_action) || CASE WHEN p_happened THEN ' happened' ELSE ' did not happen' END);
        PERFORM keep_action_reply_v1(p_tribe, p_actor, p_request, p_digest,
                                     jsonb_build_object('lesson_id', NULL, 'action_id', p_action));
    END IF;
    RETURN action_reply_v1(p_tribe, p_actor, p_action, p_request, replay IS NOT NULL, p_now);
END
$$;

-- One action; NULL when there is none such.
CREATE FUNCTION tributary.action_v1(p_tribe uuid, p_action uuid, p_now timestamptz) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
    SELECT action_document_v1(p_tribe, p_action, coalesce(p_now, clock_timestamp()))
$$;

-- A page of actions, those in doubt first, and then newest first. A page begins after (p_before_doubt, p_before_id): whether that one
-- was in doubt, as 1 or 0, and its id.
--   p_state    begun, done, failed or in_doubt, as it is shown; NULL for all
CREATE FUNCTION tributary.actions_v1(
    p_tribe uuid, p_state text, p_limit integer, p_before_doubt bigint, p_before_id uuid, p_now timestamptz)
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    moment record;
    now timestamptz := coalesce(p_now, clock_timestamp());
    page uuid[];
BEGIN
    SELECT * INTO moment FROM resolve_v1(p_tribe, NULL, NULL, now);
    page := ARRAY(
        SELECT o.action_id FROM (
            (SELECT 1 AS doubtful, a.action_id FROM action a
             WHERE a.tribe_id = p_tribe AND coalesce(p_state, 'in_doubt') = 'in_doubt'
               AND (p_before_doubt IS NULL OR p_before_doubt = 1)
               AND (a.state = 'in_doubt' OR overdue_v1(a, now))
               AND (p_before_id IS NULL OR a.action_id < p_before_id)
             ORDER BY a.action_id DESC LIMIT p_limit + 1)
            UNION ALL
            (SELECT 0, a.action_id FROM action a
             WHERE a.tribe_id = p_tribe AND (p_state IS NULL OR a.state = p_state)
               AND a.state <> 'in_doubt' AND NOT overdue_v1(a, now)
               AND (p_before_id IS NULL OR p_before_doubt = 1 OR a.action_id < p_before_id)
             ORDER BY a.action_id DESC LIMIT p_limit + 1)) o
        ORDER BY o.doubtful DESC, o.action_id DESC LIMIT p_limit + 1);
    RETURN json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'more', cardinality(page) > p_limit,
        'actions', (SELECT coalesce(json_agg(action_document_v1(p_tribe, o.id, now) ORDER BY o.place), '[]')
                    FROM unnest(page[1:p_limit]) WITH ORDINALITY AS o(id, place)));
END
$$;

-- The gardener writes down that leases ran out; returns of how many actions, p_limit at most. Whoever holds such a row now sees to it
-- himself.
CREATE FUNCTION tributary.garden_doubt_v1(p_tribe uuid, p_limit integer, p_now timestamptz) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    WITH over AS (
        SELECT a.action_id FROM action a
        WHERE a.tribe_id = p_tribe AND overdue_v1(a, coalesce(p_now, clock_timestamp()))
        ORDER BY a.lease_until LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    ), doubted AS (
        UPDATE action a SET state = 'in_doubt', doubt = 'lease_ran_out' FROM over o
        WHERE a.tribe_id = p_tribe AND a.action_id = o.action_id AND a.state = 'begun' RETURNING 1)
    SELECT count(*) FROM doubted
$$;
