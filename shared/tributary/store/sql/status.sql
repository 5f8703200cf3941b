-- name: count_usage
-- Adds up the calls that a process counted.
SELECT tributary.count_usage_v1(%(counts)s)

-- name: stats
-- How a tribe stands and is used.
SELECT tributary.stats_v1(%(tribe_id)s, %(agent_id)s, %(now)s)

-- name: server
-- What answers, in words that need no schema of ours.
SELECT current_setting('server_version') AS server, current_setting('server_version_num')::integer AS server_number,
       (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'vector') AS pgvector,
       pg_catalog.pg_is_in_recovery() AS recovery

-- name: position
-- How far the writer has written.
SELECT pg_catalog.pg_current_wal_lsn()::text

-- name: replay
-- How far a replica has replayed: bytes behind the writer's position where it is known, else behind what came in, and the seconds since the
-- last commit that it replayed.
SELECT pg_catalog.pg_wal_lsn_diff(
           coalesce(%(position)s::pg_lsn, pg_catalog.pg_last_wal_receive_lsn()),
           pg_catalog.pg_last_wal_replay_lsn())::bigint AS bytes,
       extract(epoch FROM clock_timestamp() - pg_catalog.pg_last_xact_replay_timestamp())::double precision AS seconds

-- name: schema
-- The revision of the schema, and the oldest code that it serves.
SELECT tributary.status_schema_v1()

-- name: tribe
-- A tribe's clock and counters.
SELECT tributary.status_tribe_v1(%(tribe_id)s)

-- name: spaces
-- A tribe's spaces.
SELECT tributary.status_spaces_v1(%(tribe_id)s)

-- name: index
-- A tribe's own index and what waits beside it.
SELECT tributary.status_index_v1(%(tribe_id)s)

-- name: plan
-- The path of a recall and the indexes that the planner chooses for it.
SELECT tributary.status_plan_v1(%(tribe_id)s, %(exact_limit)s, %(pool)s)
