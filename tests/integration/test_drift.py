"""The drift check: an embedder that does not give what its space was begun with is refused by name, once and before it serves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.spaces import Projected, Steered, another_process, build, create, texts
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.errors import BadSetting, ModelFailed
from tributary.core.lesson import Draft
from tributary.core.ports import SpaceDefinition
from tributary.core.receipt import Cause, Coverage
from tributary.core.requests import Question
from tributary.models.embedders import HashedEmbedder
from tributary.service import Memory, open_memory
from tributary.spaces.drift import LEAST_SIMILARITY, SENTENCES

SPACE = HashedEmbedder().space.name
KNOWN = "the deploy API needs the header X-Batch"


@pytest.fixture
def begun(database_url: str) -> Iterator[Tribal]:
    """A tribe whose space has its references and one lesson."""
    with open_tribal(database_url) as tribal:
        tribal.learn(tribal.curator, KNOWN)
        yield tribal


def drifted(cosine: float) -> Steered:
    embedder = Steered()
    embedder.drifted_to = cosine
    return embedder


def recall(memory: Memory, tribal: Tribal) -> list[str]:
    return texts(memory.recall(tribal.curator, Question(query=KNOWN)))


def references(tribal: Tribal) -> int:
    return len(tribal.rows("SELECT * FROM tributary.space_reference"))


def test_the_first_use_of_a_space_keeps_references_and_a_process_compares_itself_once(database_url: str) -> None:
    first = Steered()
    with open_tribal(database_url, embedder=first) as tribal:
        assert references(tribal) == 0
        tribal.learn(tribal.curator, KNOWN)
        assert references(tribal) == len(SENTENCES)
        assert first.texts == len(SENTENCES) + 1
        again = Steered()
        with another_process(tribal, embedder=again) as memory, ThreadPoolExecutor(4) as pool:
            found = [one.result() for one in [pool.submit(recall, memory, tribal) for _ in range(8)]]
        assert found == [[KNOWN]] * 8
        assert again.texts == len(SENTENCES) + 8


@pytest.mark.parametrize("cosine", [1.0, 0.9994, LEAST_SIMILARITY + 0.0005])
def test_an_embedder_that_rounds_otherwise_serves(begun: Tribal, cosine: float) -> None:
    with another_process(begun, embedder=drifted(cosine)) as memory:
        assert recall(memory, begun) == [KNOWN]


@pytest.mark.parametrize("cosine", [LEAST_SIMILARITY - 0.0005, 0.9, 0.0, -1.0])
def test_an_embedder_that_drifted_is_refused_by_name(begun: Tribal, cosine: float, caplog: pytest.LogCaptureFixture) -> None:
    told = rf"TRIBUTARY_EMBEDDER: .*TRIBUTARY_EMBEDDER=minilm.* similarity -?{abs(cosine):.4f}"
    embedder = drifted(cosine)
    with another_process(begun, embedder=embedder) as memory:
        for _ in range(2):
            with pytest.raises(BadSetting, match=told) as refused:
                recall(memory, begun)
            assert f"'{SPACE}'" in refused.value.detail
        with pytest.raises(BadSetting):
            memory.learn(begun.curator, Draft(text="another", situation="s", source=SEEN))
        with pytest.raises(BadSetting):
            memory.warm()
        assert embedder.calls == 1, "compared once, refused ever after"
    assert caplog.messages.count("space.refused") == 4
    assert begun.rows("SELECT count(*) AS n FROM tributary.lesson") == [{"n": 1}]


def test_control_without_references_the_same_embedder_would_serve(begun: Tribal) -> None:
    begun.rows("DELETE FROM tributary.space_reference")
    with another_process(begun, embedder=drifted(0.9)) as memory:
        recall(memory, begun)


class Narrowed(HashedEmbedder):
    """Claims the usual space and gives vectors of another width."""

    def __init__(self) -> None:
        super().__init__(dimension=64)

    @property
    def space(self) -> SpaceDefinition:
        return HashedEmbedder().space


def test_an_embedder_of_another_width_is_refused_by_name(begun: Tribal) -> None:
    told = re.escape(f"gives vectors of 64 dimensions, where the space has 256 (space '{SPACE}')")
    with another_process(begun, embedder=Narrowed()) as memory, pytest.raises(BadSetting, match=told):
        recall(memory, begun)


def test_an_embedder_that_is_away_degrades_recall_and_is_compared_once_it_is_back(begun: Tribal) -> None:
    embedder = drifted(0.9)
    embedder.fails = True
    with another_process(begun, embedder=embedder) as memory:
        away = memory.recall(begun.curator, Question(query=KNOWN))
        assert (texts(away), away.receipt.coverage, away.receipt.causes) == ([KNOWN], Coverage.UNKNOWN, (Cause.EMBEDDER_FAILED,))
        with pytest.raises(ModelFailed):
            memory.learn(begun.curator, Draft(text="another", situation="s", source=SEEN))
        embedder.fails = False
        with pytest.raises(BadSetting, match="drifted"):
            recall(memory, begun)


def test_a_database_that_cannot_be_written_to_keeps_no_references_and_serves(begun: Tribal) -> None:
    begun.rows("DELETE FROM tributary.space_reference")
    reading = f"{begun.url}&options=-c%20default_transaction_read_only%3Don"
    settings = begun.settings.model_copy(update={"database_url": reading})
    with open_memory(settings, adapters=begun.adapters) as memory:
        assert recall(memory, begun) == [KNOWN]
    assert references(begun) == 0
    assert recall(begun.memory, begun) == [KNOWN]


def test_warming_up_before_there_is_any_tribe_keeps_nothing(database_url: str) -> None:
    with open_tribal(database_url) as tribal, another_process(tribal, embedder=Projected()) as memory:
        memory.warm()
        assert references(tribal) == 0


def test_the_second_embedder_is_compared_too_and_fails_no_learn(database_url: str) -> None:
    with open_tribal(database_url, next_embedder=Projected()) as tribal:
        tribal.learn(tribal.curator, KNOWN)
        create(tribal)
        build(tribal)
        wrong = Steered(Projected())
        wrong.drifted_to = 0.9
        with another_process(tribal, next_embedder=wrong) as memory:
            memory.learn(tribal.curator, Draft(text="another", situation="s", source=SEEN))
        with pytest.raises(BadSetting, match=r"TRIBUTARY_NEXT_EMBEDDER: .*drifted"):
            build(tribal_with(tribal, wrong))
        assert build(tribal) == (1, 0)


def tribal_with(tribal: Tribal, following: Steered) -> Tribal:
    return replace(tribal, adapters=replace(tribal.adapters, next_embedder=following))


def test_references_of_a_space_are_sentences_of_operations_one_with_identifiers() -> None:
    assert 3 <= len(SENTENCES) <= 5
    assert sum(bool(re.search(r"[A-Z]+-\d+|--\w+", one)) for one in SENTENCES) == 1
