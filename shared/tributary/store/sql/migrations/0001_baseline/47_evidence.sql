-- Evidence files. Their bytes are outside of the database, by tribe and hash; here is which of them there are.
--
--   announced ──► stored ──► released ──► forgotten        announced ──► forgotten
--
-- A released one is not handed out any more: an erasure took the last lesson that referred to it, or no lesson ever did. The gardener
-- removes its bytes and then forgets it. Written outside of the gate: no belief depends on it.
CREATE TABLE tributary.evidence_file (
    tribe_id       uuid NOT NULL,
    sha256         bytea NOT NULL CHECK (octet_length(sha256) = 32),
    bytes          integer NOT NULL CHECK (bytes BETWEEN 1 AND 10000000),
    content_type   text NOT NULL CHECK (octet_length(content_type) BETWEEN 3 AND 100),
    name           text CHECK (char_length(name) BETWEEN 1 AND 200),
    agent_id       uuid NOT NULL, -- who announced it first
    announced_at   timestamptz NOT NULL, -- the last time
    stored_at      timestamptz, -- when its bytes were known to be there
    released_at    timestamptz,
    PRIMARY KEY (tribe_id, sha256)
);

-- Which lessons refer to files at all: few, so small.
CREATE INDEX lesson_file ON tributary.lesson USING gin (evidence jsonb_path_ops) WHERE evidence @> '[{"type": "file"}]';
CREATE INDEX decision_file ON tributary.decision USING gin ((draft -> 'evidence') jsonb_path_ops)
    WHERE draft -> 'evidence' @> '[{"type": "file"}]';

CREATE FUNCTION tributary.is_referred_v1(p_tribe uuid, p_sha256 bytea) RETURNS boolean
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    WITH sought AS (SELECT jsonb_build_array(jsonb_build_object('type', 'file', 'ref', 'sha256:' || encode(p_sha256, 'hex'))) AS it)
    SELECT EXISTS (SELECT FROM lesson l, sought s
                   WHERE l.evidence @> '[{"type": "file"}]' AND l.evidence @> s.it AND l.tribe_id = p_tribe)
        OR EXISTS (SELECT FROM decision d, sought s
                   WHERE d.draft -> 'evidence' @> '[{"type": "file"}]' AND d.draft -> 'evidence' @> s.it AND d.tribe_id = p_tribe)
$$;

-- The files that some lessons refer to.
CREATE FUNCTION tributary.files_of_v1(p_tribe uuid, p_lessons uuid[]) RETURNS bytea[]
LANGUAGE sql STABLE SET search_path = tributary, pg_temp AS $$
    SELECT coalesce(array_agg(DISTINCT decode(substr(e.one ->> 'ref', 8), 'hex')), '{}')
    FROM lesson l, jsonb_array_elements(l.evidence) AS e(one)
    WHERE l.tribe_id = p_tribe AND l.lesson_id = ANY (p_lessons)
      AND e.one ->> 'type' = 'file' AND e.one ->> 'ref' ~ '^sha256:[0-9a-f]{64}$'
$$;

-- Those of the files that nothing refers to any more are handed out no longer.
CREATE FUNCTION tributary.release_files_v1(p_tribe uuid, p_files bytea[], p_at timestamptz) RETURNS void
LANGUAGE sql VOLATILE SET search_path = tributary, pg_temp AS $$
    UPDATE evidence_file f SET released_at = p_at
    WHERE f.tribe_id = p_tribe AND f.sha256 = ANY (p_files) AND f.released_at IS NULL AND NOT is_referred_v1(p_tribe, f.sha256)
$$;

-- Announces a file, and tells whether its bytes are there. TB410 when the tribe has no room for it; TB429 while it is being removed.
CREATE FUNCTION tributary.announce_file_v1(
    p_tribe uuid, p_agent uuid, p_sha256 bytea, p_bytes integer, p_content_type text, p_name text, p_most bigint, p_now timestamptz)
RETURNS json LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    known evidence_file;
    kept bigint;
