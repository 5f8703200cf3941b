"""Jev through its real client: what is asked, what its probabilities come to, and what each failure is called."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tests.providers.server import Reply
from tests.providers.typesafe import (
    KEY,
    MODEL,
    TypeSafe,
    answered,
    broken,
    choice,
    noul,
    odds_of,
    out_of_credit,
    throttled,
    unauthorized,
    unprocessable,
)
from tributary.core.decision import NoAnswer, VerdictKind
from tributary.core.errors import (
    BadSetting,
    ModelFailed,
    ModelMalformed,
    ModelThrottled,
    ModelTimedOut,
    ModelUnreachable,
)
from tributary.core.ports import JudgedText
from tributary.core.spending import CallEnd, ModelCall, Purpose, on_account
from tributary.models.judges import JevJudge
from tributary.models.judges.jev import settled
from tributary.models.prices import Prices
from tributary.models.screens import JevScreen

SAME, CONFLICTS, UNRELATED, UNSURE = (
    VerdictKind.SAME,
    VerdictKind.CONFLICTS,
    VerdictKind.UNRELATED,
    VerdictKind.UNSURE,
)


@pytest.fixture
def server() -> Iterator[TypeSafe]:
    with TypeSafe() as made:
        yield made


def judge_at(server: TypeSafe, *, key: str = KEY, model: str = MODEL, timeout_s: float = 10.0, attempts: int = 1) -> JevJudge:
    return JevJudge(
        api_key=key,
        url=server.url,
        model=model,
        timeout_s=timeout_s,
        attempts=attempts,
        prices=Prices.shipped(),
        purpose=Purpose.JUDGE,
    )


def screen_at(server: TypeSafe, *, at: float = 0.7) -> JevScreen:
    return JevScreen(api_key=KEY, url=server.url, model=MODEL, timeout_s=10.0, attempts=1, prices=Prices.shipped(), at=at)


def lesson(number: int, text: str = "The relay listens on port 7400.") -> JudgedText:
    return JudgedText(lesson_id=UUID(int=number), text=text, situation="connecting", subject="relay")


NEW, OTHERS = lesson(1), [lesson(2, "second"), lesson(3, "third"), lesson(4, "fourth")]


class Ledger:
    def __init__(self) -> None:
        self.calls: list[ModelCall] = []

    def charge(self, call: ModelCall) -> None:
        self.calls.append(call)

    def may_spend(self) -> bool:
        return True

    def reserve(self, calls: int) -> AbstractContextManager[int]:
        return nullcontext(calls)

    def decided(self, decision_id: UUID | None) -> None: ...


def test_all_candidates_are_asked_about_in_one_request_each_by_a_choice_of_its_own(server: TypeSafe) -> None:
    server.mind = lambda state, name, _question: choice(
        {"second": "same", "third": "conflicts"}.get(state[name]["text"], "unrelated")
    )
    found = judge_at(server).judge(NEW, OTHERS, timeout_s=5.0)
    assert [one.kind for one in found] == [SAME, CONFLICTS, UNRELATED]
    assert len(server.asked) == 1
    body = server.asked[0].body
    assert body["model"] == MODEL
    assert body["state"]["new"] == {"subject": "relay", "situation": "connecting", "text": NEW.text}
    assert list(body["questions"]) == ["known_1", "known_2", "known_3"]
    for name, question in body["questions"].items():
        assert list(question["criteria"]) == ["same", "conflicts", "unrelated"]
        assert f"`{name}`" in question["instructions"]
    assert str(NEW.lesson_id) not in str(body)


def test_more_than_fits_into_one_request_is_asked_in_several(server: TypeSafe) -> None:
    long = [lesson(number, f"{number} " + "x" * 8000) for number in range(2, 14)]
    server.mind = lambda state, name, _question: choice("conflicts" if state[name]["text"].startswith("13 ") else "same")
    found = judge_at(server).judge(NEW, long, timeout_s=5.0)
    assert [one.kind for one in found] == [SAME] * 11 + [CONFLICTS]
    assert len(server.asked) == 2
    server.forget()
    server.script(answered({"known_1": choice("same")}), broken())
    found = judge_at(server).judge(NEW, long, timeout_s=5.0)
    assert [one.no_answer for one in found] == [None] + [NoAnswer.MALFORMED] * 6 + [NoAnswer.UNAVAILABLE] * 5


@pytest.mark.parametrize(
    ("same", "conflicts", "kind", "confidence"),
    [
        (0.90, 0.05, SAME, 0.8),
        (0.05, 0.90, CONFLICTS, 0.8),
        (0.05, 0.05, UNRELATED, 0.8),
        (0.48, 0.48, CONFLICTS, 0.48),
        (0.50, 0.46, CONFLICTS, 0.46),
        (0.44, 0.50, CONFLICTS, 0.8),
        (0.60, 0.38, UNSURE, 0.40),
        (0.74, 0.25, UNSURE, 0.26),
        (0.80, 0.19, SAME, 0.8),
        (0.05, 0.30, UNSURE, 0.35),
        (0.34, 0.33, UNSURE, 0.66),
        (0.33, 0.35, UNSURE, 0.65),
    ],
)
def test_a_conflict_is_neither_hidden_nor_taken_for_granted(
    same: float, conflicts: float, kind: VerdictKind, confidence: float
) -> None:
    odds = {SAME: same, CONFLICTS: conflicts, UNRELATED: 1 - same - conflicts}
    found, sure = settled(odds, 0.8)
    assert found is kind
    assert sure == pytest.approx(confidence)
    assert found is not UNSURE or sure < 0.75, "the strong tier is asked about what is unsure"


def _good() -> Mapping[str, Any]:
    return choice("unrelated")


@pytest.mark.parametrize(
    "bad",
    [
        odds_of({"same": float("nan"), "conflicts": 0.5, "unrelated": 0.5}, chosen="conflicts"),
        odds_of({"same": -0.5, "conflicts": 1.0, "unrelated": 0.5}, chosen="conflicts"),
        odds_of({"same": 0.0, "conflicts": 1.5, "unrelated": 0.0}, chosen="conflicts"),
        odds_of({"same": 0.0, "conflicts": 0.5, "unrelated": 0.1}, chosen="conflicts"),
        odds_of({"same": 0.9, "conflicts": 0.9, "unrelated": 0.9}, chosen="conflicts"),
        odds_of({"same": 0.8, "conflicts": 0.1, "unrelated": 0.1}, chosen="conflicts"),
        odds_of({"same": 0.0, "conflicts": 1.0}, chosen="conflicts"),
        odds_of({"same": 0.0, "conflicts": 1.0, "unrelated": 0.0, "replace": 0.0}, chosen="conflicts"),
        odds_of({"same": 0.0, "conflicts": 1.0, "unrelated": 0.0}, chosen="replace"),
        odds_of({"same": 0.0, "conflicts": 1.0, "unrelated": 0.0}, chosen="conflicts", confidence=2),
        odds_of({"same": 0.0, "conflicts": 1.0, "unrelated": 0.0}, chosen="conflicts", confidence=-0.1),
        odds_of({"same": 0.0, "conflicts": "1.0", "unrelated": 0.0}, chosen="conflicts"),
        odds_of({"same": False, "conflicts": True, "unrelated": False}, chosen="conflicts"),
        noul(1.0),
        {"type": "verdict", "verdict": "conflicts"},
        {},
        [],
        None,
    ],
)
def test_what_is_no_sound_answer_is_never_a_verdict(server: TypeSafe, bad: Any) -> None:
    judge = judge_at(server)
    server.always(answered({"known_1": bad, "known_2": bad, "known_3": bad}))
    with pytest.raises(ModelMalformed):
        judge.judge(NEW, OTHERS, timeout_s=5.0)
    server.always(answered({"known_1": bad, "known_2": _good(), "known_3": _good()}))
    try:
        found = list(judge.judge(NEW, OTHERS, timeout_s=5.0))
    except ModelMalformed:
        return  # the client itself takes nothing of such an answer
    assert [one.kind for one in found] == [UNSURE, UNRELATED, UNRELATED]
    assert found[0].no_answer is NoAnswer.MALFORMED


def test_an_answer_to_a_question_that_was_not_asked_is_none(server: TypeSafe) -> None:
    server.always(answered({"known_1": _good(), "known_9": choice("conflicts"), str(OTHERS[1].lesson_id): choice("conflicts")}))
    found = judge_at(server).judge(NEW, OTHERS, timeout_s=5.0)
    assert [(one.kind, one.no_answer) for one in found] == [
        (UNRELATED, None),
        (UNSURE, NoAnswer.MALFORMED),
        (UNSURE, NoAnswer.MALFORMED),
    ]


@pytest.mark.parametrize("model", ["jev-2.0.0", "jev-1.13.01", "gpt", ""])
def test_another_model_than_the_pinned_one_does_not_count(server: TypeSafe, model: str) -> None:
    server.always(answered({"known_1": _good()}, model=model))
    with pytest.raises(ModelMalformed):
        judge_at(server).judge(NEW, OTHERS[:1], timeout_s=5.0)


def test_a_snapshot_of_the_pinned_model_counts(server: TypeSafe) -> None:
    server.always(answered({"known_1": _good()}, model=f"{MODEL}-20260917"))
    assert judge_at(server).judge(NEW, OTHERS[:1], timeout_s=5.0)[0].kind is UNRELATED


@pytest.mark.parametrize(
    ("reply", "error", "end"),
    [
        (unauthorized(), ModelFailed, CallEnd.FAILED),
        (out_of_credit(), ModelFailed, CallEnd.FAILED),
        (Reply(status=403, document={"detail": "no"}), ModelFailed, CallEnd.FAILED),
        (unprocessable("state"), ModelFailed, CallEnd.FAILED),
        (Reply(status=413, raw=b""), ModelFailed, CallEnd.FAILED),
        (throttled(), ModelThrottled, CallEnd.THROTTLED),
        (broken(529), ModelThrottled, CallEnd.THROTTLED),
        (Reply(status=408, document={}), ModelTimedOut, CallEnd.TIMED_OUT),
        (broken(500), ModelUnreachable, CallEnd.FAILED),
        (broken(503), ModelUnreachable, CallEnd.FAILED),
        (Reply(cut=True), ModelUnreachable, CallEnd.FAILED),
        (Reply(raw=b"not JSON"), ModelMalformed, CallEnd.MALFORMED),
        (Reply(raw=b""), ModelMalformed, CallEnd.MALFORMED),
        (Reply(document=[]), ModelMalformed, CallEnd.MALFORMED),
        (Reply(document={"model": MODEL, "answers": {}}), ModelMalformed, CallEnd.MALFORMED),
        (Reply(raw=b'{"model": "' + b"x" * 10_000_000 + b'"}'), ModelMalformed, CallEnd.MALFORMED),
    ],
)
def test_each_failure_has_its_kind_and_is_charged(server: TypeSafe, reply: Reply, error: type[ModelFailed], end: CallEnd) -> None:
    server.always(reply)
    ledger = Ledger()
    with on_account(ledger), pytest.raises(ModelFailed) as raised:
        judge_at(server).judge(NEW, OTHERS, timeout_s=5.0)
    assert raised.type is error
    assert KEY not in str(raised.value)
    assert [(one.model, one.purpose, one.end) for one in ledger.calls] == [(f"typesafe:{MODEL}", Purpose.JUDGE, end)]
    assert len(server.asked) == 1, "the client's own retries are off"


def test_a_wrong_key_is_told_apart_without_being_shown(server: TypeSafe) -> None:
    with pytest.raises(ModelFailed, match="API key is not known") as raised:
        judge_at(server, key="ts-wrong").judge(NEW, OTHERS, timeout_s=5.0)
    assert "ts-wrong" not in str(raised.value)


def test_a_throttled_request_waits_as_it_was_told_and_then_succeeds(server: TypeSafe) -> None:
    server.script(throttled("0.01"), broken(500))
    found = judge_at(server, attempts=3).judge(NEW, OTHERS, timeout_s=10.0)
    assert len(found) == len(OTHERS)
    assert len(server.asked) == 3


def test_a_wait_that_outlasts_the_deadline_is_not_begun(server: TypeSafe) -> None:
    server.always(throttled("3600"))
    with pytest.raises(ModelThrottled) as raised:
        judge_at(server, attempts=3).judge(NEW, OTHERS, timeout_s=5.0)
    assert raised.value.retry_after_s == 3600
    assert len(server.asked) == 1


@pytest.mark.parametrize("reply", [Reply(delay_s=20.0), Reply(document={"model": MODEL}, drip_s=0.1)])
@pytest.mark.parametrize(("own_s", "caller_s"), [(0.3, None), (0.3, 60.0), (60.0, 0.3)])
def test_a_slow_answer_ends_with_the_shorter_of_both_bounds(
    server: TypeSafe, reply: Reply, own_s: float, caller_s: float | None
) -> None:
    server.always(reply)
    with pytest.raises(ModelTimedOut):
        judge_at(server, timeout_s=own_s).judge(NEW, OTHERS, timeout_s=caller_s)


def test_tokens_and_cost_are_charged(server: TypeSafe) -> None:
    ledger = Ledger()
    with on_account(ledger):
        judge_at(server).judge(NEW, OTHERS, timeout_s=5.0)
    call = ledger.calls[0]
    assert (call.end, call.input_tokens, call.output_tokens) == (CallEnd.ANSWERED, 1200, 40)
    assert call.cost_usd == Decimal("0.042") * 1200 / 1_000_000


@pytest.mark.parametrize("model", ["jev-latest", "jev-preview"])
def test_a_name_that_may_come_to_mean_another_model_is_refused(server: TypeSafe, model: str) -> None:
    with pytest.raises(BadSetting, match=f"pinned.*{model}"):
        judge_at(server, model=model)


@pytest.mark.parametrize("key", ["", "two words", "zwölf", "line\n"])
def test_a_malformed_key_is_refused_and_not_shown(server: TypeSafe, key: str) -> None:
    with pytest.raises(BadSetting) as raised:
        judge_at(server, key=key)
    assert not key or key not in str(raised.value)


def test_nothing_is_taken_from_the_clients_own_environment(server: TypeSafe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TYPESAFE_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("TYPESAFE_API_KEY", "ts-other")
    monkeypatch.setenv("TYPESAFE_DEFAULT_MODEL", "jev-latest")
    assert len(judge_at(server).judge(NEW, OTHERS, timeout_s=5.0)) == len(OTHERS)


def test_the_client_logs_no_lesson(server: TypeSafe, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="typesafe_sdk")
    judge_at(server).judge(NEW, OTHERS, timeout_s=5.0)
    assert NEW.text not in caplog.text
    assert KEY not in caplog.text


def test_five_hazards_are_asked_about_in_one_request(server: TypeSafe) -> None:
    server.mind = lambda _state, name, _question: noul(0.7 if name in ("role_hijack", "override") else 0.69)
    found = screen_at(server).screen({"text": "some words", "tags.env": "env: prod"})
    assert found.reasons == ("override", "role_hijack")
    assert len(server.asked) == 1
    body = server.asked[0].body
    assert body["state"] == {"fields": {"text": "some words", "tags.env": "env: prod"}}
    assert {question["type"] for question in body["questions"].values()} == {"noul"}
    assert list(body["questions"]) == ["override", "judge_attack", "reader_hijack", "exfiltration", "role_hijack"]


@pytest.mark.parametrize("bad", [float("nan"), -0.1, 1.1, True, "0.1", None])
def test_a_hazard_without_a_probability_is_no_finding(server: TypeSafe, bad: object) -> None:
    server.mind = lambda _state, name, _question: noul(bad if name == "exfiltration" else 0.0)
    with pytest.raises(ModelMalformed):
        screen_at(server).screen({"text": "some words"})


@pytest.mark.parametrize("answers", [{}, {"override": noul(0.0)}, {"override": choice("same")}])
def test_a_hazard_that_was_not_answered_is_no_finding(server: TypeSafe, answers: Mapping[str, Any]) -> None:
    server.always(answered(answers))
    with pytest.raises(ModelMalformed):
        screen_at(server).screen({"text": "some words"})


def test_without_the_client_the_extra_is_named(server: TypeSafe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typesafe_sdk", None)
    with pytest.raises(BadSetting, match=r"pip install 'tributary-memory\[jev\]'"):
        judge_at(server)
