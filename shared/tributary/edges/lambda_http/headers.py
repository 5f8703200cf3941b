"""Reads what a request says in its headers."""

from __future__ import annotations

import re

from tributary.contract.limits import IDEMPOTENCY_KEY_CHARACTERS
from tributary.edges.lambda_http.port import Event
from tributary.edges.lambda_http.problems import invalid_field

IDEMPOTENCY_KEY = "Idempotency-Key"
_PRINTABLE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


def header(event: Event, name: str) -> str:
    """Returns a header's value, or nothing; `name` in lower case, as API Gateway gives them."""
    return str((event.get("headers") or {}).get(name, ""))


def idempotency_key(event: Event) -> str | None:
    """Returns the caller's key, None when there is none; raises Refused when it is no usable key."""
    if IDEMPOTENCY_KEY.lower() not in (event.get("headers") or {}):
        return None
    key = header(event, IDEMPOTENCY_KEY.lower())
    if len(key) > IDEMPOTENCY_KEY_CHARACTERS:
        raise invalid_field(IDEMPOTENCY_KEY, f"must have at most {IDEMPOTENCY_KEY_CHARACTERS} characters")
    if not _PRINTABLE.fullmatch(key):
        raise invalid_field(IDEMPOTENCY_KEY, "must be printable ASCII and neither be empty nor begin or end with a space")
    return key
