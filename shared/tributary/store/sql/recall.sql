-- name: recall
-- The three sides of a recall, fused, from one snapshot.
SELECT r.* FROM tributary.recall_v1(
    %(tribe_id)s, %(space_id)s, %(embedding)s, %(terms)s, %(query_subject)s, %(filters)s, %(pool)s, %(whole)s, %(tick)s, %(instant)s,
    %(now)s, %(rare)s, %(cap)s, %(exact_limit)s, %(budget_ms)s, %(only)s) r

-- name: list
-- A page of lessons, newest first.
SELECT tributary.list_lessons_v1(
    %(tribe_id)s, %(status)s, %(hide)s, %(limit)s, %(before_tick)s, %(before_id)s, %(tick)s, %(instant)s, %(now)s)

-- name: show
-- One lesson with what is open against it.
SELECT tributary.show_lesson_v1(%(tribe_id)s, %(lesson_id)s, %(tick)s, %(instant)s, %(now)s)

-- name: timeline
-- A page of what happened to one lesson, and the lessons before and after it.
SELECT tributary.timeline_v1(
    %(tribe_id)s, %(agent_id)s, %(lesson_id)s, %(limit)s, %(before_tick)s, %(chain)s, %(now)s)

-- name: changes
-- What changed in a tribe after a tick, whole ticks only.
SELECT tributary.changes_v1(%(tribe_id)s, %(agent_id)s, %(after)s, %(limit)s)

-- name: clock
-- Where a tribe's clock stands.
SELECT tributary.clock_v1(%(tribe_id)s)

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
