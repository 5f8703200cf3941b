-- What happened: the history of one lesson, and that of the whole tribe as a feed. Each is one STABLE function, so one snapshot: the clock
-- that it names and the events that it gives belong together.

-- which lessons ended in another one
CREATE INDEX lesson_superseded_by ON tributary.lesson (tribe_id, superseded_by) WHERE superseded_by IS NOT NULL;

-- A tribe's events as history shows them: ids and codes. `part` and `seq` are their order within a tick. Set-based, and without a SET
-- clause, so that the planner folds it into the query that calls it, and reads no more than that asks for.
CREATE FUNCTION tributary.events_v1(p_tribe uuid)
RETURNS TABLE (tick bigint, part integer, seq integer, lesson_id uuid, decision_id uuid, document jsonb)
LANGUAGE sql STABLE AS $$
    SELECT e.tick, 1, e.seq::integer, e.lesson_id, e.decision_id, jsonb_build_object(
        'tick', e.tick, 'at', e.at, 'event', e.event, 'status', e.status, 'by', a.name, 'decision_id', e.decision_id, 'details', e.details,
        -- those that it ended, and those that the lesson came into at this tick
        'disputes', ARRAY(
            SELECT (e.details ->> 'dispute')::uuid WHERE e.details ? 'dispute'
            UNION
            SELECT o.id::uuid FROM jsonb_array_elements_text(e.details -> 'disputes') AS o(id)
            UNION
            SELECT d.dispute_id FROM tributary.dispute d
            WHERE e.event IN ('disputed', 'challenged')
              AND d.tribe_id = p_tribe AND d.lesson_id = e.lesson_id AND d.opened_tick = e.tick
            UNION
            SELECT b.dispute_id FROM tributary.dispute_about b
            WHERE e.event = 'challenged' AND b.tribe_id = p_tribe AND b.lesson_id = e.lesson_id AND b.since_tick = e.tick
            ORDER BY 1))
    FROM tributary.lesson_event e JOIN tributary.agent a ON a.tribe_id = p_tribe AND a.agent_id = e.agent_id
    WHERE e.tribe_id = p_tribe
    UNION ALL
    SELECT e.tick, 2, 0, NULL, NULL, jsonb_build_object(
        'tick', e.tick, 'at', e.at, 'event', e.event, 'status', NULL, 'by', a.name, 'decision_id', NULL, 'details', e.details,
        'disputes', ARRAY(SELECT (e.details ->> 'dispute')::uuid WHERE e.details ? 'dispute'))
    FROM tributary.tribe_event e LEFT JOIN tributary.agent a ON a.tribe_id = p_tribe AND a.agent_id = e.agent_id
    WHERE e.tribe_id = p_tribe
$$;

-- A page of a lesson's history with the lesson itself and the lessons before and after it; NULL when there is none such, or when it is
-- not for this agent's eyes. A page holds the newest events before a tick, oldest first, and splits no tick.
--   p_limit   how many events a page holds, but for those of its oldest tick, which come all
--   p_chain   how many lessons each side of the chain holds: those that ended in this one, at whatever remove, and its successors
CREATE FUNCTION tributary.timeline_v1(
    p_tribe uuid, p_actor uuid, p_lesson uuid, p_limit integer, p_before_tick bigint, p_chain integer, p_now timestamptz)
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    moment record;
    lesson jsonb := lesson_for_v1(p_tribe, p_lesson, p_actor);
    first_tick bigint; -- of the page
    before_ids uuid[];
    after_ids uuid[];
