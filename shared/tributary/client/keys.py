"""Idempotency keys."""

from __future__ import annotations

import uuid


def key_or_new(given: str | None) -> str:
    """Returns the caller's key, or a new one: a write whose reply was lost is then answered from the record."""
    return f"sdk-{uuid.uuid4().hex}" if given is None else given
