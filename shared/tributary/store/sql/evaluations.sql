-- name: record
-- Operator: keeps what a run of the evals found; tells how many metrics are new.
SELECT tributary.record_evaluation_v1(%(run_id)s, %(at)s, %(commit)s, %(tier)s, %(models)s, %(found)s)

-- name: latest
-- The newest runs of the evals, newest first.
SELECT tributary.evaluations_v1(%(limit)s)
