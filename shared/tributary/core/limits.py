"""The limits of what a writer or reader may hand in, and the one check of a draft against them.

Sizes of text are in bytes of UTF-8: what is stored and paid for, whatever the script.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from tributary.core.errors import InvalidRequest
from tributary.core.lesson import Draft

TEXT_BYTES = 8 * 1024
SITUATION_BYTES = 2 * 1024
RATIONALE_BYTES = 8 * 1024
QUERY_BYTES = 8 * 1024
SUBJECT_CHARACTERS = 200
TAGS = 32
TAG_KEY_CHARACTERS = 64
TAG_VALUE_CHARACTERS = 200
EVIDENCE_ITEMS = 16
RECEIPTS = 8
REPLACES = 8
EVIDENCE_CHARACTERS = 2000
REF_CHARACTERS = 2000
RECALL_LIMIT = 100
CHANGES_LIMIT = 500
CHANGES_WAIT_S = 20
BATCH_LESSONS = 100
POLICY_RULES = 16
CAPACITY = 100_000_000
COST_DAYS = 400
ACTIVITY_HOURS = 24 * 31
EVALUATION_RUNS = 50
IDEMPOTENCY_KEY_CHARACTERS = 200
TRANSCRIPT_BYTES = 200 * 1024
TRANSCRIPT_TURNS = 2000
TRANSCRIPT_REF_CHARACTERS = 1900
"""Leaves room for the number of a turn behind it, within REF_CHARACTERS."""
DISTILLED_LESSONS = 5
GOLDEN_CHARACTERS = 100
RESPONDER_MESSAGE_BYTES = 8 * 1024
RESPONDER_CONVERSATION = 20
RESPONDER_CONVERSATION_BYTES = 32 * 1024
RESPONDER_TURN_S = 60
ACTION_KEY_CHARACTERS = 200
ACTION_DESCRIPTION_CHARACTERS = 500
ACTION_FAILURE_CHARACTERS = 500
ACTION_RESULT_BYTES = 16 * 1024
ACTION_RESULT_DEPTH = 64
ACTION_LEASE_S = 3600
EVIDENCE_BYTES = 10 * 1000 * 1000
EVIDENCE_NAME_CHARACTERS = 200
SYSTEM_PREFIX = "system:"
"""Begins the names of agents that the memory makes for itself."""
NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._:@/-]{0,99}"

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def check_text(field: str, value: str, *, max_bytes: int) -> None:
    """Raises InvalidRequest unless `value` is non-blank, storable text of at most `max_bytes` bytes of UTF-8."""
    check_storable(field, value)
    if not value.strip():
        raise InvalidRequest(field, "must not be empty or white space")
    size = len(value.encode())
    if size > max_bytes:
        raise InvalidRequest(field, f"is {size} bytes of UTF-8; at most {max_bytes} are kept")


def check_storable(field: str, value: str) -> None:
    """Raises InvalidRequest when PostgreSQL or UTF-8 cannot hold `value`."""
    if "\x00" in value:
        raise InvalidRequest(field, "must not contain the NUL character")
    if _LONE_SURROGATE.search(value):
        raise InvalidRequest(field, "must not contain a lone surrogate")


def check_aware(field: str, value: datetime | None) -> None:
    """Raises InvalidRequest when a time has no offset, or cannot be told in every time zone."""
    if value is None:
        return
    if value.utcoffset() is None:
        raise InvalidRequest(field, "must have an offset, such as Z or +02:00")
    try:
        year = value.astimezone(UTC).year
    except OverflowError:
        year = 0
    # not the first and last one that Python knows: a database shows times in a zone of its own, a day off at most
    if not 2 <= year <= 9998:
        raise InvalidRequest(field, "must lie within the years 2 to 9998; leave it out for no bound")


def check_tick(field: str, value: int | None) -> None:
    """Raises InvalidRequest for a number that no tribe's clock can show."""
    if value is not None and not 0 <= value < 2**63:
        raise InvalidRequest(field, "must be a tick of this tribe")


