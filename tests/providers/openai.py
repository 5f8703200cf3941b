"""OpenAI's chat completions over a wire, and what servers that speak alike do differently."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.providers.brain import INPUT_TOKENS, OUTPUT_TOKENS, Brain, Routes
from tests.providers.server import Asked, Reply
from tributary.core.ports import LanguageModel

MODEL = "gpt-4.1-mini"
KEY = "sk-proj-hush-hush-0123456789"
EVERY_FORM = frozenset({"json_schema", "tool", "json_object"})


def chat_routes(
    brain: Brain,
    *,
    forms: frozenset[str] = EVERY_FORM,
    temperature: bool = True,
    cap: str | None = None,
    no_format: Callable[[str], Reply] | None = None,
    cost: float | None = None,
) -> Routes:
    """Returns chat completions of a server that knows these forms, and of the two names of the cap this one or both."""

    def complete(asked: Asked) -> Reply:
        body = asked.body
        caps = {"max_tokens", "max_completion_tokens"} & body.keys()
        if cap is not None and caps != {cap}:
            wrong = caps.pop()
            message = f"Unsupported parameter: '{wrong}' is not supported with this model. Use '{cap}' instead."
            return error(400, message, param=wrong, code="unsupported_parameter")
        if not temperature and "temperature" in body:
            message = (
                "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported."
            )
            return error(400, message, param="temperature", code="unsupported_value")
        form = body["response_format"]["type"] if "response_format" in body else "tool" if "tools" in body else "text"
        if form not in (*forms, "text"):
            return (no_format or _no_format)(form)
        answer = json.dumps(brain(*read(body)))
        return called(body["tools"][0]["function"]["name"], answer) if form == "tool" else message_of(answer, cost=cost)

    return [("POST", r"/v1/chat/completions", complete)]


def models_routes(*models: str) -> Routes:
    def listed(asked: Asked) -> Reply:
        data = [{"id": one, "object": "model", "created": 1686935002, "owned_by": "system"} for one in models]
        return Reply(document={"object": "list", "data": data})

    return [("GET", r"/v1/models", listed)]


def read(body: Mapping[str, Any]) -> tuple[str, str, Mapping[str, object]]:
    """Returns instructions, material and schema of a request."""
    schema: Mapping[str, object] = {}
    if body.get("response_format", {}).get("type") == "json_schema":
        schema = body["response_format"]["json_schema"]["schema"]
    elif "tools" in body:
        schema = body["tools"][0]["function"]["parameters"]
    system, user = body["messages"]
    return system["content"], user["content"], schema


def completion(message: Mapping[str, object], *, finish: str = "stop", cost: float | None = None) -> Reply:
    usage: dict[str, object] = {
        "prompt_tokens": INPUT_TOKENS,
        "completion_tokens": OUTPUT_TOKENS,
        "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
    }
    if cost is not None:
        usage["cost"] = cost
    choice = {"index": 0, "message": {"role": "assistant", **message}, "logprobs": None, "finish_reason": finish}
    document = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1741570283, "model": MODEL}
    return Reply(document={**document, "choices": [choice], "usage": usage})


def message_of(text: str | None, *, finish: str = "stop", cost: float | None = None) -> Reply:
    return completion({"content": text, "refusal": None}, finish=finish, cost=cost)


def called(name: str, arguments: str) -> Reply:
    call = {"id": "call_abc123", "type": "function", "function": {"name": name, "arguments": arguments}}
    return completion({"content": None, "tool_calls": [call]}, finish="tool_calls")


def error(
    status: int,
    message: str,
    *,
    kind: str = "invalid_request_error",
    param: str | None = None,
    code: str | int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """An error as OpenAI writes it."""
    document = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return Reply(status=status, document=document, headers=headers or {})


def deepseek_no_format(form: str) -> Reply:
    return error(400, "This response_format type is unavailable now", code="invalid_request_error")


def no_credit() -> Reply:
    message = "You exceeded your current quota, please check your plan and billing details."
    return error(429, message, kind="insufficient_quota", code="insufficient_quota")


def openrouter_limit(reset_ms: int) -> Reply:
    """OpenRouter's own limit of free models: the reset is an instant, inside the body."""
    headers = {"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset_ms)}
    metadata = {"headers": headers, "provider_name": None}
    document = {"error": {"message": "Rate limit exceeded: free-models-per-min. ", "code": 429, "metadata": metadata}}
    return Reply(status=429, document=document)


def _no_format(form: str) -> Reply:
    if form == "tool":
        return error(400, "This model does not support tools.", param="tools", code="unsupported_parameter")
    message = f"Invalid parameter: 'response_format' of type '{form}' is not supported with this model."
    return error(400, message, param="response_format")


class OpenAiWire:
    """OpenAI in the conformance suite."""

    name = "openai"
    version = f"openai:{MODEL}"

    def routes(self, brain: Brain) -> Routes:
        return chat_routes(brain)

    def model(
        self,
        url: str,
        folder: Path,
        *,
        timeout_s: float = 20.0,
        attempts: int = 3,
        max_output_tokens: int = 2048,
        sleep: Callable[[float], None] = time.sleep,
    ) -> LanguageModel:
        from tributary.models.llms import OpenAiModel

        return OpenAiModel(
            model=MODEL,
            url=f"{url}/v1",
            api_key=KEY,
            timeout_s=timeout_s,
            attempts=attempts,
            max_output_tokens=max_output_tokens,
            sleep=sleep,
        )

    def answered(self, answer: object) -> Reply:
        return message_of(json.dumps(answer))

    def said(self, text: str) -> Reply:
        return message_of(text)

    def declined(self) -> Reply:
        return completion({"content": None, "refusal": "I'm sorry, I cannot assist with that request."})

    def cut_off(self) -> Reply:
        return message_of('{"said": "ye"}', finish="length")

    def throttled(self, reset_s: float | None) -> Reply:
        headers = {} if reset_s is None else {"retry-after-ms": f"{reset_s * 1000:g}"}
        message = f"Rate limit reached for {MODEL} on requests per min (RPM): Limit 3, Used 3, Requested 1."
        return error(429, message, kind="requests", code="rate_limit_exceeded", headers=headers)

    def away(self) -> Reply:
        return error(503, "The engine is currently overloaded, please try again later", kind="service_unavailable_error")

    def expired(self) -> Reply:
        return error(401, f"Incorrect API key provided: {KEY}.", code="invalid_api_key")

    def asked(self, body: Any, headers: Mapping[str, str]) -> tuple[str, str, Mapping[str, object]]:
        return read(body)
