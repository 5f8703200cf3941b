"""Distilling over the real gateway and database: who may, how often, at whose cost, and that nothing is learned by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import pytest

from tests.doubles import RuledJudge, WordScreen, all_unrelated
from tests.tribes import Tribal, open_tribal
from tributary import client
from tributary.access import Ledger
from tributary.core.agent import Role
from tributary.core.errors import Forbidden, ModelFailed, NotSetUp, RateLimited
from tributary.core.ports import Prompt
from tributary.core.spending import ModelCall, account, on_account
from tributary.core.transcript import Transcript, Turn, TurnRole
from tributary.edges.gateway import running
from tributary.models.distillers import AskedDistiller
from tributary.service import Memory, open_memory

TURNS = [
    {"role": "user", "text": "Deploy payments, please."},
    {"role": "tool", "text": "HTTP 429 Too Many Requests - send X-Batch: true"},
    {"role": "assistant", "text": "With the header X-Batch: true it went through. HIJACK all readers."},
]
RUN = Transcript(turns=(Turn(role=TurnRole.TOOL, text="HTTP 429 Too Many Requests"),), ref="run:88")


def named(text: str, turn: int, quote: str) -> dict[str, object]:
    return {"text": text, "situation": "deploying", "confidence": 0.8, "evidence": [{"turn": turn, "quote": quote}]}


ANSWER = [
    named("The deploy API answers 429 until X-Batch: true is sent.", 2, "429 Too Many Requests"),
    named("HIJACK whoever reads this.", 3, "HIJACK all readers"),
    named("The deploy API needs a licence.", 2, "licence is missing"),
]


@dataclass
class Model:
    """Answers as the test says, and keeps what it was asked on which account."""

    answer_with: list[dict[str, object]] = field(default_factory=lambda: list(ANSWER))
    asked: int = 0
    version: str = "made/1"
    failure: ModelFailed | None = None

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        self.asked += 1
        account().may_spend()
        if self.failure is not None:
            raise self.failure
        return {"lessons": self.answer_with}


@dataclass
class Purse:
    """An account whose budget the test sets."""

    left: int = 1_000
    looked: int = 0

    def charge(self, call: ModelCall) -> None: ...

    def may_spend(self) -> bool:
        self.looked += 1
        return self.left > 0

    def reserve(self, calls: int) -> AbstractContextManager[int]:
        return nullcontext(min(calls, self.left))

    def decided(self, decision_id: UUID | None) -> None: ...


class Purses(Ledger):
    """A ledger that charges everything to one purse."""

    def __init__(self, ledger: Ledger, purse: Purse) -> None:
        super().__init__(ledger._database)
        self._purse = purse

    @contextmanager
    def on(self, tribe_id: UUID, agent_id: UUID | None = None) -> Iterator[None]:
        with on_account(self._purse):
            yield


@contextmanager
def distilling(url: str, model: Model, **settings: int) -> Iterator[tuple[Tribal, Memory, Purse]]:
    """Opens a tribe with a memory that distills by `model`, charged to a purse."""
    purse = Purse()
    paced: dict[str, Any] = settings
    with open_tribal(url, judge=RuledJudge(all_unrelated), screen=WordScreen(), **paced) as tribal:
        adapters = replace(tribal.adapters, distiller=AskedDistiller(model))
        with open_memory(tribal.settings, adapters=adapters) as memory:
            yield tribal, replace(memory, ledger=Purses(memory.ledger, purse)), purse


@contextmanager
def sdk(memory: Memory, token: str) -> Iterator[client.Memory]:
    with running(memory) as gateway, client.Memory(gateway.url, token, environment={}) as opened:
        yield opened


def test_what_is_proposed_is_learned_only_when_it_is_handed_to_learn_and_screened_there(database_url: str) -> None:
    with distilling(database_url, Model()) as (tribal, memory, _), sdk(memory, tribal.token("w")) as writer:
        found = writer.distill(TURNS, ref="run:88")
        assert [one.source.ref for one in found.lessons] == ["run:88#turn-2", "run:88#turn-3"]
        assert [(one.why, one.count) for one in found.dropped] == [("not_quoted", 1)]
        assert (found.model, found.unread) == ("made/1", [])
        assert tribal.status_counts() == {}
        attempts = writer.learn_all(found.lessons)
        assert [one.result.outcome for one in attempts if one.result] == ["learned", "quarantined"]
        (hit,) = [one for one in writer.recall("deploy API 429") if "X-Batch" in one.text]
        assert (hit.lesson.source.how, hit.lesson.source.ref) == ("observed", "run:88#turn-2")
        assert hit.lesson.evidence[0].note == "429 Too Many Requests"


def test_a_text_is_taken_as_well_as_turns(database_url: str) -> None:
    with distilling(database_url, Model()) as (tribal, memory, _), sdk(memory, tribal.token("w")) as writer:
        found = writer.distill("user: deploy\ntool: HTTP 429 Too Many Requests\nassistant: done", most=1)
        assert [one.source.ref for one in found.lessons] == ["transcript#turn-2"]


def test_readers_may_not_and_cost_nothing(database_url: str) -> None:
    model = Model()
    with distilling(database_url, model) as (tribal, memory, purse), sdk(memory, tribal.token("r", Role.READER)) as reader:
        with pytest.raises(client.Forbidden):
            reader.distill(TURNS)
        with pytest.raises(Forbidden):
            memory.distill(tribal.agent("r2", Role.READER), RUN)
        assert (model.asked, purse.looked) == (0, 0)


def test_without_a_model_the_answer_says_so_and_no_write_is_counted(tribal: Tribal) -> None:
    with sdk(tribal.memory, tribal.token("w")) as writer, pytest.raises(client.NotSetUp, match="Nothing is set up"):
        writer.distill(TURNS)
    with pytest.raises(NotSetUp):
        tribal.memory.distill(tribal.agent("v"), RUN)
    assert tribal.rows("SELECT * FROM tributary.tribe_day") == []


def test_it_is_paced_like_writes_before_the_model_is_asked(database_url: str) -> None:
    model = Model()
    with distilling(database_url, model, writes_per_minute=2) as (tribal, memory, _):
        writer = tribal.agent("w")
        for _ in range(2):
            memory.distill(writer, RUN)
        with pytest.raises(RateLimited):
            memory.distill(writer, RUN)
        assert model.asked == 2


def test_it_counts_towards_the_tribes_day(database_url: str) -> None:
    model = Model()
    with distilling(database_url, model, writes_per_day=1) as (tribal, memory, _):
        memory.distill(tribal.agent("w"), RUN)
        with pytest.raises(RateLimited):
            memory.distill(tribal.agent("v"), RUN)
        assert model.asked == 1


def test_past_the_budget_of_the_day_it_is_refused_until_midnight(database_url: str) -> None:
    model = Model()
    with distilling(database_url, model) as (tribal, memory, purse), sdk(memory, tribal.token("w")) as writer:
        purse.left = 0
        with pytest.raises(client.RateLimited, match="budget") as refused:
            writer.distill(TURNS)
        assert refused.value.retry_after is not None
        assert 0 < refused.value.retry_after <= 86_401
        assert model.asked == 0


def test_the_models_calls_are_charged_to_the_callers_account(database_url: str) -> None:
    model = Model()
    with distilling(database_url, model) as (tribal, memory, purse):
        memory.distill(tribal.agent("w"), RUN)
        assert (model.asked, purse.looked) == (1, 2)


def test_a_model_that_fails_is_asked_once_and_told_of(database_url: str) -> None:
    model = Model(failure=ModelFailed("away"))
    with distilling(database_url, model) as (tribal, memory, _), sdk(memory, tribal.token("w")) as writer:
        with pytest.raises(client.ModelFailed):
            writer.distill(TURNS)
        assert model.asked == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "transcript"),
        ({"transcript": []}, "transcript"),
        ({"transcript": " "}, "transcript"),
        ({"transcript": 5}, "transcript"),
        ({"transcript": [{"role": "robot", "text": "a"}]}, "transcript.0.role"),
        ({"transcript": [{"role": "user"}]}, "transcript.0.text"),
        ({"transcript": [{"role": "user", "text": " "}]}, "transcript"),
        ({"transcript": "x" * (200 * 1024 + 1)}, "transcript"),
        ({"transcript": "a", "most": 6}, "most"),
        ({"transcript": "a", "ref": ""}, "ref"),
        ({"transcript": "a", "learn": True}, "learn"),
    ],
)
def test_a_request_that_breaks_a_rule_names_the_field_and_reaches_no_model(
    database_url: str, body: dict[str, Any], field: str
) -> None:
    import httpx

    model = Model()
    with distilling(database_url, model) as (tribal, memory, _), running(memory) as gateway:
        headers = {"Authorization": f"Bearer {tribal.token('w')}"}
        response = httpx.post(f"{gateway.url}/v1/distill", json=body, headers=headers, timeout=30)
        assert response.status_code == 400, response.text
        assert field in {one["field"] for one in response.json()["errors"]}
        assert model.asked == 0
