"""How any language model is asked: bounded in time and length, metered, tried again, in a shape that its provider takes.

Which way a provider takes the form of an answer is not known beforehand: models of one API differ, and a profile's name may
hide the model. So the best way is tried first, a refusal of its shape leads to the next, and what has answered is remembered.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, TypeVar

from tributary.core.errors import BadSetting, ModelFailed
from tributary.core.ports import Prompt
from tributary.models.bounded import ATTEMPTS, bounded
from tributary.models.metering import Meter, metering
from tributary.models.prices import Prices

Reply = TypeVar("Reply")

MOST_OUTPUT_TOKENS = 1_000_000
MAX_OUTPUT_TOKENS = 2048
TIMEOUT_S = 20.0
_MOST_TIMEOUT_S = 600.0
_MOST_ATTEMPTS = 10


class Form(StrEnum):
    """How a model is made to answer with an object: by a schema, a forced tool, JSON mode, or words alone."""

    SCHEMA = "schema"
    TOOL = "tool"
    OBJECT = "object"
    TEXT = "text"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a request may hold."""

    form: Form
    temperature: bool = True
    """Whether the temperature, 0, is sent: some models take none."""
    caps: tuple[str, ...] = ()
    """What the provider may call the most tokens of an answer, where that differs; the first is used."""

    def below(self, ladder: Sequence[Form]) -> Shape | None:
        """Returns this shape with the next form of the ladder; None at its end."""
        following = list(ladder)[list(ladder).index(self.form) + 1 :]
        return replace(self, form=following[0]) if following else None


class UnfitShape(ModelFailed):
    """The provider takes no request of this shape. Never leaves this room."""

    def __init__(self, instead: Shape) -> None:
        self.instead = instead
        super().__init__("the provider takes no request of this shape")


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How much of a model one question may use. Raises BadSetting when that is senseless."""

    max_output_tokens: int = MAX_OUTPUT_TOKENS
    timeout_s: float = TIMEOUT_S
    attempts: int = ATTEMPTS

    def __post_init__(self) -> None:
        _whole("max_output_tokens", self.max_output_tokens, MOST_OUTPUT_TOKENS)
        _whole("attempts", self.attempts, _MOST_ATTEMPTS)
        time_s = self.timeout_s
        if type(time_s) not in (int, float) or not 0 < time_s <= _MOST_TIMEOUT_S:
            raise BadSetting(f"timeout_s: is {time_s!r}; must be a number above 0, up to {_MOST_TIMEOUT_S:.0f}")


def named(provider: str, model: str) -> str:
    """Returns provider and model as one version, `openai:gpt-5-mini`; raises BadSetting for what is no model's id."""
    if not 0 < len(model) <= 256 or model.startswith("-") or any(c.isspace() for c in model):
        raise BadSetting(f"{provider} model: must be the id of a model, at most 256 characters without spaces (it is {model!r})")
    return f"{provider}:{model}"


class Asking(Generic[Reply]):
    """Asks by `send(prompt, shape, remaining_s)`, which must end in time, and reads by `read(prompt, shape, reply, meter)`.

    `prepare(remaining_s)` comes before the first attempt: what is not installed or not set up is none, and is not charged.
    """

    def __init__(
        self,
        *,
        version: str,
        shape: Shape,
        prepare: Callable[[float], object],
        send: Callable[[Prompt, Shape, float], Reply],
        read: Callable[[Prompt, Shape, Reply, Meter], Mapping[str, object]],
        bounds: Bounds,
        prices: Prices,
        sleep: Callable[[float], None],
    ) -> None:
        self._version = version
        self._shape = shape
        self._prepare = prepare
        self._send = send
        self._read = read
        self._bounds = bounds
        self._prices = prices
        self._sleep = sleep
        self._lock = threading.Lock()

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        """Returns the answer; raises ModelFailed and BadSetting. The smaller of both time-outs bounds all of it together."""
        limit = self._bounds.timeout_s
        if timeout_s is not None:
            limit = min(limit, timeout_s) if math.isfinite(timeout_s) else limit
        until = time.monotonic() + limit
        self._prepare(limit)
        return bounded(
            lambda remaining_s: self._in_some_shape(prompt, time.monotonic() + remaining_s),
            timeout_s=until - time.monotonic(),
            attempts=self._bounds.attempts,
            sleep=self._sleep,
        )

    def _in_some_shape(self, prompt: Prompt, until: float) -> Mapping[str, object]:
        """Asks until the shape fits. Each request is charged; another shape is no attempt more. Ends: each gives something up.

        What is given up for one question is given up for all only once the model has answered without it: a question that is
        refused whatever its shape says nothing about the model.
        """
        begun = shape = self._shape
        while True:
            try:
                with metering(prompt.purpose, self._version, self._prices) as meter:
                    reply = self._send(prompt, shape, until - time.monotonic())
                    answer = self._read(prompt, shape, reply, meter)
            except UnfitShape as error:
                shape = error.instead
                if self._shape != begun:  # another thread has found out meanwhile
                    begun = shape = self._shape
            else:
                self._remember(shape, instead_of=begun)
                return answer

    def _remember(self, shape: Shape, *, instead_of: Shape) -> None:
        with self._lock:
            if self._shape == instead_of:
                self._shape = shape


def _whole(name: str, value: object, most: int) -> None:
    if type(value) is not int or not 1 <= value <= most:
        raise BadSetting(f"{name}: is {value!r}; must be a whole number from 1 to {most}")
