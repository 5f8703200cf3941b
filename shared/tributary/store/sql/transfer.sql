-- name: session
-- Operator: has the server write times, numbers and bytes the same way whatever the database is set to, until the transaction ends.
SELECT set_config('TimeZone', 'UTC', true), set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true),
       set_config('DateStyle', 'ISO', true)

-- name: tables
-- Operator: the tables of tribes with their columns that are stored, in order, and which of them make up the key.
SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns,
       array_agg(y.typname::text ORDER BY a.attnum) AS types,
       array_agg(coalesce(array_position(i.indkey::smallint[], a.attnum), -1) ORDER BY a.attnum) AS places
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
JOIN pg_type y ON y.oid = a.atttypid
JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
WHERE c.relnamespace = 'tributary'::regnamespace AND c.relkind IN ('r', 'p')
    AND EXISTS (SELECT FROM pg_attribute t WHERE t.attrelid = c.oid AND t.attname = 'tribe_id' AND NOT t.attisdropped)
GROUP BY c.relname

-- name: tribe
-- Operator: the tribe to export, as the transaction's snapshot has it.
SELECT tribe_id, name, clock FROM tributary.tribe WHERE name = %(name)s

-- name: spaces
-- Operator: the spaces of a tribe by name, each with what it is and its reference sentences.
SELECT s.space_id, s.name, row_to_json(r)::text AS row
FROM tributary.tribe_space ts JOIN tributary.space s USING (space_id)
CROSS JOIN LATERAL (
    SELECT s.name, s.model, s.pooling, s.windowing, s.quantisation, s.dimension,
           (SELECT coalesce(json_object_agg(f.sentence, f.embedding::text ORDER BY f.sentence COLLATE "C"), '{}')
            FROM tributary.space_reference f WHERE f.space_id = s.space_id) AS "references") r
WHERE ts.tribe_id = %(tribe_id)s ORDER BY s.name COLLATE "C"

-- name: taken
-- Operator: the tribe, if any, that stands in the way of a restored one.
SELECT tribe_id, name FROM tributary.tribe WHERE tribe_id = %(tribe_id)s OR name = %(name)s

-- name: space
-- Operator: the number of the space of a name, and whether it is what a definition says; it is not forgotten meanwhile.
SELECT s.space_id, to_jsonb(s) @> %(definition)s::jsonb FROM tributary.space s WHERE s.name = %(name)s FOR KEY SHARE

-- name: clock
-- Operator: a tribe's clock, how many ticks have either something that happened at them or were lost, and the latest of the former.
SELECT t.clock, (SELECT coalesce(sum(upper(r) - lower(r)), 0)::bigint FROM unnest(t.lost) r)
           + count(e.tick) FILTER (WHERE NOT t.lost @> e.tick) - count(e.tick) FILTER (WHERE t.lost @> e.tick) AS ticks,
       coalesce(max(e.tick), 0) AS latest
FROM tributary.tribe t LEFT JOIN (
    SELECT l.tick FROM tributary.lesson_event l WHERE l.tribe_id = %(tribe_id)s
    UNION SELECT v.tick FROM tributary.tribe_event v WHERE v.tribe_id = %(tribe_id)s) e ON true
WHERE t.tribe_id = %(tribe_id)s GROUP BY t.clock, t.lost

-- name: files
-- Operator: the evidence files whose bytes a tribe was given and has not released.
SELECT encode(f.sha256, 'hex'), f.bytes, f.content_type, f.name FROM tributary.evidence_file f
WHERE f.tribe_id = %(tribe_id)s AND f.stored_at IS NOT NULL AND f.released_at IS NULL ORDER BY f.sha256
