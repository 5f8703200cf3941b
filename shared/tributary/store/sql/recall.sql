-- name: recall
-- The three sides of a recall, fused, from one snapshot.
SELECT r.* FROM tributary.recall_v1(
    %(tribe_id)s, %(space_id)s, %(embedding)s, %(terms)s, %(query_subject)s, %(filters)s, %(pool)s, %(whole)s, %(tick)s, %(instant)s,
    %(now)s, %(rare)s, %(cap)s, %(exact_limit)s, %(budget_ms)s, %(only)s) r

-- name: list
-- A page of lessons, newest first.
SELECT tributary.list_lessons_v1(
    %(tribe_id)s, %(agent_id)s, %(status)s, %(hide)s, %(mine)s, %(ref)s, %(ref_prefix)s, %(limit)s, %(before_tick)s, %(before_id)s,
    %(tick)s, %(instant)s, %(now)s, %(filters)s)

-- name: show
-- One lesson with what is open against it.
SELECT tributary.show_lesson_v1(%(tribe_id)s, %(lesson_id)s, %(tick)s, %(instant)s, %(now)s)

-- name: timeline
-- A page of what happened to one lesson, and the lessons before and after it.
SELECT tributary.timeline_v1(
    %(tribe_id)s, %(agent_id)s, %(lesson_id)s, %(limit)s, %(before_tick)s, %(chain)s, %(now)s)

-- name: changes
-- What changed in a tribe after a tick, whole ticks only.
SELECT tributary.changes_v1(%(tribe_id)s, %(agent_id)s, %(after)s, %(limit)s, %(newest)s)

-- name: diff
-- A page of what was believed at one of two moments and not at the other.
SELECT tributary.diff_v1(
    %(tribe_id)s, %(hide)s, %(from_tick)s, %(from_at)s, %(to_tick)s, %(to_at)s, %(limit)s, %(before_at)s, %(before_id)s,
    %(kinds)s, %(half_lives_s)s, %(weight)s, %(withered_below)s, %(now)s)

-- name: clock
-- Where a tribe's clock stands.
SELECT tributary.clock_v1(%(tribe_id)s)

-- name: unreached
-- Whether a tick was lost in a restore, or is ahead of the clock.
SELECT tributary.unreached_v1(%(tribe_id)s, %(tick)s)

-- name: signing_key
-- The newest key that receipts are signed with.
SELECT key_id, secret FROM tributary.signing_key WHERE retired_at IS NULL ORDER BY created_at DESC, key_id DESC LIMIT 1

-- name: signing_key_named
-- A key that a receipt says it was signed with, retired or not.
SELECT secret FROM tributary.signing_key WHERE key_id = %(key_id)s

-- name: undecided
-- How many pending or disputed lessons bear on a question to which nothing believed was found.
SELECT tributary.undecided_v1(
    %(tribe_id)s, %(space_id)s, %(embedding)s, %(terms)s, %(nearer)s, %(cap)s, %(tick)s, %(present)s)

-- name: stats
-- How a tribe stands and is used.
SELECT tributary.stats_v1(%(tribe_id)s, %(agent_id)s, %(now)s)

-- name: status_server
-- What answers, in words that need no schema of ours.
SELECT current_setting('server_version') AS server, current_setting('server_version_num')::integer AS server_number,
       (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'vector') AS pgvector,
       pg_catalog.pg_is_in_recovery() AS recovery

-- name: status_position
-- How far the writer has written.
SELECT pg_catalog.pg_current_wal_lsn()::text

-- name: status_replay
-- How far a replica has replayed: bytes behind the writer's position where it is known, else behind what came in, and the seconds since the
-- last commit that it replayed.
SELECT pg_catalog.pg_wal_lsn_diff(
           coalesce(%(position)s::pg_lsn, pg_catalog.pg_last_wal_receive_lsn()),
           pg_catalog.pg_last_wal_replay_lsn())::bigint AS bytes,
       extract(epoch FROM clock_timestamp() - pg_catalog.pg_last_xact_replay_timestamp())::double precision AS seconds

-- name: activity
-- What happened in a stretch of time, by the hour or the day.
SELECT tributary.activity_v1(%(tribe_id)s, %(agent_id)s, %(since)s, %(until)s, %(length)s, %(bounds_ms)s)

-- name: status_schema
-- The revision of the schema, and the oldest code that it serves.
SELECT tributary.status_schema_v1()

-- name: status_whole
-- What the four below say, at once: its clock and counters, its spaces, its index, and the path of a recall.
SELECT tributary.status_tribe_v1(%(tribe_id)s) AS tribe, tributary.status_spaces_v1(%(tribe_id)s) AS spaces,
       tributary.status_index_v1(%(tribe_id)s) AS index, tributary.status_plan_v1(%(tribe_id)s, %(exact_limit)s, %(pool)s) AS plan

-- name: status_tribe
-- A tribe's clock and counters.
SELECT tributary.status_tribe_v1(%(tribe_id)s)

-- name: status_spaces
-- A tribe's spaces.
SELECT tributary.status_spaces_v1(%(tribe_id)s)

-- name: status_index
-- A tribe's own index and what waits beside it.
SELECT tributary.status_index_v1(%(tribe_id)s)

-- name: status_plan
-- The path of a recall and the indexes that the planner chooses for it.
SELECT tributary.status_plan_v1(%(tribe_id)s, %(exact_limit)s, %(pool)s)
