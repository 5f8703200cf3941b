"""Gates against whoever does or sees what is not theirs."""

from __future__ import annotations

from tests.gates.gate import BASELINE, LIBRARY, Cut, Gate, Group

_ACCESS = f"{BASELINE}/70_access.sql"
_AGENTS = f"{BASELINE}/72_agents.sql"
_SESSIONS = f"{BASELINE}/74_sessions.sql"
_RECEPTION = f"{LIBRARY}/edges/dashboard/reception.py"

GROUP = Group(
    title="Access",
    gates=(
        Gate(
            name="token-is-let-in",
            guards="tokens expire and are revocable",
            without="letting in whoever has a token that was known once",
            cuts=(
                Cut(
                    path=_ACCESS,
                    old="WHERE t.token_hash = p_hash AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp() AND a.revoked_at IS NULL;",
                    new="WHERE t.token_hash = p_hash;",
                ),
            ),
            tests=(
                "tests/integration/test_agents.py::test_a_token_lasts_as_many_days_as_asked_and_is_refused_when_they_are_over",
                "tests/integration/test_agents.py::test_a_revoked_token_is_refused_while_the_agents_other_one_is_let_in",
                "tests/integration/test_agents.py::test_a_revoked_agent_is_refused_with_all_its_tokens_and_its_lessons_stay",
            ),
        ),
        Gate(
            name="route-needs-a-caller",
            guards="every route but the open ones knows its caller",
            without="serving whoever comes",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/lambda_http/identify.py",
                    old="    if principal is None:\n        raise",
                    new="    if principal is None and token_came:\n        raise",
                ),
                Cut(
                    path=f"{LIBRARY}/edges/lambda_http/identify.py",
                    old="    principal.require(Role(route.role))",
                    new="    assert principal or True",
                ),
            ),
            tests=("tests/contract/test_access.py::test_event_without_a_principal_never_reaches_the_memory",),
        ),
        Gate(
            name="route-needs-a-role",
            guards="a route is for the roles that reach it: a reader who writes is 403, audited, and reaches nothing else",
            without="not asking for a route's role",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/lambda_http/identify.py",
                    old="    principal.require(Role(route.role))",
                    new="    Role(route.role)",
                ),
            ),
            tests=("tests/contract/test_access.py::test_reader_who_writes_is_403_and_audited_and_reaches_nothing_else",),
        ),
        Gate(
            name="memory-needs-a-role",
            guards="the memory itself looks at roles, whichever edge asks",
            without="having every role reach every other",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/core/agent.py",
                    old="        if not self.role.may_act_as(needed):\n",
                    new="        if False:\n",
                ),
            ),
            tests=("tests/integration/test_adversary.py::test_quarantined_text_reaches_curators_and_its_author_alone",),
        ),
        Gate(
            name="stored-role",
            guards="roles come from the stored agent, never from the caller: what counts is the role at the commit",
            without="not comparing the stored role with what a change needs",
            cuts=(
                Cut(
                    path=f"{BASELINE}/50_learn.sql",
                    old="    ELSIF array_position(ranks, role) < array_position(ranks, p_needs) THEN\n",
                    new="    ELSIF false THEN\n",
                ),
            ),
            tests=("tests/integration/test_agents.py::test_the_role_and_revocation_that_count_are_those_stored_now",),
        ),
        Gate(
            name="stored-revocation",
            guards="a revoked agent cannot act any more, whatever principal it has at hand",
            without="not looking at the revocation when the gate is open",
            cuts=(
                Cut(
                    path=f"{BASELINE}/50_learn.sql",
                    old="WHERE a.tribe_id = p_tribe AND a.agent_id = p_agent AND a.revoked_at IS NULL);\nBEGIN\n    IF role IS NULL THEN",
                    new="WHERE a.tribe_id = p_tribe AND a.agent_id = p_agent);\nBEGIN\n    IF role IS NULL THEN",
                ),
            ),
            tests=("tests/integration/test_agents.py::test_the_role_and_revocation_that_count_are_those_stored_now",),
        ),
        Gate(
            name="author-retires-own",
            guards="writers retire their own lessons and nobody else's",
            without="letting every writer retire",
            cuts=(
                Cut(
                    path=f"{BASELINE}/57_curate.sql",
                    old="    ELSIF l.agent_id <> p_actor AND entered.role <> 'curator' THEN\n",
                    new="    ELSIF false THEN\n",
                ),
            ),
            tests=("tests/integration/test_curate.py::test_author_retires_its_own_lesson_and_nobody_elses",),
        ),
        Gate(
            name="last-curator",
            guards="the last curator who can act cannot be taken from a tribe",
            without="letting it go",
            cuts=(Cut(path=_AGENTS, old="    IF NOT has_curator_v1(p_tribe, p_now) THEN\n", new="    IF false THEN\n"),),
            tests=("tests/integration/test_agents.py::test_the_last_curator_cannot_be_taken_from_a_tribe",),
        ),
        Gate(
            name="agents-under-the-gate",
            guards="no two curators of a tribe act on one another at once",
            without="managing agents without the gate",
            cuts=(Cut(path=_AGENTS, old="BEGIN\n    PERFORM gate_v1(p_tribe);\n    IF EXISTS", new="BEGIN\n    IF EXISTS"),),
            tests=(
                "tests/integration/test_agents_at_once.py::test_of_two_curators_that_revoke_each_other_at_once_exactly_one_succeeds",
            ),
        ),
        Gate(
            name="tribe-of-a-lesson",
            guards="no query crosses tribes: a lesson of another tribe is not there",
            without="dropping `tribe_id` from the query of lessons as they stood, and from that of one lesson",
            cuts=(
                Cut(
                    path=f"{BASELINE}/30_documents.sql",
                    old="    WHERE l.tribe_id = p_tribe AND l.lesson_id = ANY (p_ids)\n$$;\n\n-- What was open",
                    new="    WHERE l.lesson_id = ANY (p_ids)\n$$;\n\n-- What was open",
                ),
                Cut(
                    path=f"{BASELINE}/60_recall.sql",
                    old="        WHERE l.tribe_id = p_tribe AND l.lesson_id = p_lesson AND l.learned_tick <= moment.tick);",
                    new="        WHERE l.lesson_id = p_lesson AND l.learned_tick <= moment.tick);",
                ),
            ),
            tests=("tests/integration/test_learn.py::test_lessons_of_another_tribe_cannot_be_seen_or_confirmed",),
        ),
        Gate(
            name="tribe-of-a-search",
            guards="no recall shows another tribe's lessons",
            without="dropping `tribe_id` from the exact search, and from the query of lessons as they stood",
            cuts=(
                Cut(
                    path=f"{BASELINE}/30_documents.sql",
                    old="    WHERE l.tribe_id = p_tribe AND l.lesson_id = ANY (p_ids)\n$$;\n\n-- What was open",
                    new="    WHERE l.lesson_id = ANY (p_ids)\n$$;\n\n-- What was open",
                ),
                Cut(
                    path=f"{BASELINE}/40_search.sql",
                    old="                 WHERE v.tribe_id = %1$L AND v.space_id = %2$s AND v.believed %3$s'\n",
                    new="                 WHERE %1$L IS NOT NULL AND v.space_id = %2$s AND v.believed %3$s'\n",
                ),
            ),
            tests=(
                "tests/integration/test_never_shown.py::test_no_recall_shows_what_is_not_believed_or_another_tribes_at_any_tick",
            ),
        ),
        Gate(
            name="tribe-of-changes",
            guards="another tribe's changes are not seen",
            without="dropping `tribe_id` from the events",
            cuts=(
                Cut(
                    path=f"{BASELINE}/67_history.sql",
                    old="    FROM tributary.lesson_event e JOIN tributary.agent a ON a.tribe_id = p_tribe AND a.agent_id = e.agent_id\n    WHERE e.tribe_id = p_tribe\n",
                    new="    FROM tributary.lesson_event e JOIN tributary.agent a ON a.agent_id = e.agent_id\n",
                ),
            ),
            tests=("tests/integration/test_changes.py::test_another_tribes_changes_are_not_seen",),
        ),
        Gate(
            name="tribe-of-an-action",
            guards="another tribe sees nothing of an action",
            without="dropping `tribe_id` from the query of one action",
            cuts=(
                Cut(
                    path=f"{BASELINE}/73_actions.sql",
                    old="FROM action a JOIN agent g USING (tribe_id, agent_id) WHERE a.tribe_id = p_tribe AND a.action_id = p_action",
                    new="FROM action a JOIN agent g USING (tribe_id, agent_id) WHERE a.action_id = p_action",
                ),
            ),
            tests=("tests/integration/test_actions.py::test_another_tribe_sees_nothing_of_it",),
        ),
        Gate(
            name="tribe-of-an-agent",
            guards="agents and tokens of another tribe are not found",
            without="dropping `tribe_id` from the query of an agent",
            cuts=(
                Cut(
                    path=_AGENTS,
                    old="    SELECT * INTO found_agent FROM agent a WHERE a.tribe_id = p_tribe AND a.agent_id = p_agent;",
                    new="    SELECT * INTO found_agent FROM agent a WHERE a.agent_id = p_agent;",
                ),
            ),
            tests=("tests/integration/test_agents.py::test_agents_and_tokens_of_another_tribe_are_not_found",),
        ),
        Gate(
            name="tribe-of-a-receipt",
            guards="a receipt of another tribe is refused",
            without="not comparing whose it is",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/recall/verifying.py",
                    old="        if said.tribe_id != principal.tribe_id:\n",
                    new="        if False:\n",
                ),
            ),
            tests=("tests/integration/test_verify.py::test_receipt_of_another_tribe_is_refused",),
        ),
        Gate(
            name="tribe-of-a-file",
            guards="a file of evidence is handed out to its tribe alone",
            without="dropping `tribe_id` from the query of a file, and from the place of its bytes",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/files/folder.py",
                    old="        return self._folder / str(tribe_id) / sha256[:2] / sha256",
                    new="        return self._folder / sha256[:2] / sha256",
                ),
                Cut(
                    path=f"{BASELINE}/47_evidence.sql",
                    old="    FROM evidence_file f WHERE f.tribe_id = p_tribe AND f.sha256 = p_sha256 AND f.released_at IS NULL\n",
                    new="    FROM evidence_file f WHERE f.sha256 = p_sha256 AND f.released_at IS NULL\n",
                ),
            ),
            tests=("tests/integration/test_evidence.py::test_file_of_another_tribe_is_not_there",),
        ),
        Gate(
            name="cell-of-a-token",
            guards="a token names its cell: one of another cell is refused, and no database is asked",
            without="not comparing the cell that it names",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/access/tokens.py",
                    old="    if named not in (None, cell):\n",
                    new="    if False:\n",
                ),
            ),
            tests=("tests/unit/test_cell_tokens.py::test_a_token_of_another_cell_is_refused_and_no_database_is_asked",),
        ),
        Gate(
            name="cell-in-a-context",
            guards="what cannot be a cell's name is refused in the authorizer's context",
            without="taking any name",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/lambda_http/principal.py",
                    old="    if cell is not None and not (isinstance(cell, str) and is_cell_name(cell)):\n",
                    new="    if cell is not None and not isinstance(cell, str):\n",
                ),
            ),
            tests=("tests/unit/test_cell_tokens.py::test_a_context_whose_cell_cannot_be_one_is_refused",),
        ),
        Gate(
            name="iam-caller",
            guards="no client of the local gateway can say that it is an AWS caller, and our own authorizer's word alone counts where it spoke",
            without="taking a signature's caller beside the authorizer's",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/lambda_http/principal.py",
                    old='    if "lambda" in authorizer or not isinstance(signed, dict):\n',
                    new="    if not isinstance(signed, dict):\n",
                ),
            ),
            tests=("tests/contract/test_iam.py::test_where_our_own_authorizer_spoke_its_word_alone_counts",),
        ),
        Gate(
            name="csrf-token",
            guards="a form that is not of this session is no form of this session",
            without="taking any token for a form's own",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/dashboard/forgery.py",
                    old='    return bool(expected) and hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())',
                    new="    return bool(expected) or bool(given)",
                ),
            ),
            tests=(
                "tests/contract/test_dashboard.py::test_a_form_that_is_not_of_this_session_changes_nothing",
                "tests/contract/test_dashboard.py::test_a_form_of_one_session_is_of_no_other",
            ),
        ),
        Gate(
            name="csrf-on-every-form",
            guards="whatever a form changes, it is looked at whose it is before anything is",
            without="looking at the form that signs out alone",
            cuts=(
                Cut(
                    path=_RECEPTION,
                    old='        if page.method == "POST" and not _is_own(asked, guest.visitor.form_token):\n',
                    new="        if False:\n",
                ),
            ),
            tests=("tests/contract/test_dashboard_disputes.py::test_nobody_but_a_curator_with_a_form_of_his_own_ends_a_dispute",),
        ),
        Gate(
            name="csrf-origin",
            guards="no other site signs anybody in: browsers say where a form comes from",
            without="not looking where it comes from",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/dashboard/forgery.py",
                    old='    site = headers.get("sec-fetch-site")\n',
                    new='    if headers:\n        return True\n    site = headers.get("sec-fetch-site")\n',
                ),
            ),
            tests=("tests/contract/test_dashboard.py::test_no_other_site_signs_anybody_in",),
        ),
        Gate(
            name="page-needs-a-role",
            guards="a page of curators is no reader's",
            without="not asking for a page's role",
            cuts=(Cut(path=_RECEPTION, old="        if not guest.visitor.may(page.role):\n", new="        if False:\n"),),
            tests=("tests/contract/test_dashboard.py::test_a_page_of_curators_is_no_readers",),
        ),
        Gate(
            name="public-is-public-only",
            guards="where the dashboard is public, anybody sees what is public and only that",
            without="showing every page of a reader's to anybody",
            cuts=(
                Cut(
                    path=_RECEPTION,
                    old="        if guest is None or (guest.visitor.public and not page.public):\n",
                    new="        if guest is None:\n",
                ),
            ),
            tests=("tests/contract/test_dashboard.py::test_anybody_sees_what_is_public_and_only_that",),
        ),
        Gate(
            name="public-token-is-a-readers",
            guards="a public token that may more than read shows nothing",
            without="not looking at its role",
            cuts=(Cut(path=_RECEPTION, old="        if principal.role is not Role.READER:\n", new="        if False:\n"),),
            tests=("tests/contract/test_dashboard.py::test_a_public_token_that_may_more_than_read_shows_nothing",),
        ),
        Gate(
            name="way-back-is-here",
            guards="signing in sends nobody to another site",
            without="going wherever the address says",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/dashboard/sign_in.py",
                    old='    return path if plain and path.startswith("/") and not path.startswith("//") and not path.startswith(SIGN_IN) else "/"',
                    new='    return path if plain or path else "/"',
                ),
            ),
            tests=("tests/contract/test_dashboard.py::test_nobody_is_sent_to_another_site",),
        ),
        Gate(
            name="session-ends-with-token",
            guards="revoking a token ends its sessions at once",
            without="letting a session outlive its token",
            cuts=(
                Cut(
                    path=_SESSIONS,
                    old="      AND t.revoked_at IS NULL AND t.expires_at > n.now AND a.revoked_at IS NULL\n",
                    new="",
                ),
            ),
            tests=(
                "tests/integration/test_sessions.py::test_revoking_a_token_ends_its_sessions_at_once_and_those_of_no_other",
                "tests/integration/test_sessions.py::test_a_token_that_comes_to_expire_earlier_takes_its_sessions_along",
            ),
        ),
        Gate(
            name="session-ends-by-itself",
            guards="a session ends after its hours",
            without="letting it last",
            cuts=(
                Cut(
                    path=_SESSIONS,
                    old="    WHERE s.session_hash = p_session AND s.ends_at > n.now\n",
                    new="    WHERE s.session_hash = p_session\n",
                ),
            ),
            tests=(
                "tests/integration/test_sessions.py::test_a_session_ends_after_its_hours_or_with_its_token_whichever_comes_first",
            ),
        ),
        Gate(
            name="mcp-origin",
            guards="no page from elsewhere speaks to the local server's tools",
            without="not looking at the origin",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/gateway/app.py",
                    old='        if head.path == _MCP_PATH and not self._cors.may_speak(head.header("origin")):\n',
                    new="        if False:\n",
                ),
            ),
            tests=("tests/contract/test_mcp.py::test_no_page_from_elsewhere_speaks_to_the_local_server",),
        ),
        Gate(
            name="loopback-only",
            guards="only this computer can reach the local server unless it is told otherwise",
            without="listening on every address",
            cuts=(
                Cut(path=f"{LIBRARY}/edges/gateway/server.py", old='DEFAULT_HOST = "127.0.0.1"', new='DEFAULT_HOST = "0.0.0.0"'),
            ),
            tests=("tests/contract/test_gateway.py::test_only_this_computer_can_reach_it_unless_told_otherwise",),
        ),
        Gate(
            name="refusal-is-audited",
            guards="every refusal is audited in a transaction of its own",
            without="auditing none",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/lambda_http/app.py",
                    old="        if isinstance(error, Forbidden) and principal is not None:\n",
                    new="        if False and principal is not None:\n",
                ),
            ),
            tests=("tests/contract/test_access.py::test_reader_who_writes_is_403_and_audited_and_reaches_nothing_else",),
        ),
        Gate(
            name="statement-allow-list",
            guards="`verify --via` sends listed statements alone: what is not on the list does not leave the process",
            without="letting every statement through",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/cli/independent/guarding.py",
                    old="        if listed is None or listed.sql != asked.sql:\n            return",
                    new="        if listed is None or listed.sql != asked.sql:\n            return None\n            return",
                ),
            ),
            tests=(
                "tests/integration/test_verify_via.py::test_what_is_not_on_the_list_is_refused_before_it_is_sent_and_written_down",
            ),
        ),
        Gate(
            name="parameters-are-typed",
            guards="a listed statement is sent with ids and ticks and nothing else that was given",
            without="binding whatever was given",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/cli/independent/guarding.py",
                    old='        return None if listed.is_asked_by(asked) else "parameters_not_typed"',
                    new="        return None",
                ),
            ),
            tests=(
                "tests/integration/test_verify_via.py::test_what_is_not_on_the_list_is_refused_before_it_is_sent_and_written_down",
            ),
        ),
        Gate(
            name="functions-name-their-schemas",
            guards="functions that run as the owner look names up in their own schemas, so that no caller's objects stand in",
            without="leaving the search path of one function to its caller",
            cuts=(
                Cut(
                    path=_ACCESS,
                    old="CREATE FUNCTION tributary.tribe_profile_v1(p_tribe uuid) RETURNS json\nLANGUAGE sql STABLE SECURITY DEFINER SET search_path = tributary, pg_temp AS $$",
                    new="CREATE FUNCTION tributary.tribe_profile_v1(p_tribe uuid) RETURNS json\nLANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, tributary AS $$",
                ),
            ),
            tests=(
                "tests/integration/test_migrations.py::test_functions_that_run_as_the_owner_name_their_schemas_and_end_with_pg_temp",
            ),
        ),
    ),
)
