-- What must be there before any revision: the roles, the schema, pgvector. Safe to run again; runs as the migrating user, which
-- makes roles and need not be a superuser. What is in place is not made again, so a user who could not make it may migrate too.
--
--   tributary_owner        owns every table and function; no one logs in as it, the migrating user and the operator assume it
--   tributary_runtime      what running code acts as where one login does all: it has what each role below has
--     tributary_recall, _learn, _curate, _gardener, _authorizer, _dashboard, _mcp, _responder
--                          what one function may do each (0001_baseline/90_grants.sql); where rds_iam exists (Aurora) they log in
--   tributary_verifier     reads what the API is checked against from outside; no one logs in as it, a login of yours is made a member
--   tributary_operator     may become tributary_owner, and is nothing by itself; logs in where the others do
DO $$
DECLARE
    function_roles text[] := ARRAY['tributary_recall', 'tributary_learn', 'tributary_curate', 'tributary_gardener',
                                   'tributary_authorizer', 'tributary_dashboard', 'tributary_mcp', 'tributary_responder'];
    logins text[] := CASE WHEN to_regrole('rds_iam') IS NULL THEN '{}'::text[] ELSE function_roles || 'tributary_operator'::text END;
    newer boolean := current_setting('server_version_num')::integer >= 160000;
    -- from 16 on, whoever made a role is its member, and may yet not become it until that was granted as well
    becomes text := CASE WHEN newer THEN 'SET' ELSE 'MEMBER' END;
    -- and until then, whoever makes roles grants every one
    grants_any boolean := NOT newer AND (SELECT p.rolcreaterole FROM pg_roles p WHERE p.rolname = current_user);
    missing text;
BEGIN
    -- Roles belong to the whole cluster: a migration of another database may be making the same ones. So what is missing is looked for
    -- anew after each statement, in the same order by everybody, and one that came too late is no failure.
    FOR attempt IN 1..200 LOOP
        SELECT w.statement INTO missing FROM (
            SELECT 1, r.place, format('CREATE ROLE %I NOLOGIN %s', r.name, CASE r.name WHEN 'tributary_operator' THEN 'NOINHERIT' END),
                   to_regrole(r.name) IS NOT NULL
            FROM unnest(ARRAY['tributary_owner', 'tributary_runtime', 'tributary_operator', 'tributary_verifier'] || function_roles)
                WITH ORDINALITY AS r(name, place)
            UNION ALL
            SELECT 2, r.place, format('GRANT %I TO %I', r.name, current_user),
                   pg_has_role(current_user, to_regrole(r.name), becomes)
                   -- only a login that serves too needs the second, which may not be this one's to take
                   OR r.name = 'tributary_runtime' AND NOT grants_any
                      AND NOT pg_has_role(current_user, to_regrole(r.name), 'MEMBER WITH ADMIN OPTION')
            FROM unnest(ARRAY['tributary_owner', 'tributary_runtime']) WITH ORDINALITY AS r(name, place)
            UNION ALL
            SELECT 3, r.place, format('GRANT %I TO tributary_runtime', r.name),
                   pg_has_role(to_regrole('tributary_runtime'), to_regrole(r.name), 'USAGE')
            FROM unnest(function_roles) WITH ORDINALITY AS r(name, place)
            UNION ALL
            SELECT 4, 1, 'GRANT tributary_owner TO tributary_operator',
                   pg_has_role(to_regrole('tributary_operator'), to_regrole('tributary_owner'), becomes)
            UNION ALL -- as settings of the login, since a proxy lets no startup option through; a value that somebody chose stays
            SELECT 5, r.place, format('ALTER ROLE %I SET %I = %L', r.name, s.name, s.value),
                   EXISTS (SELECT FROM pg_roles p, unnest(p.rolconfig) c WHERE p.rolname = r.name AND starts_with(c, s.name || '='))
            FROM unnest(function_roles) WITH ORDINALITY AS r(name, place),
                 (VALUES ('statement_timeout', '25s'), ('idle_in_transaction_session_timeout', '25s')) AS s(name, value)
            UNION ALL
            SELECT 6, r.place, format('ALTER ROLE %I LOGIN', r.name), (SELECT p.rolcanlogin FROM pg_roles p WHERE p.rolname = r.name)
            FROM unnest(logins) WITH ORDINALITY AS r(name, place)
            UNION ALL
            SELECT 7, r.place, format('GRANT rds_iam TO %I', r.name), pg_has_role(to_regrole(r.name), to_regrole('rds_iam'), 'MEMBER')
            FROM unnest(logins) WITH ORDINALITY AS r(name, place)
        ) AS w(step, place, statement, there)
        WHERE w.there IS NOT TRUE ORDER BY w.step, w.place, w.statement LIMIT 1;
        EXIT WHEN missing IS NULL;
        BEGIN
            EXECUTE missing;
        EXCEPTION WHEN duplicate_object OR unique_violation OR internal_error THEN -- the last: "tuple concurrently updated"
            PERFORM pg_sleep(0.01);
        END;
    END LOOP;
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION 'other migrations kept changing the roles of this cluster; try again (missing: %)', missing;
    END IF;
END
$$;

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

DO $$
DECLARE
    installed text := (SELECT extversion FROM pg_extension WHERE extname = 'vector');
BEGIN
    IF string_to_array(regexp_replace(installed, '[^0-9.].*$', ''), '.')::int[] < ARRAY[0, 8] THEN
        RAISE EXCEPTION 'pgvector % is installed; 0.8 or newer is needed (ALTER EXTENSION vector UPDATE)', installed;
    END IF;
END
$$;

DO $$
BEGIN
    IF to_regnamespace('tributary') IS NULL THEN -- IF NOT EXISTS would ask for the right to make one all the same
        CREATE SCHEMA tributary AUTHORIZATION tributary_owner;
    END IF;
END
$$;

-- Nobody here needs temporary tables, and who may make none hides no name behind one.
DO $$
BEGIN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
EXCEPTION WHEN insufficient_privilege THEN
    NULL; -- the database is somebody else's
END
$$;

-- Loads the library, without which an ordinary user may not name hnsw.* settings in CREATE FUNCTION.
SELECT '[1]'::public.vector;
