-- The difference between two moments: what was believed at one of them and not at the other, time taken into account as reads do
-- (core/confidence.py): what had expired or withered by a moment was not believed then, whether or not that was written down yet.

-- what began between two ticks; `lesson_ended` tells what ended
CREATE INDEX lesson_begun ON tributary.lesson (tribe_id, activated_tick) WHERE activated_tick IS NOT NULL;
-- what may be over by an instant, though its status does not say so: a lesson withers no sooner than a half-life after it was learned
CREATE INDEX lesson_aging ON tributary.lesson (tribe_id, kind, learned_at) WHERE believed;
CREATE INDEX lesson_expiring ON tributary.lesson (tribe_id, valid_until) WHERE believed AND valid_until IS NOT NULL;

-- The lessons that were believed, as ticks have it, at one of two moments (stood_from, stood_to) and not at the other; and of those that
-- stood at both the ones that time may have ended by the second. Each part goes by an index of its own, and reads what changed between
-- the moments or since, or is old enough. Without a SET clause, so that the planner folds it into the query that calls it.
--   p_hide   none that is held back now
CREATE FUNCTION tributary.held_beliefs_v1(
    p_tribe uuid, p_from bigint, p_to bigint, p_to_at timestamptz, p_kinds text[], p_half_lives_s double precision[], p_hide boolean)
RETURNS TABLE (
    lesson_id uuid, kind text, confidence double precision, learned_at timestamptz, valid_until timestamptz,
    activated_at timestamptz, deactivated_at timestamptz, stood_from boolean, stood_to boolean)
LANGUAGE sql STABLE AS $$
    WITH held AS (
        SELECT l.*, false AS stood_from, true AS stood_to FROM tributary.lesson l
        WHERE l.tribe_id = p_tribe AND l.activated_tick > p_from AND l.activated_tick <= p_to
          AND (l.deactivated_tick IS NULL OR l.deactivated_tick > p_to)
        UNION ALL
        SELECT l.*, true, false FROM tributary.lesson l
        WHERE l.tribe_id = p_tribe AND l.deactivated_tick > p_from AND l.deactivated_tick <= p_to AND l.activated_tick <= p_from
        UNION ALL
        SELECT l.*, true, true FROM unnest(p_kinds, p_half_lives_s) AS h(kind, half_life_s)
        CROSS JOIN LATERAL (SELECT k.* FROM tributary.lesson k -- kind by kind: joined, the planner would read the tribe
                            WHERE k.tribe_id = p_tribe AND k.believed AND k.kind = h.kind
                              AND k.learned_at <= p_to_at - make_interval(secs => h.half_life_s)
                            OFFSET 0) l
        WHERE l.activated_tick <= p_from AND (l.valid_until <= p_to_at) IS NOT TRUE
        UNION ALL
        SELECT l.*, true, true FROM tributary.lesson l
        WHERE l.tribe_id = p_tribe AND l.believed AND l.valid_until <= p_to_at AND l.activated_tick <= p_from
        UNION ALL
        SELECT l.*, true, true FROM tributary.lesson l
        WHERE l.tribe_id = p_tribe AND l.deactivated_tick > p_to AND l.activated_tick <= p_from)
    SELECT l.lesson_id, l.kind, l.confidence, l.learned_at, l.valid_until, l.activated_at, l.deactivated_at, l.stood_from, l.stood_to
    FROM held l WHERE NOT (p_hide AND (l.held OR coalesce(l.rejected_as = 'injection', false)))
$$;

-- The changes between two resolved moments, the second not before the first. `revived`: it had withered by the first; `lapsed`: how time
-- alone ended it.
CREATE FUNCTION tributary.belief_changes_v1(
    p_tribe uuid, p_from bigint, p_from_at timestamptz, p_to bigint, p_to_at timestamptz, p_kinds text[], p_half_lives_s double precision[],
    p_weight double precision, p_withered_below double precision, p_hide boolean)
