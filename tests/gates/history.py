"""Gates against stale, retracted or erased facts that go on being believed, and against a history that can be changed."""

from __future__ import annotations

from tests.gates.gate import BASELINE, LIBRARY, Cut, Gate, Group

_RULES = f"{BASELINE}/20_rules.sql"
_APPLY = f"{BASELINE}/55_apply.sql"
_CURATE = f"{BASELINE}/57_curate.sql"
_RECALL = f"{BASELINE}/60_recall.sql"
_GARDEN = f"{BASELINE}/80_garden.sql"
_SEARCH = f"{BASELINE}/40_search.sql"

GROUP = Group(
    title="Stale and retracted facts, and history",
    gates=(
        Gate(
            name="only-active-is-recalled",
            guards="only active lessons are believed, and no recall shows another",
            without="letting every status into the scope of a search of the present",
            cuts=(
                Cut(
                    path=_SEARCH,
                    old="SELECT CASE WHEN s.present THEN l.believed ELSE",
                    new="SELECT CASE WHEN s.present THEN true ELSE",
                ),
            ),
            tests=("tests/integration/test_recall.py::test_no_recall_ever_shows_what_is_not_believed",),
        ),
        Gate(
            name="expiry-by-reads",
            guards="reads apply expiry by themselves: no job has to run for a lesson to stop being believed",
            without="leaving expired lessons among the hits",
            cuts=(Cut(path=f"{LIBRARY}/core/ranking.py", old="        if expired(lesson, at=at):\n", new="        if False:\n"),),
            tests=("tests/integration/test_recall.py::test_time_ends_belief_without_a_gardener",),
        ),
        Gate(
            name="withering-by-reads",
            guards="what was not confirmed for a half-life and has little confidence left is not believed",
            without="leaving withered lessons among the hits",
            cuts=(
                Cut(path=f"{LIBRARY}/core/ranking.py", old="        if withered(lesson, at=at):\n", new="        if False:\n"),
            ),
            tests=("tests/unit/test_core_ranking.py::test_each_rule_leaves_out_what_it_is_for_and_is_counted",),
        ),
        Gate(
            name="expiry-by-writes",
            guards="writes apply expiry by themselves: an expired lesson makes way and opposes nothing",
            without="taking lessons that time ended for standing",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/core/outcome.py",
                    old="    standing = [j for j in judged if not _lapsed(j, at)]",
                    new="    standing = list(judged)",
                ),
            ),
            tests=("tests/unit/test_core_outcome.py::test_what_time_has_ended_is_stamped_and_counts_for_nothing_else",),
        ),
        Gate(
            name="text-is-immutable",
            guards="nothing is overwritten: what a lesson says never changes, only its standing does",
            without="letting an UPDATE change a lesson's text",
            cuts=(
                Cut(
                    path=_RULES,
                    old="    ELSIF (NEW.tribe_id, NEW.lesson_id, NEW.agent_id, NEW.kind, NEW.text,",
                    new="    ELSIF false AND (NEW.tribe_id, NEW.lesson_id, NEW.agent_id, NEW.kind, NEW.text,",
                ),
            ),
            tests=("tests/integration/test_rules.py::test_what_a_lesson_says_and_when_it_began_never_changes",),
        ),
        Gate(
            name="believed-once",
            guards="a lesson is activated at most once, and its interval once closed stays closed",
            without="letting an UPDATE open the interval again",
            cuts=(
                Cut(
                    path=_RULES,
                    old="    IF OLD.activated_tick IS NOT NULL AND NEW.activated_tick IS DISTINCT FROM OLD.activated_tick\n",
                    new="    IF false AND OLD.activated_tick IS NOT NULL AND NEW.activated_tick IS DISTINCT FROM OLD.activated_tick\n",
                ),
                Cut(
                    path=_RULES,
                    old="       OR OLD.deactivated_tick IS NOT NULL AND NEW.deactivated_tick IS DISTINCT FROM OLD.deactivated_tick\n",
                    new="",
                ),
            ),
            tests=("tests/integration/test_rules.py::test_a_deactivated_lesson_cannot_be_believed_again",),
        ),
        Gate(
            name="clock-always-rises",
            guards="the instants of ticks always rise, whatever the server's clock does, so that an instant resolves to one tick",
            without="taking the server's clock as it is",
            cuts=(
                Cut(
                    path=f"{BASELINE}/50_learn.sql",
                    old="clock_at = greatest(clock_at + interval '1 microsecond', clock_timestamp())",
                    new="clock_at = clock_timestamp()",
                ),
            ),
            tests=("tests/integration/test_under_the_gate.py::test_instants_of_ticks_rise_though_the_clock_was_set_back",),
        ),
        Gate(
            name="no-recall-of-the-future",
            guards="an instant or tick that is yet to come is refused: nobody can say what will be believed",
            without="answering for ticks that were not reached",
            cuts=(Cut(path=_RECALL, old="        IF p_tick > t.clock THEN\n", new="        IF false THEN\n"),),
            tests=("tests/integration/test_recall.py::test_the_future_is_refused",),
        ),
        Gate(
            name="changes-are-whole-ticks",
            guards="the change feed gives whole ticks: whoever goes on from `tick` misses nothing and sees nothing twice",
            without="cutting a page off in the midst of a tick",
            cuts=(
                Cut(
                    path=f"{BASELINE}/67_history.sql",
                    old="            upto := coalesce((SELECT max(w.tick) FROM unnest(ticks) AS w(tick) WHERE w.tick < ticks[p_limit + 1]), ticks[1]);",
                    new="            upto := ticks[p_limit + 1];",
                ),
            ),
            tests=("tests/integration/test_changes.py::test_a_tick_with_more_changes_than_the_limit_comes_whole_and_alone",),
        ),
        Gate(
            name="confirmed-since-read",
            guards="the gardener looks again under the gate: a lesson that was confirmed since it was read is not stamped",
            without="stamping what was withered when it was read",
            cuts=(
                Cut(
                    path=_GARDEN,
                    old="                                      AND f.tick > p_read_tick) END\n",
                    new="                                      AND false) END\n",
                ),
            ),
            tests=("tests/integration/test_garden_ends.py::test_a_lesson_that_was_confirmed_since_it_was_read_is_not_stamped",),
        ),
        Gate(
            name="grace-and-keep-until",
            guards="the gardener evicts nothing inside its grace or before `keep_until`; the database itself refuses",
            without="evicting by capacity alone",
            cuts=(
                Cut(
                    path=_GARDEN,
                    old="opened.policy_version = p_policy_version AND l.learned_at <= p_now - p_grace\n"
                    "                 AND (l.keep_until IS NULL OR l.keep_until <= p_now))",
                    new="opened.policy_version = p_policy_version)",
                ),
            ),
            tests=("tests/integration/test_garden_ends.py::test_the_database_itself_refuses_to_evict_what_may_not_go",),
        ),
        Gate(
            name="one-agent-counts-once",
            guards="a distinct confirming agent counts once, and an author not at all: nobody raises its own confidence by repetition",
            without="counting each repetition, the author's too",
            cuts=(
                Cut(
                    path=_CURATE,
                    old="    IF l.agent_id <> p_actor AND NOT EXISTS (\n",
                    new="    IF NOT EXISTS (\n",
                ),
            ),
            tests=("tests/integration/test_learn.py::test_an_author_cannot_raise_its_own_confidence_by_repetition",),
        ),
        Gate(
            name="erased-words-in-drafts",
            guards="erasing takes the words out of everything that holds them: drafts of decisions, too",
            without="leaving drafts as they are",
            cuts=(
                Cut(
                    path=_CURATE,
                    old="    UPDATE decision SET draft = NULL\n    WHERE tribe_id = p_tribe AND draft IS NOT NULL AND (",
                    new="    UPDATE decision SET draft = NULL\n    WHERE false AND tribe_id = p_tribe AND draft IS NOT NULL AND (",
                ),
            ),
            tests=("tests/integration/test_erase.py::test_erased_words_are_found_nowhere",),
        ),
        Gate(
            name="erased-words-in-vectors",
            guards="erasing takes a lesson's vectors out of every space",
            without="leaving vectors as they are",
            cuts=(
                Cut(
                    path=_CURATE,
                    old="    DELETE FROM lesson_vector WHERE tribe_id = p_tribe AND lesson_id = ANY (gone);\n",
                    new="",
                ),
            ),
            tests=("tests/integration/test_spaces.py::test_erasing_takes_a_lesson_out_of_every_space",),
        ),
        Gate(
            name="erased-words-in-terms",
            guards="erasing takes a lesson's terms out of the search",
            without="leaving terms as they are",
            cuts=(
                Cut(
                    path=_CURATE,
                    old="    DELETE FROM lesson_term WHERE tribe_id = p_tribe AND lesson_id = ANY (gone);\n",
                    new="",
                ),
            ),
            tests=("tests/integration/test_erase.py::test_erased_words_are_found_nowhere",),
        ),
        Gate(
            name="erased-words-in-reviews",
            guards="erasing takes the words out of the review queue",
            without="leaving cases as they are",
            cuts=(
                Cut(
                    path=_CURATE,
                    old="    DELETE FROM review r\n    WHERE r.tribe_id = p_tribe AND (",
                    new="    DELETE FROM review r\n    WHERE false AND (",
                ),
            ),
            tests=("tests/integration/test_erase.py::test_erased_words_are_found_nowhere",),
        ),
        Gate(
            name="tombstone-refuses",
            guards="a tombstone with a keyed hash refuses erased words when they come again",
            without="keeping them as new",
            cuts=(
                Cut(
                    path=_APPLY,
                    old="WHERE l.tribe_id = tribe AND l.status = 'erased' AND l.text_hash",
                    new="WHERE false AND l.tribe_id = tribe AND l.status = 'erased' AND l.text_hash",
                ),
            ),
            tests=("tests/integration/test_curate.py::test_erased_lesson_keeps_a_tombstone_and_its_words_are_refused",),
        ),
        Gate(
            name="erased-gets-no-vector",
            guards="an erased lesson gets no vector again",
            without="writing the vector whatever the lesson's status is",
            cuts=(
                Cut(
                    path=f"{BASELINE}/45_spaces.sql",
                    old="    SELECT p_status <> 'erased' AND (p_status IN ('active', 'pending', 'disputed') OR p_activated IS NOT NULL OR p_rejected IS NOT NULL)",
                    new="    SELECT p_status IN ('active', 'pending', 'disputed') OR p_activated IS NOT NULL OR p_rejected IS NOT NULL",
                ),
            ),
            tests=("tests/integration/test_garden_upkeep.py::test_an_erased_lesson_gets_no_vector",),
        ),
        Gate(
            name="embedding-locks-the-lesson",
            guards="of a lesson that is erased while it is embedded no vector stays",
            without="not locking the lesson's row while its vector is written",
            cuts=(Cut(path=f"{BASELINE}/45_spaces.sql", old="    FOR KEY SHARE OF l SKIP LOCKED\n", new=""),),
            tests=(
                "tests/integration/test_garden_upkeep.py::test_of_a_lesson_that_is_erased_while_it_is_embedded_no_vector_stays",
            ),
        ),
        Gate(
            name="receipt-signature",
            guards="a receipt is signed: an edited one is told",
            without="accepting any signature",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/recall/signing.py",
                    old='        return hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))',
                    new="        return bool(expected)",
                ),
            ),
            tests=(
                "tests/integration/test_verify.py::test_edited_receipt_is_detected",
                "tests/integration/test_timeline.py::test_a_receipt_that_is_not_as_it_was_signed_is_refused",
            ),
        ),
        Gate(
            name="receipt-of-this-query",
            guards="a receipt is verified for the query that it answers, and no other",
            without="not comparing the query's digest",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/recall/verifying.py",
                    old="        if not hmac.compare_digest(said.query_digest, query_digest(query)):\n",
                    new="        if False:\n",
                ),
            ),
            tests=("tests/integration/test_verify.py::test_another_query_is_detected",),
        ),
        Gate(
            name="lie-under-the-key",
            guards="`verify` replays a receipt and re-checks belief, filters, similarity and score of each hit",
            without="believing whatever was signed",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/recall/verifying.py",
                    old="        missed = passed_over(said.hits, again.ranking.ranked, said.question.limit)\n",
                    new="        missed = passed_over(said.hits, again.ranking.ranked, said.question.limit)\n        differences = []\n",
                ),
            ),
            tests=("tests/integration/test_verify.py::test_a_lie_under_the_real_key_diverges",),
        ),
        Gate(
            name="cited-receipt-served-it",
            guards="a confirmation cites a receipt that really served the lesson",
            without="taking any genuine receipt",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/recall/citing.py",
                    old='    if not any(one["id"] == wanted for one in genuine["hits"]):\n',
                    new="    if not wanted:\n",
                ),
            ),
            tests=("tests/integration/test_writing.py::test_receipt_that_was_changed_or_served_something_else_is_refused",),
        ),
        Gate(
            name="export-checksum",
            guards="an export that was altered or cut off is refused, wholly",
            without="not comparing the last line with what was read",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/transfer/tribes/form.py",
                    old="        if said != self.tally.end():\n",
                    new="        if False:\n",
                ),
            ),
            tests=(
                "tests/integration/test_transfer.py::test_file_that_is_no_whole_export_is_refused_by_line_and_nothing_of_it_stays",
            ),
        ),
        Gate(
            name="restore-holds-the-rules",
            guards="a restored tribe obeys the database's rules of rivals, each line being right alone",
            without="not looking the whole over before it is committed",
            cuts=(
                Cut(
                    path=f"{BASELINE}/10_tables.sql",
                    old=",\n    CONSTRAINT rival_not_both CHECK (NOT (a_on AND b_on))",
                    new="",
                ),
            ),
            tests=("tests/integration/test_transfer.py::test_two_believed_rivals_are_refused_though_each_lesson_alone_is_right",),
        ),
        Gate(
            name="lost-ticks",
            guards="ticks that a restore from a backup took back are not taken for those that come after it",
            without="taking every tick for one that was reached",
            cuts=(
                Cut(
                    path=f"{BASELINE}/60_recall.sql",
                    old="    IF gone IS NOT NULL THEN\n",
                    new="    IF false THEN\n",
                ),
            ),
            tests=(
                "tests/integration/test_after_restore.py::test_ticks_of_the_lost_future_are_told_from_those_that_come_after_the_restore",
            ),
        ),
        Gate(
            name="lost-receipt",
            guards="a receipt of a tick that is lost verifies as unknown, never as agreeing",
            without="asking nobody whether its tick is known",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/recall/verifying.py",
                    old="        if self._is_lost(said):\n",
                    new="        if False:\n",
                ),
            ),
            tests=(
                "tests/integration/test_after_restore.py::test_receipt_of_a_tick_ahead_of_the_clock_is_unknown_before_the_operator_says_anything",
            ),
        ),
    ),
)
