"""A tribe of a memory in this process, for the gauntlet's agents."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from evals.gauntlet.tribe import Finding, Hit, Learned
from tributary.core.agent import Principal
from tributary.core.lesson import Draft, Evidence, How, Source
from tributary.core.requests import Question
from tributary.service import Memory


class TribeHere:
    """What the policy needs of a memory, said to the service itself as one agent."""

    def __init__(self, memory: Memory, agent: Principal) -> None:
        self._memory = memory
        self._agent = agent

    def recall(self, query: str, /) -> Sequence[Hit]:
        recalled = self._memory.recall(self._agent, Question(query=query))
        return tuple(
            Hit(lesson=str(one.lesson.lesson_id), text=one.lesson.text, confidence=one.confidence) for one in recalled.hits
        )

    def learn(self, finding: Finding, /) -> Learned:
        draft = Draft(
            text=finding.text,
            situation=finding.situation,
            subject=finding.subject,
            source=Source(how=How.OBSERVED, ref=f"run:{finding.run}"),
            evidence=(Evidence(type="log", ref=f"run:{finding.run}#step-{finding.step}", note=finding.log),),
            rationale=finding.rationale,
        )
        learned = self._memory.learn(self._agent, draft)
        return Learned(lesson=str(learned.lesson.lesson_id) if learned.lesson else None, outcome=learned.outcome.value)

    def reinforce(self, lesson: str, /) -> float:
        return self._memory.reinforce(self._agent, UUID(lesson)).lesson.confidence
