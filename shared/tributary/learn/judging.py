"""Step 5: verdicts, asked for once per pair and kept for as long as this learn lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from tributary.core.decision import NoAnswer, Verdict, VerdictKind
from tributary.core.errors import ModelFailed
from tributary.core.lesson import Draft, Lesson
from tributary.core.outcome import Candidate, Judged
from tributary.core.ports import Judge, JudgedText
from tributary.core.reviewing import Case, overruled_case
from tributary.learn.deadline import Deadline
from tributary.telemetry import Event, Span, log, traces

EQUAL_CONTENT = "equal-content/1"
"""Named in decisions as the judge of a pair whose content hashes are equal."""
SAID = "agent-said/1"
"""Named in decisions as the judge of a pair about which an agent contested, or a curator resolved."""


class Bench:
    """Judges one new lesson. A verdict depends on what two lessons say and on the judge's version, never on their standing."""

    def __init__(
        self,
        judge: Judge,
        draft: Draft,
        *,
        lesson_id: UUID,
        content_hash: bytes,
        on_judged: Callable[[int, int], None],
    ) -> None:
        """`on_judged` is told of how many pairs a judge answered about, and how many of them the strong judge was asked, too."""
        self._judge = judge
        self._draft = draft
        self._on_judged = on_judged
        self._forced: Mapping[UUID, VerdictKind] = {}
        # equal content is the same, whether or not a judge can be reached to say so
        equal = Verdict(
            lesson_id=lesson_id, kind=VerdictKind.SAME, confidence=1.0, judge=EQUAL_CONTENT, reason="the very same words"
        )
        self._new = JudgedText(lesson_id=lesson_id, text=draft.text, situation=draft.situation, subject=draft.subject)
        self._verdicts: dict[bytes, Verdict] = {content_hash: equal}

    def force(self, forced: Mapping[UUID, VerdictKind]) -> None:
        """Gives verdicts on lessons that are not to be asked for: what an agent said of the pair."""
        self._forced = forced

    def judge_all(self, candidates: Mapping[UUID, Candidate], deadline: Deadline) -> list[Judged] | None:
        """Returns every candidate with its verdict, or None when the deadline passed before all were judged."""
        missing = [
            c.lesson
            for c in candidates.values()
            if c.lesson.content_hash not in self._verdicts and c.lesson.lesson_id not in self._forced
        ]
        if missing:
            if deadline.passed:
                return None
            for lesson, answer in zip(missing, self._ask(missing, deadline), strict=True):
                self._verdicts[lesson.content_hash] = answer
            if deadline.passed:
                return None
        return [Judged(candidate=c, verdict=verdict) for c in candidates.values() if (verdict := self._verdict(c.lesson))]

    def recorded(self, candidates: Iterable[Candidate]) -> list[dict[str, object]]:
        """Returns the verdicts on `candidates` for the decision's record: ids, codes and figures, no text."""
        return [
            {"lesson_id": str(c.lesson.lesson_id), **verdict.record()}
            for c in candidates
            if (verdict := self._verdict(c.lesson)) is not None
        ]

    def overruled(self, candidates: Iterable[Candidate]) -> list[Case]:
        """Returns cases for the review queue: the pairs about which the strong tier overruled the cheap one."""
        return [
            case
            for c in candidates
            if (verdict := self._verdict(c.lesson)) is not None
            and (case := overruled_case(verdict, old=c.lesson, new=self._draft, new_lesson=self._new.lesson_id)) is not None
        ]

    def _verdict(self, lesson: Lesson) -> Verdict | None:
        if forced := self._forced.get(lesson.lesson_id):
            return Verdict(lesson_id=lesson.lesson_id, kind=forced, confidence=1.0, judge=SAID, reason="an agent said so")
        known = self._verdicts.get(lesson.content_hash)
        return None if known is None else replace(known, lesson_id=lesson.lesson_id)

    def _ask(self, lessons: list[Lesson], deadline: Deadline) -> list[Verdict]:
        asked = [
            JudgedText(lesson_id=one.lesson_id, text=one.text, situation=one.situation, subject=one.subject) for one in lessons
        ]
        cause = NoAnswer.UNAVAILABLE
        try:
            with traces.span(Span.JUDGE, judge=self._judge.version, pairs=len(asked)):
                answers = self._judge.judge(self._new, asked, timeout_s=deadline.remaining_s())
        except Exception as error:  # whatever breaks in an adapter, a lesson must not be lost with it
            level = log.WARNING if isinstance(error, ModelFailed) else log.ERROR
            log.event(Event.JUDGE_UNAVAILABLE, level=level, error=error, judge=self._judge.version)
            answers, cause = (), NoAnswer.of(error)
        known = {one.lesson_id for one in lessons}
        # an answer about something that was not asked is no answer
        by_id = {answer.lesson_id: answer for answer in answers if answer.lesson_id in known}
        escalated = sum(answer.escalated for answer in by_id.values())
        self._on_judged(sum(answer.answered or answer.escalated for answer in by_id.values()), escalated)
        return [by_id.get(one.lesson_id) or self._no_answer(one.lesson_id, cause) for one in lessons]

    def _no_answer(self, lesson_id: UUID, cause: NoAnswer) -> Verdict:
        return Verdict.unanswered(lesson_id, judge=self._judge.version, cause=cause, reason="the judge gave no answer")
