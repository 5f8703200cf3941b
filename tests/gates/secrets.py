"""Gates against secrets, keys and words that get to where they do not belong."""

from __future__ import annotations

from tests.gates.gate import BASELINE, LIBRARY, Cut, Gate, Group

_LOG = f"{LIBRARY}/telemetry/log.py"

GROUP = Group(
    title="Secrets",
    gates=(
        Gate(
            name="traces-without-messages",
            guards="logs never hold lesson text, a query, a token or a key: tracebacks have places and types only",
            without="logging the messages of errors, which may quote any of these",
            cuts=(
                Cut(
                    path=_LOG,
                    old='        yield f"{type(current).__module__}.{type(current).__qualname__}\\n"',
                    new='        yield f"{type(current).__module__}.{type(current).__qualname__}: {current}\\n"',
                ),
            ),
            tests=(
                "tests/unit/test_telemetry.py::test_an_unexpected_error_is_told_by_its_types_and_places_and_never_by_its_words",
            ),
        ),
        Gate(
            name="database-words-stay-inside",
            guards="what the database says of a row that it refuses is repeated nowhere, since it quotes the row",
            without="repeating its message",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/store/failures.py",
                    old='    return Corrupt(f"the database refused a write (SQLSTATE {state}); nothing was changed")',
                    new='    return Corrupt(f"the database refused a write (SQLSTATE {state}); nothing was changed: {error}")',
                ),
                Cut(
                    path=_LOG,
                    old='        carried["error"] = type(error).__name__\n',
                    new='        carried["error"] = f"{type(error).__name__}: {error}"\n',
                ),
            ),
            tests=("tests/integration/test_log_secrets.py::test_a_row_that_the_database_refuses_is_not_quoted",),
        ),
        Gate(
            name="errors-by-type-alone",
            guards="an error that was foreseen is logged by its type alone",
            without="logging its message beside the type",
            cuts=(
                Cut(
                    path=_LOG,
                    old='        carried["error"] = type(error).__name__\n',
                    new='        carried["error"] = f"{type(error).__name__}: {error}"\n',
                ),
            ),
            tests=("tests/unit/test_telemetry.py::test_a_foreseen_error_is_told_by_its_type_alone",),
        ),
        Gate(
            name="tokens-are-hashed",
            guards="tokens are stored hashed: nobody who reads the database can use one",
            without="storing the first bytes of the secret itself",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/access/tokens.py",
                    old="    return hashlib.sha256(secret.encode()).digest()\n",
                    new='    return secret.encode()[:32].ljust(32, b"0")\n',
                ),
            ),
            tests=("tests/integration/test_operator.py::test_a_tokens_secret_is_stored_nowhere",),
        ),
        Gate(
            name="lease-is-hashed",
            guards="the secret of a lease is stored nowhere in clear",
            without="keeping the lease with the action's description",
            cuts=(
                Cut(
                    path=f"{BASELINE}/73_actions.sql",
                    old="VALUES (p_tribe, p_action, p_key, p_description, 'begun', 1, p_actor, now, now + lease,",
                    new="VALUES (p_tribe, p_action, p_key, p_description || ' ' || lease_v1(p_tribe, p_action, 1, p_request), 'begun', 1, p_actor,\n"
                    "            now, now + lease,",
                ),
            ),
            tests=("tests/integration/test_actions.py::test_the_lease_is_stored_nowhere_in_clear",),
        ),
        Gate(
            name="export-without-tokens",
            guards="an export holds nothing that lets somebody in",
            without="exporting tokens as well",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/transfer/tribes/tables.py",
                    old='    "agent",\n    "tribe_space",',
                    new='    "agent",\n    "token",\n    "tribe_space",',
                ),
            ),
            tests=("tests/integration/test_transfer.py::test_tokens_are_not_in_the_export",),
        ),
        Gate(
            name="client-follows-nowhere",
            guards="the SDK follows no redirection: its token goes to no other address",
            without="following redirections",
            cuts=(Cut(path=f"{LIBRARY}/client/driver.py", old="follow_redirects=False,", new="follow_redirects=True,"),),
            tests=("tests/unit/test_client_elsewhere.py::test_no_other_call_goes_where_the_memory_points",),
        ),
        Gate(
            name="evidence-elsewhere-without-token",
            guards="whoever is asked for the bytes of a file elsewhere is told nothing of who asks",
            without="sending the caller's headers along",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/client/conversation.py",
                    old="answer = yield Send(method=call.method, url=where, headers={}, body=None, timeout_s=left_s, elsewhere=True)",
                    new="answer = yield Send(\n                method=call.method, url=where, headers=_headers(call, place), body=None, timeout_s=left_s, elsewhere=True\n            )",
                ),
            ),
            tests=(
                "tests/unit/test_client_elsewhere.py::test_bytes_go_to_and_come_from_another_server_without_token_and_signature",
            ),
        ),
        Gate(
            name="token-of-its-own-address",
            guards="the token in the connection file goes to no other address",
            without="sending it wherever the caller points",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/client/place.py",
                    old="(local.token if chosen.url == local.url else None)",
                    new="local.token",
                ),
            ),
            tests=("tests/unit/test_client_place.py::test_the_token_in_the_connection_file_goes_to_no_other_address",),
        ),
        Gate(
            name="token-of-the-environments-address",
            guards="the token of the environment goes to no other address than the environment's",
            without="sending it wherever the caller points",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/client/place.py",
                    old="    found = token or (None if elsewhere else set_token) or",
                    new="    found = token or set_token or",
                ),
            ),
            tests=(
                "tests/unit/test_client_place.py::test_the_token_of_the_environment_goes_to_no_other_address_than_the_environments",
            ),
        ),
        Gate(
            name="providers-follow-nowhere",
            guards="a provider's redirection is a failure: neither key nor lesson goes to another address",
            without="following it",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/models/http_wire.py",
                    old="        follow_redirects=False,\n",
                    new="        follow_redirects=True,\n",
                ),
            ),
            tests=("tests/unit/test_model_wires.py::test_a_redirect_is_a_failure_that_names_the_setting",),
        ),
        Gate(
            name="key-of-its-own-address",
            guards="a provider's key is sent to no address but the provider's",
            without="sending it to whichever address the role has",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/service/language_models.py",
                    old="    if key is None and url in (None, general):\n",
                    new="    if key is None:\n",
                ),
            ),
            tests=("tests/unit/test_models_chosen.py::test_a_providers_key_is_sent_to_no_address_but_the_providers",),
        ),
        Gate(
            name="no-key-in-plain",
            guards="no key crosses a network in plain",
            without="sending it over http:// as well",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/service/language_models.py",
                    old="    if key is not None and in_plain:\n",
                    new="    if False:\n",
                ),
            ),
            tests=("tests/unit/test_models_chosen.py::test_what_is_missing_or_does_not_go_together_stops_the_start",),
        ),
        Gate(
            name="program-sees-its-own",
            guards="a program that is asked as a model sees its own credentials and nothing else of ours",
            without="handing the whole environment down",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/models/llms/claude.py",
                    old="            **passed_on(known),\n",
                    new="            **known,\n",
                ),
            ),
            tests=("tests/unit/test_claude_model.py::test_the_program_sees_its_own_credentials_and_nothing_else_of_ours",),
        ),
        Gate(
            name="quoted-secrets",
            guards="a quotation that holds a secret is dropped with its lesson",
            without="not looking for secrets in what is quoted",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/models/distillers/answers.py",
                    old="    return any(secrets_in(text) for text in _texts_of(draft))",
                    new="    return any(secrets_in(text) is None for text in _texts_of(draft))",
                ),
            ),
            tests=("tests/unit/test_distillers.py::test_a_quotation_that_holds_a_secret_is_dropped_with_its_lesson",),
        ),
        Gate(
            name="replies-quote-nothing",
            guards="a refusal never repeats what was sent",
            without="telling pydantic's own words, which quote it",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/lambda_http/rules.py",
                    old="    words = _RULES.get(kind)\n",
                    new='    words = f"was {sent!r}" if sent is not None else _RULES.get(kind)\n',
                ),
            ),
            tests=("tests/contract/test_bad_input.py::test_refusal_never_repeats_what_was_sent",),
        ),
        Gate(
            name="refused-statement-by-hash",
            guards="of a statement that was refused its hash alone is written down: who could get one as far may have put anything into it",
            without="writing its text down",
            cuts=(
                Cut(
                    path=f"{LIBRARY}/edges/cli/independent/guarding.py",
                    old="    return f\"sha256:{sha256(asked.sql.encode(errors='surrogatepass')).hexdigest()}\"",
                    new="    return asked.sql",
                ),
            ),
            tests=(
                "tests/integration/test_verify_via.py::test_what_is_not_on_the_list_is_refused_before_it_is_sent_and_written_down",
            ),
        ),
    ),
)
