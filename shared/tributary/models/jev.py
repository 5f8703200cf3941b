"""Jev, a model that answers typed questions with probabilities, through TypeSafe's own client."""

from __future__ import annotations

import logging
import math
import threading
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tributary.core.errors import (
    BadSetting,
    ModelFailed,
    ModelMalformed,
    ModelThrottled,
    ModelTimedOut,
    ModelUnreachable,
)
from tributary.core.spending import Purpose
from tributary.models.bounded import Lane, bounded
from tributary.models.installed import need
from tributary.models.keys import KEY_RULE, is_sendable
from tributary.models.metering import metering
from tributary.models.prices import Prices

if TYPE_CHECKING:
    from typesafe_sdk import Choice, ChoiceAnswer, Noul, NoulAnswer, SystemOneResponse, TypeSafeClient

State = Mapping[str, Mapping[str, str] | Sequence[str]]
"""What questions are about: names of ours, and texts of others."""
DEFAULT_URL = "https://api.typesafe.ai"
STATE_CHARACTERS = 60_000
"""Most characters that one request says about lessons; about half of what the model reads at once."""
_OVERLOADED = frozenset({429, 529})
_SUM_TOLERANCE = 0.02
_MEANING = {
    401: "the API key is not known",
    402: "the account has no credit",
    403: "the API key may not use this model",
    404: "there is no such model or address",
    413: "there is too much to read",
}
_REDIRECTED = "it redirects to another address, where nothing is sent: set TRIBUTARY_JEV_URL to where Jev is"


def is_pinned(model: str) -> bool:
    """Tells whether a name means one model for ever."""
    return not model.endswith(("latest", "preview"))


class Jev:
    """Puts questions about a state to one pinned model. Each attempt is charged to the account at hand.

    Raises BadSetting for a name that may come to mean another model, and when TypeSafe's client is not installed.
    """

    def __init__(
        self, *, api_key: str, url: str | None, model: str, timeout_s: float, attempts: int, prices: Prices, purpose: Purpose
    ) -> None:
        if not is_sendable(api_key):
            raise BadSetting(f"the API key of Jev {KEY_RULE}")
        if not is_pinned(model):
            raise BadSetting(f"Jev's model must be pinned, such as jev-1.13.0 (it is '{model}')")
        need("typesafe_sdk", library="typesafe-sdk", extra="jev", by="Jev")
        self._api_key = api_key
        self._url = url or DEFAULT_URL
        self._model = model
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._prices = prices
        self._purpose = purpose
        self._client: TypeSafeClient | None = None
        self._lock = threading.Lock()
        self._lane = Lane()

    @property
    def version(self) -> str:
        return f"typesafe:{self._model}"

    def choose(self, state: State, questions: Mapping[str, Choice], *, timeout_s: float | None) -> Mapping[str, ChoiceAnswer]:
        """Returns the sound answers by question, perhaps not all; raises ModelFailed, also when none is sound."""
        found = self._ask(state, questions, timeout_s=timeout_s).choices
        return _some({name: found[name] for name, one in questions.items() if name in found and _sound(found[name], one)})

    def probabilities(self, state: State, questions: Mapping[str, Noul], *, timeout_s: float | None) -> Mapping[str, float]:
        """Returns the probability of yes for every question; raises ModelFailed, and when one of them is missing."""
        found: Mapping[str, NoulAnswer] = self._ask(state, questions, timeout_s=timeout_s).nouls
        if not all(name in found and _probable(found[name].noul) for name in questions):
            raise ModelMalformed("a question was not answered with a probability")
        return {name: found[name].noul for name in questions}

    def _ask(
        self, state: State, questions: Mapping[str, Choice] | Mapping[str, Noul], *, timeout_s: float | None
    ) -> SystemOneResponse:
        allowed_s = self._timeout_s if timeout_s is None else min(timeout_s, self._timeout_s)
        return bounded(partial(self._attempt, state, questions), timeout_s=allowed_s, attempts=self._attempts)

    def _attempt(
        self, state: State, questions: Mapping[str, Choice] | Mapping[str, Noul], remaining_s: float
    ) -> SystemOneResponse:
        with metering(self._purpose, self.version, self._prices) as meter:
            response = self._lane.within(remaining_s, lambda: self._send(state, questions, remaining_s))
            meter.input_tokens = _tokens(response.usage.input_tokens)
            meter.output_tokens = _tokens(response.usage.output_tokens)
            if response.model != self._model and not response.model.startswith((f"{self._model}.", f"{self._model}-")):
                raise ModelMalformed("another model answered than the one that is pinned")
            return response

    def _send(self, state: State, questions: Mapping[str, Choice] | Mapping[str, Noul], timeout_s: float) -> SystemOneResponse:
        from typesafe_sdk import TypeSafeError

        try:
            return self._opened().system_one(state, dict(questions), model=self._model, timeout=timeout_s)
        except TypeSafeError as error:
            raise _translated(error) from None  # its message may quote what was sent

    def _opened(self) -> TypeSafeClient:
        """Returns the client, made on first use. Nothing that it would take from the environment is left to that."""
        from typesafe_sdk import RetryPolicy, TypeSafeClient

        with self._lock:
            if self._client is None:
                from tributary.models.http_wire import http_client

                logger = logging.getLogger("typesafe_sdk")
                logger.setLevel(max(logger.level, logging.INFO))  # below, it logs whole requests, lessons and all
                self._client = TypeSafeClient(
                    api_key=self._api_key,
                    base_url=self._url,
                    model=self._model,
                    retry=RetryPolicy(max_retries=0),  # ours know the caller's deadline
                    compression=False,
                    http_client=http_client(self._url, timeout_s=self._timeout_s),
                )
                weakref.finalize(self, self._client.close)
            return self._client


