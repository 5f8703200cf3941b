"""Two judges: a cheap one that is asked about every pair, and a strong one for what should not rest on its word alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from tributary.core.decision import NoAnswer, Verdict, VerdictKind
from tributary.core.errors import BadSetting, ModelFailed, ModelTimedOut
from tributary.core.ports import Judge, JudgedText
from tributary.core.spending import account
from tributary.telemetry import Event, Metric, log, metrics

BELOW = 0.75
CHEAP_SHARE = 0.5
"""Of the caller's time. The strong judge has what is left, so that one that hangs does not take the other's turn."""


class TieredJudge:
    """Asks the strong judge too about what the cheap one calls a contradiction, is not sure enough of, or did not answer.

    Its answer replaces the cheap one's, which is kept as `first`. Without it such a pair is `unsure`, with a cause, whatever
    the cheap one said: a contradiction that nobody confirmed must not end a belief, a repetition not swallow what was said,
    and two lessons that are perhaps opposite must not stand side by side unmarked. All three are asked about again.
    """

    def __init__(self, *, cheap: Judge, strong: Judge, below: float = BELOW, clock: Callable[[], float] = time.monotonic) -> None:
        """`below` is the confidence, in 0..1, under which the cheap judge's word is not enough. Raises BadSetting."""
        if not 0 <= below <= 1:
            raise BadSetting(f"TRIBUTARY_STRONG_JUDGE_BELOW: must be a number from 0 to 1 (it is '{below}')")
        self._cheap = cheap
        self._strong = strong
        self._below = below
        self._clock = clock

    @property
    def version(self) -> str:
        return f"{self._cheap.version} then {self._strong.version} below {self._below:g}"

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        """Returns one verdict a candidate, in order; raises ModelFailed when neither judge answered anything.

        The strong judge is asked about as many pairs as the budget of the day allows, and what else it would have settled has
        the cause `budget_spent`.
        """
        until = None if timeout_s is None else self._clock() + timeout_s
        settled = self._first(new, candidates, timeout_s)
        doubtful = [one for one in candidates if self._doubts(settled[one.lesson_id])]
        if doubtful:
            with account().reserve(len(doubtful)) as granted:
                settled |= self._settled(new, doubtful, settled, granted=granted, until=until)
        return [settled[one.lesson_id] for one in candidates]

    def _settled(
        self,
        new: JudgedText,
        doubtful: Sequence[JudgedText],
        first: Mapping[UUID, Verdict],
        *,
        granted: int,
        until: float | None,
    ) -> dict[UUID, Verdict]:
        """Returns the strong judge's word on as many pairs as the budget was granted for; the others wait for a budget."""
        settled: dict[UUID, Verdict] = {}
        if asked := doubtful[:granted]:
            metrics.record(Metric.ESCALATIONS, len(asked))
            second = self._second(new, asked, None if until is None else until - self._clock(), failing=_failing(first.values()))
            settled |= {key: replace(verdict, first=first[key]) for key, verdict in second.items()}
        # what the cheap one was away for is its own still, and asked about again however the budget stands
        waiting = [one.lesson_id for one in doubtful[granted:] if first[one.lesson_id].answered]
        return settled | {key: replace(_no_answer(key, self._strong, NoAnswer.BUDGET_SPENT), first=first[key]) for key in waiting}

    def _first(self, new: JudgedText, candidates: Sequence[JudgedText], timeout_s: float | None) -> dict[UUID, Verdict]:
        cause = NoAnswer.UNAVAILABLE
        found: Mapping[UUID, Verdict] = {}
        try:
            found = _asked(self._cheap, new, candidates, None if timeout_s is None else timeout_s * CHEAP_SHARE)
        except Exception as error:
            _log(self._cheap, error)
            cause = NoAnswer.of(error)
        return {one.lesson_id: found.get(one.lesson_id) or _no_answer(one.lesson_id, self._cheap, cause) for one in candidates}

    def _second(
        self, new: JudgedText, doubtful: Sequence[JudgedText], remaining_s: float | None, *, failing: NoAnswer | None
    ) -> dict[UUID, Verdict]:
        cause = NoAnswer.UNAVAILABLE
        found: Mapping[UUID, Verdict] = {}
        try:
            found = _asked(self._strong, new, doubtful, remaining_s)
        except Exception as error:  # whatever breaks in an adapter, what the other one answered stands
            _log(self._strong, error)
            cause = NoAnswer.of(error)
            if failing is not None and not cause.replied:
                late = failing is cause is NoAnswer.TIMED_OUT
                raise (ModelTimedOut if late else ModelFailed)("neither judge gave an answer") from error
        return {one.lesson_id: found.get(one.lesson_id) or _no_answer(one.lesson_id, self._strong, cause) for one in doubtful}

    def _doubts(self, first: Verdict) -> bool:
        doubtful = first.kind in (VerdictKind.CONFLICTS, VerdictKind.UNSURE) or first.no_answer is not None
        return doubtful or not first.confidence >= self._below  # so that no confidence at all (NaN) is too little as well


def _failing(first: Iterable[Verdict]) -> NoAnswer | None:
    """Returns why the cheap judge gave no reply of any kind about any pair; None when it gave one."""
    causes = {one.no_answer for one in first}
    if any(cause is None or cause.replied for cause in causes):
        return None
    return NoAnswer.TIMED_OUT if causes == {NoAnswer.TIMED_OUT} else NoAnswer.UNAVAILABLE


def _asked(judge: Judge, new: JudgedText, candidates: Sequence[JudgedText], timeout_s: float | None) -> Mapping[UUID, Verdict]:
    if timeout_s is not None and timeout_s <= 0:
        raise ModelTimedOut("no time was left for it")
    # whatever else is answered, each caller looks up what it asked about and nothing besides
    return {one.lesson_id: one for one in judge.judge(new, candidates, timeout_s=timeout_s)}


def _no_answer(lesson_id: UUID, judge: Judge, cause: NoAnswer) -> Verdict:
    return Verdict.unanswered(lesson_id, judge=judge.version, cause=cause, reason="no answer was given")


def _log(judge: Judge, error: Exception) -> None:
    level = log.WARNING if isinstance(error, ModelFailed) else log.ERROR
    log.event(Event.JUDGE_UNAVAILABLE, level=level, error=error, judge=judge.version)
