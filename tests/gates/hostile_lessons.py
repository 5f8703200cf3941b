"""Gates against lessons that were written to harm whoever reads them."""

from __future__ import annotations

from tests.gates.gate import BASELINE, LIBRARY, Cut, Gate, Group

_DECIDING = f"{LIBRARY}/learn/deciding.py"
_PROMPT = f"{LIBRARY}/client/prompt.py"
_FENCE = f"{LIBRARY}/models/fence.py"
_DOCUMENTS = f"{BASELINE}/30_documents.sql"
_RENDERING = f"{LIBRARY}/edges/dashboard/rendering.py"

GROUP = Group(
    title="Hostile lessons",
    gates=(
        Gate(
            name="screen",
            guards="lessons are screened on their way in; what is caught is quarantined, never recalled",
            without="not asking the screen",
            cuts=(
                Cut(
                    path=_DECIDING,
                    old="        screening = finding or self.screened(draft, deadline)\n",
                    new='        screening = finding or ScreenFinding(screen="none/1")\n',
                ),
            ),
            tests=(
                "tests/integration/test_learn.py::test_what_the_screen_catches_or_cannot_check_is_quarantined_and_never_recalled",
            ),
        ),
        Gate(
            name="screen-fails-closed",
            guards="a screen that cannot run, for whatever reason, lets nothing through",
            without="taking a screen's failure for a pass",
            cuts=(Cut(path=_DECIDING, old="reasons=(SCREEN_UNAVAILABLE,), unscreened", new="reasons=(), unscreened"),),
            tests=(
                "tests/integration/test_learn.py::test_what_the_screen_catches_or_cannot_check_is_quarantined_and_never_recalled",
            ),
        ),
        Gate(
            name="held-back-is-planned",
            guards="a catch is stored as `quarantined`: it is neither judged nor believed",
            without="going on with what the screen caught",
            cuts=(
                Cut(
                    path=_DECIDING,
                    old="    if not (reasons := proposal.screening.reasons):\n",
                    new="    if not (reasons := ()):\n",
                ),
            ),
            tests=(
                "tests/integration/test_learn.py::test_what_the_screen_catches_or_cannot_check_is_quarantined_and_never_recalled",
            ),
        ),
        Gate(
            name="screen-unfolds",
            guards="text is normalised before it is screened: base64, zero-width and look-alike characters hide nothing",
            without="not reading base64",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/models/screens/unfolding.py",
                    old="        yield from _from_base64(match.group())\n",
                    new="        yield match.group()\n",
                ),
            ),
            tests=(
                "tests/unit/test_local_screen.py::TestDisguises::test_base64_is_read_also_when_wrapped_doubled_or_without_padding",
            ),
        ),
        Gate(
            name="model-screen-after-rules",
            guards="where a model screens, what the rules let pass is asked about",
            without="leaving it at the rules",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/models/screens/layered.py",
                    old="        if not finding.quarantined:\n",
                    new="        if finding.quarantined:\n",
                ),
            ),
            tests=("tests/unit/test_screens.py::TestLayered::test_what_the_rules_let_pass_is",),
        ),
        Gate(
            name="quarantined-has-no-index",
            guards="nothing may find a quarantined lesson before a curator releases it",
            without="giving it vectors and terms at once",
            cuts=(
                Cut(
                    path=f"{BASELINE}/55_apply.sql",
                    old="    IF p_status <> 'quarantined' THEN -- nothing may find it",
                    new="    IF true THEN -- nothing may find it",
                ),
            ),
            tests=("tests/integration/test_under_the_gate.py::test_what_is_held_back_has_neither_vector_nor_term",),
        ),
        Gate(
            name="held-text-hidden",
            guards="what a screen held back, or a curator retired as an injection, is shown to curators and its author only",
            without="hiding nothing from anybody",
            cuts=(
                Cut(
                    path=_DOCUMENTS,
                    old="l.agent_id <> p_agent AND (l.held OR l.rejected_as = 'injection')",
                    new="l.agent_id <> p_agent AND false",
                ),
            ),
            tests=("tests/integration/test_changes.py::test_what_is_held_back_shows_no_word_to_those_who_may_not_see_it",),
        ),
        Gate(
            name="held-listing-hidden",
            guards="no listing shows a reader what is held back",
            without="listing what is held back for whoever asks",
            cuts=(
                Cut(
                    path=f"{BASELINE}/60_recall.sql",
                    old="          AND NOT (p_hide AND NOT p_mine AND (l.held OR coalesce(l.rejected_as = 'injection', false)))\n",
                    new="",
                ),
            ),
            tests=("tests/integration/test_listing_filters.py::test_a_filter_opens_nothing_that_the_listing_holds_back",),
        ),
        Gate(
            name="held-lesson-hidden",
            guards="a hostile text reaches no reader by its id either, now or as of the past",
            without="showing a lesson to whoever has its id",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/recall/listing.py",
                    old='        if found["held"] and principal.role is not Role.CURATOR and lesson.agent_id != principal.agent_id:\n',
                    new="        if False:\n",
                ),
            ),
            tests=(
                "tests/integration/test_adversary.py::test_quarantined_text_reaches_curators_and_its_author_alone",
                "tests/integration/test_curate_adversary.py::test_as_of_shows_no_reader_what_is_held_back_now",
            ),
        ),
        Gate(
            name="injection-of-the-past",
            guards="what was believed once and is an injection hijacks no reader of the past",
            without="recalling it as of then",
            cuts=(
                Cut(
                    path=f"{BASELINE}/40_search.sql",
                    old="\n               AND l.rejected_as IS DISTINCT FROM 'injection' END -- what was believed",
                    new=" END -- what was believed",
                ),
            ),
            tests=(
                "tests/integration/test_curate_adversary.py::test_what_was_believed_and_is_an_injection_hijacks_no_reader_of_the_past",
            ),
        ),
        Gate(
            name="challenge-shows-no-injection",
            guards="a challenge never shows the words of what is held back",
            without="showing the challenger's text whatever it is",
            cuts=(
                Cut(
                    path=_DOCUMENTS,
                    old="CASE WHEN x.held OR x.rejected_as = 'injection' THEN '' ELSE x.text END",
                    new="x.text",
                ),
            ),
            tests=("tests/integration/test_under_the_gate.py::test_a_challenge_by_what_is_held_back_shows_no_word_of_it",),
        ),
        Gate(
            name="injection-comes-again",
            guards="what a curator retired as an injection is held back when it comes again, whatever the screen says",
            without="taking it for any other rejected lesson",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/core/outcome.py",
                    old="    return record.candidate.rejected_as is Rejection.INJECTION\n",
                    new="    return False and record.candidate.rejected_as is Rejection.INJECTION\n",
                ),
            ),
            tests=(
                "tests/integration/test_curate.py::test_what_a_curator_retires_as_injection_is_held_back_when_it_comes_again",
            ),
        ),
        Gate(
            name="prompt-fence-tags",
            guards="`as_prompt()` fences what goes to a model, and no lesson's text can look like a tag of it",
            without="leaving `<` as it is",
            cuts=(
                Cut(
                    path=_PROMPT,
                    old='    return _TAG_LIKE.sub("&lt;", text).translate(_LOOKALIKES)',
                    new="    return text",
                ),
            ),
            tests=(
                "tests/unit/test_client_prompt.py::test_no_text_closes_the_fence_even_when_it_knows_the_nonce",
                "tests/unit/test_client_prompt.py::test_what_could_be_taken_for_the_fence_is_escaped",
            ),
        ),
        Gate(
            name="prompt-fence-lines",
            guards="no line of a lesson can pass for one of ours: each stands behind a bar",
            without="leaving the bars out",
            cuts=(Cut(path=_PROMPT, old='        yield f"  | {_tagless(line)}"', new='        yield f"{_tagless(line)}"'),),
            tests=("tests/unit/test_client_prompt.py::test_every_line_inside_the_fence_is_one_of_ours",),
        ),
        Gate(
            name="prompt-fence-nonce",
            guards="every prompt draws a fence of its own, after every lesson was written",
            without="using the same fence always",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/client/hits.py",
                    old="nonce=secrets.token_hex(8))",
                    new='nonce=secrets.token_hex(8)[:0] + "0000000000000000")',
                ),
            ),
            tests=("tests/unit/test_client_prompt.py::test_every_prompt_draws_a_fence_of_its_own",),
        ),
        Gate(
            name="prompt-hides-nothing",
            guards="nothing in a prompt is invisible or reorders what is seen",
            without="leaving unseen characters as they are",
            cuts=(
                Cut(
                    path=_PROMPT,
                    old='    for line in visible(text.replace("\\r\\n", "\\n"), keep="\\n\\t").split("\\n"):\n        yield',
                    new='    for line in text.replace("\\r\\n", "\\n").split("\\n"):\n        yield',
                ),
            ),
            tests=("tests/unit/test_client_prompt.py::test_nothing_in_a_prompt_is_invisible_or_reorders_what_is_seen",),
        ),
        Gate(
            name="judge-fence",
            guards="prompts carry lessons as escaped data inside a fence that their text cannot close",
            without="leaving angle brackets as they are",
            cuts=(
                Cut(
                    path=_FENCE,
                    old='    return f"<data>\\n{_PERHAPS_ESCAPED.sub(_escaped, written)}\\n</data>"',
                    new='    return f"<data>\\n{written}\\n</data>"',
                ),
            ),
            tests=(
                "tests/unit/test_fence.py::test_no_text_closes_the_fence_or_is_changed_by_it",
                "tests/unit/test_fence.py::test_a_lesson_cannot_leave_the_fence_of_a_judges_prompt",
            ),
        ),
        Gate(
            name="tools-are-fenced",
            guards="text that tools of MCP recall can neither close the fence nor hide",
            without="handing texts of structured replies out as they are",
            cuts=(
                Cut(
                    path=_PROMPT,
                    old='    return _tagless(visible(text.replace("\\r\\n", "\\n"), keep="\\n\\t"))\n\n\ndef _then',
                    new="    return text\n\n\ndef _then",
                ),
            ),
            tests=("tests/contract/test_mcp.py::test_recalled_text_as_data_hides_nothing_either_and_says_what_it_is",),
        ),
        Gate(
            name="pages-escape",
            guards="every edge that shows recalled text to a browser escapes it",
            without="switching the templates' escaping off",
            cuts=(Cut(path=_RENDERING, old="        autoescape=True,", new="        autoescape=False,"),),
            tests=("tests/contract/test_dashboard.py::test_whatever_comes_into_a_page_is_escaped_and_what_it_hides_is_shown",),
        ),
        Gate(
            name="pages-hide-nothing",
            guards="what a text hides is made visible on every page",
            without="showing texts as they are",
            cuts=(
                Cut(
                    path=_RENDERING,
                    old='    return visible(value, keep="\\n\\t", joiners=True) if type(value) is str else value',
                    new="    return value",
                ),
            ),
            tests=("tests/contract/test_dashboard.py::test_whatever_comes_into_a_page_is_escaped_and_what_it_hides_is_shown",),
        ),
        Gate(
            name="strict-csp",
            guards="pages run no script and load nothing but their own: a strict Content-Security-Policy",
            without="letting pages run and load whatever stands in them",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/dashboard/headers.py",
                    old="default-src 'none'; script-src 'self';",
                    new="default-src *; script-src * 'unsafe-inline';",
                ),
            ),
            tests=(
                "tests/contract/test_dashboard.py::test_every_reply_has_the_headers_that_keep_foreign_scripts_frames_and_caches_out",
            ),
        ),
        Gate(
            name="evidence-is-saved-not-shown",
            guards="a file of evidence is always saved and never shown: what somebody attached runs nowhere",
            without="serving it inline and without a sandbox",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/lambda_http/operations/evidence.py",
                    old='    headers = {"Content-Disposition": disposition(served.file), "Content-Security-Policy": "default-src \'none\'; sandbox"}',
                    new='    headers = {"Content-Disposition": "inline"}',
                ),
            ),
            tests=("tests/integration/test_evidence.py::test_file_is_always_saved_and_never_shown",),
        ),
    ),
)
