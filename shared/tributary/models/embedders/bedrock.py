"""Embedding models of Amazon Bedrock, through InvokeModel."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextvars import copy_context
from itertools import pairwise
from typing import Any, ClassVar

from tributary.core.errors import BadSetting, ModelMalformed
from tributary.core.ports import SpaceDefinition, Vector
from tributary.core.spending import Purpose
from tributary.models import aws
from tributary.models.bounded import ATTEMPTS, Lane, bounded
from tributary.models.embedders.bedrock_models import FLOOR, model_named, short
from tributary.models.embedders.windows import encodable
from tributary.models.lazily import Lazily
from tributary.models.metering import Meter, metering
from tributary.models.prices import Prices

TIMEOUT_S = 20.0
CONCURRENCY = 4

_MOST_CONCURRENCY = 64
_LEAST_NORM = 1e-6
_TOKENS_HEADER = "x-amzn-bedrock-input-token-count"
_NOTHING = "."
"""Embedded in place of a text without anything in it, which the services refuse."""


class BedrockEmbedder:
    """Embeds with Titan or Cohere. Safe to share between threads; nothing is loaded or asked before `embed` or `warm`.

    Each request is bounded in time, tried again when the service throttles or is away, and each attempt charged to the
    account at hand. Credentials and proxies are those of the AWS SDK, and this computer is asked through none.
    """

    tests_only: ClassVar[bool] = False

    def __init__(
        self,
        *,
        model: str | None,
        dimension: int | None = None,
        region: str,
        url: str | None = None,
        timeout_s: float = TIMEOUT_S,
        attempts: int = ATTEMPTS,
        prices: Prices | None = None,
        concurrency: int = CONCURRENCY,
        floor: float | None = None,
        setting: str = "TRIBUTARY_EMBEDDER",
    ) -> None:
        """Takes the id of a model or of its inference profile; raises BadSetting, in the words of `setting`.

        `dimension` is the model's own choice when None. `url` replaces the region's endpoint of bedrock-runtime. `timeout_s`
        bounds a request with its attempts, of which up to `concurrency` run at once. `floor` is the one measured for the
        model, where it was.
        """
        self._known = model_named(model, setting=setting)
        self._id = model or self._known.name
        self._dimension = self._known.dimension(dimension, setting=setting)
        if type(concurrency) is not int or not 1 <= concurrency <= _MOST_CONCURRENCY:
            raise BadSetting(
                f"TRIBUTARY_MODEL_CONCURRENCY: must be a whole number from 1 to {_MOST_CONCURRENCY} (it is {concurrency!r})"
            )
        if floor is not None and not (math.isfinite(floor) and -1 <= floor <= 1):
            raise BadSetting(f"embedding floor: is {floor}; must be a number from -1 to 1")
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._prices = prices or Prices.shipped()
        self._concurrency = concurrency
        self._charged_as = f"bedrock:{short(self._id)}"
        self._lane = Lane()
        self._client = Lazily(lambda: aws.runtime_client(region=region, url=url, timeout_s=timeout_s))
        self._space = SpaceDefinition(
            model=self._known.name,
            pooling=self._known.form.pooling,
            windowing=self._known.windowing.name,
            quantisation="float",
            dimension=self._dimension,
            floor=FLOOR if floor is None else floor,
        )

    @property
    def space(self) -> SpaceDefinition:
        """The model's space: the same for a model and its inference profiles."""
        return self._space

    def warm(self) -> None:
        """Makes the client now, without asking the service; raises BadSetting."""
        self._client.get(timeout_s=self._timeout_s)

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        """Returns one vector a text, in order: (dimension,), unit norm; raises BadSetting and ModelFailed.

        `timeout_s` bounds the call as a whole.
        """
        until = math.inf if timeout_s is None else time.monotonic() + timeout_s
        windows: list[str] = []
        ends = [0]
        for text in texts:
            windows.extend(self._known.windowing.windows(_sayable(text)))
            ends.append(len(windows))
        batch = self._known.batch
        asked = self._all([windows[start : start + batch] for start in range(0, len(windows), batch)], until)
        vectors = [vector for found in asked for vector in found]
        return [_mean(vectors[start:end]) for start, end in pairwise(ends)]

    def _all(self, requests: Sequence[Sequence[str]], until: float) -> list[list[Vector]]:
        """Returns the vectors of each request; the first failure ends what has not begun."""
        if len(requests) <= 1:
            return [self._one(texts, until) for texts in requests]
        with ThreadPoolExecutor(min(self._concurrency, len(requests)), thread_name_prefix="embed") as pool:
            # each with a context of its own, in which it charges the same account
            running = [pool.submit(copy_context().run, self._one, texts, until) for texts in requests]
            done, rest = wait(running, return_when=FIRST_EXCEPTION)
            for one in rest:
                one.cancel()
            if failed := next((error for one in done if (error := one.exception())), None):
                raise failed
            return [one.result() for one in running]

    def _one(self, texts: Sequence[str], until: float) -> list[Vector]:
        left_s = min(self._timeout_s, until - time.monotonic())
        client = self._client.get(timeout_s=left_s)  # what is not installed or set up is no attempt
        dimension = self._dimension if self._known.wire_dimensions else None
        body = json.dumps(self._known.form.request(texts, dimension=dimension)).encode()

        def invoke() -> tuple[bytes, Mapping[str, Any]]:
            try:
                response = client.invoke_model(
                    modelId=self._id, body=body, contentType="application/json", accept="application/json"
                )
                return response["body"].read(), response["ResponseMetadata"]["HTTPHeaders"]
            except Exception as error:
                raise aws.failure(error, model=self._id) from None

        def attempt(remaining_s: float) -> list[Vector]:
            with metering(Purpose.EMBED, self._charged_as, self._prices) as meter:
                content, headers = self._lane.within(remaining_s, invoke)
                meter.input_tokens = _tokens(headers.get(_TOKENS_HEADER))
                return self._vectors(content, meter, wanted=len(texts))

        return bounded(attempt, timeout_s=min(self._timeout_s, until - time.monotonic()), attempts=self._attempts)

    def _vectors(self, content: bytes, meter: Meter, *, wanted: int) -> list[Vector]:
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise ModelMalformed("the embedding model's answer is no JSON") from None
        if not isinstance(answer, dict):
            raise ModelMalformed("the embedding model's answer is no JSON object")
        meter.input_tokens = _tokens(answer.get("inputTextTokenCount")) or meter.input_tokens
        found = self._known.form.vectors(answer)
        if len(found) != wanted:
            raise ModelMalformed(f"the embedding model gave {len(found)} vectors for {wanted} texts")
        return [_unit(_numbers(one, self._dimension)) for one in found]


