-- name: profile
-- What a process keeps of a tribe: the key of its content hashes and the space that it serves from.
SELECT tributary.tribe_profile_v1(%(tribe_id)s)

-- name: ensure
-- Operator: the space of this name, made when it is new.
INSERT INTO tributary.space (name, model, pooling, windowing, quantisation, dimension)
VALUES (%(name)s, %(model)s, %(pooling)s, %(windowing)s, %(quantisation)s, %(dimension)s) ON CONFLICT (name) DO NOTHING

-- name: serve_from
-- Operator: a tribe's first space serves at once.
INSERT INTO tributary.tribe_space (tribe_id, space_id, state)
SELECT %(tribe_id)s, s.space_id, 'serving' FROM tributary.space s WHERE s.name = %(name)s ON CONFLICT DO NOTHING

-- name: index_state
-- Operator: where a tribe serves from, for believed lessons and for those that were believed once: how many vectors there are, the name of
-- their own index, and whether that is there and valid (NULL when absent).
SELECT s.space_id, s.dimension, x.past, CASE WHEN x.past THEN ts.past ELSE ts.vectors END AS vectors,
    tributary.index_name_v1(ts.tribe_id, ts.space_id, x.past) AS name, (
    SELECT i.indisvalid FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
    WHERE c.relname = tributary.index_name_v1(ts.tribe_id, ts.space_id, x.past) AND c.relnamespace = 'tributary'::regnamespace) AS valid
FROM tributary.tribe_space ts JOIN tributary.space s USING (space_id), (VALUES (false), (true)) AS x(past)
WHERE ts.tribe_id = %(tribe_id)s AND ts.state = 'serving' ORDER BY x.past

-- name: index_vectors
-- Operator: makes a batch of a tribe's vectors ready for its index.
SELECT tributary.index_vectors_v1(%(tribe_id)s, %(space_id)s, %(past)s, %(limit)s)

-- name: index_fresh
-- Puts vectors that were learned since into the tribe's index, when it has one that is valid.
SELECT tributary.index_fresh_v1(%(tribe_id)s, %(limit)s)