RETURNS TABLE (lesson_id uuid, began boolean, revived boolean, lapsed text, at timestamptz) LANGUAGE sql STABLE AS $$
    WITH held AS MATERIALIZED (
        SELECT b.*, h.half_life_s, b.learned_at + make_interval(secs => h.half_life_s) <= p_to_at AS old
        FROM tributary.held_beliefs_v1(p_tribe, p_from, p_to, p_to_at, p_kinds, p_half_lives_s, p_hide) b
        JOIN unnest(p_kinds, p_half_lives_s) AS h(kind, half_life_s) USING (kind)
    ), disputed AS MATERIALIZED (
        -- how many agents contradicted it, by then
        SELECT c.lesson_id, count(DISTINCT c.agent_id) FILTER (WHERE c.since_tick <= p_from) AS by_from,
               count(DISTINCT c.agent_id) FILTER (WHERE (c.closed_tick > p_to) IS NOT FALSE) AS by_to
        FROM tributary.contradiction c
        WHERE c.tribe_id = p_tribe AND c.since_tick <= p_to AND (c.closed_tick > p_from) IS NOT FALSE
          AND c.lesson_id IN (SELECT h.lesson_id FROM held h WHERE h.old)
        GROUP BY c.lesson_id
    ), confirmed AS MATERIALIZED (
        -- asked of those alone that would be over: what nobody contradicts withers no sooner than if nobody had confirmed it
        SELECT f.lesson_id, count(*) FILTER (WHERE f.tick <= p_from) AS by_from, max(f.at) FILTER (WHERE f.tick <= p_from) AS last_from,
               count(*) AS by_to, max(f.at) AS last_to
        FROM tributary.confirmation f
        WHERE f.tribe_id = p_tribe AND f.tick <= p_to AND f.lesson_id IN (
            SELECT h.lesson_id FROM held h
            WHERE h.old AND (h.lesson_id IN (SELECT x.lesson_id FROM disputed x) OR tributary.withers_at_v1(
                      h.learned_at, h.half_life_s, h.confidence, 0, 0, p_weight, p_withered_below) <= p_to_at))
        GROUP BY f.lesson_id
    ), withering AS (
        SELECT h.*,
               CASE WHEN h.old THEN tributary.withers_at_v1(
                   greatest(h.learned_at, c.last_from), h.half_life_s, h.confidence, coalesce(c.by_from, 0), coalesce(d.by_from, 0),
                   p_weight, p_withered_below) END AS withers_from,
               CASE WHEN h.old THEN tributary.withers_at_v1(
                   greatest(h.learned_at, c.last_to), h.half_life_s, h.confidence, coalesce(c.by_to, 0), coalesce(d.by_to, 0),
                   p_weight, p_withered_below) END AS withers_to
        FROM held h LEFT JOIN confirmed c USING (lesson_id) LEFT JOIN disputed d USING (lesson_id)
    ), stood AS (
        SELECT w.*, w.stood_from AND (least(w.valid_until, w.withers_from) <= p_from_at) IS NOT TRUE AS was,
               w.stood_to AND (least(w.valid_until, w.withers_to) <= p_to_at) IS NOT TRUE AS is
        FROM withering w)
    SELECT s.lesson_id, s.is, s.is AND s.stood_from,
           CASE WHEN s.was AND s.stood_to THEN
               CASE WHEN s.valid_until <= p_to_at AND (s.withers_to < s.valid_until) IS NOT TRUE THEN 'expired' ELSE 'withered' END END,
           CASE WHEN s.is AND NOT s.stood_from THEN s.activated_at
                WHEN s.is THEN greatest(p_from_at, (SELECT e.at FROM tributary.lesson_event e -- what brought it back
                                                    WHERE e.tribe_id = p_tribe AND e.lesson_id = s.lesson_id AND e.tick <= p_to
                                                    ORDER BY e.tick DESC LIMIT 1))
                WHEN s.stood_to THEN greatest(p_from_at, least(s.valid_until, s.withers_to)) -- a contradiction may date it back
                ELSE s.deactivated_at END
    FROM stood s WHERE s.was <> s.is
$$;

