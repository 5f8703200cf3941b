-- The sides of a search, shared by recall and by learn's candidates. Distances are cosine distances, 0..2. Those without a search path
-- of their own are called by functions that have set it, since to set it at each level takes longer than the work.

-- The name of a tribe's own HNSW index in a space: over believed lessons, or over those that were believed once.
CREATE FUNCTION tributary.index_name_v1(p_tribe uuid, p_space integer, p_past boolean DEFAULT false) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT format('lesson_vector_%s_%s_%s', CASE WHEN p_past THEN 'past' ELSE 'hnsw' END, replace(p_tribe::text, '-', ''), p_space)
$$;

CREATE FUNCTION tributary.has_index_v1(p_tribe uuid, p_space integer, p_past boolean DEFAULT false) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
                   WHERE c.relname = tributary.index_name_v1(p_tribe, p_space, p_past)
                     AND c.relnamespace = 'tributary'::pg_catalog.regnamespace AND i.indisvalid)
$$;

-- How vectors of believed lessons are to be searched: 'vector:exact' up to p_exact_limit of them, else by the tribe's own index
-- once it is there and valid. Until then exact, however many: slower, but complete.
CREATE FUNCTION tributary.vector_path_v1(p_tribe uuid, p_space integer, p_exact_limit bigint) RETURNS text
LANGUAGE sql STABLE SET search_path = tributary, pg_catalog, pg_temp AS $$
    SELECT CASE WHEN s.vectors > p_exact_limit AND has_index_v1(p_tribe, p_space) THEN 'vector:hnsw' ELSE 'vector:exact' END
    FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space AND s.state = 'serving'
$$;

-- What a search is about: lessons that were believed at a tick, and that filters let in. Filters are NULL ('{}' for tags) when absent.
CREATE TYPE tributary.scope AS (
    tick bigint, present boolean, filtered boolean, kinds text[], hows text[], agent_id uuid, subject_key text, tags jsonb);

-- The scope that filters make, but for its moment. The agent is NULL when the tribe has none of that name, or of that id.
CREATE FUNCTION tributary.scope_v1(p_tribe uuid, p_filters jsonb) RETURNS tributary.scope
LANGUAGE sql STABLE AS $$
    SELECT ROW(NULL, NULL,
               f.kinds IS NOT NULL OR f.hows IS NOT NULL OR f.agent IS NOT NULL OR f.agent_id IS NOT NULL OR f.subject_key IS NOT NULL
                   OR f.tags <> '{}',
               f.kinds, f.hows,
               (SELECT a.agent_id FROM tributary.agent a WHERE a.tribe_id = p_tribe AND (a.name = f.agent OR a.agent_id = f.agent_id)),
               f.subject_key, f.tags)::tributary.scope
    FROM jsonb_to_record(p_filters) AS f(kinds text[], hows text[], agent text, agent_id uuid, subject_key text, tags jsonb)
$$;

-- Whether filters let a lesson in. Folded into its caller's plan, so without a SET clause.
CREATE FUNCTION tributary.in_filters_v1(l tributary.lesson, s tributary.scope) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT (s.kinds IS NULL OR l.kind = ANY (s.kinds))
       AND (s.hows IS NULL OR l.source_how = ANY (s.hows))
       AND (s.agent_id IS NULL OR l.agent_id = s.agent_id)
       AND (s.subject_key IS NULL OR l.subject_key = s.subject_key)
       AND l.tags OPERATOR(pg_catalog.@>) s.tags
$$;

-- Whether a lesson is in scope. Folded into its caller's plan, so without a SET clause.
CREATE FUNCTION tributary.in_scope_v1(l tributary.lesson, s tributary.scope) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN s.present THEN l.believed ELSE
               l.activated_tick <= s.tick AND (l.deactivated_tick IS NULL OR l.deactivated_tick > s.tick)
               AND l.status <> 'erased'
               AND l.rejected_as IS DISTINCT FROM 'injection' END -- what was believed once, but hijacks whoever reads it
       AND (NOT s.filtered OR tributary.in_filters_v1(l, s))
$$;

