"""The network to the models dies in the middle of a learn: nothing is lost, nothing is half done, and what is told is so.

Embedder, screen and judge are the real adapters, chosen by settings; the cut comes while the provider has the request that the
test is about and has not answered yet. When the network is back, the gardener or the same request under the same key makes good
what was missed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.network import Network
from tests.providers import bedrock_embeddings
from tests.providers.openai import chat_routes
from tests.providers.server import Asked, ProviderServer, Reply
from tributary.core.agent import Principal
from tributary.core.decision import SCREEN_UNAVAILABLE, Learned, NoAnswer, Outcome
from tributary.core.errors import ModelFailed
from tributary.core.lesson import Draft, How, Source
from tributary.core.requests import Question
from tributary.service import Memory, Settings, open_memory, open_operator

OLD = "The deploy API takes batches of at most 50"
NEW = "The deploy API takes batches of at most 20"
STAGES = ("screen", "embed", "judge")


@dataclass
class Scene:
    """A tribe whose models are beyond the network, with one believed lesson of the curator's."""

    memory: Memory
    curator: Principal
    networks: Mapping[str, Network]
    """By what is asked over it: the embedder has one of its own."""
    cut_at: str | None = None
    cut: tuple[Network, ...] = ()
    reached: list[str] = field(default_factory=list)

    def at(self, stage: str) -> None:
        self.reached.append(stage)
        if stage == self.cut_at:
            for one in self.cut:
                one.cut()

    def cut_off(self, stage: str, *others: str) -> None:
        """Has the network of a stage die when it is reached, and that of `others` with it."""
        self.cut_at = stage
        self.cut = tuple(self.networks[one] for one in (stage, *others))

    def learn(self, text: str, key: str) -> Learned:
        draft = Draft(
            text=text, situation="deploying in batches", subject="deploy-api", source=Source(how=How.OBSERVED, ref="run:1")
        )
        return self.memory.learn(self.curator, draft, idempotency_key=key)

    def believed(self) -> set[str]:
        return {hit.lesson.text for hit in self.memory.recall(self.curator, Question(query="deploy API batches")).hits}

    def mend(self) -> None:
        self.cut_at = None
        for one in self.networks.values():
            one.mend()

    def garden(self) -> None:
        self.memory.gardener.run(self.curator.tribe_id)


@contextmanager
def opened(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    for variable, value in bedrock_embeddings.credentials().items():
        monkeypatch.setenv(variable, value)
    scenes: list[Scene] = []

    def brain(instructions: str, material: str, schema: Mapping[str, object]) -> Mapping[str, object]:
        asked = json.loads(material.removeprefix("<data>\n").removesuffix("\n</data>"))
        if "pair" in asked:
            _at(scenes, "judge")
            return {"pair": asked["pair"], "verdict": "conflicts", "confidence": 0.95, "reason": "two limits of one thing"}
        _at(scenes, "screen")
        properties = schema["properties"]
        assert isinstance(properties, Mapping)
        return dict.fromkeys(properties, 0.0)

    def embedded(asked: Asked) -> Reply:
        _at(scenes, "embed")
        return invoke(asked)

    ((method, path, invoke),) = bedrock_embeddings.ROUTES
    with (
        ProviderServer([*chat_routes(brain), (method, path, embedded)]) as provider,
        Network(provider.url) as chat,
        Network(provider.url) as vectors,
    ):
        chosen = Settings.model_validate(_settings(database_url, chat=chat.url, vectors=vectors.url))
        with open_operator(chosen) as operator:
            made = operator.create_tribe("tribe")
        with open_memory(chosen) as memory:
            scene = Scene(
                memory=memory,
                curator=memory.authenticate(made.token.secret),
                networks=dict(zip(STAGES, (chat, vectors, chat), strict=True)),
            )
            assert scene.learn(OLD, "old").outcome is Outcome.LEARNED
            scenes.append(scene)
            yield scene


def _at(scenes: list[Scene], stage: str) -> None:
    for scene in scenes:
        scene.at(stage)


def _settings(database_url: str, *, chat: str, vectors: str) -> dict[str, Any]:
    openai = {"openai_url": f"{chat}/v1", "judge": "openai", "judge_model": "j", "screen": "openai", "screen_model": "s"}
    bedrock = {"embedder": "bedrock", "aws_region": "us-east-1", "bedrock_url": vectors, "embedder_cache": 0}
    return {"database_url": database_url, "model_timeout_s": 5.0, "model_attempts": 2, **openai, **bedrock}


@pytest.fixture
def scene(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    with opened(database_url, monkeypatch) as made:
        yield made


def test_with_the_network_whole_the_newer_lesson_replaces_the_older(scene: Scene) -> None:
    """The control: every stage is passed, and the verdict counts."""
    assert scene.learn(NEW, "new").outcome is Outcome.SUPERSEDED
    assert list(dict.fromkeys(scene.reached)) == list(STAGES)
    assert scene.believed() == {NEW}


def test_cut_off_from_the_screen_a_lesson_is_held_back_until_it_was_screened(scene: Scene) -> None:
    scene.cut_off("screen")
    learned = scene.learn(NEW, "new")
    assert learned.outcome is Outcome.QUARANTINED
    assert SCREEN_UNAVAILABLE in learned.reason
    assert scene.believed() == {OLD}
    scene.garden()
    assert scene.believed() == {OLD}, "nothing is let through while the screen is away"
    scene.mend()
    scene.garden()
    assert scene.believed() == {NEW}


def test_cut_off_from_everything_nothing_is_written_and_the_same_request_learns_it_later(scene: Scene) -> None:
    scene.cut_off("screen", "embed")
    with pytest.raises(ModelFailed):
        scene.learn(NEW, "new")  # what cannot be embedded either cannot be kept, and is not said to be
    scene.mend()
    assert scene.believed() == {OLD}
    assert scene.learn(NEW, "new").outcome is Outcome.SUPERSEDED, "the same request, under the same key"
    assert scene.believed() == {NEW}


def test_cut_off_from_the_embedder_nothing_is_written_and_the_same_request_learns_it_later(scene: Scene) -> None:
    scene.cut_off("embed")
    with pytest.raises(ModelFailed):
        scene.learn(NEW, "new")
    recalled = scene.memory.recall(scene.curator, Question(query="deploy API batches"))
    assert recalled.receipt.coverage == "unknown"
    assert not recalled.receipt.may_assert_absence
    scene.mend()
    assert scene.believed() == {OLD}
    learned = scene.learn(NEW, "new")
    assert (learned.outcome, learned.replayed) == (Outcome.SUPERSEDED, False)


def test_cut_off_from_the_judge_both_stand_marked_until_it_has_answered(scene: Scene) -> None:
    scene.cut_off("judge")
    learned = scene.learn(NEW, "new")
    assert learned.outcome is Outcome.LEARNED
    assert len(learned.challenges) == 1
    (newest, *_) = scene.memory.desk.decisions(scene.curator).items
    assert newest.decision_id == learned.decision_id
    assert [one["cause"] for one in newest.verdicts] == [NoAnswer.UNAVAILABLE]
    again = scene.learn(NEW, "new")
    assert (again.decision_id, again.replayed) == (learned.decision_id, True), "a retry is told the same"
    scene.mend()
    assert scene.believed() == {OLD, NEW}
    scene.garden()
    assert scene.believed() == {NEW}
    assert replace(learned, replayed=True) == scene.learn(NEW, "new")
