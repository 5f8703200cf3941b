-- name: retire
-- Ends a lesson: its author's or a curator's word.
SELECT tributary.retire_v1(
    %(tribe_id)s, %(agent_id)s, %(lesson_id)s, %(cause)s, %(index)s, %(reviews)s, %(key)s, %(digest)s)

-- name: erase
-- Removes what a lesson says from everywhere.
SELECT tributary.erase_v1(%(tribe_id)s, %(agent_id)s, %(lesson_id)s, %(key)s, %(digest)s)

-- name: end_dispute
-- Ends a dispute without believing anything new.
SELECT tributary.end_dispute_v1(%(request)s)

-- name: report
-- Queues a decision that was wrong for review.
SELECT tributary.report_v1(%(request)s)

-- name: close_review
-- Takes a case off the review queue: it became a row of a golden set, or teaches nothing.
SELECT tributary.close_review_v1(%(tribe_id)s, %(agent_id)s, %(review_id)s, %(golden)s, %(reason)s, %(key)s, %(digest)s)

-- name: set_policy
-- Puts a policy in place of the version that its curator has seen.
SELECT tributary.set_policy_v1(%(tribe_id)s, %(agent_id)s, %(audit_id)s, %(policy)s, %(version)s)

-- name: policy
-- The tribe's policy and its version.
SELECT tributary.policy_v1(%(tribe_id)s)

-- name: dispute
-- One dispute with both its sides.
SELECT tributary.dispute_v1(%(tribe_id)s, %(dispute_id)s, %(agent_id)s)

-- name: disputes
-- A page of disputes or challenges, newest first.
SELECT tributary.disputes_v1(
    %(tribe_id)s, %(agent_id)s, %(kind)s, %(state)s, %(lesson_id)s, %(limit)s, %(before_tick)s, %(before_id)s, %(now)s)

-- name: quarantine
-- A page of the lessons that are held back, newest first.
SELECT tributary.quarantine_v1(%(tribe_id)s, %(agent_id)s, %(limit)s, %(before_tick)s, %(before_id)s, %(now)s)

-- name: decision
-- One decision with the texts that it was about.
SELECT tributary.decision_v1(%(tribe_id)s, %(decision_id)s)

-- name: decision_for
-- The same, for a curator who looks at it.
SELECT tributary.decision_for_v1(%(tribe_id)s, %(agent_id)s, %(decision_id)s)

-- name: decisions
-- A page of decisions, newest first.
SELECT tributary.decisions_v1(%(tribe_id)s, %(agent_id)s, %(lesson_id)s, %(limit)s, %(before_tick)s, %(before_id)s, %(now)s)

-- name: reviews
-- A page of the review queue, newest first.
SELECT tributary.reviews_v1(%(tribe_id)s, %(agent_id)s, %(state)s, %(limit)s, %(before_tick)s, %(before_id)s, %(now)s)

-- name: audit
-- A page of the audit, newest first.
SELECT tributary.audit_v1(%(tribe_id)s, %(agent_id)s, %(limit)s, %(before_id)s, %(now)s)
