"""A tribe reached over HTTP, through the SDK alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from evals.gauntlet.session import Turn
from evals.gauntlet.tribe import Finding, Hit, Learned, Proposed
from tributary.client import Attempt, Evidence, Memory, observed

IN_A_PROMPT = 10
"""Lessons that are put into a prompt at most."""


@contextmanager
def open_tribe() -> Iterator[RemoteTribe]:
    """Yields the tribe at TRIBUTARY_URL, as the agent whose token is in TRIBUTARY_TOKEN."""
    with Memory() as memory:
        yield RemoteTribe(memory)


class RemoteTribe:
    """What the policy needs of a memory, said in the SDK's words."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def recall(self, query: str, /) -> Sequence[Hit]:
        hits = self._memory.recall(query)
        return tuple(Hit(lesson=hit.id, text=hit.text, confidence=hit.confidence) for hit in hits)

    def prompt(self, query: str, /) -> str:
        """Returns what bears on `query` as text for an agent's prompt: fenced, each lesson cited by its id."""
        return self._memory.recall(query, limit=IN_A_PROMPT).as_prompt()

    def learn(self, finding: Finding, /) -> Learned:
        learned = self._memory.learn(
            finding.text,
            situation=finding.situation,
            subject=finding.subject,
            source=observed(f"run:{finding.run}"),
            evidence=[_log(finding)],
            rationale=finding.rationale,
        )
        return Learned(lesson=learned.lesson.id if learned.lesson else None, outcome=learned.outcome)

    def contest(self, lesson: str, finding: Finding, /) -> Learned:
        said = self._memory.contest(
            lesson,
            finding.text,
            source=observed(f"run:{finding.run}"),
            evidence=[_log(finding)],
            rationale=finding.rationale,
        )
        return Learned(lesson=said.lesson.id if said.lesson else None, outcome=said.outcome)

    def reinforce(self, lesson: str, /) -> float:
        return self._memory.reinforce(lesson).lesson.confidence

    def learn_from(self, turns: Sequence[Turn], *, run: str) -> tuple[Proposed, ...]:
        """Has the server's model distil a transcript and hands all that it proposes to the tribe, in one batch."""
        proposed = self._memory.distill(turns, ref=f"run:{run}").lessons
        attempts = self._memory.learn_all(proposed)
        return tuple(Proposed(text=one.text, learned=_became(of)) for one, of in zip(proposed, attempts, strict=True))


def _log(finding: Finding) -> Evidence:
    return Evidence(type="log", ref=f"run:{finding.run}#step-{finding.step}", note=finding.log)


def _became(attempt: Attempt) -> Learned:
    if attempt.result is None:
        return Learned(lesson=None, outcome=attempt.error.code if attempt.error else "no answer")
    lesson = attempt.result.lesson
    return Learned(lesson=lesson.id if lesson else None, outcome=attempt.result.outcome)
