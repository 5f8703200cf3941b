"""The tiers: which pair goes to the strong judge, what becomes of what it does not answer, and how the time is shared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import pytest

from tributary.core.decision import NoAnswer, Verdict, VerdictKind
from tributary.core.errors import BadSetting, ModelFailed, ModelMalformed, ModelRefused, ModelTimedOut
from tributary.core.ports import JudgedText
from tributary.core.spending import ModelCall, on_account
from tributary.models.judges import TieredJudge

SAME, CONFLICTS, UNRELATED, UNSURE = VerdictKind.SAME, VerdictKind.CONFLICTS, VerdictKind.UNRELATED, VerdictKind.UNSURE
Said = tuple[VerdictKind, float] | None
"""A verdict with its confidence; None is no answer about the pair."""


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Scripted:
    """Says what the test wrote down, and notes what it was asked and in what time."""

    version: str
    says: Sequence[Said] | Exception
    cause: str | None = None
    about: Sequence[UUID] = ()
    asked: list[UUID] = field(default_factory=list)
    timeouts: list[float | None] = field(default_factory=list)
    clock: Clock | None = None
    takes_s: float = 0.0
    aside: Sequence[Verdict] = ()

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        self.asked += [one.lesson_id for one in candidates]
        self.timeouts.append(timeout_s)
        if self.clock is not None:
            self.clock.now += self.takes_s
        if isinstance(self.says, Exception):
            raise self.says
        by_id = dict(zip(self.about or self.asked, self.says, strict=False))
        found = [(one.lesson_id, by_id.get(one.lesson_id)) for one in candidates]
        return [verdict(key, said, self.version, self.cause) for key, said in found if said is not None] + list(self.aside)


class Poor:
    """An account whose budget is spent."""

    def charge(self, call: ModelCall) -> None: ...

    def may_spend(self) -> bool:
        return False

    def reserve(self, calls: int) -> AbstractContextManager[int]:
        return nullcontext(0)

    def decided(self, decision_id: UUID | None) -> None: ...


def verdict(lesson_id: UUID, said: tuple[VerdictKind, float], judge: str, cause: str | None = None) -> Verdict:
    return Verdict(lesson_id=lesson_id, kind=said[0], confidence=said[1], judge=judge, reason="as scripted", cause=cause)


def texts(count: int) -> list[JudgedText]:
    return [JudgedText(lesson_id=uuid4(), text=f"lesson {n}", situation="anywhere", subject=None) for n in range(count)]


NEW = texts(1)[0]


def cheap(says: Sequence[Said] | Exception, **more: object) -> Scripted:
    return Scripted("cheap/1", says, **more)  # type: ignore[arg-type]  # the test's own keywords


def strong(says: Sequence[Said] | Exception, **more: object) -> Scripted:
    return Scripted("strong/2", says, **more)  # type: ignore[arg-type]  # as above


SURE: list[Said] = [(SAME, 0.75), (UNRELATED, 0.9), (SAME, 1.0)]
DOUBTED: list[Said] = [
    (CONFLICTS, 0.99),
    (CONFLICTS, 0.1),
    (SAME, 0.74),
    (UNRELATED, 0.5),
    (SAME, math.nan),
    (UNSURE, 0.9),
    None,
]


@pytest.mark.parametrize("said", SURE)
def test_what_the_cheap_one_is_sure_of_costs_no_strong_answer(said: Said) -> None:
    one, two = cheap([said]), strong([(CONFLICTS, 0.9)])
    (found,) = TieredJudge(cheap=one, strong=two).judge(NEW, texts(1), timeout_s=None)
    assert (found.kind, found.judge, found.first, two.asked) == (said and said[0], "cheap/1", None, [])


@pytest.mark.parametrize("said", DOUBTED)
@pytest.mark.parametrize("answer", [(SAME, 0.8), (CONFLICTS, 0.6), (UNRELATED, 0.2), (UNSURE, 0.5)])
def test_what_is_doubted_is_the_strong_ones_to_say(said: Said, answer: tuple[VerdictKind, float]) -> None:
    pair = texts(1)
    (found,) = TieredJudge(cheap=cheap([said]), strong=strong([answer])).judge(NEW, pair, timeout_s=None)
    assert (found.lesson_id, found.kind, found.confidence, found.judge, found.cause) == (
        pair[0].lesson_id,
        *answer,
        "strong/2",
        None,
    )
    assert found.first is not None
    assert (found.first.judge, found.first.cause) == ("cheap/1", None if said else "judge_unavailable")
    assert found.first.kind is (said[0] if said else UNSURE)


@pytest.mark.parametrize("said", [one for one in DOUBTED if one is not None])
@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ModelFailed("away"), "judge_unavailable"),
        (RuntimeError("a bug"), "judge_unavailable"),
        (ModelRefused("no"), "judge_refused"),
        (ModelMalformed("not json"), "judge_malformed"),
        (ModelTimedOut("slow"), "judge_timed_out"),
    ],
)
def test_without_the_strong_one_a_doubt_stays_a_doubt_whatever_the_cheap_one_said(
    said: tuple[VerdictKind, float], error: Exception, cause: str
) -> None:
    (found,) = TieredJudge(cheap=cheap([said]), strong=strong(error)).judge(NEW, texts(1), timeout_s=None)
    assert (found.kind, found.confidence, found.judge, found.cause) == (UNSURE, 0.0, "strong/2", cause)
    assert found.first is not None
    assert found.first.kind is said[0]


def test_a_strong_one_that_says_nothing_of_a_pair_settles_nothing() -> None:
    pairs = texts(2)
    two = strong([(SAME, 0.9)], about=[pairs[1].lesson_id])
    found = TieredJudge(cheap=cheap([(CONFLICTS, 0.9)] * 2), strong=two).judge(NEW, pairs, timeout_s=None)
    assert [(one.kind, one.cause) for one in found] == [(UNSURE, "judge_unavailable"), (SAME, None)]


def test_a_strong_one_that_is_away_takes_nothing_from_what_the_cheap_one_was_sure_of() -> None:
    pairs = texts(3)
    one, two = cheap([(SAME, 0.9), (CONFLICTS, 0.9), (UNRELATED, 0.8)]), strong(ModelFailed("away"))
    found = TieredJudge(cheap=one, strong=two).judge(NEW, pairs, timeout_s=None)
    assert [one.kind for one in found] == [SAME, UNSURE, UNRELATED]
    assert two.asked == [pairs[1].lesson_id]


def test_a_cheap_one_that_is_away_escalates_everything() -> None:
    pairs = texts(3)
    two = strong([(SAME, 0.9), (CONFLICTS, 0.5), (UNRELATED, 0.1)])
    found = TieredJudge(cheap=cheap(ModelTimedOut("slow")), strong=two).judge(NEW, pairs, timeout_s=None)
    assert [(one.kind, one.judge) for one in found] == [(SAME, "strong/2"), (CONFLICTS, "strong/2"), (UNRELATED, "strong/2")]
    assert [one.first and one.first.cause for one in found] == ["judge_timed_out"] * 3
    assert two.asked == [one.lesson_id for one in pairs]


@pytest.mark.parametrize("said", [ModelFailed("away"), RuntimeError("a bug"), [None]])
def test_when_nobody_answered_anything_it_failed(said: Sequence[Said] | Exception) -> None:
    with pytest.raises(ModelFailed, match="neither judge"):
        TieredJudge(cheap=cheap(said), strong=strong(ModelFailed("away"))).judge(NEW, texts(1), timeout_s=None)


def test_when_both_were_too_late_it_timed_out() -> None:
    late = ModelTimedOut("slow")
    with pytest.raises(ModelTimedOut, match="neither judge"):
        TieredJudge(cheap=cheap(late), strong=strong(late)).judge(NEW, texts(1), timeout_s=None)


@pytest.mark.parametrize(("one", "two"), [(ModelRefused(), ModelTimedOut()), (ModelTimedOut(), ModelRefused())])
def test_a_judge_that_replied_was_not_away(one: Exception, two: Exception) -> None:
    (found,) = TieredJudge(cheap=cheap(one), strong=strong(two)).judge(NEW, texts(1), timeout_s=None)
    assert found.cause == NoAnswer.of(two)
    assert found.first is not None
    assert found.first.cause == NoAnswer.of(one)


def test_answers_about_what_was_not_asked_are_passed_over() -> None:
    pairs = texts(2)
    stray = verdict(uuid4(), (CONFLICTS, 1.0), "stray")
    settled = verdict(pairs[0].lesson_id, (CONFLICTS, 1.0), "stray")
    one = cheap([(SAME, 0.9), (CONFLICTS, 0.9)], aside=[stray])
    two = strong([(UNRELATED, 0.9)], aside=[stray, settled])
    found = TieredJudge(cheap=one, strong=two).judge(NEW, pairs, timeout_s=None)
    assert [(one.lesson_id, one.kind) for one in found] == [(pairs[0].lesson_id, SAME), (pairs[1].lesson_id, UNRELATED)]


@pytest.mark.parametrize("said", [one for one in DOUBTED if one is not None])
def test_past_the_budget_the_strong_one_is_skipped_and_its_share_stays_open(said: tuple[VerdictKind, float]) -> None:
    two = strong([(SAME, 0.9)])
    with on_account(Poor()):
        found = TieredJudge(cheap=cheap([said, (SAME, 0.9)]), strong=two).judge(NEW, texts(2), timeout_s=None)
    assert [(one.kind, one.cause) for one in found] == [(UNSURE, "budget_spent"), (SAME, None)]
    assert found[0].first is not None
    assert (found[0].first.kind, found[0].judge, two.asked) == (said[0], "strong/2", [])


@pytest.mark.parametrize("said", [ModelRefused("no"), [None]])
def test_past_the_budget_what_the_cheap_one_was_away_for_is_asked_about_again_soon(said: Sequence[Said] | Exception) -> None:
    with on_account(Poor()):
        (found,) = TieredJudge(cheap=cheap(said), strong=strong([(SAME, 0.9)])).judge(NEW, texts(1), timeout_s=None)
    assert (found.kind, found.judge, found.first) == (UNSURE, "cheap/1", None)
    assert found.cause == ("judge_refused" if isinstance(said, Exception) else "judge_unavailable")


def test_an_answer_with_a_cause_is_none_and_goes_to_the_strong_one() -> None:
    one = cheap([(UNRELATED, 0.9)], cause="judge_malformed")
    (found,) = TieredJudge(cheap=one, strong=strong([(SAME, 0.9)])).judge(NEW, texts(1), timeout_s=None)
    assert (found.kind, found.judge) == (SAME, "strong/2")


def test_the_cheap_one_has_half_of_the_time_and_the_strong_one_what_is_left() -> None:
    clock = Clock()
    one, two = cheap([(CONFLICTS, 0.9)], clock=clock, takes_s=1.5), strong([(SAME, 0.9)])
    TieredJudge(cheap=one, strong=two, clock=clock).judge(NEW, texts(1), timeout_s=8.0)
    assert (one.timeouts, two.timeouts) == ([4.0], [6.5])
    TieredJudge(cheap=one, strong=two, clock=clock).judge(NEW, texts(1), timeout_s=None)
    assert (one.timeouts[1:], two.timeouts[1:]) == ([None], [None])


def test_a_cheap_one_that_overstays_leaves_the_strong_one_no_time() -> None:
    clock = Clock()
    one, two = cheap([(CONFLICTS, 0.9)], clock=clock, takes_s=9.0), strong([(SAME, 0.9)])
    (found,) = TieredJudge(cheap=one, strong=two, clock=clock).judge(NEW, texts(1), timeout_s=8.0)
    assert (found.kind, found.cause, two.asked) == (UNSURE, "judge_timed_out", [])


def test_the_version_names_both_and_the_threshold() -> None:
    assert TieredJudge(cheap=cheap([]), strong=strong([]), below=0.6).version == "cheap/1 then strong/2 below 0.6"


@pytest.mark.parametrize(("below", "asked"), [(0.0, 0), (0.5, 0), (0.51, 1), (1.0, 1)])
def test_the_threshold_is_the_operators(below: float, asked: int) -> None:
    two = strong([(SAME, 0.9)])
    TieredJudge(cheap=cheap([(UNRELATED, 0.5)]), strong=two, below=below).judge(NEW, texts(1), timeout_s=None)
    assert len(two.asked) == asked


@pytest.mark.parametrize("below", [math.nan, -0.1, 1.1])
def test_a_threshold_that_is_none_is_refused(below: float) -> None:
    with pytest.raises(BadSetting, match="TRIBUTARY_STRONG_JUDGE_BELOW"):
        TieredJudge(cheap=cheap([]), strong=strong([]), below=below)
