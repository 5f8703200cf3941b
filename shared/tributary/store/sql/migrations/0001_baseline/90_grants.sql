-- The runtime role reads what it needs and changes beliefs only by calling the functions. It cannot read a tribe's secret by
-- table, a token's row but by its hash, or write any table of beliefs.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA tributary FROM PUBLIC;
GRANT USAGE ON SCHEMA tributary TO tributary_runtime;
GRANT SELECT ON tributary.space, tributary.tribe_space, tributary.schema_requirement, tributary.signing_key
    TO tributary_runtime;
GRANT INSERT ON tributary.audit TO tributary_runtime;
GRANT EXECUTE ON FUNCTION
    tributary.authenticate_v1, tributary.authenticate_principal_v1, tributary.tribe_profile_v1, tributary.admit_v1, tributary.learn_read_v1,
    tributary.learn_commit_v1, tributary.pending_lessons_v1, tributary.tribes_with_pending_v1, tributary.reinforce_v1,
    tributary.recall_v1, tributary.list_lessons_v1, tributary.show_lesson_v1,
    tributary.retire_v1, tributary.erase_v1, tributary.end_dispute_v1, tributary.report_v1, tributary.close_review_v1,
    tributary.set_policy_v1, tributary.policy_v1,
    tributary.create_agent_v1, tributary.new_token_v1, tributary.revoke_token_v1, tributary.revoke_agent_v1,
    tributary.set_role_v1, tributary.agents_v1, tributary.tokens_v1,
    tributary.index_fresh_v1, tributary.undecided_v1,
    tributary.charge_calls_v1, tributary.spent_v1, tributary.costs_v1,
    tributary.count_usage_v1, tributary.stats_v1, tributary.status_schema_v1, tributary.status_tribe_v1,
    tributary.status_spaces_v1, tributary.status_index_v1, tributary.status_plan_v1, tributary.evaluations_v1,
    tributary.dispute_v1, tributary.disputes_v1, tributary.quarantine_v1, tributary.decision_v1, tributary.decisions_v1,
    tributary.reviews_v1, tributary.audit_v1,
    tributary.timeline_v1, tributary.changes_v1, tributary.clock_v1,
    tributary.garden_tribes_v1, tributary.garden_survey_v1, tributary.garden_unscreened_v1, tributary.garden_unjudged_v1,
    tributary.garden_rejudge_v1, tributary.garden_try_v1, tributary.garden_useless_v1, tributary.garden_beliefs_v1, tributary.garden_last_write_v1, tributary.garden_end_v1,
    tributary.garden_refuse_v1, tributary.garden_prune_v1,
    tributary.space_unembedded_v1, tributary.space_embed_v1, tributary.space_check_v1, tributary.space_references_v1
    TO tributary_runtime;
