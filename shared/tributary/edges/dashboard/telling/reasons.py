"""Why a text is held back, in words: each code that a screen gives, and that nothing could screen it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_NOTHING_FOUND = "Nobody found anything in it."
_WORDS = {
    "override": "It tells its reader to drop or replace the instructions and safeguards that they work by.",
    "role_hijack": "It poses as a system prompt, a developer or a turn of the conversation, or gives its reader another role.",
    "fence_escape": "It closes the fence that keeps recalled text apart from instructions, or forges one.",
    "judge_attack": "It tries to steer what compares, screens or ranks lessons, or asks to be believed whatever it says.",
    "reader_hijack": "It speaks to the agent that recalls it, and wants it to act for a purpose of its own.",
    "exfiltration": "It wants secrets, data or conversations sent to somebody who has no need of them.",
    "markup_script": "It carries markup or script that would run, or load something, where it is shown.",
    "guardrail_topic": "The guardrail denies its topic.",
    "guardrail_content": "A content filter of the guardrail caught it.",
    "guardrail_word": "It has a word that the guardrail denies.",
    "guardrail_sensitive_information": "The guardrail found sensitive information in it.",
    "guardrail_contextual_grounding": "The guardrail's grounding check caught it.",
    "guardrail_intervened": "The guardrail stepped in, and does not say by which policy.",
    "screen_unavailable": f"The screen could not be asked. {_NOTHING_FOUND} The gardener has it screened again.",
    "screen_timed_out": f"The screen did not answer in time, again and again. {_NOTHING_FOUND}",
    "screen_refused": f"The screen's model refused to answer, again and again. {_NOTHING_FOUND}",
    "screen_malformed": f"The screen's model gave no usable answer, again and again. {_NOTHING_FOUND}",
}


@dataclass(frozen=True, kw_only=True)
class Reason:
    """A code, and what it means; None for one that this version does not know."""

    code: str
    means: str | None


def explained(codes: Iterable[str]) -> tuple[Reason, ...]:
    """Returns the reasons in their order."""
    return tuple(Reason(code=code, means=_WORDS.get(code)) for code in codes)
