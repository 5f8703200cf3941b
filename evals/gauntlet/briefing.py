"""Memory in an agent's prompt: recalled once for the task at hand before the agent starts, and read by it as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evals.gauntlet.tribe import Finding, Hit, Learned, Tribe

_LESSON = re.compile(r"^lesson (\S+)\n  confidence: ([0-9.]+),", re.MULTILINE)
_TEXT = re.compile(r"^  text:\n((?:  \| .*\n?)+)", re.MULTILINE)
_ESCAPED_TAG = "&lt;"


class Briefed:
    """A tribe whose lessons the agent holds already: nobody asks it anything, and what is learned is handed on."""

    def __init__(self, hits: Sequence[Hit], tribe: Tribe) -> None:
        self._hits = hits
        self._tribe = tribe

    def recall(self, _query: str, /) -> Sequence[Hit]:
        return self._hits

    def learn(self, finding: Finding, /) -> Learned:
        return self._tribe.learn(finding)

    def reinforce(self, lesson: str, /) -> float:
        return self._tribe.reinforce(lesson)


def read_prompt(prompt: str) -> Iterator[Hit]:
    """Yields the lessons that a prompt of recalled ones shows, in their order, as a reader takes them in."""
    starts = list(_LESSON.finditer(prompt))
    for start, following in zip(starts, [*starts[1:], None], strict=True):
        shown = prompt[start.start() : following.start() if following else len(prompt)]
        text = _TEXT.search(shown)
        if text is not None:
            lines = (line.removeprefix("  | ") for line in text.group(1).splitlines())
            words = "\n".join(lines).replace(_ESCAPED_TAG, "<")
            yield Hit(lesson=start.group(1), text=words, confidence=float(start.group(2)))
