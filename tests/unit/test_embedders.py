"""What every embedder promises, run over each."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.providers import bedrock_embeddings as bedrock
from tests.providers.server import ProviderServer
from tributary.core.ports import Embedder, SpaceDefinition
from tributary.models import embedders
from tributary.models.embedders import (
    BedrockEmbedder,
    CachedEmbedder,
    HashedEmbedder,
    MiniLmEmbedder,
    SentenceTransformersEmbedder,
)
from tributary.models.embedders.cached import Warmable

TOKENIZER = Path(embedders.__file__).parent / "all_minilm_l6_v2" / "tokenizer.json"
TEXTS = [
    "The deploy fails when the migration lock is held by an old pod.",
    "timeout",
    "kubectl rollout undo deployment/checkout",
    "",
    "デプロイ後にキャッシュを消去する 🎉",
    "Raising the limit did not help; the leak is elsewhere. " * 40,
    "!!!",
    "The deploy fails when the migration lock is held by a new pod.",
]
SENTENCE = "Shard {number} was moved from node seven to node nine because its disk was full. "
LONG = "".join(SENTENCE.format(number=number) for number in range(265))


def small_transformer(folder: Path) -> Path:
    """Saves a transformer with random weights, 32 wide and with windows of 64 tokens, and returns its folder."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch").manual_seed(1)
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZER), model_max_length=64, **special)
    config = transformers.BertConfig(
        vocab_size=30522,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    tokenizer.save_pretrained(folder)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


HOSTED = {
    "titan": (bedrock.TITAN, None),
    "titan-256": (bedrock.TITAN, 256),
    "cohere-english": (bedrock.ENGLISH, None),
    "cohere-v4-512": (f"us.{bedrock.COHERE_V4}", 512),
}


@pytest.fixture(scope="module")
def provider() -> Iterator[ProviderServer]:
    with bedrock.serving() as server:
        yield server


@pytest.fixture(scope="module", params=["minilm", "hashed-64", "hashed-384", "sentence-transformers", *HOSTED, "titan-cached"])
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, provider: ProviderServer) -> Warmable:
    if request.param == "minilm":
        return MiniLmEmbedder()
    if request.param == "sentence-transformers":
        folder = small_transformer(tmp_path_factory.mktemp("model"))
        return SentenceTransformersEmbedder(model=str(folder), device="cpu")
    if request.param == "titan-cached":
        return CachedEmbedder(hosted(provider, "titan"), 5)
    if request.param in HOSTED:
        return hosted(provider, request.param)
    return HashedEmbedder(dimension=int(request.param.partition("-")[2]))


def hosted(provider: ProviderServer, name: str) -> BedrockEmbedder:
    """Makes the embedder and its client, which takes its credentials from the environment of now."""
    model, dimension = HOSTED[name]
    made = BedrockEmbedder(model=model, dimension=dimension, region="us-east-1", url=provider.url)
    with pytest.MonkeyPatch.context() as environment:
        for variable, value in bedrock.credentials().items():
            environment.setenv(variable, value)
        made.warm()
    return made


def matrix(embedder: Embedder, texts: list[str]) -> npt.NDArray[np.float64]:
    return np.array(embedder.embed(texts), dtype=np.float64)


def test_each_text_gets_one_finite_unit_vector_of_the_space(embedder: Warmable) -> None:
    vectors = matrix(embedder, TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.space.dimension)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_vectors_come_in_the_order_of_their_texts(embedder: Warmable) -> None:
    np.testing.assert_allclose(matrix(embedder, TEXTS[::-1]), matrix(embedder, TEXTS)[::-1], atol=1e-5)


def test_vectors_are_plain_floats(embedder: Warmable) -> None:
    assert {type(value) for vector in embedder.embed(TEXTS[:2]) for value in vector} == {float}


def test_no_text_gives_no_vector(embedder: Warmable) -> None:
    assert embedder.embed([]) == []


def test_the_same_texts_give_the_same_vectors(embedder: Warmable) -> None:
    assert embedder.embed(TEXTS) == embedder.embed(TEXTS)


def test_a_vector_does_not_depend_on_its_batch(embedder: Warmable) -> None:
    alone = np.concatenate([matrix(embedder, [text]) for text in TEXTS])
    np.testing.assert_allclose(matrix(embedder, TEXTS), alone, atol=1e-5)
    np.testing.assert_allclose(matrix(embedder, [LONG, *TEXTS, LONG])[1:-1], alone, atol=1e-5)


def test_threads_may_share_an_embedder(embedder: Warmable) -> None:
    expected = matrix(embedder, TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: matrix(embedder, TEXTS), range(8)):
            np.testing.assert_allclose(found, expected, atol=1e-5)


def test_other_words_give_another_vector(embedder: Warmable) -> None:
    first, second = matrix(embedder, [TEXTS[0], TEXTS[2]])
    assert first @ second < 0.999


def test_the_end_of_a_long_text_counts(embedder: Warmable) -> None:
    assert len(LONG) > 20_000
    other_end = LONG.removesuffix(SENTENCE.format(number=264)) + "Bread is baked at two hundred degrees until brown."
    same, changed = matrix(embedder, [LONG, other_end])
    assert same @ changed < 1 - 1e-6


def test_a_long_text_still_resembles_a_part_of_it_more_than_another_text(embedder: Warmable) -> None:
    long, part, other = matrix(embedder, [LONG, LONG[:400], "Bread is baked at two hundred degrees until brown."])
    assert long @ part > long @ other


ODD = {
    "NUL": "\x00",
    "lone surrogate": "\ud800",
    "surrogates the wrong way round": "\udfff\ud800 end",
    "last code point": "\U0010ffff",
    "invisible": "\u202e\u200b",
    "combining": "e\u0301" * 300,
    "without blanks": "中" * 3000,
    "one word": "x" * 5000,
    "blanks": "\r\n\t",
    "underscore": "_",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_text_is_accepted(embedder: Warmable, text: str) -> None:
    np.testing.assert_allclose(np.linalg.norm(matrix(embedder, [text, "plain", text]), axis=1), 1, atol=1e-6)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_unicode_is_accepted(embedder: Warmable, text: str) -> None:
    assert len(embedder.embed([text])) == 1


def test_a_split_surrogate_pair_means_the_character_that_it_encodes(embedder: Warmable) -> None:
    split, whole = matrix(embedder, ["green \ud83c\udf89 again", "green \U0001f389 again"])
    np.testing.assert_allclose(split, whole, atol=1e-5)


def test_the_space_says_all_that_decides_a_vector(embedder: Warmable) -> None:
    space = embedder.space
    assert isinstance(space, SpaceDefinition)
    assert all([space.model, space.pooling, space.windowing, space.quantisation])
    assert space == embedder.space
    assert -1 <= space.floor < 1


def test_warming_up_changes_nothing(embedder: Warmable) -> None:
    before = embedder.embed(TEXTS[:2])
    embedder.warm()
    assert embedder.embed(TEXTS[:2]) == before


def test_only_the_hashed_embedder_is_for_tests_only(embedder: Warmable) -> None:
    assert embedder.tests_only == isinstance(embedder, HashedEmbedder)
