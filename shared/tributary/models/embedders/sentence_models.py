"""Any model that the sentence-transformers library loads, by its id or from a folder.

The library cuts a text off at the model's longest input without a word. So it is asked for tokens and for vectors, and
the cutting is done as for every other embedder.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tributary.core.errors import BadSetting, ModelFailed
from tributary.core.ports import SpaceDefinition, Vector
from tributary.models.embedders.known import KNOWN_BY_WEIGHTS
from tributary.models.embedders.windows import Windowing, embed_in_windows, encodable

if TYPE_CHECKING:
    from tributary.models.embedders.windows import Matrix

_LONGEST_WINDOW = 8192
"""Models that name no longest input, or one beyond this, are given windows of so many tokens."""


@dataclass(frozen=True, kw_only=True)
class _Loaded:
    model: Any
    """A SentenceTransformer; the library is typed for no one who lacks it."""
    windowing: Windowing
    prompt_length: int
    """Tokens of a window before its text, when the model's authors put a prompt there; else 0."""
    space: SpaceDefinition


class SentenceTransformersEmbedder:
    """Embeds with a sentence-transformers model. Safe to share between threads; loads it on first use, or at `warm`."""

    tests_only: ClassVar[bool] = False

    def __init__(self, *, model: str, device: str | None = None, floor: float | None = None) -> None:
        """Takes a model's id or folder, and where to run it ("cpu", "cuda", ...; the library's choice when None).

        `floor` is the similarity under which a hit is noise in the model's space. When None it is the measured one of a
        model that was measured, else 0. Raises BadSetting on values that make no sense.
        """
        if not model.strip():
            raise BadSetting("embedding model: is empty; must be a model's id or folder")
        if floor is not None and not (math.isfinite(floor) and -1 <= floor <= 1):
            raise BadSetting(f"embedding floor: is {floor}; must be a number from -1 to 1")
        self._model = model
        self._device = device
        self._floor = floor
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def space(self) -> SpaceDefinition:
        """The model's space. Loads it: its width, windows and weights say what the space is; raises what `warm` raises."""
        return self._load().space

    def warm(self) -> None:
        """Loads the model now; raises BadSetting when the library or the model is missing or unfit."""
        self._load()

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        """Returns one vector a text, in order: (dimension,), unit norm; raises what `warm` raises, and ModelFailed."""
        if not texts:
            return []
        loaded = self._load()
        tokens = [_tokens(loaded.model, encodable(text)) for text in texts]
        return embed_in_windows(
            tokens,
            loaded.windowing,
            lambda windows: _pooled(loaded.model, windows, prompt_length=loaded.prompt_length),
        )

    def _load(self) -> _Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _load(self._model, self._device, self._floor)
        return self._loaded


def _load(name: str, device: str | None, floor: float | None) -> _Loaded:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise BadSetting(
            "this embedder needs the sentence-transformers library; install tributary-memory[sentence-transformers]"
        ) from error
    try:
        model: Any = SentenceTransformer(name, device=device)
    except Exception as error:
        raise BadSetting(f"embedding model {name!r} cannot be loaded: {type(error).__name__}: {error}") from error
    if not callable(getattr(model, "tokenizer", None)):
        raise BadSetting(f"embedding model {name!r} has no tokenizer that this embedder can use")
    model.eval()
    model.requires_grad_(False)
    prompt = model.prompts.get(model.default_prompt_name) or "" if model.default_prompt_name else ""
    windowing = _windowing(model, prompt)
    prompt_length = len(windowing.prefix) if prompt else 0
    dimension = _pooled(model, windowing.windows(_tokens(model, "a")), prompt_length=prompt_length).shape[1]
    weights = _weights_sha256(parameter for _, parameter in model.named_parameters())
    kinds = sorted({str(parameter.dtype).removeprefix("torch.") for parameter in model.parameters()})
    known = KNOWN_BY_WEIGHTS.get(weights) if kinds == ["float32"] else None
    known_floor = known.floor if known else 0.0
    space = SpaceDefinition(
        model=known.name if known else f"{Path(name).name}@{weights[:12]}",
        pooling=_pooling(model),
        windowing=windowing.name if not prompt else f"{windowing.name}-prompt{prompt!r}",
        quantisation=known.quantisation if known else "+".join(kinds),
        dimension=dimension,
        floor=known_floor if floor is None else floor,
        weights_apart=known.weights_apart if known else 0.0,
    )
    return _Loaded(model=model, windowing=windowing, prompt_length=prompt_length, space=space)


def _windowing(model: Any, prompt: str) -> Windowing:
    """Returns the model's own windows: its longest input, opened by its first special tokens and the prompt."""
    probe = model.tokenizer("a", truncation=False, return_special_tokens_mask=True)
    ids, special = probe["input_ids"], probe["special_tokens_mask"]
    if 0 not in special:
        raise BadSetting("the embedding model's tokenizer finds no token in the letter a")
    opening = special.index(0)
    closing = len(special) - special[::-1].index(0)
    longest = model.max_seq_length
    return Windowing(
        tokens=min(longest, _LONGEST_WINDOW) if longest else _LONGEST_WINDOW,
        # Without its last blank a prompt has the tokens that it has before a text.
        prefix=(*ids[:opening], *_tokens(model, prompt.rstrip())),
        suffix=tuple(ids[closing:]),
    )


def _tokens(model: Any, text: str) -> list[int]:
    # A tokenizer keeps truncation and padding as state and fails when threads change it together. It is asked for the
    # same ones each time, from loading on, so that there is nothing to change.
    found: list[int] = model.tokenizer(text, add_special_tokens=False, truncation=False, padding=False, verbose=False)[
        "input_ids"
    ]
    return found


def _pooled(model: Any, windows: Sequence[Sequence[int]], *, prompt_length: int) -> Matrix:
    """Returns the model's vector of each window, (n, dimension) float32."""
    features: dict[str, Any] = dict(
        model.tokenizer.pad({"input_ids": [list(window) for window in windows]}, return_tensors="pt").to(model.device)
    )
    if prompt_length:
        features["prompt_length"] = prompt_length  # some models leave the prompt out of the mean
    try:
        vectors: Matrix = model.forward(features)["sentence_embedding"].float().cpu().numpy()
    except Exception as error:
        raise ModelFailed(f"the embedding model failed on {len(windows)} windows: {type(error).__name__}") from error
    return vectors


def _pooling(model: Any) -> str:
    """Names what stands between the transformer and the vector: "mean", or "cls+Dense"."""
    steps: list[str] = []
    for module in list(model)[1:]:
        kind = type(module).__name__
        if kind == "Pooling":
            mode = getattr(module, "pooling_mode", None) or module.get_pooling_mode_str()
            steps.append(mode if isinstance(mode, str) else ",".join(mode))
        elif kind != "Normalize":  # every vector is normalised here
            steps.append(kind)
    return "+".join(steps) or "none"


def _weights_sha256(parameters: Iterable[Any]) -> str:
    """Returns a digest of the weights' shapes and float32 values, whatever their names, order or file format."""
    digests: list[bytes] = []
    for parameter in parameters:
        values = parameter.detach().float().cpu().contiguous().numpy()
        digests.append(hashlib.sha256(repr(values.shape).encode() + values.astype("<f4").tobytes()).digest())
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()