def _sayable(text: str) -> str:
    return encodable(text) if text.strip() else _NOTHING


def _tokens(said: object) -> int | None:
    if isinstance(said, str):
        return int(said) if said.isascii() and said.isdigit() and len(said) <= 12 else None
    return said if type(said) is int and said >= 0 else None


def _numbers(found: object, dimension: int) -> list[float]:
    if not isinstance(found, list):
        raise ModelMalformed("the embedding model's answer has no vector")
    if len(found) != dimension:
        raise ModelMalformed(f"the embedding model gave a vector of {len(found)} dimensions, not {dimension}")
    if not all(type(value) in (float, int) for value in found):
        raise ModelMalformed("the embedding model gave a vector that has more than numbers in it")
    try:
        return [float(value) for value in found]
    except OverflowError:
        raise ModelMalformed("the embedding model gave a vector that is not finite") from None


def _unit(vector: Sequence[float]) -> Vector:
    norm = math.hypot(*vector)
    if not math.isfinite(norm) or norm < _LEAST_NORM:
        raise ModelMalformed("the embedding model gave a vector that is not finite or has no direction")
    return [value / norm for value in vector]


def _mean(windows: Sequence[Vector]) -> Vector:
    return windows[0] if len(windows) == 1 else _unit([math.fsum(values) for values in zip(*windows, strict=True)])
