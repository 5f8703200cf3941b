"""What can be learned from the transcript of an agent at a terminal, by rules: what was run before a command that had failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

_RAN = re.compile(r"^\$ (?P<command>.+)$", re.MULTILINE)
_FAILED = re.compile(r"^exit code (?!0\b)\d+", re.MULTILINE)
_PHASE = re.compile(r"^\d+\. (?P<goal>[^`\n]+?): `(?P<move>[^`]+)`", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """One command; `turn` is the number of the turn that holds what it answered."""

    turn: int
    command: str
    answer: str

    @property
    def failed(self) -> bool:
        return bool(_FAILED.search(self.answer))

    @property
    def headline(self) -> str:
        return self.answer.splitlines()[1]

    @property
    def tool(self) -> str:
        return self.command.partition(" ")[0]


def lessons_in(turns: Sequence[Mapping[str, Any]]) -> list[Mapping[str, object]]:
    """Returns a lesson for each move of the runbook that failed at first, with the words of the turns that show it."""
    ran = list(_ran(turns))
    goals = {found["move"]: found["goal"] for one in ran for found in _PHASE.finditer(one.answer)}
    return [lesson for move, goal in goals.items() for lesson in _lessons(ran, move, goal)]


def _ran(turns: Sequence[Mapping[str, Any]]) -> Iterator[Ran]:
    for said, answered in pairwise(turns):
        if said["role"] == "assistant" and answered["role"] == "tool" and (found := _RAN.search(said["text"])):
            yield Ran(turn=answered["turn"], command=found["command"], answer=answered["text"])


def _lessons(ran: Sequence[Ran], move: str, goal: str) -> Iterator[Mapping[str, object]]:
    """Yields what made the phase of `move` pass: the last command of its kind that succeeded, or what was run before it."""
    tool = move.partition(" ")[0]
    own = [at for at, one in enumerate(ran) if one.tool == tool]
    failures = [ran[at] for at in own if ran[at].failed]
    passed = [at for at in own if not ran[at].failed]
    if not failures or not passed:
        return
    last = passed[-1]
    # a check is no remedy: the setting before it is
    remedy = ran[last - 1] if ran[last].command in (move, failures[0].command) else ran[last]
    instead = remedy.tool == tool
    yield {
        "text": f"{failures[0].headline}. To {goal[:1].lower()}{goal[1:]}, run `{remedy.command}`"
        f" {'instead of' if instead else 'before'} `{move}`.",
        "situation": goal,
        "subject": None,
        "kind": "gotcha",
        "rationale": None,
        "tags": [],
        "confidence": 0.9,
        "evidence": [{"turn": one.turn, "quote": one.headline} for one in (failures[0], ran[last])],
    }
