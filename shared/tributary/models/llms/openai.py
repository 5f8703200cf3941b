"""Language models behind OpenAI's chat completions, wherever they are: OpenAI, OpenRouter, DeepSeek, Ollama, vLLM."""

from __future__ import annotations

import json
import re
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tributary.core.clock import utc_now
from tributary.core.errors import (
    BadSetting,
    ModelFailed,
    ModelMalformed,
    ModelRefused,
    ModelThrottled,
    ModelTimedOut,
    ModelUnreachable,
)
from tributary.core.ports import Prompt
from tributary.models.addresses import OPENAI_URL
from tributary.models.bounded import ATTEMPTS, Lane
from tributary.models.keys import KEY_RULE, is_sendable
from tributary.models.lazily import Lazily
from tributary.models.llms.answers import note_usage, object_in, part, parts, written_out
from tributary.models.llms.asking import MAX_OUTPUT_TOKENS, TIMEOUT_S, Asking, Bounds, Form, Shape, UnfitShape, named
from tributary.models.llms.refusals import says, unsupported
from tributary.models.loopback import is_here
from tributary.models.metering import Meter
from tributary.models.prices import Prices
from tributary.models.resets import wait_s

if TYPE_CHECKING:
    import openai
    from openai import APIResponse

_LADDER = (Form.SCHEMA, Form.TOOL, Form.OBJECT, Form.TEXT)
_CAPS = ("max_completion_tokens", "max_tokens")
_MISSING = "an OpenAI-compatible model needs openai, which is not installed: pip install 'tributary-memory[openai]'"
_TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2"})
_NO_KEY = "none"
"""Sent where no key may be, or none is asked for: the library sends no request without any."""

_NAMES = {
    Form.SCHEMA: r"response[ _]?format|json[ _]?schema|structured[ _]outputs?|grammar",
    Form.TOOL: r"\btools?\b|\btool[ _](?:choice|calls?|calling|use)\b|\bfunctions?\b",
    Form.OBJECT: r"response[ _]?format|json[ _]?(?:object|mode)",
}
"""What providers call the way to ask for a form, in the parameter that they name and in words."""
_PARAMS = {form: re.compile(rf"(?:{name})(?:[.\[_].*)?", re.IGNORECASE) for form, name in _NAMES.items()}
_NO_FORM = {form: unsupported(name) for form, name in _NAMES.items()}
_NO_TEMPERATURE = unsupported(r"\btemperature\b")
_NO_CAP = {cap: unsupported(rf"\b{cap}\b") for cap in _CAPS}
_UNSUPPORTED = ("unsupported", "unknown", "unrecognized")
_NO_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_FILTERED = frozenset({"content_filter", "content_policy_violation"})
_TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length"})
_SAYS_WHY = _NO_CREDIT | _FILTERED | _TOO_LONG | {"model_not_found", "invalid_api_key"}
"""Codes that leave nothing to be read out of words."""

