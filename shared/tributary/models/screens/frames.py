"""What a text does to the frame that a prompt puts around it: closing tags that close nothing, and turns that nobody took."""

from __future__ import annotations

import re

# What prompts fence data with. Configuration files know some of these too, but there they are opened first.
_FENCES = (
    r"tributary-lessons?|lessons?|memor(?:y|ies)|recalled|recall|context|data|documents?|doc|untrusted[a-z_-]{0,20}|tool_results?|"
    r"tool_outputs?|tool|function_results?|results?|outputs?|inputs?|user_inputs?|user|instructions?|prompts?|system|assistant|"
    r"quotes?|quoted|retrieved|knowledge|notes?|content|text|messages?|answer|thinking|examples?|sources?"
)
_TAG = re.compile(
    rf"<\s?(/?)\s?({_FENCES})(?:[-_ ][a-z0-9_-]{{0,64}})?\s?>|<({_FENCES})(?:[-_][a-z0-9]{{1,64}})?\s[^<>]{{0,200}}>"
)

_TURN = re.compile(r"(?m)^[ >*_-]{0,6}(assistant|ai|human|user|system)[*_]{0,2} ?: ?\S")


def closes_a_fence(marked: str) -> bool:
    """Tells whether `marked` (case-folded) closes a fence that it has not opened."""
    open_tags: dict[str, int] = {}
    for match in _TAG.finditer(marked):
        name = match[2] or match[3]
        if match[1] != "/":
            open_tags[name] = open_tags.get(name, 0) + 1
        elif open_tags.get(name, 0):
            open_tags[name] -= 1
        else:
            return True
    return False


def takes_turns(lines: str) -> bool:
    """Tells whether `lines` (case-folded) hold a conversation: turns of two speakers, a model or a human among them."""
    speakers = {match[1] for match in _TURN.finditer(lines)}
    return len(speakers) > 1 and not speakers.isdisjoint({"assistant", "ai", "human"})
