"""The runbooks as a tribe's lessons, in the real product: learned, replaced by a curator, and recalled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from evals.bench import Progress
from evals.retrieval.measures import DEPTH
from evals.retrieval.questions import Asked
from evals.runbooks import Section
from tributary.core.agent import Principal
from tributary.core.decision import Learned, Outcome, Verdict, VerdictKind
from tributary.core.lesson import CounterClaim, Draft, How, Kind, Source
from tributary.core.ports import JudgedText
from tributary.core.requests import Question, Recalled
from tributary.service import Memory

BATCH = 50


class NoConflicts:
    """A judge that calls all pairs unrelated: the search is measured here, so no section may vanish by a judge's mistake."""

    version = "no-conflicts/1"

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> list[Verdict]:  # noqa: ARG002
        return [
            Verdict(lesson_id=one.lesson_id, kind=VerdictKind.UNRELATED, confidence=1.0, judge=self.version, reason="by decree")
            for one in candidates
        ]


@dataclass(frozen=True, kw_only=True)
class Library:
    """`sections` and `ids` lie side by side: the lesson that a section became. `filled_at` is the tick of the last one."""

    memory: Memory
    curator: Principal
    sections: tuple[Section, ...]
    ids: tuple[UUID, ...]
    filled_at: int

    def ids_of(self, names: Sequence[str]) -> frozenset[UUID]:
        """Returns the lessons of the sections so named (file#heading); raises KeyError for a name that no section has."""
        known = {section.name: lesson_id for section, lesson_id in zip(self.sections, self.ids, strict=True)}
        return frozenset(known[name] for name in names)

    def replace(self, asked: Asked) -> UUID:
        """Lets the curator put the replacement in the place of what answers `asked`; returns the new lesson."""
        (old,) = self.ids_of(asked.right)
        assert asked.replacement is not None
        claim = CounterClaim(text=asked.replacement, source=Source(how=How.TOLD, ref=f"eval:{asked.id}"))
        learned = self.memory.contest(self.curator, old, claim)
        if learned.lesson is None or learned.replaced != (old,):
            raise RuntimeError(f"{asked.id}: the replacement was {learned.outcome}, not put in the place of the old section")
        return learned.lesson.lesson_id

    def recall(self, question: str, *, limit: int = DEPTH, as_of: int | None = None) -> Recalled:
        return self.memory.recall(self.curator, Question(query=question, limit=limit, as_of=as_of))

    def found(self, question: str, *, as_of: int | None = None) -> list[UUID]:
        """Returns the lessons that a recall shows, best first."""
        return [hit.lesson.lesson_id for hit in self.recall(question, as_of=as_of).hits]


def fill(memory: Memory, *, importer: Principal, curator: Principal, sections: Sequence[Section], progress: Progress) -> Library:
    """Learns every section as a `runbook_fact`; raises RuntimeError when one was not learned as a lesson of its own."""
    ids: list[UUID] = []
    tick = 0
    for start in range(0, len(sections), BATCH):
        progress.step(f"embedding and learning sections {start + 1} to {min(start + BATCH, len(sections))} of {len(sections)}")
        batch = sections[start : start + BATCH]
        for section, attempt in zip(batch, memory.learn_all(importer, [_draft(one) for one in batch]), strict=True):
            if not isinstance(attempt, Learned) or attempt.outcome is not Outcome.LEARNED or attempt.lesson is None:
                said = attempt.reason if isinstance(attempt, Learned) else str(attempt)
                raise RuntimeError(f"{section.ref} was not learned: {said}")
            ids.append(attempt.lesson.lesson_id)
            tick = attempt.tick
    return Library(memory=memory, curator=curator, sections=tuple(sections), ids=tuple(ids), filled_at=tick)


def _draft(section: Section) -> Draft:
    return Draft(
        text=section.text,
        situation=section.situation,
        source=Source(how=How.IMPORTED, ref=section.ref),
        kind=Kind.RUNBOOK_FACT,
    )
