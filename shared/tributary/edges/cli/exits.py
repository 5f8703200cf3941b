"""Exit codes of the command line: the one table, also printed by `tributary --help`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ExitCode:
    """`codes` are the error codes, of the library and of the SDK, that end a command so."""

    value: int
    meaning: str
    codes: tuple[str, ...] = ()


OK = 0
DIVERGES = 1
USAGE = 2
SETUP = 7
UNUSABLE = 8
DISAGREES = 9
FAULTY = 10
UNTOLD = 11
UNWELL = 12
INTERNAL = 70
INTERRUPTED = 130
BROKEN_PIPE = 141

EXITS: tuple[ExitCode, ...] = (
    ExitCode(value=OK, meaning="done"),
    ExitCode(value=DIVERGES, meaning="'verify --via' found something that diverges from what the API says"),
    ExitCode(value=USAGE, meaning="the command line is not right; see --help"),
    ExitCode(value=3, meaning="the input breaks a rule", codes=("invalid_request", "too_large", "unsupported_media_type")),
    ExitCode(value=4, meaning="no known token, or its role does not allow this", codes=("unauthenticated", "forbidden")),
    ExitCode(
        value=5,
        meaning="there is no such thing, or it stands in the way of what is there",
        codes=("not_found", "wrong_standing", "idempotency_conflict", "not_complete", "in_doubt", "port_taken"),
    ),
    ExitCode(
        value=6,
        meaning="cannot be reached or is too busy now; try again later",
        codes=("unavailable", "unreachable", "overloaded", "rate_limited", "too_many_tries", "timed_out", "model_failed", "busy"),
    ),
    ExitCode(
        value=SETUP,
        meaning="something is not set up: a setting, a package, the database, or the address of the server",
        codes=(
            "not_configured",
            "bad_setting",
            "not_set_up",
            "not_migrated",
            "code_too_old",
            "missing_extra",
            "method_not_allowed",
            "bad_reply",
        ),
    ),
    ExitCode(value=UNUSABLE, meaning="the probe found no tribe, or one without any path to recall by"),
    ExitCode(value=DISAGREES, meaning="a receipt does not agree with what the tribe believed, or that cannot be told"),
    ExitCode(value=FAULTY, meaning="the running system did not hold what 'verify-live' asserts of it"),
    ExitCode(value=UNTOLD, meaning="'verify --via' found nothing that diverges, but could not tell of everything"),
    ExitCode(value=UNWELL, meaning="'doctor' found something that is not right, or that could not be told"),
    ExitCode(value=INTERNAL, meaning="something unexpected happened", codes=("internal", "corrupt", "error")),
    ExitCode(value=INTERRUPTED, meaning="interrupted by Ctrl-C"),
    ExitCode(value=BROKEN_PIPE, meaning="whoever read the output went away"),
)

_BY_CODE = {code: row.value for row in EXITS for code in row.codes}


def exit_for(code: str) -> int:
    """Returns the exit code for an error code; an unknown one is unexpected."""
    return _BY_CODE.get(code, INTERNAL)