_REDIRECTED = (
    "the provider redirects to another address (HTTP {status}), where nothing is sent: set TRIBUTARY_OPENAI_URL, or the role's"
    " own _URL, to where {model} is"
)
_REMEDIES = {
    401: "the provider does not accept the API key (HTTP 401): it is wrong, expired or revoked",
    403: "the provider denies access to {model} (HTTP 403): see what the key may use",
    404: "the provider does not know {model}, or the URL is wrong (HTTP 404): does it end with /v1?",
}


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What a provider says when it does not answer. `message` may repeat what was sent: it is looked at and never shown."""

    status: int
    code: str
    param: str
    message: str
    headers: Mapping[str, str]


class OpenAiModel:
    """Asks a model at OpenAI or at any base URL that speaks as it does. Safe to share between threads.

    The schema goes as strict response format; where that is refused, as a forced tool, then as JSON mode with the schema in
    words, then in words alone.
    """

    def __init__(
        self,
        *,
        model: str,
        url: str | None = None,
        api_key: str | None = None,
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        timeout_s: float = TIMEOUT_S,
        attempts: int = ATTEMPTS,
        prices: Prices | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Raises BadSetting. `url` ends with the API's version, `https://openrouter.ai/api/v1`."""
        self._version = named("openai", model)
        self._model = model
        self._url = (url or OPENAI_URL).rstrip("/")
        self._bounds = Bounds(max_output_tokens=max_output_tokens, timeout_s=timeout_s, attempts=attempts)
        key = key_for(self._url, api_key)
        self._lane = Lane()
        self._client = Lazily(lambda: client(url=self._url, key=key, timeout_s=timeout_s))
        self._asking: Asking[bytes] = Asking(
            version=self._version,
            shape=Shape(form=_LADDER[0], caps=_caps(self._url)),
            prepare=lambda remaining_s: self._client.get(timeout_s=remaining_s),
            send=self._send,
            read=self._read,
            bounds=self._bounds,
            prices=prices or Prices.shipped(),
            sleep=sleep,
        )

    @property
    def version(self) -> str:
        return self._version

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        return self._asking.answer(prompt, timeout_s=timeout_s)

    def _send(self, prompt: Prompt, shape: Shape, remaining_s: float) -> bytes:
        asked = self._client.get(timeout_s=remaining_s)
        request = self._request(prompt, shape)
        return fetched(
            lambda: asked.chat.completions.with_streaming_response.create(**request, timeout=remaining_s),
            lane=self._lane,
            timeout_s=remaining_s,
            refused=lambda refusal: self._refused(refusal, prompt, shape),
        )

    def _request(self, prompt: Prompt, shape: Shape) -> dict[str, Any]:
        in_words = shape.form in (Form.OBJECT, Form.TEXT)
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": written_out(prompt) if in_words else prompt.instructions},
                {"role": "user", "content": prompt.material},
            ],
            shape.caps[0]: self._bounds.max_output_tokens,
        }
        if shape.temperature:
            request["temperature"] = 0.0
        if shape.form is Form.SCHEMA:
            schema = {"name": prompt.name, "strict": True, "schema": prompt.schema}
            request["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif shape.form is Form.TOOL:
            tool = {"name": prompt.name, "description": "Takes the answer.", "parameters": prompt.schema}
            request["tools"] = [{"type": "function", "function": tool}]
            request["tool_choice"] = {"type": "function", "function": {"name": prompt.name}}
        elif shape.form is Form.OBJECT:
            request["response_format"] = {"type": "json_object"}
        if _host(self._url).endswith("openrouter.ai"):
            request["extra_body"] = {"usage": {"include": True}}  # which makes it say what the call cost
        return request

    def _refused(self, refusal: Refusal, prompt: Prompt, shape: Shape) -> ModelFailed:
        perhaps_unfit = refusal.status in (400, 404, 422) and refusal.code not in _SAYS_WHY
        if perhaps_unfit and (instead := _instead(refusal, prompt, shape)):
            return UnfitShape(instead)
        return _failure(refusal, f"'{self._model}'")

    def _read(self, prompt: Prompt, shape: Shape, reply: bytes, meter: Meter) -> Mapping[str, object]:
        document = _document(reply)
        usage = part(document, "usage")
        note_usage(meter, inputs=usage.get("prompt_tokens"), outputs=usage.get("completion_tokens"), cost=usage.get("cost"))
        choices = parts(document, "choices")
        if error := part(document, "error") or part(choices[0] if choices else {}, "error"):
            # gateways say 200 before they know that the provider behind them fails
            raise self._refused(_refusal(200, error, {}), prompt, shape)
        if len(choices) != 1:
            raise ModelMalformed("the provider's answer holds no choice, or several")
        message, ended = part(choices[0], "message"), choices[0].get("finish_reason")
        if message.get("refusal") or ended == "content_filter":
            raise ModelRefused("the model, or a filter of its provider, declined to answer")
        if ended == "length":
            raise ModelMalformed("the answer was cut off (length); more output tokens may help")
        if shape.form is not Form.TOOL:
            return object_in(message.get("content"))
        calls = [part(call, "function") for call in parts(message, "tool_calls")]
        if len(calls) != 1 or calls[0].get("name") != prompt.name:
            raise ModelMalformed("the model did not call the one tool that takes the answer")
        return object_in(calls[0].get("arguments"))


def key_for(url: str, api_key: str | None) -> str:
    """Returns the key to send; raises BadSetting for one that no header can carry, and when none is given for a server elsewhere
    over https."""
    if api_key:
        if not is_sendable(api_key):
            raise BadSetting(f"the API key of the model at '{_host(url)}' {KEY_RULE}")
        return api_key
    if is_here(url) or url.startswith("http://"):
        return _NO_KEY
    raise BadSetting(
        f"the API key of the model at '{_host(url)}' is missing: set the role's own _API_KEY, or, where its address is"
        " that of TRIBUTARY_OPENAI_URL, TRIBUTARY_OPENAI_API_KEY"
    )


def client(*, url: str, key: str, timeout_s: float) -> openai.OpenAI:
    """Makes a client that tries once; safe to share between threads. Raises BadSetting."""
    try:
        import openai
    except ModuleNotFoundError:
        raise BadSetting(_MISSING) from None
    try:
        from tributary.models.http_wire import http_client

        wire = http_client(url, timeout_s=timeout_s)
        made = openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=timeout_s, http_client=wire)
        weakref.finalize(made, wire.close)
    except Exception as error:
        raise BadSetting(f"no client can be made for the model's URL and key ({type(error).__name__})") from None
    if not _is_openais(url):  # whom the organisation and project of the environment are no business of
        made.organization = made.project = None
    return made