BEGIN
    IF lesson IS NULL OR NOT may_see_v1(p_tribe, p_lesson, p_actor) THEN
        RETURN NULL;
    END IF;
    SELECT * INTO moment FROM resolve_v1(p_tribe, NULL, NULL, coalesce(p_now, clock_timestamp()));
    SELECT min(n.tick) INTO first_tick FROM (
        SELECT e.tick FROM lesson_event e
        WHERE e.tribe_id = p_tribe AND e.lesson_id = p_lesson AND e.tick < coalesce(p_before_tick, latest_v1())
        ORDER BY e.tick DESC LIMIT p_limit) n;
    -- breadth first, so that a chain that is cut keeps what is nearest
    before_ids := ARRAY(
        WITH RECURSIVE chain AS (
            SELECT l.lesson_id FROM lesson l WHERE l.tribe_id = p_tribe AND l.superseded_by = p_lesson
            UNION ALL
            SELECT l.lesson_id FROM chain c JOIN lesson l ON l.tribe_id = p_tribe AND l.superseded_by = c.lesson_id)
        SELECT c.lesson_id FROM chain c LIMIT p_chain + 1);
    after_ids := ARRAY(
        WITH RECURSIVE chain AS (
            SELECT l.superseded_by AS lesson_id FROM lesson l
            WHERE l.tribe_id = p_tribe AND l.lesson_id = p_lesson AND l.superseded_by IS NOT NULL
            UNION ALL
            SELECT l.superseded_by FROM chain c JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = c.lesson_id
            WHERE l.superseded_by IS NOT NULL)
        SELECT c.lesson_id FROM chain c LIMIT p_chain + 1);
    RETURN json_build_object(
        'tick', moment.tick, 'at', moment.at, 'settled', moment.settled, 'lesson', lesson,
        'more', EXISTS (SELECT FROM lesson_event e WHERE e.tribe_id = p_tribe AND e.lesson_id = p_lesson AND e.tick < first_tick),
        'events', (SELECT coalesce(json_agg(e.document ORDER BY e.tick, e.part, e.seq), '[]') FROM events_v1(p_tribe) e
                   WHERE e.lesson_id = p_lesson AND e.tick >= first_tick AND e.tick < coalesce(p_before_tick, latest_v1())),
        'decisions', (SELECT coalesce(json_agg(json_build_object(
                          'decision_id', d.decision_id, 'tick', d.tick, 'outcome', d.outcome, 'reason', d.reason, 'receipts', d.receipts)
                          ORDER BY d.tick, d.decision_id), '[]')
                      FROM decision d
                      WHERE d.tribe_id = p_tribe AND d.decision_id IN (
                          SELECT e.decision_id FROM lesson_event e
                          WHERE e.tribe_id = p_tribe AND e.lesson_id = p_lesson
                            AND e.tick >= first_tick AND e.tick < coalesce(p_before_tick, latest_v1()))),
        'before', chain_document_v1(p_tribe, p_actor, before_ids[1:p_chain]), 'more_before', cardinality(before_ids) > p_chain,
        'after', chain_document_v1(p_tribe, p_actor, after_ids[1:p_chain]), 'more_after', cardinality(after_ids) > p_chain);
END
$$;

-- Lessons of a chain in the order in which they came to be believed, each without its words where they are not to be seen.
CREATE FUNCTION tributary.chain_document_v1(p_tribe uuid, p_actor uuid, p_ids uuid[]) RETURNS json
LANGUAGE sql STABLE SET search_path = tributary, public, pg_temp AS $$
    WITH hidden AS MATERIALIZED (SELECT hidden_from_v1(p_tribe, p_ids, p_actor) AS ids)
    SELECT coalesce(json_agg(json_build_object(
        'lesson_id', l.lesson_id, 'status', l.status,
        'text', CASE WHEN l.lesson_id <> ALL (h.ids) THEN l.text END, 'held', l.held OR coalesce(l.rejected_as = 'injection', false),
        'learned_tick', l.learned_tick, 'learned_at', l.learned_at, 'activated_tick', l.activated_tick, 'activated_at', l.activated_at,
        'deactivated_tick', l.deactivated_tick, 'deactivated_at', l.deactivated_at, 'superseded_by', l.superseded_by)
        ORDER BY l.activated_tick, l.lesson_id), '[]')
    FROM lesson l, hidden h WHERE l.tribe_id = p_tribe AND l.lesson_id = ANY (p_ids)
$$;

