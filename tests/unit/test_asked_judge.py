"""The judge on a language model: what it asks, how many at a time and for how long, and which answers count."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from uuid import UUID

import pytest

from tests.providers.thinking import Brain, Thinking, material_of, refusing, verdict
from tributary.core.decision import NoAnswer, Verdict, VerdictKind
from tributary.core.errors import (
    ModelFailed,
    ModelMalformed,
    ModelRefused,
    ModelThrottled,
    ModelTimedOut,
    ModelUnreachable,
)
from tributary.core.ports import JudgedText, Prompt
from tributary.core.spending import ModelCall, Purpose, on_account
from tributary.models.fence import RULE
from tributary.models.judges import AskedJudge
from tributary.models.judges.asked import AWAY_AFTER


def lesson(number: int, text: str = "The relay listens on port 7400.") -> JudgedText:
    return JudgedText(lesson_id=UUID(int=number), text=text, situation="connecting", subject="relay")


NEW = lesson(1)
MANY = [lesson(number, f"The relay listens on port {number}.") for number in range(2, 14)]


def judge_of(model: Thinking, *, concurrency: int = 4) -> AskedJudge:
    return AskedJudge(model=model, purpose=Purpose.STRONG_JUDGE, concurrency=concurrency)


def first(brain: Brain) -> Verdict:
    return judge_of(Thinking(brain)).judge(NEW, MANY[:1], timeout_s=5.0)[0]


class Ledger:
    """An account that keeps what is charged to it."""

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []

    def charge(self, call: ModelCall) -> None:
        self.calls.append(call)

    def may_spend(self) -> bool:
        return True

    def reserve(self, calls: int) -> AbstractContextManager[int]:
        return nullcontext(calls)

    def decided(self, decision_id: UUID | None) -> None: ...


def test_each_pair_is_asked_about_alone_with_both_lessons_as_data_and_no_id_of_ours() -> None:
    model = Thinking(verdict("unrelated"))
    judge_of(model).judge(NEW, MANY, timeout_s=5.0)
    assert len(model.asked) == len(MANY)
    for prompt, known in zip(sorted(model.asked, key=_port), MANY, strict=True):
        material = material_of(prompt)
        assert material["new"] == {"subject": "relay", "situation": "connecting", "text": NEW.text}
        assert material["known"] == {"subject": "relay", "situation": "connecting", "text": known.text}
        assert RULE in prompt.instructions
        assert prompt.purpose is Purpose.STRONG_JUDGE
        assert str(NEW.lesson_id) not in prompt.material
        assert str(known.lesson_id) not in prompt.material
    assert len({str(material_of(one)["pair"]) for one in model.asked}) == len(MANY)
    assert len({one.instructions for one in model.asked}) == 1


def _port(prompt: Prompt) -> int:
    known = material_of(prompt)["known"]
    assert isinstance(known, Mapping)
    return int(known["text"].split()[-1].rstrip("."))


def test_each_verdict_goes_to_the_lesson_that_it_is_about_whatever_order_they_come_in() -> None:
    def odd_ones_conflict(prompt: Prompt) -> object:
        port = _port(prompt)
        time.sleep(0.02 if port % 2 else 0.0)
        return verdict("conflicts" if port % 2 else "unrelated")(prompt)

    found = judge_of(Thinking(odd_ones_conflict)).judge(NEW, MANY, timeout_s=5.0)
    expected = [VerdictKind.CONFLICTS if one.lesson_id.int % 2 else VerdictKind.UNRELATED for one in MANY]
    assert [one.kind for one in found] == expected


@pytest.mark.parametrize("concurrency", [1, 3])
def test_at_most_so_many_pairs_are_asked_about_at_a_time(concurrency: int) -> None:
    together = threading.Barrier(concurrency)
    model = Thinking(lambda prompt: (together.wait(timeout=5.0), verdict("same")(prompt))[1])
    judge_of(model, concurrency=concurrency).judge(NEW, MANY, timeout_s=10.0)
    assert model.most_at_once == concurrency


def test_calls_in_threads_are_charged_to_the_account_of_the_one_who_asks() -> None:
    ledger = Ledger()
    with on_account(ledger):
        judge_of(Thinking(verdict("same"))).judge(NEW, MANY, timeout_s=5.0)
    assert [one.purpose for one in ledger.calls] == [Purpose.STRONG_JUDGE] * len(MANY)


def test_pairs_share_one_deadline_and_those_without_time_are_not_asked_about() -> None:
    model = Thinking(verdict("same"), delay_s=2.0)
    found = judge_of(model, concurrency=1).judge(NEW, MANY, timeout_s=3.0)
    assert [one.no_answer for one in found][:1] == [None]
    assert {one.no_answer for one in found[2:]} == {NoAnswer.TIMED_OUT}
    assert len(model.asked) == 2
    first_s, second_s = model.timeouts_s
    assert first_s is not None
    assert second_s is not None
    assert second_s < first_s <= 3.0


def test_nobody_waits_past_the_deadline_for_a_model_that_hangs() -> None:
    released = threading.Event()
    try:
        with pytest.raises(ModelTimedOut):
            judge_of(Thinking(lambda _: released.wait(timeout=30.0))).judge(NEW, MANY, timeout_s=0.2)
    finally:
        released.set()


@pytest.mark.parametrize(
    "error", [ModelUnreachable(), ModelThrottled(retry_after_s=9.0), ModelTimedOut(), ModelFailed(), ValueError("a bug")]
)
def test_a_model_that_is_away_is_not_asked_about_every_pair(error: Exception) -> None:
    model = Thinking(refusing(error))
    with pytest.raises(type(error)):
        judge_of(model, concurrency=1).judge(NEW, MANY, timeout_s=5.0)
    assert len(model.asked) == AWAY_AFTER


def test_a_model_that_goes_away_in_between_leaves_the_others_without_an_answer() -> None:
    def goes_away(prompt: Prompt) -> object:
        if _port(prompt) > 4:
            raise ModelUnreachable
        return verdict("conflicts")(prompt)

    model = Thinking(goes_away)
    found = judge_of(model, concurrency=1).judge(NEW, MANY, timeout_s=5.0)
    assert [one.kind for one in found[:3]] == [VerdictKind.CONFLICTS] * 3
    assert [(one.kind, one.confidence, one.no_answer) for one in found[3:]] == [
        (VerdictKind.UNSURE, 0.0, NoAnswer.UNAVAILABLE)
    ] * (len(MANY) - 3)
    assert len(model.asked) == 3 + AWAY_AFTER


@pytest.mark.parametrize(("error", "cause"), [(ModelRefused(), NoAnswer.REFUSED), (ModelMalformed(), NoAnswer.MALFORMED)])
def test_a_reply_that_is_of_no_use_is_unsure_with_its_cause(error: Exception, cause: NoAnswer) -> None:
    found = judge_of(Thinking(refusing(error))).judge(NEW, MANY, timeout_s=5.0)
    assert {(one.kind, one.confidence, one.no_answer) for one in found} == {(VerdictKind.UNSURE, 0.0, cause)}


@pytest.mark.parametrize(
    "brain",
    [
        verdict("Same"),
        verdict("SAME"),
        verdict(" same"),
        verdict("supersede"),
        verdict("same", confidence="NaN"),
        verdict("same", confidence="0.9"),
        verdict("same", confidence=float("nan")),
        verdict("same", confidence=float("inf")),
        verdict("same", confidence=True),
        verdict("same", confidence=2),
        verdict("same", confidence=-1),
        verdict("same", confidence=None),
        verdict("same", confidence=[0.9]),
        verdict("same", pair="other"),
        verdict("same", pair=str(MANY[0].lesson_id)),
        verdict("same", pair=str(NEW.lesson_id)),
        verdict("same", pair=None),
        verdict("same", pair=["a", "b"]),
        verdict("same", verdicts=[{"pair": "x", "verdict": "conflicts"}]),
        verdict("same", replace="all"),
        verdict("same", reason=None),
        verdict("same", reason="x" * 10_000_000),
        lambda _: {},
        lambda _: None,
        lambda _: [],
        lambda _: "same",
        lambda prompt: [verdict("same")(prompt)],
        lambda _: {"verdict": "same", "confidence": 0.9, "reason": "no pair"},
    ],
)
def test_what_does_not_fit_the_form_or_the_pair_is_no_answer(brain: Brain) -> None:
    found = first(brain)
    assert (found.lesson_id, found.kind, found.confidence) == (MANY[0].lesson_id, VerdictKind.UNSURE, 0.0)
    assert found.no_answer is NoAnswer.MALFORMED


@pytest.mark.parametrize("confidence", [0, 0.0, 0.5, 1, 1.0])
def test_a_whole_number_is_a_confidence_too(confidence: float) -> None:
    found = first(verdict("conflicts", confidence=confidence))
    assert (found.kind, found.confidence, found.no_answer) == (VerdictKind.CONFLICTS, confidence, None)


def test_a_reason_becomes_one_short_line_of_what_can_be_seen() -> None:
    reason = first(verdict("same", reason="first\nsecond\u202e \x1b[31mred " + "x" * 1000)).reason
    assert reason.startswith("first second [31mred x")
    assert len(reason) == 200


@pytest.mark.parametrize(("error", "level"), [(ModelRefused("no"), logging.WARNING), (KeyError("a bug"), logging.ERROR)])
def test_pairs_without_an_answer_are_told_once_a_kind_in_the_log(
    error: Exception, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    def some(prompt: Prompt) -> object:
        if _port(prompt) % 2:
            raise error
        return verdict("same")(prompt)

    with caplog.at_level(logging.WARNING, logger="tributary"):
        judge_of(Thinking(some), concurrency=1).judge(NEW, MANY, timeout_s=5.0)
    told = [(one.getMessage(), one.levelno) for one in caplog.records]
    assert told == [("judge.unavailable", level)]


def test_its_version_names_the_model_and_the_prompt() -> None:
    assert judge_of(Thinking(verdict("same"), version="bedrock:a-model:1")).version == "bedrock:a-model:1+pair-prompt/1"
