-- name: profile
-- What a process keeps of a tribe: the key of its content hashes, the space that it serves from and the one that it builds.
SELECT tributary.tribe_profile_v1(%(tribe_id)s)

-- name: references
-- The reference sentences of a space, and whether whoever asks may keep some where it has none.
SELECT tributary.space_references_v1(%(name)s),
    has_function_privilege('tributary.space_keep_references_v1(text, text[], text[])', 'EXECUTE')
    AND current_setting('transaction_read_only') = 'off'

-- name: keep_references
-- The reference sentences of a space; keeps those given where it has none.
SELECT tributary.space_keep_references_v1(%(name)s, %(sentences)s, %(vectors)s)

-- name: unembedded
-- Lessons without a vector in a space.
SELECT tributary.space_unembedded_v1(%(tribe_id)s, %(space_id)s, %(after)s, %(limit)s)

-- name: embed
-- Gives lessons their vectors in a space.
SELECT tributary.space_embed_v1(%(tribe_id)s, %(space_id)s, %(lessons)s, %(vectors)s)

-- name: check
-- How many lessons need a vector in a space still.
SELECT tributary.space_check_v1(%(tribe_id)s, %(space_id)s)

-- name: ensure
-- Operator: the space of this name, made when it is new.
SELECT tributary.space_ensure_v1(%(name)s, %(model)s, %(pooling)s, %(windowing)s, %(quantisation)s, %(dimension)s)

-- name: serve_from
-- Operator: a tribe's first space serves at once.
INSERT INTO tributary.tribe_space (tribe_id, space_id, state) VALUES (%(tribe_id)s, %(space_id)s, 'serving') ON CONFLICT DO NOTHING

-- name: begin
-- Operator: a tribe begins to build a space; the state in which it has it by then.
SELECT tributary.space_begin_v1(
    %(tribe_id)s, %(name)s, %(model)s, %(pooling)s, %(windowing)s, %(quantisation)s, %(dimension)s)

-- name: list
-- Operator: the spaces of a tribe.
SELECT space_id, name, dimension, state, vectors, missing, indexed FROM tributary.spaces_v1(%(tribe_id)s)

-- name: switch
-- Operator: the tribe serves from another of its spaces, from the tick on that this gives.
SELECT tributary.space_switch_v1(%(tribe_id)s, %(space_id)s, %(exact_limit)s, %(exact)s)

-- name: dropping
-- Operator: a space of the tribe's is about to be removed.
SELECT tributary.space_dropping_v1(%(tribe_id)s, %(space_id)s)

-- name: clear
-- Operator: removes a batch of the vectors of a space that is being dropped.
SELECT tributary.space_clear_v1(%(tribe_id)s, %(space_id)s, %(limit)s)

-- name: end
-- Operator: takes a space that is being dropped from the tribe; whether no other tribe had it.
SELECT tributary.space_end_v1(%(tribe_id)s, %(space_id)s)

-- name: index_state
-- Operator: in a space (NULL: where the tribe serves from), for believed lessons and for those that were believed once: how many vectors there are, the name of
-- their own index, and whether that is there and valid (NULL when absent).
SELECT s.space_id, s.dimension, x.past, CASE WHEN x.past THEN ts.past ELSE ts.vectors END AS vectors,
    tributary.index_name_v1(ts.tribe_id, ts.space_id, x.past) AS name, (
    SELECT i.indisvalid FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
    WHERE c.relname = tributary.index_name_v1(ts.tribe_id, ts.space_id, x.past) AND c.relnamespace = 'tributary'::regnamespace) AS valid
FROM tributary.tribe_space ts JOIN tributary.space s USING (space_id), (VALUES (false), (true)) AS x(past)
WHERE ts.tribe_id = %(tribe_id)s AND (ts.space_id = %(space_id)s::integer OR %(space_id)s::integer IS NULL AND ts.state = 'serving')
ORDER BY x.past

-- name: outgrown
-- Operator: tribes that have outgrown exact search where they serve from, and lack a valid index over what is believed, or over
-- what was believed once; the smallest first, so that one that takes long keeps no other waiting for ever.
SELECT t.name
FROM tributary.tribe_space ts JOIN tributary.tribe t USING (tribe_id)
WHERE ts.state = 'serving' AND ts.vectors > %(exact_limit)s AND EXISTS (
    SELECT FROM (VALUES (false), (true)) AS x(past)
    WHERE (NOT x.past OR ts.past > %(past_limit)s) AND NOT EXISTS (
        SELECT FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
        WHERE c.relname = tributary.index_name_v1(ts.tribe_id, ts.space_id, x.past)
            AND c.relnamespace = 'tributary'::regnamespace AND i.indisvalid))
ORDER BY ts.vectors, t.name

-- name: index_vectors
-- Operator: makes a batch of a tribe's vectors ready for its index.
SELECT tributary.index_vectors_v1(%(tribe_id)s, %(space_id)s, %(past)s, %(limit)s)

-- name: index_fresh
-- Puts vectors that were learned since into the tribe's index, when it has one that is valid.
SELECT tributary.index_fresh_v1(%(tribe_id)s, %(limit)s)
