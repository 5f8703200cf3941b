"""Gates against a search that could not run and passes for one that found nothing."""

from __future__ import annotations

from tests.gates.gate import BASELINE, LIBRARY, Cut, Gate, Group

_COVERAGE = f"{LIBRARY}/core/coverage.py"
_PIPELINE = f"{LIBRARY}/recall/pipeline.py"

GROUP = Group(
    title="A search that could not run",
    gates=(
        Gate(
            name="embedder-failed-is-unknown",
            guards="coverage is `unknown` when the query could not be embedded, hits by terms or none",
            without="saying complete all the same",
            cuts=(
                Cut(
                    path=_COVERAGE,
                    old="        return Coverage.UNKNOWN, (Cause.EMBEDDER_FAILED,)",
                    new="        return Coverage.COMPLETE, ()",
                ),
            ),
            tests=("tests/integration/test_recall.py::test_without_an_embedding_hits_come_by_terms_and_coverage_is_unknown",),
        ),
        Gate(
            name="lesson-without-vector-is-partial",
            guards="coverage is `partial` when a lesson in scope has no vector in the serving space",
            without="not counting lessons without a vector",
            cuts=(Cut(path=_COVERAGE, old="    elif observed.with_vector < observed.in_scope:\n", new="    elif False:\n"),),
            tests=("tests/integration/test_recall.py::test_lessons_without_a_vector_make_coverage_partial",),
        ),
        Gate(
            name="index-is-approximate",
            guards="coverage is `approximate` when an index decided",
            without="taking an index for an exact search",
            cuts=(Cut(path=_COVERAGE, old="    if observed.vector_path is SearchPath.VECTOR_HNSW:\n", new="    if False:\n"),),
            tests=("tests/integration/test_recall.py::test_a_tribe_above_the_limit_is_searched_by_its_own_index_and_says_so",),
        ),
        Gate(
            name="time-over-is-partial",
            guards="coverage is `partial` when the time for comparing lessons was over before all were",
            without="not saying that time was over",
            cuts=(
                Cut(
                    path=_COVERAGE,
                    old="        causes.append(Cause.TIME_BUDGET)\n",
                    new="        pass\n",
                ),
            ),
            tests=("tests/integration/test_absence.py::test_without_time_to_compare_them_all_absence_may_not_be_claimed",),
        ),
        Gate(
            name="empty-pool-is-partial",
            guards="a pool that rules of time or confidence emptied is no complete search",
            without="not saying that the pool was exhausted",
            cuts=(
                Cut(
                    path=_COVERAGE,
                    old="    if observed.pool_exhausted:\n        causes.append(Cause.POOL_EXHAUSTED)\n",
                    new="",
                ),
            ),
            tests=("tests/integration/test_adversary.py::test_a_pool_that_stays_too_small_is_no_complete_search",),
        ),
        Gate(
            name="wider-pool",
            guards="what time or confidence excludes cannot hide a match behind it: the pool is widened",
            without="searching once",
            cuts=(
                Cut(
                    path=_PIPELINE,
                    old="            if not starved(found, ranking) or asked.pool == LARGEST_POOL:\n",
                    new="            if True:\n",
                ),
            ),
            tests=("tests/integration/test_adversary.py::test_what_time_or_confidence_excludes_cannot_hide_a_match_behind_it",),
        ),
        Gate(
            name="index-confirmed-exactly",
            guards="where an index finds nothing, every lesson is compared before that is said",
            without="believing the index",
            cuts=(
                Cut(
                    path=_PIPELINE,
                    old="        if confirm and not outcome.ranking.ranked and",
                    new="        if False and confirm and not outcome.ranking.ranked and",
                ),
            ),
            tests=(
                "tests/integration/test_absence.py::test_what_the_index_passed_over_is_found_before_absence_is_claimed",
                "tests/integration/test_absence.py::test_an_empty_answer_of_the_index_is_confirmed_by_comparing_every_lesson",
            ),
        ),
        Gate(
            name="absence-needs-complete",
            guards="only a complete search may support that there is nothing: `assert_absence()` raises unless it was",
            without="asserting absence on approximate or partial coverage",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/core/receipt.py",
                    old="        return self.coverage is Coverage.COMPLETE and not self.hits and not self._left_out",
                    new="        return not self.hits and not self._left_out",
                ),
                Cut(
                    path=f"{LIBRARY}/core/receipt.py",
                    old="        if self.coverage is not Coverage.COMPLETE:\n",
                    new="        if False:\n",
                ),
            ),
            tests=(
                "tests/unit/test_core_receipt.py::test_only_a_complete_search_that_found_nothing_shows_that_there_is_nothing",
            ),
        ),
        Gate(
            name="near-miss-is-no-absence",
            guards="a search that left out what nearly matched may not be called empty",
            without="not counting near misses",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/core/receipt.py",
                    old="if one.rule in (WEAK_MATCH, UNDECIDED))",
                    new="if one.rule == UNDECIDED)",
                ),
            ),
            tests=("tests/integration/test_adversary.py::test_a_near_miss_keeps_anybody_from_claiming_that_there_is_nothing",),
        ),
        Gate(
            name="undecided-is-no-absence",
            guards="nothing is said of absence while something undecided bears on the question",
            without="not counting pending and disputed lessons",
            cuts=(
                Cut(
                    path=_PIPELINE,
                    old="                open_questions = undecided(found, nearer=1 - (floor - WEAK_MARGIN))\n",
                    new="                open_questions = 0\n",
                ),
            ),
            tests=(
                "tests/integration/test_curate_adversary.py::test_nothing_is_said_of_absence_while_something_undecided_bears_on_the_question",
            ),
        ),
        Gate(
            name="sdk-asserts-absence",
            guards="the SDK's `assert_absence()` raises unless the search was complete and the server says so",
            without="asserting it whenever there are no hits",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/client/receipts.py",
                    old='        if self.coverage != "complete":\n',
                    new="        if False:\n",
                ),
                Cut(
                    path=f"{LIBRARY}/client/receipts.py",
                    old="        if not self.may_assert_absence:\n",
                    new="        if False:\n",
                ),
            ),
            tests=(
                "tests/unit/test_client.py::test_absence_cannot_be_asserted_on_a_search_that_was_not_complete",
                "tests/unit/test_client.py::test_absence_cannot_be_asserted_when_the_server_says_so_though_nothing_was_found",
            ),
        ),
        Gate(
            name="prompt-says-what-was-searched",
            guards="a model that is shown an empty recall is told when nothing may be concluded from it",
            without="calling every empty search complete",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/client/prompt.py",
                    old="    if receipt.may_assert_absence:\n",
                    new="    if not found:\n",
                ),
            ),
            tests=("tests/unit/test_client_prompt.py::test_any_other_search_warns_against_concluding_that_nothing_is_known",),
        ),
        Gate(
            name="replica-is-fresh",
            guards="read-your-writes: whoever asks for a tick that the replica lacks is answered by the writer",
            without="taking a replica's answer whatever tick it has",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/recall/freshness.py",
                    old="        behind = at_least is not None and found.tick < at_least\n",
                    new="        behind = False\n",
                ),
            ),
            tests=(
                "tests/integration/test_replica.py::test_whoever_asks_for_a_tick_that_the_replica_lacks_is_answered_by_the_writer",
            ),
        ),
        Gate(
            name="late-replica-is-partial",
            guards="a replica that is behind while the writer is away never shows that there is nothing",
            without="not saying that a replica was behind",
            cuts=(Cut(path=_COVERAGE, old="    if not observed.replica_behind:\n", new="    if True:\n"),),
            tests=("tests/unit/test_core_receipt.py::test_coverage_is_as_good_as_the_search_was_and_says_why_it_is_no_better",),
        ),
        Gate(
            name="space-under-recall",
            guards="queries never mix spaces: a process that has not heard of a switch finds out and embeds anew",
            without="answering without vectors when the tribe serves from another space",
            cuts=(
                Cut(
                    path=_PIPELINE,
                    old="        if embedding is not None and outcome.found.path is None and not moved:\n",
                    new="        if False:\n",
                ),
            ),
            tests=(
                "tests/integration/test_spaces_meanwhile.py::test_a_process_that_has_not_heard_of_the_switch_finds_out_and_answers",
            ),
        ),
        Gate(
            name="vector-width",
            guards="the database takes no vector of another width than its space's",
            without="taking vectors of any width",
            cuts=(
                Cut(
                    path=f"{BASELINE}/20_rules.sql",
                    old="    IF vector_dims(NEW.embedding) <> width THEN",
                    new="    IF false THEN",
                ),
            ),
            tests=("tests/integration/test_spaces.py::test_the_database_takes_no_vector_of_another_width",),
        ),
        Gate(
            name="embedder-drift",
            guards="an embedder that gives other vectors than its space was begun with is refused",
            without="not comparing it with the stored references",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/spaces/drift.py",
                    old="        if not all(one >= LEAST_SIMILARITY for one in similar):",
                    new="        if not similar:",
                ),
            ),
            tests=("tests/integration/test_drift.py::test_an_embedder_that_drifted_is_refused_by_name",),
        ),
        Gate(
            name="switch-when-complete",
            guards="a tribe switches to a space only when no lesson lacks a vector there, looked at under the gate",
            without="switching to a space with holes",
            cuts=(
                Cut(path=f"{BASELINE}/45_spaces.sql", old="    IF missing IS DISTINCT FROM 0 THEN\n", new="    IF false THEN\n"),
            ),
            tests=(
                "tests/integration/test_spaces.py::test_what_was_learned_between_the_check_and_the_switch_is_seen_under_the_gate",
            ),
        ),
        Gate(
            name="responder-absence",
            guards="the incident agent says that nothing is known only when every recall bears it out",
            without="letting such a claim through on an incomplete recall",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/responder/loop.py",
                    old="        if not claims or self._may_assert_absence():\n",
                    new="        if True:\n",
                ),
            ),
            tests=(
                "tests/unit/test_responder.py::test_a_claim_of_absence_on_an_incomplete_recall_is_rewritten_once",
                "tests/unit/test_responder.py::test_a_claim_of_absence_that_is_made_again_is_withheld_with_what_could_not_be_checked",
            ),
        ),
        Gate(
            name="responder-declares-absence",
            guards="a model that owns up to a claim of absence in words that nobody foresaw is held to it",
            without="going by the words alone",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/responder/loop.py",
                    old="absences(said.text) or ((said.text,) if said.claims_absence else ())",
                    new="absences(said.text)",
                ),
            ),
            tests=(
                "tests/unit/test_responder.py::test_a_model_that_owns_up_to_a_claim_in_words_that_nobody_foresaw_is_held_to_it",
            ),
        ),
        Gate(
            name="unreachable-is-not-empty",
            guards="nobody is told that there is nothing while the writer is away",
            without="taking a replica's word for what is not there",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/store/reading.py",
                    old="            if side.is_writer or result != nothing:\n",
                    new="            if side.is_writer or result is not Ellipsis:\n",
                ),
            ),
            tests=("tests/unit/test_reading.py::test_nobody_is_told_that_there_is_nothing_while_the_writer_is_away",),
        ),
    ),
)