-- What changed in a tribe after a tick: {clock, after, tick, replica, changes}. All that happened after the tick `after` and up to `tick` is
-- given, so whoever goes on from there misses nothing; `clock` is where the tribe stands. The page holds whole ticks: as many as fit into
-- p_limit changes, and at least one.
--   p_newest  the last ticks up to the clock instead of the first ones after p_after: `after` tells which of them it begins after
CREATE FUNCTION tributary.changes_v1(p_tribe uuid, p_actor uuid, p_after bigint, p_limit integer, p_newest boolean)
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    t tribe := (SELECT t FROM tribe t WHERE t.tribe_id = p_tribe);
    clock bigint := t.clock;
    ticks bigint[]; -- one for each of the next changes, or of the last ones, one more than the page may hold
    since bigint := p_after;
    upto bigint := clock;
    hidden uuid[]; -- lessons of the page whose words are not for this agent
BEGIN
    IF NOT t.lost @> p_after OR t.lost @> p_after + 1 THEN -- the last one of the lost was given to nobody
        PERFORM refuse_lost_v1(t, p_after, 'after'); -- what was seen up to there is not what happened
    END IF;
    IF p_newest THEN
        ticks := ARRAY(
            SELECT n.tick FROM (
                (SELECT e.tick FROM lesson_event e WHERE e.tribe_id = p_tribe AND e.tick > p_after ORDER BY e.tick DESC LIMIT p_limit + 1)
                UNION ALL
                (SELECT e.tick FROM tribe_event e WHERE e.tribe_id = p_tribe AND e.tick > p_after ORDER BY e.tick DESC LIMIT p_limit + 1)) n
            ORDER BY n.tick DESC LIMIT p_limit + 1);
    ELSE
        ticks := ARRAY(
            SELECT n.tick FROM (
                (SELECT e.tick FROM lesson_event e WHERE e.tribe_id = p_tribe AND e.tick > p_after ORDER BY e.tick LIMIT p_limit + 1)
                UNION ALL
                (SELECT e.tick FROM tribe_event e WHERE e.tribe_id = p_tribe AND e.tick > p_after ORDER BY e.tick LIMIT p_limit + 1)) n
            ORDER BY n.tick LIMIT p_limit + 1);
    END IF;
    IF cardinality(ticks) = 0 THEN
        RETURN json_build_object('clock', clock, 'after', p_after, 'tick', clock, 'replica', pg_is_in_recovery(), 'changes', '[]'::json);
    ELSIF cardinality(ticks) > p_limit THEN
        -- the tick at the window's end may be cut off: it is left to another page, unless the window holds no other
        IF p_newest THEN
            since := coalesce((SELECT min(w.tick) FROM unnest(ticks) AS w(tick) WHERE w.tick > ticks[p_limit + 1]), ticks[1]) - 1;
            since := coalesce((SELECT lower(r) - 1 FROM unnest(t.lost) r WHERE r @> since), since);
        ELSE
            upto := coalesce((SELECT max(w.tick) FROM unnest(ticks) AS w(tick) WHERE w.tick < ticks[p_limit + 1]), ticks[1]);
        END IF;
    END IF;
    hidden := hidden_from_v1(p_tribe, ARRAY(
        SELECT e.lesson_id FROM lesson_event e WHERE e.tribe_id = p_tribe AND e.tick > since AND e.tick <= upto), p_actor);
    RETURN json_build_object(
        'clock', clock, 'after', since, 'tick', upto, 'replica', pg_is_in_recovery(),
        'changes', (
            SELECT coalesce(json_agg(e.document || jsonb_build_object(
                'lesson_id', e.lesson_id, 'kind', l.kind, 'held', l.held OR coalesce(l.rejected_as = 'injection', false),
                'subject', CASE WHEN l.lesson_id <> ALL (hidden) THEN l.subject END,
                'text', CASE WHEN l.lesson_id <> ALL (hidden) THEN l.text END) ORDER BY e.tick, e.part, e.seq), '[]')
            FROM events_v1(p_tribe) e LEFT JOIN lesson l ON l.tribe_id = p_tribe AND l.lesson_id = e.lesson_id
            WHERE e.tick > since AND e.tick <= upto));
END
$$;

-- Where a tribe's clock stands: what one asks who waits for a change.
CREATE FUNCTION tributary.clock_v1(p_tribe uuid) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT t.clock FROM tribe t WHERE t.tribe_id = p_tribe
$$;