-- What a lesson can be filtered by, besides its subject, as numbers in lesson_facet: the same number may stand for two of them, so what is
-- found by it is looked at again.
CREATE FUNCTION tributary.facet_v1(p_name text, p_value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT pg_catalog.hashtextextended(p_name || E'\x1f' || p_value, 0) $$;

CREATE FUNCTION tributary.tag_facets_v1(p_tags jsonb) RETURNS bigint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(tributary.facet_v1('tag', t.key || E'\x1f' || t.value)), '{}') FROM jsonb_each_text(p_tags) t
$$;

CREATE FUNCTION tributary.facets_v1(l tributary.lesson) RETURNS bigint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ARRAY[tributary.facet_v1('kind', l.kind), tributary.facet_v1('how', l.source_how),
                 tributary.facet_v1('agent', l.agent_id::text)] || tributary.tag_facets_v1(l.tags)
$$;

-- The lessons among which all of a filtered scope is to be found, when one of its filters alone narrows it to no more than p_most; else
-- NULL. Each count ends where it is more than the least so far.
CREATE FUNCTION tributary.narrowed_v1(p_tribe uuid, p_scope tributary.scope, p_most bigint) RETURNS uuid[]
LANGUAGE plpgsql STABLE SET search_path = tributary, pg_temp AS $$
DECLARE
    least_so_far bigint := p_most + 1;
    narrowest bigint[];
    by_subject boolean := false;
    by_age boolean := false;
    held bigint;
    one bigint[];
BEGIN
    IF p_scope.subject_key IS NOT NULL THEN
        SELECT count(*) INTO held FROM (SELECT FROM lesson l WHERE l.tribe_id = p_tribe AND l.subject_key = p_scope.subject_key
                                        LIMIT least_so_far) c;
        by_subject := held < least_so_far;
        least_so_far := held;
    END IF;
    IF NOT p_scope.present THEN
        SELECT count(*) INTO held FROM (SELECT FROM lesson l WHERE l.tribe_id = p_tribe AND l.learned_tick <= p_scope.tick
                                        LIMIT least_so_far) c;
        IF held < least_so_far THEN
            least_so_far := held;
            by_subject := false;
            by_age := true;
        END IF;
    END IF;
    FOR one IN
        SELECT array_agg(f.facet) FROM (
            SELECT 'kind' AS name, facet_v1('kind', k.v) AS facet FROM unnest(p_scope.kinds) k(v)
            UNION ALL SELECT 'how', facet_v1('how', h.v) FROM unnest(p_scope.hows) h(v)
            UNION ALL SELECT 'agent', facet_v1('agent', p_scope.agent_id::text) WHERE p_scope.agent_id IS NOT NULL
            UNION ALL SELECT 'tag' || t.facet, t.facet FROM unnest(tag_facets_v1(p_scope.tags)) t(facet)) f
        GROUP BY f.name
    LOOP
        SELECT count(*) INTO held FROM (SELECT FROM lesson_facet x WHERE x.tribe_id = p_tribe AND x.facet = ANY (one)
                                        LIMIT least_so_far) c;
        IF held < least_so_far THEN
            least_so_far := held;
            narrowest := one;
            by_subject := false;
            by_age := false;
        END IF;
    END LOOP;
    RETURN CASE
        WHEN by_subject THEN ARRAY(SELECT l.lesson_id FROM lesson l WHERE l.tribe_id = p_tribe AND l.subject_key = p_scope.subject_key)
        WHEN by_age THEN ARRAY(SELECT l.lesson_id FROM lesson l WHERE l.tribe_id = p_tribe AND l.learned_tick <= p_scope.tick)
        WHEN narrowest IS NOT NULL THEN
            ARRAY(SELECT x.lesson_id FROM lesson_facet x WHERE x.tribe_id = p_tribe AND x.facet = ANY (narrowest))
        END;
END
$$;

-- What a search of vectors found, nearest first, and how far it looked.
--   compared   vectors that it measured
--   in_scope   lessons that it had to look at, with or without a vector; NULL where it did not look at each
--   finished   false when its time was over before it had looked at all
CREATE TYPE tributary.near AS (
    lesson_ids uuid[], distances double precision[], compared bigint, in_scope bigint, finished boolean);

