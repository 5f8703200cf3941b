-- The sides of a search, shared by recall and by learn's candidates. Distances are cosine distances, 0..2.

-- The name of a tribe's own HNSW index in a space, for believed lessons.
CREATE FUNCTION tributary.index_name_v1(p_tribe uuid, p_space integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT format('lesson_vector_hnsw_%s_%s', replace(p_tribe::text, '-', ''), p_space)
$$;

CREATE FUNCTION tributary.has_index_v1(p_tribe uuid, p_space integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
                   WHERE c.relname = tributary.index_name_v1(p_tribe, p_space)
                     AND c.relnamespace = 'tributary'::pg_catalog.regnamespace AND i.indisvalid)
$$;

-- How vectors of believed lessons are to be searched: 'vector:exact' up to p_exact_limit of them, else by the tribe's own index
-- once it is there and valid. Until then exact, however many: slower, but complete.
CREATE FUNCTION tributary.vector_path_v1(p_tribe uuid, p_space integer, p_exact_limit bigint) RETURNS text
LANGUAGE sql STABLE SET search_path = tributary, pg_catalog, pg_temp AS $$
    SELECT CASE WHEN s.vectors > p_exact_limit AND has_index_v1(p_tribe, p_space) THEN 'vector:hnsw' ELSE 'vector:exact' END
    FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space AND s.state = 'serving'
$$;

-- The nearest believed lessons, nearest first, with how many vectors were really compared (all of them on the exact path).
-- Beside the index, the vectors that it does not hold yet are compared one by one: to extend the graph takes milliseconds, which
-- no learner should spend under the gate.
-- The path's query is built with its tribe as a literal: only so can the planner prove that the tribe's partial index
-- serves it, and no generic plan is ever kept.
CREATE FUNCTION tributary.nearest_v1(
    p_tribe uuid, p_space integer, p_vector public.halfvec, p_limit integer, p_path text,
    OUT lesson_ids uuid[], OUT distances double precision[], OUT compared bigint)
LANGUAGE plpgsql STABLE
SET search_path = tributary, public, pg_temp
SET hnsw.ef_search = 40
SET hnsw.iterative_scan = strict_order
SET enable_seqscan = off -- what is not indexed yet is little, but the planner takes it for the table's share of it
AS $$
BEGIN
    IF p_path = 'vector:hnsw' THEN
        -- somewhat above the limit, until the function's end: a scan that runs out of candidates begins again
        PERFORM set_config('hnsw.ef_search', least(1000, greatest(40, p_limit * 5 / 4))::text, true);
        EXECUTE format(
            'WITH graph AS MATERIALIZED (
                 SELECT lesson_id, embedding::halfvec(%1$s) <=> $1::halfvec(%1$s) AS distance FROM lesson_vector
                 WHERE tribe_id = %2$L AND space_id = %3$s AND believed AND indexed
                 ORDER BY embedding::halfvec(%1$s) <=> $1::halfvec(%1$s) LIMIT $2
             ), fresh AS MATERIALIZED (
                 SELECT lesson_id, embedding <=> $1 AS distance FROM lesson_vector
                 WHERE tribe_id = %2$L AND space_id = %3$s AND believed AND NOT indexed)
             SELECT array_agg(n.lesson_id ORDER BY n.distance), array_agg(n.distance ORDER BY n.distance),
                    (SELECT count(*) FROM graph) + (SELECT count(*) FROM fresh)
             FROM (SELECT * FROM graph UNION ALL SELECT * FROM fresh ORDER BY distance, lesson_id LIMIT $2) n',
            vector_dims(p_vector), p_tribe, p_space)
        INTO lesson_ids, distances, compared USING p_vector, p_limit;
    ELSE
        EXECUTE format(
            'WITH scope AS MATERIALIZED (
                 SELECT lesson_id, embedding <=> $1 AS distance FROM lesson_vector
                 WHERE tribe_id = %1$L AND space_id = %2$s AND believed)
             SELECT array_agg(n.lesson_id ORDER BY n.distance), array_agg(n.distance ORDER BY n.distance),
                    (SELECT count(*) FROM scope)
             FROM (SELECT lesson_id, distance FROM scope ORDER BY distance, lesson_id LIMIT $2) n',
            p_tribe, p_space)
        INTO lesson_ids, distances, compared USING p_vector, p_limit;
    END IF;
    lesson_ids := coalesce(lesson_ids, '{}');
    distances := coalesce(distances, '{}');