def fetched(
    open_response: Callable[[], AbstractContextManager[APIResponse[Any]]],
    *,
    lane: Lane,
    timeout_s: float,
    refused: Callable[[Refusal], ModelFailed] | None = None,
) -> bytes:
    """Returns the body of a response, read in time and up to a cap; raises ModelFailed.

    `refused` says what a refusal of the provider means, where that is not the same for all requests.
    """

    def call() -> bytes:
        try:
            with open_response() as response:
                return response.read()
        except ModelFailed:
            raise
        except Exception as error:
            raise _meaning(error, refused or _failure) from None

    return lane.within(timeout_s, call)


def _meaning(error: Exception, refused: Callable[[Refusal], ModelFailed]) -> ModelFailed:
    import httpx2
    import openai

    kind = type(error).__name__
    if isinstance(error, openai.APIStatusError):
        return refused(_refusal(error.status_code, error.body, error.response.headers))
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return ModelTimedOut("the provider did not answer in time")
    if isinstance(error, openai.APIConnectionError) or type(error).__module__.partition(".")[0] in _TRANSPORTS:
        return ModelUnreachable(f"the provider cannot be reached, or hung up ({kind})")
    return ModelFailed(f"the provider's client failed ({kind})")


def _failure(refusal: Refusal, model: str = "the model") -> ModelFailed:
    status, code = refusal.status, refusal.code
    if code in _NO_CREDIT or status == 402:
        return ModelFailed(f"the provider's account has no credit left (HTTP {status})")
    if status == 429:
        return ModelThrottled("the provider throttles (HTTP 429)", retry_after_s=wait_s(refusal.headers, utc_now()))
    if code in _FILTERED:
        return ModelRefused("a filter of the provider declined the question")
    if code in _TOO_LONG:
        return ModelFailed(f"the question is longer than {model} takes")
    if status in (408, 409) or status >= 500:
        return ModelUnreachable(f"the provider is away (HTTP {status})")
    other = _REDIRECTED if 300 <= status < 400 else "the provider refuses the request (HTTP {status})"
    return ModelFailed(_REMEDIES.get(status, other).format(model=model, status=status))


def _instead(refusal: Refusal, prompt: Prompt, shape: Shape) -> Shape | None:
    """Returns the shape to try after a refusal: what the parameter that it names stands for is given up, else what its words,
    which may quote the question, call unsupported."""

    def refused(form: re.Pattern[str]) -> bool:
        return says(form, refusal.message, sent=prompt.material)

    cap, param = shape.caps[0], refusal.param
    # a cap may be refused for its size, which another name for it does not change
    if shape.caps[1:] and ((param == cap and refusal.code.startswith(_UNSUPPORTED)) or refused(_NO_CAP[cap])):
        return replace(shape, caps=shape.caps[1:])
    if shape.temperature and (param == "temperature" if param else refused(_NO_TEMPERATURE)):
        return replace(shape, temperature=False)
    if shape.form not in _NO_FORM:
        return None
    named = _PARAMS[shape.form].fullmatch(param) is not None if param else refused(_NO_FORM[shape.form])
    return shape.below(_LADDER) if named else None


def _refusal(status: int, body: object, headers: Mapping[str, str]) -> Refusal:
    """Reads `{"error": {...}}`, or the object inside. Gateways put the real status and headers into it."""
    error = part(body, "error") or (body if isinstance(body, Mapping) else {})
    code = error.get("code")
    if status == 200:
        status = code if type(code) is int and 400 <= code <= 599 else 502
    told = {name: str(value) for name, value in part(part(error, "metadata"), "headers").items()}
    return Refusal(
        status=status,
        code=str(code or error.get("type") or ""),
        param=str(error.get("param") or ""),
        message=str(error.get("message") or ""),
        headers={**told, **headers},
    )


def _document(reply: bytes) -> Mapping[str, object]:
    try:
        document = json.loads(reply)
    except (ValueError, RecursionError):
        raise ModelMalformed("the provider's answer is not JSON; does the URL end with /v1?") from None
    if not isinstance(document, Mapping):
        raise ModelMalformed("the provider's answer is no JSON object")
    return document


def _caps(url: str) -> tuple[str, ...]:
    """OpenAI's newer models take the new name only; other servers know the old one, and some ignore what they do not know."""
    return _CAPS if _is_openais(url) else _CAPS[::-1]


def _is_openais(url: str) -> bool:
    return _host(url).endswith((".openai.com", ".openai.azure.com"))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        raise BadSetting("the model's URL is malformed") from None