def _translated(error: Exception) -> ModelFailed:
    """Returns what a failure of the client is to us; by its type and status, never by its words."""
    from typesafe_sdk import (
        TypeSafeAPIConnectionError,
        TypeSafeAPIError,
        TypeSafeAPIResponseValidationError,
        TypeSafeAPITimeoutError,
        TypeSafeRateLimitError,
    )

    if isinstance(error, TypeSafeAPIResponseValidationError):
        return ModelMalformed("Jev's answer is not of the form that its API promises")
    if isinstance(error, TypeSafeAPITimeoutError):
        return ModelTimedOut("Jev did not answer in time")
    if isinstance(error, TypeSafeAPIConnectionError):
        return ModelUnreachable("Jev could not be reached")
    if not isinstance(error, TypeSafeAPIError):
        return ModelFailed("Jev's client refused the request")
    if error.status in _OVERLOADED:
        wait_ms = error.retry_after_ms if isinstance(error, TypeSafeRateLimitError) else None
        retry_after_s = None if wait_ms is None else wait_ms / 1000
        return ModelThrottled(f"Jev takes no more requests for now ({error.status})", retry_after_s=retry_after_s)
    if error.status >= 500:
        return ModelUnreachable(f"Jev failed ({error.status})")
    if error.status == 408:
        return ModelTimedOut("Jev did not answer in time (408)")
    other = _REDIRECTED if 300 <= error.status < 400 else "it does not say why"
    return ModelFailed(f"Jev refuses the request ({error.status}): {_MEANING.get(error.status, other)}")


def _some(answers: Mapping[str, ChoiceAnswer]) -> Mapping[str, ChoiceAnswer]:
    if not answers:
        raise ModelMalformed("no question was answered with one of its choices and their probabilities")
    return answers


def _sound(answer: ChoiceAnswer, question: Choice) -> bool:
    """Tells whether these are probabilities of all choices of the question, and the likeliest was chosen."""
    odds = answer.probabilities
    return (
        set(odds) == set(question.criteria)
        and all(_probable(one) for one in (*odds.values(), answer.confidence))
        and abs(sum(odds.values()) - 1) <= _SUM_TOLERANCE
        and answer.choice in odds
        and odds[answer.choice] == max(odds.values())
    )


def _probable(value: float) -> bool:
    return math.isfinite(value) and 0.0 <= value <= 1.0


def _tokens(count: int | None) -> int | None:
    return count if count is None or count >= 0 else None