CREATE FUNCTION tributary.merge_near_v1(a tributary.near, b tributary.near, p_limit integer) RETURNS tributary.near
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN b IS NULL THEN a WHEN a IS NULL THEN b ELSE (
        SELECT ROW(coalesce(array_agg(n.lesson_id ORDER BY n.distance, n.lesson_id), '{}'),
                   coalesce(array_agg(n.distance ORDER BY n.distance, n.lesson_id), '{}'),
                   a.compared + b.compared, a.in_scope + b.in_scope, a.finished AND b.finished)::tributary.near
        FROM (SELECT * FROM (SELECT * FROM unnest(a.lesson_ids, a.distances) UNION ALL SELECT * FROM unnest(b.lesson_ids, b.distances))
                  AS both_sides(lesson_id, distance)
              ORDER BY distance, lesson_id LIMIT p_limit) n) END
$$;

-- The query that compares each of those in scope. $1 to $6: vector, limit, scope, where to look, after which lesson, and how many.
--   p_whole     all that is believed; else what is in scope
--   p_by_ids    among some lessons only
--   p_portion   by portions, in the order of their ids
CREATE FUNCTION tributary.exact_query_v1(p_tribe uuid, p_space integer, p_whole boolean, p_by_ids boolean, p_portion boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT format(
        'WITH scanned AS MATERIALIZED (
             SELECT x.lesson_id, x.embedding <=> $1 AS distance FROM (%s) x)
         SELECT ROW(coalesce(array_agg(n.lesson_id ORDER BY n.distance, n.lesson_id), ''{}''),
                    coalesce(array_agg(n.distance ORDER BY n.distance, n.lesson_id), ''{}''),
                    (SELECT count(distance) FROM scanned), (SELECT count(*) FROM scanned), true)::near AS near, %s AS last
         FROM (SELECT lesson_id, distance FROM scanned WHERE distance IS NOT NULL ORDER BY distance, lesson_id LIMIT $2) n',
        format(
            CASE WHEN p_whole THEN
                'SELECT v.lesson_id, v.embedding FROM lesson_vector v
                 WHERE v.tribe_id = %1$L AND v.space_id = %2$s AND v.believed %3$s'
            ELSE
                'SELECT l.lesson_id, v.embedding FROM lesson l
                 LEFT JOIN lesson_vector v ON v.tribe_id = %1$L AND v.space_id = %2$s AND v.lesson_id = l.lesson_id
                 WHERE l.tribe_id = %1$L AND in_scope_v1(l, $3) %3$s'
            END,
            p_tribe, p_space,
            concat_ws(' ', CASE WHEN p_by_ids THEN 'AND l.lesson_id = ANY ($4)' END,
                      CASE WHEN p_portion THEN format('AND ($5 IS NULL OR %1$s.lesson_id > $5) ORDER BY %1$s.lesson_id LIMIT $6',
                                                      CASE WHEN p_whole THEN 'v' ELSE 'l' END) END)),
        CASE WHEN p_portion THEN '(SELECT lesson_id FROM scanned ORDER BY lesson_id DESC LIMIT 1)' ELSE 'NULL::uuid' END)
$$;

-- The nearest of those in scope, each compared. Among many it goes through them in portions, and stops once p_budget_ms is over.
--   p_ids   where to look; NULL for all of the tribe
CREATE FUNCTION tributary.exact_v1(
    p_tribe uuid, p_space integer, p_vector public.halfvec, p_limit integer, p_scope tributary.scope, p_ids uuid[],
    p_budget_ms integer)
RETURNS tributary.near LANGUAGE plpgsql STABLE
AS $$
DECLARE
    portion CONSTANT bigint := 20000;
    until timestamptz := clock_timestamp() + make_interval(secs => p_budget_ms / 1000.0);
    whole boolean := p_scope.present AND NOT p_scope.filtered AND p_ids IS NULL;
    many boolean := coalesce(cardinality(p_ids), (SELECT s.vectors FROM tribe_space s
                                                  WHERE s.tribe_id = p_tribe AND s.space_id = p_space)) > portion;
    query text := exact_query_v1(p_tribe, p_space, whole, p_ids IS NOT NULL, many);
    found tributary.near;
    part record;
    after uuid;
