-- How often the incident agent is asked, and what that costs. Written outside of the gate; holds nothing of what was said.
--
--   responder_pace   how far ahead of its pace an agent is
--   responder_day    a tribe's turns of a day, and what they cost; a turn under way counts with all that it may cost
--   responder_turn   turns under way; one whose process was killed stays until the next day, and counts in full
--
-- Lock order: responder_turn, responder_pace, responder_day.
CREATE TABLE tributary.responder_pace (
    tribe_id     uuid NOT NULL,
    agent_id     uuid NOT NULL,
    spent_until  timestamptz NOT NULL,
    PRIMARY KEY (tribe_id, agent_id)
) WITH (fillfactor = 50);

CREATE TABLE tributary.responder_day (
    tribe_id  uuid NOT NULL,
    day       date NOT NULL, -- of UTC
    turns     bigint NOT NULL,
    usd       numeric NOT NULL,
    PRIMARY KEY (tribe_id, day)
) WITH (fillfactor = 50);

CREATE TABLE tributary.responder_turn (
    tribe_id  uuid NOT NULL,
    turn_id   uuid NOT NULL,
    day       date NOT NULL,
    aside     numeric NOT NULL, -- US dollars
    PRIMARY KEY (tribe_id, turn_id)
);

-- Lets one turn in, and sets aside what it may cost. TB429, with the seconds to wait as its DETAIL, when the agent is ahead of its pace,
-- or the tribe's day is full or may become too dear; nothing is counted then. The rows that count are locked by counting, so that however
-- many come at once no more get in. Counts a turn once, however often its call is sent.
CREATE FUNCTION tributary.responder_begin_v1(
    p_tribe uuid, p_agent uuid, p_turn uuid, p_per_minute integer, p_per_day bigint, p_aside numeric, p_usd_per_day numeric,
    p_now timestamptz)
RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    now timestamptz := coalesce(p_now, clock_timestamp());
    today date := (now AT TIME ZONE 'UTC')::date;
    tomorrow text := ceil(extract(epoch FROM (today + 1)::timestamp AT TIME ZONE 'UTC' - now))::text;
    spent timestamptz;
    counted responder_day;
BEGIN
    INSERT INTO responder_turn (tribe_id, turn_id, day, aside) VALUES (p_tribe, p_turn, today, p_aside) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO responder_pace AS c (tribe_id, agent_id, spent_until) VALUES (p_tribe, p_agent, now + interval '1 minute' / p_per_minute)
    ON CONFLICT (tribe_id, agent_id) DO UPDATE
        SET spent_until = paced_from_v1(c.spent_until, now) + interval '1 minute' / p_per_minute
    RETURNING spent_until INTO spent;
    IF spent > now + interval '1 minute' THEN
        RAISE EXCEPTION 'this agent may ask the incident agent % times a minute', p_per_minute USING ERRCODE = 'TB429',
            DETAIL = ceil(extract(epoch FROM spent - now - interval '1 minute'))::text;
    END IF;
    INSERT INTO responder_day AS d (tribe_id, day, turns, usd) VALUES (p_tribe, today, 1, p_aside)
    ON CONFLICT (tribe_id, day) DO UPDATE SET turns = d.turns + 1, usd = d.usd + p_aside
    RETURNING * INTO counted;
    IF counted.turns > p_per_day THEN
        RAISE EXCEPTION 'this tribe may ask the incident agent % times a day', p_per_day USING ERRCODE = 'TB429', DETAIL = tomorrow;
    END IF;
    IF counted.usd > p_usd_per_day THEN
        RAISE EXCEPTION 'the incident agent may cost this tribe % US dollars a day', p_usd_per_day
            USING ERRCODE = 'TB429', DETAIL = tomorrow;
    END IF;
    DELETE FROM responder_turn WHERE tribe_id = p_tribe AND day < today; -- of processes that were killed
END
$$;

-- Puts what a turn did cost in the place of what was set aside for it. Once, however often its call is sent.
CREATE FUNCTION tributary.responder_end_v1(p_tribe uuid, p_turn uuid, p_usd numeric) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    WITH ended AS (DELETE FROM responder_turn WHERE tribe_id = p_tribe AND turn_id = p_turn RETURNING day, aside)
    UPDATE responder_day d SET usd = d.usd - e.aside + p_usd FROM ended e WHERE d.tribe_id = p_tribe AND d.day = e.day
$$;
