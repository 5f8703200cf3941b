"""What every judge promises, run over each; a model over a wire is what it takes, and what it may do wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest

from tests.providers.server import Reply, unreachable
from tests.providers.thinking import Thinking, refusing, verdict
from tests.providers.typesafe import KEY, MODEL, TypeSafe, broken, choice
from tributary.core.decision import VerdictKind
from tributary.core.errors import ModelFailed, ModelUnreachable
from tributary.core.ports import Judge, JudgedText
from tributary.core.spending import Purpose
from tributary.models.judges import AskedJudge, JevJudge, LocalJudge
from tributary.models.prices import Prices


def lesson(number: int, text: str, *, subject: str | None = None) -> JudgedText:
    return JudgedText(lesson_id=UUID(int=number), text=text, situation="connecting to the relay", subject=subject)


NEW = lesson(1, "The relay listens on port 7400.")
OTHERS = [lesson(2, "The relay listens on port 7500."), lesson(3, "The mail host is reached over IPv6.", subject="mail")]


def asked(brain: Callable[..., object]) -> AskedJudge:
    return AskedJudge(model=Thinking(brain), purpose=Purpose.JUDGE, concurrency=2)


def jev(url: str) -> JevJudge:
    return JevJudge(api_key=KEY, url=url, model=MODEL, timeout_s=10.0, attempts=1, prices=Prices.shipped(), purpose=Purpose.JUDGE)


@contextmanager
def _local() -> Iterator[Judge]:
    yield LocalJudge()


@contextmanager
def _asked() -> Iterator[Judge]:
    yield asked(verdict("conflicts"))


@contextmanager
def _jev() -> Iterator[Judge]:
    with TypeSafe(lambda _state, _name, _question: choice("conflicts")) as server:
        yield jev(server.url)


@pytest.fixture(params=[_local, _asked, _jev], ids=["local", "asked", "jev"])
def judge(request: pytest.FixtureRequest) -> Iterator[Judge]:
    with request.param() as made:
        yield made


def test_every_candidate_gets_one_verdict_in_order_and_nothing_else_does(judge: Judge) -> None:
    found = judge.judge(NEW, OTHERS, timeout_s=10.0)
    assert [one.lesson_id for one in found] == [one.lesson_id for one in OTHERS]


def test_a_verdict_names_its_judge_and_is_an_answer_of_a_known_kind(judge: Judge) -> None:
    for one in judge.judge(NEW, OTHERS, timeout_s=10.0):
        assert one.judge == judge.version
        assert one.kind in VerdictKind
        assert 0.0 <= one.confidence <= 1.0
        assert one.no_answer is None
        assert one.reason.isprintable()
        assert len(one.reason) <= 200


def test_a_contradiction_is_called_one(judge: Judge) -> None:
    assert judge.judge(NEW, OTHERS[:1], timeout_s=10.0)[0].kind is VerdictKind.CONFLICTS


def test_without_candidates_nothing_is_asked(judge: Judge) -> None:
    assert list(judge.judge(NEW, [], timeout_s=10.0)) == []


def test_without_a_deadline_it_answers_too(judge: Judge) -> None:
    assert len(judge.judge(NEW, OTHERS, timeout_s=None)) == 2


def test_its_version_is_stable_and_says_what_was_asked_how(judge: Judge) -> None:
    assert judge.version == judge.version
    assert "/" in judge.version


@pytest.mark.parametrize(
    "away",
    [
        lambda: asked(refusing(ModelUnreachable("no route"))),
        lambda: asked(refusing(ValueError("a bug of an adapter"))),
        lambda: jev(unreachable()),
    ],
    ids=["asked", "asked_bug", "jev"],
)
def test_a_model_that_is_away_for_all_is_an_error_and_no_verdict(away: Callable[[], Judge]) -> None:
    with pytest.raises((ModelFailed, ValueError)):
        away().judge(NEW, OTHERS, timeout_s=5.0)


@pytest.mark.parametrize(
    "reply", [broken(), Reply(cut=True), Reply(raw=b"<html>busy</html>", headers={"content-type": "text/html"})]
)
def test_jev_that_fails_is_an_error_and_no_verdict(reply: Reply) -> None:
    with TypeSafe() as server:
        server.always(reply)
        with pytest.raises(ModelFailed):
            jev(server.url).judge(NEW, OTHERS, timeout_s=5.0)
