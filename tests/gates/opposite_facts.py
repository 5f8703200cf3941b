"""Gates against opposite facts that are both believed."""

from __future__ import annotations

from tests.gates.gate import BASELINE, LIBRARY, Cut, Gate, Group

_LEARN = f"{BASELINE}/50_learn.sql"
_APPLY = f"{BASELINE}/55_apply.sql"
_RULES = f"{BASELINE}/20_rules.sql"
_TABLES = f"{BASELINE}/10_tables.sql"

GROUP = Group(
    title="Opposite facts",
    gates=(
        Gate(
            name="row-lock",
            guards="all belief writes of a tribe are in one order, so two learns at the same instant never leave opposite facts believed",
            without="leaving the row lock out of the gate's statement",
            cuts=(
                Cut(
                    path=_LEARN,
                    old="SELECT * INTO opened FROM tribe WHERE tribe_id = p_tribe FOR NO KEY UPDATE;",
                    new="SELECT * INTO opened FROM tribe WHERE tribe_id = p_tribe;",
                ),
            ),
            tests=("tests/integration/test_concurrency.py::test_curators_who_judged_before_either_committed_leave_one_believed",),
        ),
        Gate(
            name="recheck-since-t0",
            guards="a learn commits only if nothing relevant was committed since it read its candidates at tick T0",
            without="never looking at the events in (T0, now] under the gate",
            cuts=(
                Cut(
                    path=_LEARN,
                    old="IF opened.clock > (p ->> 'read_tick')::bigint AND NOT unconditional THEN",
                    new="IF false AND NOT unconditional THEN",
                ),
            ),
            tests=(
                "tests/integration/test_concurrency.py::test_curators_who_judged_before_either_committed_leave_one_believed",
                "tests/integration/test_concurrency.py::test_a_writer_that_was_judged_against_an_older_state_judges_only_the_new_pair",
            ),
        ),
        Gate(
            name="role-under-the-gate",
            guards="role and ownership are read again under the gate: a curator who was made a writer meanwhile replaces nothing",
            without="committing whatever role the plan was made with",
            cuts=(
                Cut(
                    path=_LEARN,
                    old="changed + fresh > 0 OR role <> p ->> 'role' OR opened.policy_version",
                    new="changed + fresh > 0 OR opened.policy_version",
                ),
            ),
            tests=(
                "tests/integration/test_authority.py::test_a_role_that_is_lost_while_the_judge_is_asked_counts_at_the_commit",
            ),
        ),
        Gate(
            name="policy-under-the-gate",
            guards="the tribe's policy is read again under the gate: what it no longer lets a source outrank is not replaced",
            without="committing whatever policy the plan was made by",
            cuts=(
                Cut(
                    path=_LEARN,
                    old="role <> p ->> 'role' OR opened.policy_version <> (p ->> 'policy_version')::integer) THEN",
                    new="role <> p ->> 'role') THEN",
                ),
            ),
            tests=(
                "tests/integration/test_under_the_gate.py::test_a_policy_that_changes_while_the_judge_is_asked_counts_at_the_commit",
            ),
        ),
        Gate(
            name="space-under-the-gate",
            guards="the serving space is read again under the gate: no lesson is compared in one space and served from another",
            without="committing though the tribe serves from another space by now",
            cuts=(Cut(path=_LEARN, old="IF NOT serving OR opened.clock", new="IF opened.clock"),),
            tests=(
                "tests/integration/test_spaces_meanwhile.py::test_a_space_that_nobody_knew_of_and_that_serves_by_the_commit_has_the_lesson",
            ),
        ),
        Gate(
            name="read-committed",
            guards="a commit sees all that was committed before the gate opened: any isolation but READ COMMITTED is refused",
            without="not looking at the transaction's isolation",
            cuts=(
                Cut(
                    path=_LEARN,
                    old="IF current_setting('transaction_isolation') <> 'read committed' THEN",
                    new="IF false THEN",
                ),
            ),
            tests=("tests/integration/test_rules.py::test_a_commit_refuses_any_isolation_but_read_committed",),
        ),
        Gate(
            name="rivals-never-both",
            guards="the database itself refuses to have two lessons believed that a verdict called rivals, whoever writes",
            without="dropping the CHECK on rival pairs",
            cuts=(Cut(path=_TABLES, old=",\n    CONSTRAINT rival_not_both CHECK (NOT (a_on AND b_on))", new=""),),
            tests=("tests/integration/test_rules.py::test_two_rivals_cannot_both_be_believed",),
        ),
        Gate(
            name="earlier-verdict-of-a-stored-lesson",
            guards="a pending lesson never becomes believed beside a rival that an earlier verdict named",
            without="forgetting the rivals on record when a stored lesson is to be believed",
            cuts=(
                Cut(path=_APPLY, old="        ELSIF cardinality(held) > 0 THEN\n", new="        ELSIF false THEN\n"),
                Cut(
                    path=f"{LIBRARY}/learn/deciding.py",
                    old="        forced.update(dict.fromkeys(reading.opponents, VerdictKind.CONFLICTS))\n",
                    new="",
                ),
                Cut(path=_TABLES, old=",\n    CONSTRAINT rival_not_both CHECK (NOT (a_on AND b_on))", new=""),
            ),
            tests=("tests/integration/test_adversary.py::test_a_pending_lesson_never_becomes_believed_beside_an_earlier_rival",),
        ),
        Gate(
            name="equal-content-once",
            guards="equal content is believed once in a tribe",
            without="making the index of believed content not unique",
            cuts=(
                Cut(
                    path=_TABLES,
                    old="CREATE UNIQUE INDEX lesson_believed_content ON",
                    new="CREATE INDEX lesson_believed_content ON",
                ),
            ),
            tests=("tests/integration/test_rules.py::test_equal_content_cannot_be_believed_twice",),
        ),
        Gate(
            name="who-may-replace",
            guards="what contradicts a belief and may not replace it is disputed: only a curator, the author or a source that outranks replaces",
            without="letting every writer replace whatever it contradicts",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/core/replacing.py",
                    old="    return writer.role is Role.CURATOR or old.agent_id == writer.agent_id or policy.outranks(draft, old)",
                    new="    return True",
                ),
            ),
            tests=(
                "tests/integration/test_learn.py::test_a_writer_supersedes_its_own_lesson_and_disputes_anothers",
                "tests/integration/test_learn.py::test_observation_with_evidence_outranks_hearsay_and_equals_do_not",
            ),
        ),
        Gate(
            name="replaces-believed-only",
            guards="a replacement takes the place of a believed lesson only, looked at under the gate",
            without="replacing what was retired while the judge was asked",
            cuts=(Cut(path=_APPLY, old="ELSIF named.status <> 'active' THEN", new="ELSIF false THEN"),),
            tests=("tests/integration/test_under_the_gate.py::test_only_what_is_believed_is_replaced_whatever_was_planned",),
        ),
        Gate(
            name="replaces-own-only",
            guards="nobody but a curator replaces what another agent taught, looked at under the gate",
            without="not asking whose the named lesson is when the gate is open",
            cuts=(
                Cut(
                    path=_APPLY,
                    old="ELSIF named.agent_id <> (p ->> 'agent_id')::uuid AND p_role <> 'curator' THEN",
                    new="ELSIF false THEN",
                ),
            ),
            tests=(
                "tests/integration/test_under_the_gate.py::test_nobody_but_a_curator_replaces_what_another_taught_whatever_was_planned",
            ),
        ),
        Gate(
            name="dispute-as-it-was-seen",
            guards="a curator decides about what he saw: a dispute that another lesson came into is refused",
            without="not comparing the tick at which the page was made",
            cuts=(Cut(path=_APPLY, old="AND b.since_tick > seen) THEN", new="AND false) THEN"),),
            tests=("tests/integration/test_curate.py::test_curator_who_saw_an_older_page_decides_nothing_about_what_came_since",),
        ),
        Gate(
            name="every-rival-ends",
            guards="accepting a dispute ends every believed rival in the same tick, whichever the plan knew of",
            without="ending only those that a judge names, with the CHECK on rival pairs out of the way",
            cuts=(
                Cut(
                    path=_APPLY,
                    old="            supersede := supersede || held; -- every rival, whichever the plan knew of\n",
                    new="",
                ),
                Cut(
                    path=f"{LIBRARY}/learn/deciding.py",
                    old="        forced.update(dict.fromkeys(reading.opponents, VerdictKind.CONFLICTS))\n        forced.update(proposal.stored.forced)\n",
                    new="        forced.update({})\n",
                ),
                Cut(path=_TABLES, old=",\n    CONSTRAINT rival_not_both CHECK (NOT (a_on AND b_on))", new=""),
            ),
            tests=("tests/integration/test_curate.py::test_accepting_works_while_no_judge_can_be_reached",),
        ),
        Gate(
            name="rejected-is-on-record",
            guards="when what a curator rejected comes again it is answered from the record, not believed",
            without="forgetting what was rejected",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/core/outcome.py",
                    old="        rejected=_split(j for j in standing if j.candidate.rejected_as is not None),",
                    new="        rejected=_split(()),",
                ),
            ),
            tests=(
                "tests/integration/test_curate.py::test_rejected_value_that_comes_again_is_disputed_with_a_pointer_to_the_record",
            ),
        ),
        Gate(
            name="no-answer-is-unsure",
            guards="a judge that fails or times out never destroys and never clears: both lessons stay, marked, and it is asked again",
            without="taking no answer for the answer that two lessons have nothing in common",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/learn/judging.py",
                    old='        return Verdict.unanswered(lesson_id, judge=self._judge.version, cause=cause, reason="the judge gave no answer")',
                    new="        return Verdict(\n"
                    "            lesson_id=lesson_id, kind=VerdictKind.UNRELATED, confidence=1.0, judge=self._judge.version, reason=cause.value\n"
                    "        )",
                ),
            ),
            tests=("tests/integration/test_learn.py::test_a_judge_that_cannot_be_reached_never_destroys",),
        ),
        Gate(
            name="verdict-names-the-pair",
            guards="an answer of a model changes a belief only if it fits its question: about another pair it is none",
            without="not comparing the pair that the answer names",
            cuts=(Cut(path=f"{LIBRARY}/models/judges/asked.py", old="    if checked.pair != label:\n", new="    if False:\n"),),
            tests=("tests/unit/test_asked_judge.py::test_what_does_not_fit_the_form_or_the_pair_is_no_answer",),
        ),
        Gate(
            name="verdict-ids-are-checked",
            guards="a verdict may name only ids that the judge was given",
            without="taking the strong judge's verdicts about whatever lesson they name",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/models/judges/tiered.py",
                    old="        return {one.lesson_id: found.get(one.lesson_id) or _no_answer(one.lesson_id, self._strong, cause) for one in doubtful}",
                    new="        return dict(found)",
                ),
                Cut(
                    path=f"{LIBRARY}/models/judges/tiered.py",
                    old="replace(verdict, first=first[key])",
                    new="replace(verdict, first=first.get(key))",
                ),
            ),
            tests=("tests/unit/test_tiered_judge.py::test_answers_about_what_was_not_asked_are_passed_over",),
        ),
        Gate(
            name="contradiction-is-confirmed",
            guards="what a cheap judge calls a contradiction ends no belief before the strong one confirmed it",
            without="asking the strong judge about doubts only, not about contradictions",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/models/judges/tiered.py",
                    old="first.kind in (VerdictKind.CONFLICTS, VerdictKind.UNSURE)",
                    new="first.kind is VerdictKind.UNSURE",
                ),
            ),
            tests=(
                "tests/unit/test_tiered_judge.py::test_without_the_strong_one_a_doubt_stays_a_doubt_whatever_the_cheap_one_said",
            ),
        ),
        Gate(
            name="late-answer-rechecked",
            guards="what the judge answers in the end is applied only while the pair is as it was",
            without="applying it to whatever the pair has become",
            cuts=(
                Cut(
                    path=f"{BASELINE}/80_garden.sql",
                    old="        RETURN false;\n    END IF;\n    IF known IS NOT NULL OR cardinality(replace_ids",
                    new="        NULL;\n    END IF;\n    IF known IS NOT NULL OR cardinality(replace_ids",
                ),
            ),
            tests=("tests/integration/test_garden_models.py::test_an_answer_is_not_applied_when_the_pair_is_another_by_then",),
        ),
        Gate(
            name="beliefs-through-functions",
            guards="runtime roles write beliefs through the functions only",
            without="granting learn's role an UPDATE of lessons",
            cuts=(
                Cut(
                    path=f"{BASELINE}/90_grants.sql",
                    old="-- Write down refusals.\nGRANT INSERT ON tributary.audit",
                    new="GRANT SELECT, UPDATE ON tributary.lesson TO tributary_learn;\nGRANT INSERT ON tributary.audit",
                ),
            ),
            tests=("tests/integration/test_rules.py::test_the_runtime_role_changes_beliefs_through_the_functions_only",),
        ),
        Gate(
            name="one-settler-a-tribe",
            guards="pending lessons are settled once each, and no pair is judged twice by settlers at once",
            without="giving a tribe's turn to whoever asks",
            cuts=(
                Cut(
                    path=_LEARN,
                    old="    WHERE t.holder = p_holder OR t.until <= clock_timestamp()\n       OR t.until >",
                    new="    WHERE true OR t.until >",
                ),
            ),
            tests=("tests/integration/test_settling.py::test_settlers_of_one_tribe_at_once_ask_the_judge_about_each_pair_once",),
        ),
    ),
)
