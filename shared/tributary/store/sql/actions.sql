-- name: begin
-- Begins an action, or tells how it stands.
SELECT tributary.begin_action_v1(
    %(tribe_id)s, %(agent_id)s, %(action_id)s, %(action_key)s, %(description)s, %(lease_s)s, %(key)s, %(digest)s, %(now)s)

-- name: complete
-- The holder of a lease says that the effect happened.
SELECT tributary.complete_action_v1(
    %(tribe_id)s, %(agent_id)s, %(action_id)s, %(lease)s, %(result)s, %(refused)s, %(key)s, %(digest)s, %(now)s)

-- name: fail
-- The holder of a lease says that the effect did not happen, or that it cannot tell.
SELECT tributary.fail_action_v1(
    %(tribe_id)s, %(agent_id)s, %(action_id)s, %(lease)s, %(failure)s, %(unsure)s, %(key)s, %(digest)s, %(now)s)

-- name: renew
-- The holder of a lease goes on.
SELECT tributary.renew_action_v1(
    %(tribe_id)s, %(agent_id)s, %(action_id)s, %(lease)s, %(lease_s)s, %(key)s, %(digest)s, %(now)s)

-- name: reconcile
-- A curator says whether the effect of an action in doubt happened.
SELECT tributary.reconcile_action_v1(
    %(tribe_id)s, %(agent_id)s, %(action_id)s, %(happened)s, %(result)s, %(note)s, %(key)s, %(digest)s, %(now)s)

-- name: action
-- One action.
SELECT tributary.action_v1(%(tribe_id)s, %(action_id)s, %(now)s)

-- name: actions
-- A page of actions, those in doubt first.
SELECT tributary.actions_v1(%(tribe_id)s, %(state)s, %(limit)s, %(before_doubt)s, %(before_id)s, %(now)s)
