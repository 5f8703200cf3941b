"""What the model says in one round, read with distrust: the next tool, the answer, or something that is neither."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

MOST_ANSWER_CHARACTERS = 8_000

SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "next": {"type": "string", "enum": ["tool", "answer"]},
        "tool": {"type": ["string", "null"], "description": "With next=tool: the tool's name."},
        "arguments": {"type": ["string", "null"], "description": "With next=tool: its arguments, one JSON object as a text."},
        "answer": {"type": ["string", "null"], "description": "With next=answer: what the person is told."},
        "claims_absence": {
            "type": ["boolean", "null"],
            "description": "With next=answer: whether it says, in any wording, that nothing is known of this, or that it is new.",
        },
    },
    "required": ["next", "tool", "arguments", "answer", "claims_absence"],
    "additionalProperties": False,
}
"""Closed and without free-form objects, which is what every provider's strict mode takes."""


_UNFIT = re.compile("[\x00\ud800-\udfff]")


class Garbled(Exception):
    """The model said something that is no step; the message is told to it."""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """`claims_absence` is what the model itself says of its words."""

    text: str
    claims_absence: bool = False


class _Step(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    next: Literal["tool", "answer"]
    tool: str | None = None
    arguments: str | dict[str, Any] | None = None
    answer: str | None = None
    claims_absence: bool | None = None


def read_step(given: Mapping[str, object]) -> ToolCall | Answer:
    """Returns what the model wants next; raises Garbled, saying what is wrong."""
    try:
        step = _Step.model_validate(given)
    except (ValidationError, RecursionError):
        raise Garbled("your answer does not fit the form: next is 'tool' or 'answer', and what belongs to it is a text") from None
    if any(_UNFIT.search(text) for text in (step.tool or "", step.answer or "")):
        raise Garbled("your answer has characters that no text may have: NUL, or half of a pair of surrogates")
    if step.next == "answer":
        if not (step.answer or "").strip():
            raise Garbled("next=answer needs an answer that is not empty")
        return Answer(text=str(step.answer).strip()[:MOST_ANSWER_CHARACTERS], claims_absence=bool(step.claims_absence))
    if not step.tool:
        raise Garbled("next=tool needs the name of a tool")
    return ToolCall(name=step.tool, arguments=_arguments(step.arguments))


def _arguments(given: str | dict[str, Any] | None) -> Mapping[str, object]:
    if isinstance(given, dict):
        return given
    try:
        found = json.loads(given or "{}")
    except (ValueError, RecursionError):
        raise Garbled("arguments must be one JSON object, written as a text") from None
    if not isinstance(found, dict):
        raise Garbled("arguments must be one JSON object")
    return found
