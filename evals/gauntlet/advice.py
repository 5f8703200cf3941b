"""How a lesson says what to do, so that another agent can read it out of plain text and do it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evals.gauntlet.terminal import Command

_ADVICE = re.compile(r"\brun `([^`\n]+)` (before|instead of) `([^`\n]+)`", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Run `remedy` before `move`, or `instead` of it."""

    remedy: Command
    move: Command
    instead: bool

    def __str__(self) -> str:
        return f"run `{self.remedy}` {'instead of' if self.instead else 'before'} `{self.move}`"

    def fitted(self, planned: Command) -> Advice | None:
        """Returns this advice as it reads for `planned`, or None when it is about another kind of move.

        Where the move that it names differs from the planned one (another service, say), the remedy changes with it.
        """
        if len(planned.words) != len(self.move.words) or planned.tool != self.move.tool:
            return None
        renamed = dict(zip(self.move.words, planned.words, strict=True))
        remedy = Command(tuple(renamed.get(word, word) for word in self.remedy.words))
        return Advice(remedy=remedy, move=planned, instead=self.instead)


def read_advice(text: str) -> Advice | None:
    """Returns the first advice that `text` states, or None when it states none that can be followed."""
    for remedy, how, move in _ADVICE.findall(text):
        first, second = Command.parse(remedy), Command.parse(move)
        if first is not None and second is not None:
            return Advice(remedy=first, move=second, instead=how.casefold() != "before")
    return None
