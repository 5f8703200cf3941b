"""Step 1: what a writer hands in, in the forms that the later steps need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace

from tributary import spaces
from tributary.core.history import Citation
from tributary.core.lesson import Draft, Lesson

_OF_THE_REQUEST = ("receipts", "replaces")
"""What a writer hands in with a lesson and is kept with its decision, not with the lesson."""


def embedded_text(draft: Draft) -> str:
    """Returns what a lesson is found by: its situation, then its text."""
    return spaces.embedded_text(situation=draft.situation, text=draft.text)


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
    return Draft(**{field.name: getattr(lesson, field.name) for field in fields(Draft) if field.name not in _OF_THE_REQUEST})


def content_of(draft: Draft, citations: Sequence[Citation]) -> Mapping[str, object]:
    """Returns a draft as what a repeated idempotency key's request is compared by; receipts, which are signed, by their ids."""
    return {**asdict(replace(draft, receipts=())), "receipts": [one.receipt_id.hex for one in citations]}
