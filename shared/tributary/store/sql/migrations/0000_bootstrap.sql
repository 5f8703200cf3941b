-- What must be there before any revision: the two roles, the schema, pgvector. Safe to run again; runs as the migrating user.
--
--   tributary_owner     owns every table and function; no one logs in as it, the migrating user and the operator assume it
--   tributary_runtime   what the running code acts as: reads tables, changes beliefs only by calling the functions
DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['tributary_owner', 'tributary_runtime'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- roles belong to the whole cluster: a migration of another database made it just now
            END;
        END IF;
        IF NOT pg_has_role(current_user, role_name, 'MEMBER') THEN
            EXECUTE format('GRANT %I TO CURRENT_USER', role_name);
        END IF;
    END LOOP;
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

CREATE SCHEMA IF NOT EXISTS tributary AUTHORIZATION tributary_owner;

-- Loads the library, without which an ordinary user may not name hnsw.* settings in CREATE FUNCTION.
SELECT '[1]'::public.vector;
