-- name: read
-- Candidates of a new lesson, and what its outcome depends on besides them.
SELECT tributary.learn_read_v1(
    %(tribe_id)s, %(agent_id)s, %(space_id)s, %(embedding)s, %(terms)s, %(subject_key)s, %(content_hash)s, %(near)s,
    %(subject_limit)s, %(by_terms)s, %(rare)s, %(cap)s, %(exact_limit)s, %(also)s)

-- name: commit
-- The learn's one commit, under the gate.
SELECT tributary.learn_commit_v1(%(plan)s)

-- name: tribes_with_pending
-- The tribes that have lessons to settle.
SELECT tributary.tribes_with_pending_v1()

-- name: pending
-- A page of a tribe's lessons to settle, oldest first.
SELECT tributary.pending_lessons_v1(%(tribe_id)s, %(after)s, %(limit)s)

-- name: take_turn
-- Takes a tribe's turn to be settled, unless another settler has it.
SELECT tributary.take_turn_v1(%(tribe_id)s, %(holder)s, %(seconds)s)

-- name: end_turn
-- Ends a settler's turn.
SELECT tributary.end_turn_v1(%(tribe_id)s, %(holder)s)

-- name: reinforce
-- A confirmation's one commit, under the gate.
SELECT tributary.reinforce_v1(%(tribe_id)s, %(agent_id)s, %(lesson_id)s, %(details)s, %(key)s, %(digest)s)
