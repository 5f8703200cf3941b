-- What another road to the database may read, to hold against what the API says (docs/verification.md). Ids, ticks, statuses and hashes:
-- no text, no name, no secret. A lesson's standing is there as its events tell it, which is not where the API reads it from.

-- Each tribe's clock, and whether it is a replica that answers, which may lag behind.
CREATE VIEW tributary.verification_tribe AS
    SELECT t.tribe_id, t.clock, pg_catalog.pg_is_in_recovery() AS replica FROM tributary.tribe t;

-- Every tick at which something was written down, once or more often.
CREATE VIEW tributary.verification_tick AS
    SELECT e.tribe_id, e.tick FROM tributary.lesson_event e
    UNION ALL
    SELECT e.tribe_id, e.tick FROM tributary.tribe_event e;

-- What happened to each lesson; `status` is what it was afterwards.
CREATE VIEW tributary.verification_event AS
    SELECT e.tribe_id, e.lesson_id, e.tick, e.seq, e.status FROM tributary.lesson_event e;

-- What each lesson says, as a hash (NULL once it is erased), and what replaced it.
CREATE VIEW tributary.verification_lesson AS
    SELECT l.tribe_id, l.lesson_id, l.superseded_by,
           encode(pg_catalog.sha256(convert_to(l.text, 'UTF8')), 'hex') AS text_sha256
    FROM tributary.lesson l;
