-- name: authenticate
-- The agent behind a token.
SELECT tributary.authenticate_v1(%(token_hash)s)

-- name: audit
-- Records a refusal, in a transaction of its own.
INSERT INTO tributary.audit (tribe_id, audit_id, agent_id, action, code, detail)
VALUES (%(tribe_id)s, %(audit_id)s, %(agent_id)s, %(action)s, %(code)s, %(detail)s) ON CONFLICT DO NOTHING

-- name: admit
-- Lets one write in: the first reply to its key, or its count against the agent's pace and the tribe's day.
SELECT tributary.admit_v1(
    %(tribe_id)s, %(agent_id)s, %(key)s, %(digest)s, %(operation)s, %(per_minute)s, %(per_day)s, %(now)s)

-- name: ping
-- Whether the database answers and its schema serves this code.
SELECT oldest_code FROM tributary.schema_requirement

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

-- name: create_agent
-- Operator: a new agent; no row when the name is taken.
INSERT INTO tributary.agent (tribe_id, agent_id, name, role) VALUES (%(tribe_id)s, %(agent_id)s, %(name)s, %(role)s)
ON CONFLICT (tribe_id, name) DO NOTHING RETURNING agent_id, name, role, created_at, revoked_at

-- name: agents
-- Operator: the agents of a tribe, oldest first.
SELECT agent_id, name, role, created_at, revoked_at FROM tributary.agent WHERE tribe_id = %(tribe_id)s
ORDER BY created_at, agent_id

-- name: revoke_agent
-- Operator: ends an agent and with it its tokens; keeps the first time when it was revoked before.
UPDATE tributary.agent SET revoked_at = coalesce(revoked_at, clock_timestamp())
WHERE tribe_id = %(tribe_id)s AND name = %(name)s RETURNING agent_id, name, role, created_at, revoked_at

-- name: create_token
-- Operator: a token of an agent, known by its hash.
INSERT INTO tributary.token (tribe_id, token_id, agent_id, token_hash, expires_at)
VALUES (%(tribe_id)s, %(token_id)s, %(agent_id)s, %(token_hash)s, %(expires_at)s) ON CONFLICT DO NOTHING
