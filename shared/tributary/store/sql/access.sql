-- name: authenticate
-- The agent behind a token.
SELECT tributary.authenticate_v1(%(token_hash)s)

-- name: authenticate_principal
-- The agent that an AWS principal is bound to.
SELECT tributary.authenticate_principal_v1(%(principal)s)

-- name: audit
-- Records a refusal, in a transaction of its own.
INSERT INTO tributary.audit (tribe_id, audit_id, agent_id, action, code, detail)
VALUES (%(tribe_id)s, %(audit_id)s, %(agent_id)s, %(action)s, %(code)s, %(detail)s) ON CONFLICT DO NOTHING

-- name: admit
-- Lets one write in: the first reply to its key, or its count against the agent's pace and the tribe's day.
SELECT tributary.admit_v1(
    %(tribe_id)s, %(agent_id)s, %(key)s, %(digest)s, %(operation)s, %(per_minute)s, %(per_day)s, %(now)s)

-- name: after_restore
-- Operator: has a tribe of a restored database go on from a tick that nobody was given before.
SELECT r.before, r.tick, r.in_doubt, r.sessions FROM tributary.after_restore_v1(%(tribe_id)s, %(ticks)s) r

-- name: revision
-- Operator: the revision of the schema, and the oldest code that it serves.
SELECT v.version_num, r.oldest_code FROM tributary.alembic_version v, tributary.schema_requirement r

-- name: create_tribe
-- Operator: a new tribe; no row when the name is taken.
INSERT INTO tributary.tribe (tribe_id, name, secret) VALUES (%(tribe_id)s, %(name)s, %(secret)s)
ON CONFLICT (name) DO NOTHING RETURNING tribe_id, name, clock, created_at

-- name: tribes
-- Operator: all tribes.
SELECT tribe_id, name, clock, created_at FROM tributary.tribe ORDER BY name

-- name: tribe
-- Operator: one tribe by name.
SELECT tribe_id, name, clock, created_at FROM tributary.tribe WHERE name = %(name)s

-- name: lock_tribe
-- Operator: one tribe by name, whose agents nobody else changes until the transaction ends.
SELECT tribe_id, name, clock, created_at FROM tributary.tribe WHERE name = %(name)s FOR NO KEY UPDATE

-- name: create_agent
-- Operator: a new agent.
SELECT tributary.add_agent_v1(%(tribe_id)s, %(agent_id)s, %(name)s, %(role)s, %(most_agents)s)

-- name: create_token
-- Operator: a token of an agent, known by its hash.
SELECT tributary.add_token_v1(
    %(tribe_id)s, %(agent_id)s, %(token_id)s, %(token_hash)s, %(expires_at)s, %(most_tokens)s, %(now)s)

-- name: agents
-- Operator: the agents of a tribe, oldest first, or the one of a name.
SELECT a.agent_id, a.name, a.role, a.created_at, a.revoked_at, tributary.last_used_v1(a.tribe_id, a.agent_id) AS last_used_at,
       ARRAY(SELECT p.principal FROM tributary.agent_principal p
             WHERE p.tribe_id = a.tribe_id AND p.agent_id = a.agent_id ORDER BY 1) AS principals
FROM tributary.agent a WHERE a.tribe_id = %(tribe_id)s AND a.name = coalesce(%(name)s::text, a.name)
ORDER BY a.created_at, a.agent_id

-- name: revoke_agent
-- Operator: ends an agent and with it its tokens; keeps the first time when it was revoked before.
UPDATE tributary.agent SET revoked_at = coalesce(revoked_at, clock_timestamp())
WHERE tribe_id = %(tribe_id)s AND agent_id = %(agent_id)s

-- name: bind_principal
-- Operator: lets an AWS principal act as an agent.
SELECT tributary.bind_principal_v1(%(tribe_id)s, %(agent_id)s, %(principal)s)

-- name: unbind_principal
-- Operator: ends that; no row when it was not so.
DELETE FROM tributary.agent_principal
WHERE tribe_id = %(tribe_id)s AND agent_id = %(agent_id)s AND principal = %(principal)s RETURNING principal

-- name: tokens
-- Operator: the tokens of an agent, newest first, or one token of the tribe. It counts as revoked when its agent is.
SELECT t.token_id, t.agent_id, t.created_at, t.expires_at, coalesce(t.revoked_at, a.revoked_at) AS revoked_at, t.last_used_at
FROM tributary.token t JOIN tributary.agent a USING (tribe_id, agent_id)
WHERE t.tribe_id = %(tribe_id)s AND (t.agent_id = %(agent_id)s OR t.token_id = %(token_id)s)
ORDER BY t.token_id DESC