BEGIN
    LOOP
        EXECUTE query INTO part USING p_vector, p_limit, p_scope, p_ids, after, portion;
        found := merge_near_v1(found, part.near, p_limit);
        after := part.last;
        EXIT WHEN NOT many OR (part.near).in_scope < portion;
        IF clock_timestamp() > until THEN
            found.finished := false;
            EXIT;
        END IF;
    END LOOP;
    IF whole THEN
        found.in_scope := NULL; -- it went through vectors, which tell of no lesson that has none
    END IF;
    RETURN found;
END
$$;

-- The query of a tribe's own index: over believed lessons or those that were once, and with or without a look at what is in scope. With its
-- tribe as a literal: only so can the planner prove that the partial index serves it, and no generic plan is ever kept. Apart from its
-- caller, so that what watches the planner (status_plan_v1) explains this and no copy of it.
CREATE FUNCTION tributary.graph_query_v1(p_tribe uuid, p_space integer, p_dimension integer, p_past boolean, p_narrows boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT format(
        'SELECT coalesce(array_agg(g.lesson_id ORDER BY g.distance, g.lesson_id), ''{}''),
                coalesce(array_agg(g.distance ORDER BY g.distance, g.lesson_id), ''{}''), count(*), NULL::bigint, true FROM (
             SELECT v.lesson_id, v.embedding::halfvec(%1$s) <=> $1::halfvec(%1$s) AS distance FROM lesson_vector v %5$s
             WHERE v.tribe_id = %2$L AND v.space_id = %3$s AND %4$s v.believed AND v.indexed %6$s
             ORDER BY v.embedding::halfvec(%1$s) <=> $1::halfvec(%1$s) LIMIT $2) g',
        p_dimension, p_tribe, p_space, CASE WHEN p_past THEN 'NOT' END,
        CASE WHEN p_narrows THEN format('JOIN lesson l ON l.tribe_id = %L AND l.lesson_id = v.lesson_id', p_tribe) END,
        CASE WHEN p_narrows THEN 'AND in_scope_v1(l, $3)' END)
$$;

-- How many candidates a scan keeps. Somewhat above the limit: one that runs out of them begins again. In a graph of a million, as many more
-- as its islands need (docs/decisions/0012).
CREATE FUNCTION tributary.ef_search_v1(p_limit integer, p_vectors bigint) RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT least(1000, greatest(40, p_limit * 5 / 4, least(400, p_vectors / 2500)))::text $$;

-- The nearest in a tribe's own index, of those in scope.
CREATE FUNCTION tributary.graph_v1(
    p_tribe uuid, p_space integer, p_vector public.halfvec, p_limit integer, p_scope tributary.scope, p_past boolean)
RETURNS tributary.near LANGUAGE plpgsql STABLE
SET hnsw.ef_search = 40
SET hnsw.iterative_scan = relaxed_order -- strictly in order, it would drop what a later batch finds nearer; they are put in order here
SET enable_seqscan = off
SET enable_sort = off -- the index gives them in order; a filter beside it must not tempt the planner to read everything
AS $$
DECLARE
    found tributary.near;
BEGIN
    PERFORM set_config('hnsw.ef_search', ef_search_v1(p_limit, CASE WHEN p_past THEN s.past ELSE s.vectors END), true)
    FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space; -- until the function's end
    EXECUTE graph_query_v1(p_tribe, p_space, vector_dims(p_vector), p_past, p_scope.filtered OR NOT p_scope.present)
    INTO found USING p_vector, p_limit, p_scope;
    RETURN found;
END
$$;

-- The nearest in scope by the tribe's index, and among the vectors that wait beside it. Those are compared one by one: to extend the graph
-- takes milliseconds, which no learner should spend under the gate.
CREATE FUNCTION tributary.indexed_v1(
    p_tribe uuid, p_space integer, p_vector public.halfvec, p_limit integer, p_scope tributary.scope, p_past boolean)
RETURNS tributary.near LANGUAGE plpgsql STABLE
AS $$
DECLARE
    found tributary.near := graph_v1(p_tribe, p_space, p_vector, p_limit, p_scope, p_past);
    waiting uuid[];
BEGIN
    IF p_past THEN
        waiting := ARRAY(SELECT v.lesson_id FROM lesson_vector v
                         WHERE v.tribe_id = p_tribe AND v.space_id = p_space AND NOT v.believed AND NOT v.indexed);
    ELSE
        waiting := ARRAY(SELECT v.lesson_id FROM lesson_vector v
                         WHERE v.tribe_id = p_tribe AND v.space_id = p_space AND v.believed AND NOT v.indexed);
    END IF;
    IF cardinality(waiting) > 0 THEN
        found := merge_near_v1(found, exact_v1(p_tribe, p_space, p_vector, p_limit, p_scope, waiting, NULL), p_limit);
    END IF;
    RETURN found;
END
$$;

-- The nearest believed lessons of a tribe, by a path that vector_path_v1 gave.
CREATE FUNCTION tributary.nearest_v1(p_tribe uuid, p_space integer, p_vector public.halfvec, p_limit integer, p_path text)
RETURNS tributary.near LANGUAGE plpgsql STABLE SET search_path = tributary, public, pg_temp AS $$
DECLARE
    everything tributary.scope := ROW(NULL, true, false, NULL, NULL, NULL, NULL, '{}');
BEGIN
    IF p_path = 'vector:hnsw' THEN
        RETURN indexed_v1(p_tribe, p_space, p_vector, p_limit, everything, false);
    END IF;
    RETURN exact_v1(p_tribe, p_space, p_vector, p_limit, everything, NULL, NULL);
END
$$;

-- Up to how many lessons of a scope are compared one by one rather than sought by the index, among p_vectors for p_limit results: a scan
-- of the index has to pass over p_vectors / scope lessons for each result, so it costs as much where scope = sqrt(c * p_limit * p_vectors).
-- c and the least are measured (docs/decisions/0012).
CREATE FUNCTION tributary.narrow_limit_v1(p_vectors bigint, p_limit integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT greatest(2000, sqrt(6.0 * p_limit * p_vectors))::bigint $$;

-- How many lessons a tribe believes, or did once too, and how many vectors they have, by the counters.
CREATE FUNCTION tributary.holdings_v1(p_tribe uuid, p_space integer, p_present boolean) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT json_build_object(
        'lessons', (SELECT coalesce(sum(CASE WHEN c.status = 'active' THEN c.lessons WHEN NOT p_present THEN c.past END), 0)
                    FROM tributary.tribe_count c WHERE c.tribe_id = p_tribe AND c.status <> 'erased'),
        'vectors', (SELECT s.vectors + CASE WHEN p_present THEN 0 ELSE s.past END FROM tributary.tribe_space s
                    WHERE s.tribe_id = p_tribe AND s.space_id = p_space))
$$;

-- The nearest lessons in scope, and by which path they were sought: where the scope is narrow, each is compared; else the tribe's own
-- index is asked, and once more each is compared when it did not give enough of them.
CREATE FUNCTION tributary.search_v1(
    p_tribe uuid, p_space integer, p_vector public.halfvec, p_limit integer, p_scope tributary.scope, p_exact_limit bigint,
    p_budget_ms integer, OUT path text, OUT near tributary.near)
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    vectors bigint;
    most bigint;
    ids uuid[];
    older uuid[];
BEGIN
    path := vector_path_v1(p_tribe, p_space, p_exact_limit);
    IF p_scope.present AND NOT p_scope.filtered THEN
        IF path = 'vector:hnsw' THEN
            near := indexed_v1(p_tribe, p_space, p_vector, p_limit, p_scope, false);
        ELSE
            near := exact_v1(p_tribe, p_space, p_vector, p_limit, p_scope, NULL, p_budget_ms);
        END IF;
        RETURN;
    END IF;
    SELECT s.vectors INTO vectors FROM tribe_space s WHERE s.tribe_id = p_tribe AND s.space_id = p_space;
    most := narrow_limit_v1(vectors, p_limit);
    ids := narrowed_v1(p_tribe, p_scope, most);
    IF ids IS NOT NULL OR path = 'vector:exact' THEN
        path := 'vector:exact';
        near := exact_v1(p_tribe, p_space, p_vector, p_limit, p_scope, ids, p_budget_ms);
        RETURN;
    END IF;
    near := indexed_v1(p_tribe, p_space, p_vector, p_limit, p_scope, false);
    IF NOT p_scope.present THEN
        -- what was believed then, and is not now
        older := ARRAY(SELECT l.lesson_id FROM lesson l WHERE l.tribe_id = p_tribe AND l.deactivated_tick > p_scope.tick
                       LIMIT most + 1);
        IF cardinality(older) <= most THEN
            near := merge_near_v1(near, exact_v1(p_tribe, p_space, p_vector, p_limit, p_scope, older, NULL), p_limit);
        ELSIF has_index_v1(p_tribe, p_space, true) THEN
            near := merge_near_v1(near, indexed_v1(p_tribe, p_space, p_vector, p_limit, p_scope, true), p_limit);
        ELSE
            older := ARRAY(SELECT l.lesson_id FROM lesson l WHERE l.tribe_id = p_tribe AND l.deactivated_tick > p_scope.tick);
            near := merge_near_v1(near, exact_v1(p_tribe, p_space, p_vector, p_limit, p_scope, older, p_budget_ms), p_limit);
        END IF;
    END IF;
    IF cardinality(near.lesson_ids) < p_limit THEN
        path := 'vector:exact';
        near := exact_v1(p_tribe, p_space, p_vector, p_limit, p_scope, NULL, p_budget_ms);
    END IF;
    near.in_scope := NULL; -- the index tells of no lesson that it does not hold
END
$$;

-- The lessons that the tribe had learned by a tick and that hold each term, no more than p_cap + 1 of them, and the term's weight
-- ln(1 + (1 + tick) / (1 + holders)): the tick stands for the number of lessons, as of any moment and without counting. Folded into its
-- caller's plan, so without a SET clause.
CREATE FUNCTION tributary.term_holders_v1(p_tribe uuid, p_terms text[], p_cap integer, p_tick bigint)
RETURNS TABLE (term text, lesson_ids uuid[], holders integer, weight double precision)
LANGUAGE sql STABLE AS $$
    SELECT t.term, h.lesson_ids, cardinality(h.lesson_ids), ln(1 + (1 + p_tick::double precision) / (1 + cardinality(h.lesson_ids)))
    FROM unnest(p_terms) AS t(term),
         LATERAL (SELECT ARRAY(SELECT x.lesson_id FROM tributary.lesson_term x
                               WHERE x.tribe_id = p_tribe AND x.term = t.term AND x.since_tick <= p_tick
                               LIMIT p_cap + 1) AS lesson_ids
              OFFSET 0) h -- keeps the planner from reading the holders anew for each use of them
$$;

-- Puts up to p_limit vectors that wait beside the tribe's indexes there: believed ones, or those that were believed once. Tells how many.
-- Outside of the gate: the order of beliefs does not depend on it. A vector that a commit is just changing is left for the next time.
CREATE FUNCTION tributary.index_vectors_v1(p_tribe uuid, p_space integer, p_past boolean, p_limit integer) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
    WITH waiting AS (
        SELECT v.tribe_id, v.space_id, v.lesson_id FROM lesson_vector v
        WHERE v.tribe_id = p_tribe AND v.space_id = p_space AND NOT v.indexed
          AND CASE WHEN p_past THEN NOT v.believed ELSE v.believed END
          AND (NOT p_past OR EXISTS (SELECT FROM lesson l -- what is pending or disputed was not believed yet
                                     WHERE l.tribe_id = p_tribe AND l.lesson_id = v.lesson_id AND l.deactivated_tick IS NOT NULL))
        LIMIT p_limit FOR NO KEY UPDATE OF v SKIP LOCKED
    ), done AS (
        UPDATE lesson_vector v SET indexed = true FROM waiting w
        WHERE v.tribe_id = w.tribe_id AND v.space_id = w.space_id AND v.lesson_id = w.lesson_id RETURNING 1)
    SELECT count(*) FROM done
$$;

-- The same where the tribe has such an index that is valid; else nothing is to be done.
CREATE FUNCTION tributary.index_fresh_v1(p_tribe uuid, p_limit integer) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = tributary, public, pg_temp AS $$
    SELECT coalesce(sum(index_vectors_v1(p_tribe, s.space_id, x.past, p_limit)), 0)::bigint
    FROM tribe_space s, (VALUES (false), (true)) AS x(past)
    WHERE s.tribe_id = p_tribe AND s.state = 'serving' AND has_index_v1(p_tribe, s.space_id, x.past)
$$;
