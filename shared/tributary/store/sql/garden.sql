-- name: tribes
-- The tribes that a gardener goes through.
SELECT tribe_id, name FROM tributary.garden_tribes_v1()

-- name: survey
-- What there is to do in a tribe.
SELECT tributary.garden_survey_v1(
    %(tribe_id)s, %(exact_limit)s, %(replies_before)s, %(days_before)s, %(spent_before)s, %(calls_before)s,
    %(hours_before)s, %(now)s)

-- name: doubt
-- Writes down that leases of actions ran out; tells of how many.
SELECT tributary.garden_doubt_v1(%(tribe_id)s, %(limit)s, %(now)s)

-- name: unscreened
-- Lessons that are held back for want of a screen, those first that were tried longest ago.
SELECT tributary.garden_unscreened_v1(%(tribe_id)s, %(before)s, %(after_tried)s, %(after)s, %(limit)s)

-- name: unjudged
-- The next decision that a judge left open, with the pairs to ask about.
SELECT tributary.garden_unjudged_v1(%(tribe_id)s, %(before)s, %(after_tried)s, %(after)s, %(spend)s)

-- name: try
-- Takes a decision's turn to be asked about again.
SELECT tributary.garden_try_v1(%(tribe_id)s, %(decision_id)s, %(before)s)

-- name: useless
-- Counts that a model gave nothing of use about a decision, or nothing in time; tells whether that was so often enough.
SELECT tributary.garden_useless_v1(%(tribe_id)s, %(decision_id)s, %(late)s, %(most)s, %(close)s)

-- name: rejudge
-- Applies what a judge answered in the end, under the gate.
SELECT tributary.garden_rejudge_v1(%(answers)s)

-- name: beliefs
-- Believed lessons without what they say, those first that lapse first.
SELECT b.* FROM tributary.garden_beliefs_v1(
    %(tribe_id)s, %(half_lives)s, %(weight)s, %(withered_below)s, %(limit)s) b

-- name: last_write
-- When the tribe's beliefs or its policy were last changed by anything but time.
SELECT tributary.garden_last_write_v1(%(tribe_id)s)

-- name: end
-- Ends what time ended and what there is no room for, under the gate.
SELECT e.retired, e.evicted FROM tributary.garden_end_v1(
    %(tribe_id)s, %(lessons)s, %(causes)s, %(since)s, %(read_tick)s, %(capacity)s, %(policy_version)s, %(grace)s, %(now)s) e

-- name: refuse
-- Records the evictions that were refused, each once a day.
SELECT tributary.garden_refuse_v1(%(tribe_id)s, %(audits)s, %(lessons)s, %(codes)s, %(now)s)

-- name: prune
-- Forgets, or only counts, what is old enough.
SELECT tributary.garden_prune_v1(
    %(tribe_id)s, %(replies_before)s, %(days_before)s, %(spent_before)s, %(calls_before)s, %(hours_before)s, %(limit)s,
    %(delete)s)

-- name: ended
-- Keeps how a run in a tribe went, in place of the one before.
SELECT tributary.garden_ended_v1(%(tribe_id)s, %(took_s)s, %(failed)s, %(rules)s)