BEGIN
    -- what is kept is added up by one at a time in a tribe
    PERFORM pg_advisory_xact_lock(hashtextextended('evidence:' || p_tribe, 0));
    -- a file that is announced again may wait for its lesson as long as one that is new, and no sweep takes it meanwhile
    UPDATE evidence_file f SET announced_at = greatest(f.announced_at, p_now)
    WHERE f.tribe_id = p_tribe AND f.sha256 = p_sha256 AND f.released_at IS NULL
    RETURNING * INTO known;
    IF FOUND AND known.bytes <> p_bytes THEN
        RAISE EXCEPTION 'the file of this hash has % bytes, not %', known.bytes, p_bytes USING ERRCODE = 'TB410';
    ELSIF NOT FOUND AND EXISTS (SELECT FROM evidence_file f WHERE f.tribe_id = p_tribe AND f.sha256 = p_sha256) THEN
        RAISE EXCEPTION 'the file is being removed; announce it again in a while' USING ERRCODE = 'TB429', DETAIL = '60';
    ELSIF NOT FOUND THEN
        SELECT coalesce(sum(f.bytes), 0) INTO kept FROM evidence_file f WHERE f.tribe_id = p_tribe;
        IF kept + p_bytes > p_most THEN
            RAISE EXCEPTION 'the tribe keeps % bytes of files; with this one it would be more than the % that it may', kept, p_most
                USING ERRCODE = 'TB410';
        END IF;
        INSERT INTO evidence_file (tribe_id, sha256, bytes, content_type, name, agent_id, announced_at)
        VALUES (p_tribe, p_sha256, p_bytes, p_content_type, p_name, p_agent, p_now)
        RETURNING * INTO known;
    END IF;
    RETURN json_build_object('bytes', known.bytes, 'content_type', known.content_type, 'name', known.name,
                             'stored', known.stored_at IS NOT NULL);
END
$$;

-- Notes that the bytes of a file are there.
CREATE FUNCTION tributary.store_file_v1(p_tribe uuid, p_sha256 bytea, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
BEGIN
    UPDATE evidence_file f SET stored_at = coalesce(f.stored_at, p_now)
    WHERE f.tribe_id = p_tribe AND f.sha256 = p_sha256 AND f.released_at IS NULL;
    RETURN FOUND;
END
$$;

-- A file of the tribe's that was announced and not released; NULL for any other.
CREATE FUNCTION tributary.file_v1(p_tribe uuid, p_sha256 bytea) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
    SELECT json_build_object('bytes', f.bytes, 'content_type', f.content_type, 'name', f.name, 'stored', f.stored_at IS NOT NULL)
    FROM evidence_file f WHERE f.tribe_id = p_tribe AND f.sha256 = p_sha256 AND f.released_at IS NULL
$$;

-- Gardener: releases what was last announced before an instant and nothing refers to, and gives the released ones, by hash in hexadecimal.
CREATE FUNCTION tributary.loose_files_v1(p_tribe uuid, p_before timestamptz, p_now timestamptz, p_limit integer, p_release boolean)
RETURNS text[] LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
DECLARE
    loose bytea[] := ARRAY(
        SELECT f.sha256 FROM evidence_file f
        WHERE f.tribe_id = p_tribe AND f.released_at IS NULL AND f.announced_at < p_before AND NOT is_referred_v1(p_tribe, f.sha256)
        ORDER BY f.sha256 LIMIT p_limit);
BEGIN
    IF p_release THEN
        -- looked at again under the row's lock: it may have been announced meanwhile
        UPDATE evidence_file f SET released_at = p_now
        WHERE f.tribe_id = p_tribe AND f.sha256 = ANY (loose) AND f.released_at IS NULL AND f.announced_at < p_before
          AND NOT is_referred_v1(p_tribe, f.sha256);
        loose := '{}';
    END IF;
    RETURN ARRAY(SELECT encode(f.sha256, 'hex') FROM evidence_file f
                 WHERE f.tribe_id = p_tribe AND (f.released_at IS NOT NULL OR f.sha256 = ANY (loose)) ORDER BY f.sha256 LIMIT p_limit);
END
$$;

-- Gardener: forgets a released file, whose bytes are gone.
CREATE FUNCTION tributary.forget_file_v1(p_tribe uuid, p_sha256 bytea) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$
BEGIN
    DELETE FROM evidence_file f WHERE f.tribe_id = p_tribe AND f.sha256 = p_sha256 AND f.released_at IS NOT NULL;
    RETURN FOUND;
END
$$;
