-- Who may do what. Nobody reads or writes a table of beliefs: they are changed, and a tribe's secret or a token's row is found, by
-- calling the functions only. Each role but the runtime is one function's, or the dashboard's; the runtime is a member of each (0000_bootstrap.sql)
-- and is granted nothing itself.
-- tributary_mcp and tributary_dashboard have what recall, learn and curate have together, and the latter its own beside: at the end.
--
--                               recall  learn  curate  gardener  authorizer  dashboard  responder
--   know who asks               x       x      x                 x                      x
--   write down refusals         x       x      x                                        x
--   keep the books              x       x      x       x                                x
--   serve a tribe               x       x      x       x                                x
--   sign and check receipts     x       x      x                                        x
--   read one lesson             x       x      x
--   recall                      x                                                       x
--   list, look back             x
--   see actions                 x
--   tell how all stands         x
--   tell how the schema stands  x       x      x       x                                x
--   let writes in                       x      x                                        x
--   learn                               x      x       x                                x
--   reinforce                           x
--   settle pending lessons              x              x
--   carry out actions                   x                                               x
--   curate, manage agents                      x
--   reconcile actions                          x
--   garden                                             x
--   announce evidence                   x
--   hand evidence out           x       x
--   remove evidence                                    x
--   show evaluations            x                                            x
--   let the incident agent in                                                           x
--   sign people in                                                           x
--
-- tributary_verifier is no part of the running code, and the runtime is no member of it: a login that checks the API from outside.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA tributary FROM PUBLIC;
GRANT USAGE ON SCHEMA tributary
    TO tributary_recall, tributary_learn, tributary_curate, tributary_gardener, tributary_authorizer, tributary_dashboard,
       tributary_mcp, tributary_responder;

-- Know who asks. A function looks a token up itself where the authorizer could not.
GRANT EXECUTE ON FUNCTION tributary.authenticate_v1
    TO tributary_recall, tributary_learn, tributary_curate, tributary_authorizer, tributary_responder;
GRANT EXECUTE ON FUNCTION tributary.authenticate_principal_v1
    TO tributary_recall, tributary_learn, tributary_curate, tributary_responder;

-- Write down refusals.
GRANT INSERT ON tributary.audit TO tributary_recall, tributary_learn, tributary_curate, tributary_responder;

-- Keep the books: what was read and learned, and what models were asked for it. Counters, no beliefs.
GRANT EXECUTE ON FUNCTION
    tributary.count_usage_v1, tributary.count_activity_v1, tributary.charge_calls_v1, tributary.spent_v1
    TO tributary_recall, tributary_learn, tributary_curate, tributary_gardener, tributary_responder;

-- Tell how the schema stands: whether it fits the code.
GRANT EXECUTE ON FUNCTION tributary.status_schema_v1
    TO tributary_recall, tributary_learn, tributary_curate, tributary_gardener, tributary_responder;

-- Serve a tribe.
GRANT EXECUTE ON FUNCTION tributary.tribe_profile_v1, tributary.space_references_v1
    TO tributary_recall, tributary_learn, tributary_curate, tributary_gardener, tributary_responder;

-- Sign and check receipts.
GRANT SELECT ON tributary.signing_key TO tributary_recall, tributary_learn, tributary_curate, tributary_responder;

-- Read one lesson: what is confirmed, contested or curated.
GRANT EXECUTE ON FUNCTION tributary.show_lesson_v1 TO tributary_recall, tributary_learn, tributary_curate;

-- Recall.
GRANT EXECUTE ON FUNCTION tributary.recall_v1, tributary.undecided_v1, tributary.clock_v1, tributary.unreached_v1 TO tributary_recall, tributary_responder;

-- List, look back.
GRANT EXECUTE ON FUNCTION tributary.list_lessons_v1, tributary.timeline_v1, tributary.changes_v1, tributary.diff_v1 TO tributary_recall;

-- See actions.
GRANT EXECUTE ON FUNCTION tributary.action_v1, tributary.actions_v1 TO tributary_recall;

-- Tell how all stands. The plan's function is VOLATILE for the sake of its EXPLAIN; like the others it writes nothing.
GRANT EXECUTE ON FUNCTION
    tributary.stats_v1, tributary.activity_v1, tributary.status_tribe_v1, tributary.status_spaces_v1, tributary.status_index_v1,
    tributary.status_plan_v1
    TO tributary_recall;

-- Let writes in.
GRANT EXECUTE ON FUNCTION tributary.admit_v1 TO tributary_learn, tributary_curate, tributary_responder;

-- Learn: what is new, what a curator releases or upholds, and what waited for a model.
GRANT EXECUTE ON FUNCTION tributary.learn_read_v1, tributary.learn_commit_v1, tributary.space_keep_references_v1
    TO tributary_learn, tributary_curate, tributary_gardener, tributary_responder;

