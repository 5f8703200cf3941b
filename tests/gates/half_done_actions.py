"""Gates against side effects that happen twice, or of which nobody can tell whether they happened; and against lost replies."""

from __future__ import annotations

from tests.gates.gate import BASELINE, LIBRARY, Cut, Gate, Group

_ACTIONS = f"{BASELINE}/73_actions.sql"
_RDS = f"{LIBRARY}/responder/rds.py"

GROUP = Group(
    title="Half-done actions and lost replies",
    gates=(
        Gate(
            name="action-once",
            guards="of those that begin an action at once exactly one is granted",
            without="granting an action that was begun before",
            cuts=(
                Cut(
                    path=_ACTIONS,
                    old="    granted := FOUND;\n    IF NOT granted THEN\n",
                    new="    granted := true;\n    IF NOT FOUND THEN\n",
                ),
            ),
            tests=("tests/integration/test_actions.py::test_of_sixteen_that_begin_at_once_exactly_one_is_granted",),
        ),
        Gate(
            name="lease",
            guards="killed between effect and completion, an action is in doubt: its lease runs out",
            without="never taking a lease for run out",
            cuts=(
                Cut(
                    path=_ACTIONS,
                    old="AND (p_action.lease_until <= p_now OR p_action.lease_until > p_now + interval '61 minutes')\n",
                    new="AND false\n",
                ),
            ),
            tests=(
                "tests/integration/test_actions.py::test_a_lease_that_ran_out_puts_the_action_in_doubt_for_whoever_looks_and_reads_write_nothing",
            ),
        ),
        Gate(
            name="doubt-is-written-down",
            guards="that an action is in doubt is written in a committed transaction, though nobody asks for it",
            without="having the gardener overlook leases",
            cuts=(
                Cut(
                    path=_ACTIONS,
                    old="        WHERE a.tribe_id = p_tribe AND overdue_v1(a, coalesce(p_now, clock_timestamp()))\n",
                    new="        WHERE false AND a.tribe_id = p_tribe AND overdue_v1(a, coalesce(p_now, clock_timestamp()))\n",
                ),
            ),
            tests=("tests/integration/test_actions.py::test_the_gardener_writes_down_that_a_lease_ran_out",),
        ),
        Gate(
            name="no-second-try-in-doubt",
            guards="an action in doubt is never run again before a curator has looked",
            without="beginning it anew like a failed one",
            cuts=(
                Cut(
                    path=_ACTIONS,
                    old="    ELSIF a.state = 'failed' THEN\n        granted := true;\n",
                    new="    ELSIF a.state IN ('failed', 'in_doubt') THEN\n        granted := true;\n",
                ),
            ),
            tests=("tests/integration/test_actions.py::test_a_holder_that_cannot_tell_leaves_the_action_in_doubt_at_once",),
        ),
        Gate(
            name="lease-is-shown",
            guards="only the holder of the present attempt's lease says what came of an action",
            without="taking anybody's word",
            cuts=(
                Cut(
                    path=_ACTIONS,
                    old="AND a.state IN ('begun', 'in_doubt') AND a.lease_hash = lease_hash_v1(p_lease);",
                    new="AND a.state IN ('begun', 'in_doubt');",
                ),
            ),
            tests=("tests/integration/test_actions.py::test_roles_and_leases_are_looked_at",),
        ),
        Gate(
            name="no-renewal-after-doubt",
            guards="a lease that ran out is not renewed: others have seen the action in doubt",
            without="renewing it all the same",
            cuts=(Cut(path=_ACTIONS, old="AND a.state = 'begun' AND NOT overdue_v1(a, now)\n", new="AND a.state = 'begun'\n"),),
            tests=("tests/integration/test_actions.py::test_a_renewed_lease_runs_on_and_one_that_ran_out_is_not_renewed",),
        ),
        Gate(
            name="ends-once",
            guards="an action ends only once: of completion and failure at once one wins",
            without="ending what was ended before",
            cuts=(
                Cut(
                    path=_ACTIONS,
                    old="AND a.state IN ('begun', 'in_doubt') AND a.lease_hash = lease_hash_v1(p_lease);",
                    new="AND a.lease_hash = lease_hash_v1(p_lease);",
                ),
            ),
            tests=("tests/integration/test_actions.py::test_of_completion_and_failure_at_once_one_wins",),
        ),
        Gate(
            name="lesson-with-completion",
            guards="a lesson that comes with a completion is committed with it, or neither is",
            without="learning the lesson alone",
            cuts=(Cut(path=f"{BASELINE}/50_learn.sql", old="    IF p ? 'completes' THEN\n", new="    IF false THEN\n"),),
            tests=("tests/integration/test_actions.py::test_the_lesson_of_a_completion_is_learned_with_it",),
        ),
        Gate(
            name="curator-reconciles",
            guards="a curator, and nobody else, says whether what is in doubt happened",
            without="letting every writer reconcile",
            cuts=(
                Cut(
                    path=_ACTIONS,
                    old="enter_action_v1(p_tribe, p_actor, p_action, p_request, p_digest, 'curator');",
                    new="enter_action_v1(p_tribe, p_actor, p_action, p_request, p_digest, 'writer');",
                ),
                Cut(path=f"{LIBRARY}/actions/actions.py", old="        principal.require(Role.CURATOR)\n", new=""),
            ),
            tests=("tests/integration/test_actions.py::test_a_curator_reconciles_both_ways",),
        ),
        Gate(
            name="idempotency-key",
            guards="a retry after a dropped connection gets the first reply: nothing is done twice",
            without="never finding an earlier reply",
            cuts=(
                Cut(
                    path=f"{BASELINE}/50_learn.sql",
                    old="    SELECT * INTO stored FROM idempotency WHERE tribe_id = p_tribe AND agent_id = p_agent AND key = p_key;",
                    new="    SELECT * INTO stored FROM idempotency WHERE false AND tribe_id = p_tribe AND agent_id = p_agent AND key = p_key;",
                ),
                Cut(
                    path=f"{BASELINE}/55_apply.sql",
                    old="VALUES (tribe, actor, p ->> 'key', decode(p ->> 'request_digest', 'hex'), reply, clock_timestamp());",
                    new="VALUES (tribe, actor, p ->> 'key', decode(p ->> 'request_digest', 'hex'), reply, clock_timestamp()) ON CONFLICT DO NOTHING;",
                ),
            ),
            tests=(
                "tests/integration/test_concurrency.py::test_equal_keys_sent_at_once_execute_once_and_all_get_its_reply",
                "tests/integration/test_learn.py::test_repeated_key_gives_the_first_reply_and_another_body_is_refused",
            ),
        ),
        Gate(
            name="key-of-another-request",
            guards="the same idempotency key with another body is refused",
            without="not comparing the request's digest",
            cuts=(
                Cut(
                    path=f"{BASELINE}/50_learn.sql",
                    old="    ELSIF stored.request_digest <> p_digest THEN\n",
                    new="    ELSIF false THEN\n",
                ),
            ),
            tests=("tests/integration/test_learn.py::test_repeated_key_gives_the_first_reply_and_another_body_is_refused",),
        ),
        Gate(
            name="one-key-for-all-tries",
            guards="the SDK sends a write again under the same key, so that it is learned once",
            without="making a new key for each try",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/client/conversation.py",
                    old='        headers["idempotency-key"] = call.idempotency_key\n',
                    new='        headers["idempotency-key"] = f"{call.idempotency_key}-{id(headers)}-{time.monotonic_ns()}"\n',
                ),
                Cut(
                    path=f"{LIBRARY}/client/conversation.py",
                    old="from __future__ import annotations\n",
                    new="from __future__ import annotations\n\nimport time\n",
                ),
            ),
            tests=(
                "tests/unit/test_client_retries.py::test_a_learn_whose_reply_was_lost_is_sent_again_under_the_same_key_and_learned_once",
            ),
        ),
        Gate(
            name="pending-keeps-its-key",
            guards="the key under which a pending lesson is settled is kept, so that it is not settled twice",
            without="forgetting it with other old replies",
            cuts=(
                Cut(
                    path=f"{BASELINE}/80_garden.sql",
                    old="          AND NOT (i.key LIKE 'server:settle:%' AND EXISTS (",
                    new="          AND NOT (false AND i.key LIKE 'server:settle:%' AND EXISTS (",
                ),
            ),
            tests=("tests/integration/test_garden_upkeep.py::test_the_key_of_a_lesson_that_is_pending_still_is_kept",),
        ),
        Gate(
            name="responder-changes-what-is-allowed",
            guards="the incident agent changes only what its operator allows",
            without="not looking at what is allowed",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/responder/tools.py",
                    old="            if not is_allowed(live.allowed, mutation.change, target):\n",
                    new="            if not live.allowed:\n",
                ),
            ),
            tests=("tests/integration/test_responder.py::test_the_tools_speak_to_rds_and_change_only_what_is_allowed",),
        ),
        Gate(
            name="responder-spares-the-memory",
            guards="the incident agent never changes what the memory itself stands on, whatever is allowed",
            without="taking it for any other target",
            cuts=(Cut(path=_RDS, old="        if not self.own.isdisjoint(_names(found[0])):\n", new="        if not found:\n"),),
            tests=(
                "tests/integration/test_responder.py::test_what_the_memory_itself_stands_on_is_not_changed_whatever_is_allowed",
            ),
        ),
        Gate(
            name="responder-only-adds",
            guards="the incident agent only adds storage, and applies nothing that waits with it",
            without="letting it change whatever the arguments say",
            cuts=(
                Cut(
                    path=_RDS,
                    old="        if self.AllocatedStorage is not None and self.AllocatedStorage <= room:\n",
                    new="        if False:\n",
                ),
                Cut(
                    path=_RDS,
                    old='        if self.ApplyImmediately and (pending := standing.get("PendingModifiedValues")):\n',
                    new="        if pending := ():\n",
                ),
            ),
            tests=("tests/integration/test_responder.py::test_storage_is_only_added_and_nothing_that_waits_is_applied_with_it",),
        ),
        Gate(
            name="responder-doubt",
            guards="a change that was not answered is in doubt at once, and is not done again",
            without="taking it for one that did not happen",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/responder/acting.py",
                    old="        _say(ledger, principal, begun.action.action_id, begun.lease, str(error), unsure=True)\n",
                    new="        _say(ledger, principal, begun.action.action_id, begun.lease, str(error), unsure=False)\n",
                ),
            ),
            tests=(
                "tests/integration/test_responder.py::test_a_change_that_rds_did_not_answer_is_in_doubt_at_once_and_one_that_it_refused_may_be_tried_again",
            ),
        ),
        Gate(
            name="restored-doubt",
            guards="an action that was under way when the backup was made is in doubt after a restore, and nobody runs it again",
            without="leaving it to its holder",
            cuts=(
                Cut(
                    path=f"{BASELINE}/81_restored.sql",
                    old="doubt = 'restored' WHERE a.tribe_id = p_tribe AND a.state = 'begun';",
                    new="doubt = 'restored' WHERE false AND a.tribe_id = p_tribe AND a.state = 'begun';",
                ),
            ),
            tests=(
                "tests/integration/test_after_restore.py::test_an_action_under_way_is_in_doubt_and_not_begun_again_but_its_holder_may_still_end_it",
            ),
        ),
        Gate(
            name="lease-of-a-wrong-clock",
            guards="a lease from a clock that was put back is held by nobody for longer than any lease lasts",
            without="believing whatever time it says",
            cuts=(
                Cut(
                    path=_ACTIONS,
                    old=" OR p_action.lease_until > p_now + interval '61 minutes')",
                    new=")",
                ),
            ),
            tests=(
                "tests/chaos/test_clock_steps.py::test_an_action_whose_lease_is_of_a_clock_that_was_put_back_is_in_doubt_and_its_holder_may_end_it",
            ),
        ),
    ),
)
