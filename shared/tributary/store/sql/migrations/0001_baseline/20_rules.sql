-- Rules and counters that hold whoever writes, the owner included.

-- A belief is immutable in its text, activated at most once, and its interval once closed stays closed.
CREATE FUNCTION tributary.lesson_is_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status = 'erased' AND OLD.status <> 'erased' THEN
        IF (NEW.tribe_id, NEW.lesson_id, NEW.content_hash) IS DISTINCT FROM (OLD.tribe_id, OLD.lesson_id, OLD.content_hash) THEN
            RAISE EXCEPTION 'a tombstone keeps its identity' USING ERRCODE = 'TB500';
        END IF;
    ELSIF (NEW.tribe_id, NEW.lesson_id, NEW.agent_id, NEW.kind, NEW.text, NEW.situation, NEW.subject, NEW.subject_key, NEW.tags,
           NEW.source_how, NEW.source_ref, NEW.evidence, NEW.rationale, NEW.confidence, NEW.valid_from, NEW.valid_until,
           NEW.keep_until, NEW.content_hash, NEW.learned_tick, NEW.learned_at)
          IS DISTINCT FROM
          (OLD.tribe_id, OLD.lesson_id, OLD.agent_id, OLD.kind, OLD.text, OLD.situation, OLD.subject, OLD.subject_key, OLD.tags,
           OLD.source_how, OLD.source_ref, OLD.evidence, OLD.rationale, OLD.confidence, OLD.valid_from, OLD.valid_until,
           OLD.keep_until, OLD.content_hash, OLD.learned_tick, OLD.learned_at) THEN
        RAISE EXCEPTION 'what a lesson says never changes; only its standing does' USING ERRCODE = 'TB500';
    END IF;
    IF OLD.activated_tick IS NOT NULL AND NEW.activated_tick IS DISTINCT FROM OLD.activated_tick
       OR OLD.deactivated_tick IS NOT NULL AND NEW.deactivated_tick IS DISTINCT FROM OLD.deactivated_tick
       OR OLD.superseded_by IS NOT NULL AND NEW.superseded_by IS DISTINCT FROM OLD.superseded_by THEN
        RAISE EXCEPTION 'a lesson is activated once, deactivated once and has one successor' USING ERRCODE = 'TB500';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER lesson_is_immutable BEFORE UPDATE ON tributary.lesson
    FOR EACH ROW EXECUTE FUNCTION tributary.lesson_is_immutable();

-- Counters by status, so that receipts and the choice of the search path need no scan. Changes come through the gate, one at a
-- time in a tribe.
CREATE FUNCTION tributary.count_lesson() RETURNS trigger LANGUAGE plpgsql
SET search_path = tributary, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.status = NEW.status THEN
        RETURN NULL;
    END IF;
    UPDATE tribe_count SET lessons = lessons - 1, past = past - (OLD.deactivated_tick IS NOT NULL)::integer
    WHERE tribe_id = OLD.tribe_id AND status = OLD.status;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO tribe_count AS c (tribe_id, status, lessons, past)
        VALUES (NEW.tribe_id, NEW.status, 1, (NEW.deactivated_tick IS NOT NULL)::integer)
        ON CONFLICT (tribe_id, status) DO UPDATE SET lessons = c.lessons + 1, past = c.past + excluded.past;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_lesson AFTER DELETE OR UPDATE OF status ON tributary.lesson
    FOR EACH ROW EXECUTE FUNCTION tributary.count_lesson();

-- New ones once a statement: a restored tribe brings a million in one transaction, in which each update of a counter leaves a row
-- that the next one has to pass.
CREATE FUNCTION tributary.count_new_lessons() RETURNS trigger LANGUAGE plpgsql
SET search_path = tributary, pg_temp AS $$
BEGIN
    INSERT INTO tribe_count AS c (tribe_id, status, lessons, past)
    SELECT n.tribe_id, n.status, count(*), count(n.deactivated_tick) FROM made n GROUP BY n.tribe_id, n.status ORDER BY 1, 2
    ON CONFLICT (tribe_id, status) DO UPDATE SET lessons = c.lessons + excluded.lessons, past = c.past + excluded.past;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_new_lessons AFTER INSERT ON tributary.lesson
    REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION tributary.count_new_lessons();

CREATE FUNCTION tributary.count_vector() RETURNS trigger LANGUAGE plpgsql
SET search_path = tributary, pg_temp AS $$
DECLARE
    change integer := -OLD.believed::integer;
    past_change integer := 0;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        change := change + NEW.believed::integer;
        past_change := (OLD.believed AND NOT NEW.believed)::integer;
    ELSIF NOT OLD.believed AND EXISTS (
        SELECT FROM lesson l
        WHERE l.tribe_id = OLD.tribe_id AND l.lesson_id = OLD.lesson_id AND l.deactivated_tick IS NOT NULL) THEN
        past_change := -1;
    END IF;
    IF change <> 0 OR past_change <> 0 THEN
        UPDATE tribe_space SET vectors = vectors + change, past = past + past_change
        WHERE tribe_id = OLD.tribe_id AND space_id = OLD.space_id;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_vector AFTER DELETE OR UPDATE OF believed ON tributary.lesson_vector
    FOR EACH ROW EXECUTE FUNCTION tributary.count_vector();

CREATE FUNCTION tributary.count_new_vectors() RETURNS trigger LANGUAGE plpgsql
SET search_path = tributary, pg_temp AS $$
BEGIN
    UPDATE tribe_space s SET vectors = s.vectors + n.believed, past = s.past + n.past
    FROM (SELECT m.tribe_id, m.space_id, count(*) FILTER (WHERE m.believed) AS believed, count(l.deactivated_tick) AS past
          FROM made m LEFT JOIN lesson l ON l.tribe_id = m.tribe_id AND l.lesson_id = m.lesson_id AND NOT m.believed
          GROUP BY m.tribe_id, m.space_id) n
    WHERE s.tribe_id = n.tribe_id AND s.space_id = n.space_id AND n.believed + n.past > 0;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_new_vectors AFTER INSERT ON tributary.lesson_vector
    REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION tributary.count_new_vectors();

-- What begins or ceases to be believed belongs into another index, and waits beside it: the gate is no place to extend a graph.
CREATE FUNCTION tributary.vector_changes_its_index() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.indexed := false;
    RETURN NEW;
END
$$;
CREATE TRIGGER vector_changes_its_index BEFORE UPDATE OF believed ON tributary.lesson_vector
    FOR EACH ROW WHEN (OLD.believed <> NEW.believed) EXECUTE FUNCTION tributary.vector_changes_its_index();

CREATE FUNCTION tributary.vector_has_the_width_of_its_space() RETURNS trigger LANGUAGE plpgsql
SET search_path = tributary, public, pg_temp AS $$
DECLARE
    width integer := (SELECT dimension FROM space WHERE space_id = NEW.space_id);
BEGIN
    IF vector_dims(NEW.embedding) <> width THEN
        RAISE EXCEPTION 'a vector of % dimensions was given for a space of %', vector_dims(NEW.embedding), width
            USING ERRCODE = 'TB500';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER vector_has_the_width_of_its_space BEFORE INSERT OR UPDATE OF embedding ON tributary.lesson_vector
    FOR EACH ROW EXECUTE FUNCTION tributary.vector_has_the_width_of_its_space();