-- Reinforce.
GRANT EXECUTE ON FUNCTION tributary.reinforce_v1 TO tributary_learn;

-- Settle pending lessons.
GRANT EXECUTE ON FUNCTION
    tributary.pending_lessons_v1, tributary.tribes_with_pending_v1, tributary.take_turn_v1, tributary.end_turn_v1
    TO tributary_learn, tributary_gardener;

-- Carry out actions.
GRANT EXECUTE ON FUNCTION
    tributary.begin_action_v1, tributary.complete_action_v1, tributary.fail_action_v1, tributary.renew_action_v1
    TO tributary_learn, tributary_responder;

-- Curate, manage agents.
GRANT EXECUTE ON FUNCTION
    tributary.retire_v1, tributary.erase_v1, tributary.end_dispute_v1, tributary.report_v1, tributary.close_review_v1,
    tributary.set_policy_v1, tributary.policy_v1,
    tributary.dispute_v1, tributary.disputes_v1, tributary.quarantine_v1, tributary.decision_v1, tributary.decision_for_v1,
    tributary.decisions_v1,
    tributary.reviews_v1, tributary.audit_v1, tributary.costs_v1,
    tributary.create_agent_v1, tributary.new_token_v1, tributary.revoke_token_v1, tributary.revoke_agent_v1,
    tributary.set_role_v1, tributary.agent_v1, tributary.agents_v1, tributary.tokens_v1
    TO tributary_curate;

-- Reconcile actions.
GRANT EXECUTE ON FUNCTION tributary.reconcile_action_v1 TO tributary_curate;

-- Garden.
GRANT EXECUTE ON FUNCTION
    tributary.garden_tribes_v1, tributary.garden_survey_v1, tributary.garden_doubt_v1, tributary.garden_unscreened_v1, tributary.garden_unjudged_v1,
    tributary.garden_rejudge_v1, tributary.garden_try_v1, tributary.garden_useless_v1, tributary.garden_beliefs_v1,
    tributary.garden_last_write_v1, tributary.garden_end_v1, tributary.garden_refuse_v1, tributary.garden_prune_v1,
    tributary.garden_ended_v1,
    tributary.space_unembedded_v1, tributary.space_embed_v1, tributary.space_check_v1, tributary.index_fresh_v1
    TO tributary_gardener;

-- Announce evidence files; hand them out; remove those that nothing refers to.
GRANT EXECUTE ON FUNCTION tributary.announce_file_v1, tributary.store_file_v1 TO tributary_learn;
GRANT EXECUTE ON FUNCTION tributary.file_v1 TO tributary_recall, tributary_learn;
GRANT EXECUTE ON FUNCTION tributary.loose_files_v1, tributary.forget_file_v1 TO tributary_gardener;

-- Show evaluations.
GRANT EXECUTE ON FUNCTION tributary.evaluations_v1 TO tributary_recall, tributary_dashboard;

-- Let the incident agent in.
GRANT EXECUTE ON FUNCTION tributary.responder_begin_v1, tributary.responder_end_v1 TO tributary_responder;

-- Sign people in: begin a session by a token, see whose it is, end it.
GRANT EXECUTE ON FUNCTION tributary.begin_session_v1, tributary.session_v1, tributary.end_session_v1 TO tributary_dashboard;

-- Check from outside what the API says (85_verification.sql).
GRANT USAGE ON SCHEMA tributary TO tributary_verifier;
GRANT SELECT ON
    tributary.verification_tribe, tributary.verification_tick, tributary.verification_event, tributary.verification_lesson
    TO tributary_verifier;

-- Speak MCP: its tools recall, learn and curate. Show pages: they do, too. Each for an agent whose role allows it. No
-- members of those roles, since a function becomes nobody else.
DO $$
DECLARE
    granted text;
BEGIN
    FOR granted IN
        WITH theirs (own, of) AS (
            SELECT own, of
            FROM unnest(ARRAY['tributary_mcp', 'tributary_dashboard']) own,
                 unnest(ARRAY['tributary_recall', 'tributary_learn', 'tributary_curate']::regrole[]) of
        )
        SELECT format('GRANT %s ON FUNCTION %s TO %I', a.privilege_type, p.oid::regprocedure, t.own)
        FROM pg_proc p, aclexplode(p.proacl) a JOIN theirs t ON t.of = a.grantee
        WHERE p.pronamespace = 'tributary'::regnamespace
        UNION
        SELECT format('GRANT %s ON TABLE %s TO %I', a.privilege_type, c.oid::regclass, t.own)
        FROM pg_class c, aclexplode(c.relacl) a JOIN theirs t ON t.of = a.grantee
        WHERE c.relnamespace = 'tributary'::regnamespace
    LOOP
        EXECUTE granted;
    END LOOP;
END
$$;