-- name: revoke_tokens
-- Operator: ends one token, or all those of an agent; keeps the first time of one that was revoked before.
UPDATE tributary.token SET revoked_at = coalesce(revoked_at, clock_timestamp())
WHERE tribe_id = %(tribe_id)s AND (agent_id = %(agent_id)s OR token_id = %(token_id)s)

-- name: lock_signing_keys
-- Operator: of two rotations at once, one waits.
SELECT key_id FROM tributary.signing_key ORDER BY key_id FOR UPDATE

-- name: retire_signing_keys
-- Operator: what was signed by a retired key can still be verified.
UPDATE tributary.signing_key SET retired_at = clock_timestamp() WHERE retired_at IS NULL

-- name: create_signing_key
-- Operator: the key that receipts are signed with from now on.
INSERT INTO tributary.signing_key (key_id, secret)
SELECT 'k' || (count(*) + 1), %(secret)s FROM tributary.signing_key RETURNING key_id

-- name: has_curator
-- Operator: whether a tribe has a curator who can act.
SELECT tributary.has_curator_v1(%(tribe_id)s, %(now)s)

-- name: manage_create
-- A curator makes an agent with its first token.
SELECT tributary.create_agent_v1(
    %(tribe_id)s, %(actor_id)s, %(audit_id)s, %(agent_id)s, %(name)s, %(role)s, %(token_id)s, %(token_hash)s, %(expires_at)s,
    %(most_agents)s, %(most_tokens)s, %(now)s)

-- name: manage_new_token
-- A curator gives an agent another token.
SELECT tributary.new_token_v1(
    %(tribe_id)s, %(actor_id)s, %(audit_id)s, %(agent_id)s, %(token_id)s, %(token_hash)s, %(expires_at)s, %(revoke_others)s,
    %(newest)s, %(most_tokens)s, %(now)s)

-- name: manage_revoke_token
-- A curator ends a token.
SELECT tributary.revoke_token_v1(%(tribe_id)s, %(actor_id)s, %(audit_id)s, %(token_id)s, %(now)s)

-- name: manage_revoke
-- A curator ends an agent.
SELECT tributary.revoke_agent_v1(%(tribe_id)s, %(actor_id)s, %(audit_id)s, %(agent_id)s, %(now)s)

-- name: manage_set_role
-- A curator gives an agent another role.
SELECT tributary.set_role_v1(%(tribe_id)s, %(actor_id)s, %(audit_id)s, %(agent_id)s, %(role)s, %(now)s)

-- name: page_of_agents
-- A page of the agents of a tribe, newest first.
SELECT tributary.agents_v1(%(tribe_id)s, %(actor_id)s, %(limit)s, %(before_id)s, %(now)s)

-- name: agent
-- One agent of a tribe.
SELECT tributary.agent_v1(%(tribe_id)s, %(actor_id)s, %(agent_id)s)

-- name: page_of_tokens
-- A page of the tokens of an agent, newest first.
SELECT tributary.tokens_v1(%(tribe_id)s, %(actor_id)s, %(agent_id)s, %(limit)s, %(before_id)s, %(now)s)

-- name: count_usage
-- Adds up the calls that a process counted; false where nothing can be written.
SELECT tributary.count_usage_v1(%(counts)s)

-- name: count_activity
-- Adds up what a process counted by the hour; false where nothing can be written.
SELECT tributary.count_activity_v1(%(counts)s)

-- name: charge
-- Writes down calls of models; false where nothing can be written.
SELECT tributary.charge_calls_v1(%(calls)s)

-- name: spent
-- What a tribe has used of a day's budget.
SELECT tributary.spent_v1(%(tribe_id)s, %(day)s)

-- name: costs
-- What calls of models cost a tribe.
SELECT tributary.costs_v1(%(tribe_id)s, %(agent_id)s, %(since)s, %(until)s, %(by)s, %(today)s)

-- name: responder_begin
-- Lets one turn of the incident agent in, or refuses it.
SELECT tributary.responder_begin_v1(
    %(tribe_id)s, %(agent_id)s, %(turn_id)s, %(per_minute)s, %(per_day)s, %(aside)s, %(usd_per_day)s, %(now)s)

-- name: responder_end
-- Counts what a turn of the incident agent cost.
SELECT tributary.responder_end_v1(%(tribe_id)s, %(turn_id)s, %(usd)s)

-- name: begin_session
-- Signs a person in by a token, or has who tried too often wait.
SELECT tributary.begin_session_v1(
    %(source)s, %(token_hash)s, %(session_hash)s, %(audit_id)s, %(most_failures)s, %(within)s, %(most_sources)s, %(lasts)s,
    %(most_sessions)s, %(now)s)

-- name: session
-- The agent that is signed in.
SELECT tributary.session_v1(%(session_hash)s, %(now)s)

-- name: end_session
-- Signs a person out.
SELECT tributary.end_session_v1(%(session_hash)s, %(audit_id)s, %(now)s)