-- What was believed at one of two moments and not at the other, newest change first.
--   p_hide         none that is held back now
--   p_from_tick, p_from_at, p_to_tick, p_to_at   the moments as of resolve_v1: NULL for now; both for a tick, judged at that instant
--   p_before_at, p_before_id   where the page before ended
--   p_kinds, p_half_lives_s   each kind and its half-life in seconds
--   p_weight, p_withered_below   the prior's weight, and under what confidence a lesson withers
CREATE FUNCTION tributary.diff_v1(
    p_tribe uuid, p_hide boolean, p_from_tick bigint, p_from_at timestamptz, p_to_tick bigint, p_to_at timestamptz, p_limit integer,
    p_before_at timestamptz, p_before_id uuid, p_kinds text[], p_half_lives_s double precision[], p_weight double precision,
    p_withered_below double precision, p_now timestamptz)
RETURNS json LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tributary, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    a record; -- the earlier moment
    b record; -- the later one
    found record;
BEGIN
    SELECT * INTO a FROM resolve_v1(p_tribe, p_from_tick, p_from_at, coalesce(p_now, clock_timestamp()), 'from');
    SELECT * INTO b FROM resolve_v1(p_tribe, p_to_tick, p_to_at, coalesce(p_now, clock_timestamp()), 'to');
    IF p_to_tick IS NULL AND p_to_at IS NULL THEN
        b.at := greatest(a.at, b.at); -- of two clocks the present is the later
    END IF;
    IF (a.tick, a.at) > (b.tick, b.at) THEN
        RETURN json_build_object('since', row_to_json(a), 'until', row_to_json(b), 'backwards', true);
    END IF;
    WITH changes AS MATERIALIZED (
        SELECT c.* FROM belief_changes_v1(
            p_tribe, a.tick, a.at, b.tick, b.at, p_kinds, p_half_lives_s, p_weight, p_withered_below, p_hide) c
    ), page AS (
        SELECT c.* FROM changes c WHERE p_before_at IS NULL OR (c.at, c.lesson_id) < (p_before_at, p_before_id)
        ORDER BY c.at DESC, c.lesson_id DESC LIMIT p_limit + 1)
    SELECT (SELECT count(*) FROM changes c WHERE c.began) AS began, (SELECT count(*) FROM changes c WHERE NOT c.began) AS ended,
           ARRAY(SELECT p.lesson_id FROM page p ORDER BY p.at DESC, p.lesson_id DESC) AS ids,
           ARRAY(SELECT p.began FROM page p ORDER BY p.at DESC, p.lesson_id DESC) AS begins,
           ARRAY(SELECT p.revived FROM page p ORDER BY p.at DESC, p.lesson_id DESC) AS revives,
           ARRAY(SELECT p.lapsed FROM page p ORDER BY p.at DESC, p.lesson_id DESC) AS lapses,
           ARRAY(SELECT p.at FROM page p ORDER BY p.at DESC, p.lesson_id DESC) AS ats
    INTO found;
    RETURN json_build_object(
        'since', row_to_json(a), 'until', row_to_json(b), 'backwards', false,
        'began', found.began, 'ended', found.ended, 'more', cardinality(found.ids) > p_limit,
        'changes', (
            SELECT coalesce(json_agg(json_build_object(
                'began', p.began, 'revived', p.revived, 'lapsed', p.lapsed, 'at', p.at, 'lesson', row_to_json(n),
                'event', CASE WHEN p.lapsed IS NULL THEN (
                    SELECT e.document FROM events_v1(p_tribe) e
                    WHERE e.lesson_id = p.lesson_id
                      AND CASE WHEN p.revived THEN e.tick > a.tick AND e.tick <= b.tick
                               ELSE e.tick = CASE WHEN p.began THEN n.activated_tick ELSE n.deactivated_tick END END
                      AND (e.document ->> 'status' = 'active') = p.began
                    ORDER BY e.tick DESC, e.seq LIMIT 1) END,
                'replaced', ARRAY(SELECT o.lesson_id FROM lesson o
                                  WHERE p.began AND NOT p.revived AND o.tribe_id = p_tribe AND o.superseded_by = p.lesson_id
                                  ORDER BY o.lesson_id))
                ORDER BY p.at DESC, p.lesson_id DESC), '[]')
            FROM unnest(found.ids[1:p_limit], found.begins, found.revives, found.lapses, found.ats)
                AS p(lesson_id, began, revived, lapsed, at)
            JOIN lesson_rows_v1(p_tribe, found.ids[1:p_limit], b.tick) n ON n.lesson_id = p.lesson_id));
END
$$;