def check_confidence(field: str, value: float) -> None:
    """Raises InvalidRequest unless `value` is a number in 0..1."""
    if not (math.isfinite(value) and 0 <= value <= 1):
        raise InvalidRequest(field, "must be a number from 0 to 1")


def check_name(field: str, value: str) -> None:
    """Raises InvalidRequest unless `value` can name a tribe or an agent."""
    if not re.fullmatch(NAME_PATTERN, value):
        raise InvalidRequest(field, "must be 1 to 100 letters, digits or . _ : @ / -, beginning with a letter or digit")


def check_agent_name(field: str, value: str) -> None:
    """Raises InvalidRequest unless `value` can name an agent that people or programs act as."""
    check_name(field, value)
    if value.lower().startswith(SYSTEM_PREFIX):
        raise InvalidRequest(field, f"must not begin with '{SYSTEM_PREFIX}': such agents are the memory's own")


def check_short(field: str, value: str, most: int) -> None:
    """Raises InvalidRequest unless `value` is non-blank, storable text of at most `most` characters."""
    check_storable(field, value)
    if not value.strip():
        raise InvalidRequest(field, "must not be empty or white space")
    if len(value) > most:
        raise InvalidRequest(field, f"has {len(value)} characters; at most {most} are allowed")


def check_tags(tags: Mapping[str, str]) -> None:
    """Raises InvalidRequest for too many tags, or for a key or value that breaks a rule."""
    if len(tags) > TAGS:
        raise InvalidRequest("tags", f"has {len(tags)} entries; at most {TAGS} are allowed")
    for key, value in tags.items():
        check_short("tags", key, TAG_KEY_CHARACTERS)
        check_short(f"tags.{key}", value, TAG_VALUE_CHARACTERS)


def check_draft(draft: Draft) -> None:
    """Raises InvalidRequest naming the first field of `draft` that breaks a rule."""
    check_text("text", draft.text, max_bytes=TEXT_BYTES)
    check_text("situation", draft.situation, max_bytes=SITUATION_BYTES)
    if draft.rationale is not None:
        check_text("rationale", draft.rationale, max_bytes=RATIONALE_BYTES)
    for field, value, limit in _short_fields(draft):
        check_short(field, value, limit)
    check_tags(draft.tags)
    if len(draft.evidence) > EVIDENCE_ITEMS:
        raise InvalidRequest("evidence", f"has {len(draft.evidence)} items; at most {EVIDENCE_ITEMS} are allowed")
    if len(draft.receipts) > RECEIPTS:
        raise InvalidRequest("receipts", f"has {len(draft.receipts)} items; at most {RECEIPTS} are allowed")
    if len(draft.replaces) > REPLACES:
        raise InvalidRequest("replaces", f"has {len(draft.replaces)} items; at most {REPLACES} are allowed")
    check_confidence("confidence", draft.confidence)
    for name in ("valid_from", "valid_until", "keep_until"):
        check_aware(name, getattr(draft, name))
    if draft.valid_from and draft.valid_until and draft.valid_from >= draft.valid_until:
        raise InvalidRequest("valid_until", "must be later than valid_from")


def _short_fields(draft: Draft) -> Iterator[tuple[str, str, int]]:
    if draft.subject is not None:
        yield "subject", draft.subject, SUBJECT_CHARACTERS
    if draft.source.ref is not None:
        yield "source.ref", draft.source.ref, REF_CHARACTERS
    for index, item in enumerate(draft.evidence):
        yield f"evidence.{index}.type", item.type, TAG_KEY_CHARACTERS
        yield f"evidence.{index}.ref", item.ref, REF_CHARACTERS
        if item.note is not None:
            yield f"evidence.{index}.note", item.note, EVIDENCE_CHARACTERS
