"""Step 1: who may write, within which limits, and whether this very request was answered before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.errors import InvalidRequest
from tributary.core.ids import new_id
from tributary.core.lesson import Draft, Lesson
from tributary.core.limits import IDEMPOTENCY_KEY_CHARACTERS, check_draft
from tributary.store import Database, rows, statement

SERVER_KEY = "server:"
"""Begins the keys that the server makes; callers may not."""


@dataclass(frozen=True, kw_only=True)
class Admitted:
    """`replay` is the document of the first reply, when this key and request were seen before."""

    key: str
    digest: bytes
    replay: rows.Document | None


def admit(database: Database, principal: Principal, request: Draft | UUID, key: str | None) -> Admitted:
    """Returns the key and digest of an allowed request; raises Forbidden, InvalidRequest or IdempotencyConflict.

    Without a key of the caller's the server makes one, so that a commit whose reply was lost on the way is found again.
    """
    principal.require(Role.WRITER)
    if isinstance(request, Draft):
        check_draft(request)
    digest = request_digest(request)
    if key is None:
        return Admitted(key=f"{SERVER_KEY}{new_id().hex}", digest=digest, replay=None)
    if not (key.strip() and key.isprintable() and len(key) <= IDEMPOTENCY_KEY_CHARACTERS) or key.startswith(SERVER_KEY):
        raise InvalidRequest(
            "Idempotency-Key",
            f"must be 1 to {IDEMPOTENCY_KEY_CHARACTERS} printable characters, not blank, and not begin with '{SERVER_KEY}'",
        )
    found = database.value(
        statement("learn", "replay"),
        {"tribe_id": principal.tribe_id, "agent_id": principal.agent_id, "key": key, "digest": digest},
    )
    return Admitted(key=key, digest=digest, replay=None if found is None else rows.document(found))


def embedded_text(draft: Draft) -> str:
    """Returns what a lesson is found by: its situation, then its text."""
    return f"{draft.situation}\n{draft.text}"


def screened_fields(draft: Draft) -> Mapping[str, str]:
    """Returns every field that a later reader may see, by name."""
    found = {"text": draft.text, "situation": draft.situation}
    if draft.subject is not None:
        found["subject"] = draft.subject
    if draft.rationale is not None:
        found["rationale"] = draft.rationale
    if draft.source.ref is not None:
        found["source.ref"] = draft.source.ref
    for key, value in draft.tags.items():
        found[f"tags.{key}"] = f"{key}: {value}"
    for index, item in enumerate(draft.evidence):
        found[f"evidence.{index}"] = " ".join(part for part in (item.type, item.ref, item.note) if part)
    return found


def draft_of(lesson: Lesson) -> Draft:
    """Returns what the writer of a stored lesson had handed in."""
    return Draft(**{field.name: getattr(lesson, field.name) for field in fields(Draft)})


def request_digest(request: Draft | UUID) -> bytes:
    """Returns the SHA-256 (32 bytes) by which a repeated key's request is told from another."""
    content = asdict(request) if isinstance(request, Draft) else {"reinforce": request.hex}
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).digest()
