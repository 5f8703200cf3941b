"""A mind for fake providers that plays the gauntlet's scripted policy, from nothing but what came over the wire.

It has the policy work on what was done so far; the first thing that it then wants and that is not there yet is its next move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evals.gauntlet.policy import Agent, When
from evals.gauntlet.terminal import Command, Observation
from evals.gauntlet.tribe import Finding, Hit, Learned
from tests.providers.mind import unfenced


class _Next(Exception):
    """The move that comes after all that was done."""

    def __init__(self, kind: str, text: str, *, situation: str = "", subject: str = "") -> None:
        self.move = {"kind": kind, "text": text, "situation": situation, "subject": subject}


class _Replayed:
    """A terminal and a tribe that answer as it is written, in this order."""

    def __init__(self, given: Mapping[str, Any], kinds: Sequence[str]) -> None:
        self._left = list(given["so_far"])
        self._memory = [_hit(one) for one in given["memory"]]
        self._may_recall = "recall" in kinds

    def run(self, command: Command, /) -> Observation:
        answer = self._answer("run", str(command))
        return Observation(command=command, exit_code=answer["exit_code"], output=answer["output"])

    def recall(self, query: str, /) -> Sequence[Hit]:
        if not self._may_recall:
            return self._memory
        return [_hit(one) for one in self._answer("recall", query)]

    def learn(self, finding: Finding, /) -> Learned:
        outcome = self._answer("learn", finding.text, situation=finding.situation, subject=finding.subject)
        return Learned(lesson=None, outcome=outcome)

    def reinforce(self, lesson: str, /) -> float:
        return float(self._answer("confirm", lesson))

    def say(self, line: str) -> None:
        """Takes what the policy says of a lesson that did not help as the wish to refute it."""
        if line.endswith("did not help"):
            lesson = next(word for word in line.split() if word.startswith("les_"))
            self._answer("refute", lesson)

    def _answer(self, kind: str, text: str, **more: str) -> Any:
        if not self._left:
            raise _Next(kind, text, **more)
        done = self._left.pop(0)
        assert (done["kind"], done["text"]) == (kind, text), "it was another move than this mind would make"
        return done["answer"]


def operating(instructions: str, material: str, schema: Mapping[str, Any]) -> Mapping[str, object]:
    """Answers with the next move."""
    kinds = schema["properties"]["kind"]["enum"]
    replayed = _Replayed(unfenced(material), kinds)
    when = When.FAILED if "only once a move has failed" in instructions else When.BEFORE
    try:
        Agent(terminal=replayed, tribe=replayed, run="replayed", say=replayed.say, when=when).work()
    except _Next as following:
        return following.move
    return {"kind": "done", "text": "", "situation": "", "subject": ""}


def _hit(shown: Mapping[str, Any]) -> Hit:
    return Hit(lesson=shown["lesson"], text=shown["text"], confidence=shown["confidence"])
