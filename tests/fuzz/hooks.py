"""What schemathesis is told of this API, loaded by each of its runs: which sound requests are refused, and by which rule of ours.

A schema says how a value looks. Whether a tick was reached or a receipt is genuine it can't say. Such rules are listed here,
and a request that the schema calls sound may be refused for one of these alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import Any

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

BEYOND_THE_SCHEMA = (
    r"must be a tick that was reached; the clock of this tribe stands at \d+",
    r"must be the version of a policy that was read",
    r"is not as it was signed; send the receipt of a recall unchanged",
    r"has \d+ characters; at most \d+ are allowed",  # a part of a tag
    r"must be a whole number(, or an RFC 3339 time with an offset, such as 2026-03-01T12:00:00Z)?",  # JSON Schema takes 2.0 for one  # noqa: E501
    r"transcript: must not be empty or white space",  # turns that say nothing, all of them
    r"(has \d+ bytes; \d+ were announced|does not have the hash .*)",
    r"must be printable characters, with no space at the beginning or the end",
    r"there is no agent '.*' in this tribe",
    r"must be the `next` of an earlier page",
    r"must be left out when the effect did not happen",
    r"must be one of the lessons that the decision compared with: .*",
    r"is what the lesson itself says; say what holds instead, or why it does not hold",
    r"the clock of this tribe stands at \d+",
    r"must be a tick of this tribe, or an RFC 3339 time with an offset \(in a URL, write \+ as %2B\)",
    r"must be 1 to 200 printable characters, not blank, and not begin with 'server:'",
    r"must be a file's name: printable, without a slash, backslash or quotation mark",
    r"must be at most 400 days before `to`, which is .*",
    r"must not be later than .*",
    r"valid_until must be later than valid_from",
    r"must not contain (the NUL character|a lone surrogate)",
    r"must not be empty or contain the NUL character",
    r"is \d+ bytes of UTF-8; at most \d+ are kept",
    r"names the key '.*' more than once",
    r"must lie within the years 2 to 9998; leave it out for no bound",
)
_SOON_S = 5
"""Whoever gives less time may be told that it was not enough, by 503."""
Case = schemathesis.Case[Any]
_KNOWN = re.compile("|".join(f"(?:{rule})" for rule in BEYOND_THE_SCHEMA), re.DOTALL)


def refused_beyond_the_schema(status: int, body: bytes) -> bool:
    """Tells whether a reply is a refusal of ours each rule of which is one that no schema can say."""
    if status != 400:
        return False
    try:
        problem = json.loads(body)
    except ValueError:
        return False
    if "jsonrpc" in problem:  # the tools of MCP say themselves what they take; their schema is not in this description
        return True
    return bool(problem.get("errors")) and all(
        _KNOWN.fullmatch(one["rule"]) or _KNOWN.fullmatch(f"{one['field']}: {one['rule']}") for one in problem["errors"]
    )


_TRIED: set[str] = set()


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: Case) -> bool:
    """Leaves of the boundary cases one in FUZZ_ONE_IN, the same ones each time, and the first of each operation."""
    one_in = int(os.environ.get("FUZZ_ONE_IN", "1"))
    if one_in == 1 or case.meta is None or case.meta.phase.name.value != "coverage":
        return True
    label = case.operation.label
    if label not in _TRIED:
        _TRIED.add(label)
        return True
    told = repr((label, case.method, case.path_parameters, case.query, case.body))
    return hashlib.sha256(told.encode("utf-8", "replace")).digest()[0] % one_in == 0


@schemathesis.check
def sound_request_is_taken(ctx: schemathesis.CheckContext, response: schemathesis.Response, case: Case) -> None:
    """Fails on a request that the schema calls sound and that is refused for another reason than those above."""
    if not refused_beyond_the_schema(response.status_code, response.content):
        positive_data_acceptance(ctx, response, case)


@schemathesis.check
def problem_is_one_of_ours(ctx: schemathesis.CheckContext, response: schemathesis.Response, case: Case) -> None:
    """Fails on an error that tells of our insides, whose status its own body contradicts, or that nobody hurried us into."""
    if response.status_code >= 400 and response.headers["content-type"] == ["application/problem+json"]:
        problem = json.loads(response.content)
        assert problem["status"] == response.status_code, problem
        assert problem["code"] not in ("internal", "corrupt", "bad_setting"), problem
        assert "Traceback" not in problem["detail"], problem
        if response.status_code >= 500:
            assert isinstance(case.body, dict), problem
            deadline = case.body.get("deadline_s")
            assert isinstance(deadline, int | float), problem
            assert deadline < _SOON_S, problem
