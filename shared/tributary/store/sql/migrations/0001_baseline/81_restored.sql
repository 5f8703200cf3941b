-- A database that was restored from a backup is a step back in time: agents hold ticks, receipts and leases of what came after it, and
-- which is lost. Nothing in the backup says so, and the same ticks would be given out a second time.

-- Operator: has a tribe go on from a tick that nobody was given before. The p_ticks after the clock's are lost, and one more, which nobody
-- was given either, so that one may ask what came after it (changes_v1); who asks for another is told that it was lost. An action that was under way may have ended since, so it is in doubt; a session may have been ended, so it is.
-- Safe to repeat, which loses as many ticks again.
CREATE FUNCTION tributary.after_restore_v1(
    p_tribe uuid, p_ticks bigint, OUT before bigint, OUT tick bigint, OUT in_doubt bigint, OUT sessions bigint)
LANGUAGE plpgsql VOLATILE SET search_path = tributary, pg_temp AS $$
DECLARE
    opened tribe := gate_v1(p_tribe);
    now record;
BEGIN
    before := opened.clock;
    UPDATE tribe t SET clock = t.clock + p_ticks + 1, lost = t.lost + int8multirange(int8range(t.clock + 1, t.clock + p_ticks + 2))
    WHERE t.tribe_id = p_tribe;
    SELECT a.tick, a.at INTO now FROM advance_v1(p_tribe) a;
    tick := now.tick;
    INSERT INTO tribe_event (tribe_id, tick, event, details, at)
    VALUES (p_tribe, now.tick, 'restored', jsonb_build_object('lost', p_ticks), now.at);
    UPDATE action a SET state = 'in_doubt', doubt = 'restored' WHERE a.tribe_id = p_tribe AND a.state = 'begun';
    GET DIAGNOSTICS in_doubt = ROW_COUNT;
    DELETE FROM session s WHERE s.tribe_id = p_tribe;
    GET DIAGNOSTICS sessions = ROW_COUNT;
END
$$;
