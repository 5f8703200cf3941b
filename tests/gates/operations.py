"""Gates against cost without end, floods, and code or data that do not fit."""

from __future__ import annotations

from tests.gates.gate import BASELINE, LIBRARY, Cut, Gate, Group

_ACCESS = f"{BASELINE}/70_access.sql"
_RESPONDER = f"{BASELINE}/79_responder.sql"

GROUP = Group(
    title="Money, floods and operations",
    gates=(
        Gate(
            name="budget",
            guards="a daily budget per tribe stops spending, not learning",
            without="granting every call",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/access/ledger.py",
                    old="            granted = self.budget.grants(spent, most=calls, usd_per_call=each)\n",
                    new="            granted = calls if spent else 0\n",
                ),
            ),
            tests=(
                "tests/integration/test_tiers.py::test_past_the_budget_learning_goes_on_and_what_the_strong_one_would_have_settled_becomes_a_challenge",
            ),
        ),
        Gate(
            name="budget-set-aside",
            guards="many learns at once do not overspend the budget together: what is granted is set aside",
            without="setting nothing aside",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/access/ledger.py",
                    old="            aside = self._reserved.get(tribe_id, 0)\n",
                    new="            aside = 0\n",
                ),
            ),
            tests=("tests/integration/test_tiers.py::test_many_learns_at_once_do_not_overspend_the_budget_together",),
        ),
        Gate(
            name="budget-unknown-is-spent",
            guards="where it cannot be read what was spent, nothing more is",
            without="granting every call then",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/access/ledger.py",
                    old="            log.event(Event.LEDGER_DELAYED, level=log.WARNING, error=error, code=error.code, calls=0)\n            return 0\n",
                    new="            log.event(Event.LEDGER_DELAYED, level=log.WARNING, error=error, code=error.code, calls=0)\n            return calls\n",
                ),
            ),
            tests=("tests/integration/test_ledger.py::test_where_it_cannot_be_read_what_was_spent_nothing_is_granted",),
        ),
        Gate(
            name="charged-once",
            guards="a call that is handed over twice counts once",
            without="counting it again",
            cuts=(
                Cut(
                    path=f"{BASELINE}/77_costs.sql",
                    old="        ON CONFLICT (tribe_id, call_id) DO NOTHING\n",
                    new="        ON CONFLICT (tribe_id, call_id) DO UPDATE SET ms = excluded.ms\n",
                ),
            ),
            tests=("tests/integration/test_ledger.py::test_a_flush_whose_acknowledgement_was_lost_counts_once",),
        ),
        Gate(
            name="pace-of-an-agent",
            guards="an agent writes no faster than its pace: a flood is 429 before any model is asked",
            without="letting every write in",
            cuts=(Cut(path=_ACCESS, old="    IF spent > now + interval '1 minute' THEN\n", new="    IF false THEN\n"),),
            tests=("tests/integration/test_pace.py::test_of_an_agents_writes_that_come_at_once_exactly_its_burst_passes",),
        ),
        Gate(
            name="day-of-a-tribe",
            guards="a tribe writes no more on a day than it may",
            without="letting every write in",
            cuts=(Cut(path=_ACCESS, old="    IF written > p_per_day THEN\n", new="    IF false THEN\n"),),
            tests=("tests/integration/test_pace.py::test_of_a_tribes_writes_that_come_at_once_exactly_its_day_passes",),
        ),
        Gate(
            name="sign-in-waits",
            guards="a source whose tokens failed too often waits, whatever its next token",
            without="never making a source wait",
            cuts=(
                Cut(
                    path=f"{BASELINE}/74_sessions.sql",
                    old="    WHERE f.source_hash = p_source AND o.oldest + p_within > p_now AND o.oldest <= p_now ",
                    new="    WHERE false AND f.source_hash = p_source AND o.oldest + p_within > p_now ",
                ),
            ),
            tests=("tests/integration/test_sessions.py::test_a_source_that_waits_writes_nothing_however_often_it_comes",),
        ),
        Gate(
            name="sign-in-one-by-one",
            guards="of tries that come at once from one source no more than the limit are looked at",
            without="looking at all of them side by side",
            cuts=(
                Cut(
                    path=f"{BASELINE}/74_sessions.sql",
                    old="        PERFORM pg_advisory_xact_lock(hashtextextended('sign_in:' || encode(source, 'hex'), 0));\n",
                    new="",
                ),
            ),
            tests=(
                "tests/integration/test_sessions.py::test_a_right_guess_that_comes_at_once_with_the_wrong_ones_waits_for_their_count",
            ),
        ),
        Gate(
            name="turns-of-the-responder",
            guards="the incident agent is asked no more often than it may be, however many ask at once",
            without="letting every turn in",
            cuts=(
                Cut(path=_RESPONDER, old="    IF counted.turns > p_per_day THEN\n", new="    IF false THEN\n"),
                Cut(path=_RESPONDER, old="    IF spent > now + interval '1 minute' THEN\n", new="    IF false THEN\n"),
                Cut(path=_RESPONDER, old="    IF counted.usd > p_usd_per_day THEN\n", new="    IF false THEN\n"),
            ),
            tests=("tests/integration/test_responder.py::test_of_sixteen_that_ask_at_once_no_more_get_in_than_may",),
        ),
        Gate(
            name="cost-of-a-turn",
            guards="a turn of the incident agent asks no more once it cost all that it may",
            without="asking on",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/responder/loop.py",
                    old="        return Stop.SPENDING if self.rounds and self.tally.usd >= self.most_usd else None",
                    new="        return None",
                ),
            ),
            tests=("tests/unit/test_responder.py::test_a_turn_asks_no_more_once_it_cost_all_that_it_may",),
        ),
        Gate(
            name="model-gives-up",
            guards="every model call is bounded by the caller's deadline",
            without="asking though no time is left",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/models/bounded.py",
                    old="        if (remaining := until - clock()) <= 0:\n",
                    new="        if (remaining := until - clock()) is None:\n",
                ),
            ),
            tests=("tests/unit/test_bounded.py::test_without_time_nothing_is_asked",),
        ),
        Gate(
            name="reply-is-capped",
            guards="a provider's endless answer is read up to a cap",
            without="reading it to its end",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/models/http_wire.py",
                    old="            if size > MOST_REPLY_BYTES:\n",
                    new="            if size > 64 * MOST_REPLY_BYTES:\n",
                ),
            ),
            tests=("tests/unit/test_model_wires.py::test_an_endless_answer_is_read_up_to_a_cap",),
        ),
        Gate(
            name="body-is-bounded",
            guards="a body of more than 64 KB is refused",
            without="reading bodies of any size",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/lambda_http/body.py",
                    old="    if len(raw) > most_bytes:\n        raise _too_large(len(raw), most_bytes)\n    if not raw:\n        if any",
                    new="    if not raw:\n        if any",
                ),
            ),
            tests=("tests/contract/test_bad_input.py::test_body_of_64_kb_is_read_and_one_byte_more_is_413",),
        ),
        Gate(
            name="requests-in-flight",
            guards="requests beyond the bound are 503 with the time to wait",
            without="taking every request",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/gateway/app.py",
                    old="        if self._in_flight.total() >= self._most:\n",
                    new="        if False:\n",
                ),
            ),
            tests=("tests/contract/test_gateway.py::test_requests_beyond_the_bound_are_503_with_retry_after",),
        ),
        Gate(
            name="evidence-hash",
            guards="bytes that are not the announced ones are refused",
            without="taking whatever comes",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/evidence/keeper.py",
                    old="        if hashlib.sha256(content).hexdigest() != sha256:\n",
                    new="        if not content:\n",
                ),
            ),
            tests=(
                "tests/integration/test_evidence.py::test_bytes_that_are_not_the_announced_ones_are_refused_and_none_unannounced_are_taken",
            ),
        ),
        Gate(
            name="evidence-at-rest",
            guards="no bytes are handed out that were changed where they are kept",
            without="handing out what the folder holds",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/files/folder.py",
                    old="        if hashlib.sha256(content).hexdigest() != file.sha256:\n",
                    new="        if not content:\n",
                ),
            ),
            tests=("tests/integration/test_evidence.py::test_folder_hands_out_no_bytes_that_were_changed",),
        ),
        Gate(
            name="evidence-room",
            guards="a tribe keeps no more bytes of files than it may",
            without="keeping any number",
            cuts=(
                Cut(
                    path=f"{BASELINE}/47_evidence.sql",
                    old="        IF kept + p_bytes > p_most THEN\n",
                    new="        IF false THEN\n",
                ),
            ),
            tests=(
                "tests/integration/test_evidence.py::test_tribe_keeps_no_more_than_it_may_and_no_file_larger_than_ten_megabytes",
            ),
        ),
        Gate(
            name="schema-requirement",
            guards="code that is older than the schema requires refuses to run",
            without="running on whatever schema there is",
            cuts=(Cut(path=f"{LIBRARY}/store/level.py", old="    if oldest_code > CODE_LEVEL:\n", new="    if False:\n"),),
            tests=("tests/integration/test_migrations.py::test_code_older_than_the_schema_requires_serves_no_request",),
        ),
        Gate(
            name="one-migration-at-a-time",
            guards="two processes that migrate at once both succeed: they wait for each other",
            without="not waiting",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/store/migrate.py",
                    old='            driver.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))  # however long another migration takes\n',
                    new="",
                ),
            ),
            tests=("tests/integration/test_migrations.py::test_two_processes_that_migrate_at_once_both_succeed",),
        ),
        Gate(
            name="known-schema",
            guards="a schema that no migration leads from is refused in plain words and left as it is",
            without="taking it for a later one",
            cuts=(Cut(path=f"{LIBRARY}/store/level.py", old="    if not is_known(revision):\n", new="    if False:\n"),),
            tests=(
                "tests/integration/test_migrations.py::test_schema_of_a_version_that_this_one_does_not_know_is_refused_in_plain_words",
            ),
        ),
        Gate(
            name="cell-keeps-its-half",
            guards="a cell that hangs leaves the others half of the places",
            without="letting one cell have them all",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/gateway/app.py",
                    old="        if cell is not None and self._in_flight[cell] >= self._most_of_cell:\n",
                    new="        if False:\n",
                ),
            ),
            tests=(
                "tests/contract/test_gateway.py::test_requests_of_a_cell_beyond_its_half_are_503_and_those_of_others_are_served",
            ),
        ),
        Gate(
            name="migration-lets-go",
            guards="a migration that waits for a lock lets go of it, so that readers do not wait behind it",
            without="waiting as long as it takes",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/store/migrate.py",
                    old="            driver.execute(f\"SET LOCAL lock_timeout = '{LOCK_WAIT_S}s'\".encode())\n",
                    new="",
                ),
            ),
            tests=(
                "tests/chaos/test_migrating.py::test_a_migration_behind_a_long_transaction_lets_readers_through_until_it_gets_its_lock",
            ),
        ),
        Gate(
            name="old-writer",
            guards="after a failover a connection to the old writer is given up, and writes go on without a restart",
            without="keeping it",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/store/failures.py",
                    old=" or error.sqlstate == _READ_ONLY",
                    new="",
                ),
            ),
            tests=(
                "tests/chaos/test_promotion.py::test_an_address_that_led_to_a_replica_for_a_while_takes_writes_again_without_a_restart",
            ),
        ),
        Gate(
            name="slow-head",
            guards="a caller who never comes to the end of the head is cut",
            without="waiting for it for ever",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/gateway/patience.py",
                    old="{_Stage.HEAD: self.patience.head_s, _Stage.REQUEST",
                    new="{_Stage.REQUEST",
                ),
            ),
            tests=("tests/contract/test_slow_callers.py::test_a_byte_now_and_then_buys_no_time_for_the_head",),
        ),
        Gate(
            name="carried-bytes",
            guards="bytes of evidence that are carried beside an export are those of their hash",
            without="carrying whatever is found",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/transfer/evidence.py",
                    old=" and hashlib.sha256(content).hexdigest() == file.sha256",
                    new="",
                ),
            ),
            tests=(
                "tests/integration/test_evidence.py::test_files_go_into_a_folder_beside_the_export_and_back_and_what_is_there_stays",
            ),
        ),
        Gate(
            name="audit-unanswered",
            guards="a part that no database of advisories could be asked about is never called safe",
            without="taking a missing answer for none",
            cuts=(
                Cut(
                    path="layers/supply/audit.py",
                    old='    if len(results) != len(parts):\n        raise Unanswered("the answer does not fit the question")\n',
                    new="    results = results or [None] * len(parts)\n",
                ),
            ),
            tests=("tests/infra/test_supply.py::test_nothing_is_called_safe_for_want_of_an_answer",),
        ),
    ),
)