END
$$;

-- The lessons that the tribe had learned by a tick and that hold each term, no more than p_cap + 1 of them, and the term's weight
-- ln(1 + N / (1 + holders)), N being the lessons learned by then. Folded into its caller's plan, so without a SET clause.
CREATE FUNCTION tributary.term_holders_v1(p_tribe uuid, p_terms text[], p_cap integer, p_tick bigint, p_present boolean)
RETURNS TABLE (term text, lesson_ids uuid[], holders integer, weight double precision)
LANGUAGE sql STABLE AS $$
    SELECT t.term, h.lesson_ids, cardinality(h.lesson_ids), ln(1 + n.lessons / (1 + cardinality(h.lesson_ids)))
    FROM unnest(p_terms) AS t(term),
         (SELECT 1 + CASE WHEN p_present
              THEN (SELECT coalesce(sum(c.lessons), 0) FROM tributary.tribe_count c WHERE c.tribe_id = p_tribe)
              ELSE (SELECT count(*) FROM tributary.lesson l WHERE l.tribe_id = p_tribe AND l.learned_tick <= p_tick)
              END::double precision AS lessons) n,
         LATERAL (SELECT CASE WHEN p_present
              THEN ARRAY(SELECT x.lesson_id FROM tributary.lesson_term x WHERE x.tribe_id = p_tribe AND x.term = t.term
                         LIMIT p_cap + 1)
              ELSE ARRAY(SELECT x.lesson_id FROM tributary.lesson_term x JOIN tributary.lesson l USING (tribe_id, lesson_id)
                         WHERE x.tribe_id = p_tribe AND x.term = t.term AND l.learned_tick <= p_tick
                         LIMIT p_cap + 1) END AS lesson_ids
              OFFSET 0) h -- keeps the planner from reading the holders anew for each use of them
$$;

-- Puts up to p_limit believed vectors that are not in the tribe's index there; tells how many. The index is that of a space, or of the one
-- that the tribe serves from. Outside of the gate: the order of beliefs
-- does not depend on it. A vector that a commit is just changing is left for the next time.
CREATE FUNCTION tributary.index_vectors_v1(p_tribe uuid, p_limit integer, p_space integer DEFAULT NULL) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
    WITH fresh AS (
        SELECT v.tribe_id, v.space_id, v.lesson_id FROM lesson_vector v
        JOIN tribe_space s ON s.tribe_id = v.tribe_id AND s.space_id = v.space_id
             AND (s.space_id = p_space OR p_space IS NULL AND s.state = 'serving')
        WHERE v.tribe_id = p_tribe AND v.believed AND NOT v.indexed
        LIMIT p_limit FOR NO KEY UPDATE OF v SKIP LOCKED
    ), done AS (
        UPDATE lesson_vector v SET indexed = true FROM fresh f
        WHERE v.tribe_id = f.tribe_id AND v.space_id = f.space_id AND v.lesson_id = f.lesson_id RETURNING 1)
    SELECT count(*) FROM done
$$;

-- The same where the tribe has an index that is valid; else nothing is to be done.
CREATE FUNCTION tributary.index_fresh_v1(p_tribe uuid, p_limit integer) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.state = 'serving'
                             AND has_index_v1(p_tribe, s.space_id))
           THEN index_vectors_v1(p_tribe, p_limit) ELSE 0 END
$$;
