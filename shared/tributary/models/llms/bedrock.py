"""Language models of Amazon Bedrock, through Converse."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from tributary.core.errors import ModelFailed, ModelMalformed, ModelRefused
from tributary.core.ports import Prompt
from tributary.models import aws
from tributary.models.bounded import ATTEMPTS, Lane
from tributary.models.lazily import Lazily
from tributary.models.llms.answers import note_usage, object_given, object_in, part, parts, written_out
from tributary.models.llms.asking import MAX_OUTPUT_TOKENS, TIMEOUT_S, Asking, Bounds, Form, Shape, UnfitShape, named
from tributary.models.metering import Meter
from tributary.models.prices import Prices

_LADDER = (Form.TOOL, Form.SCHEMA, Form.TEXT)
_REFUSALS = frozenset({"guardrail_intervened", "content_filtered", "refusal"})
_CUT_OFF = frozenset({"max_tokens", "model_context_window_exceeded"})
_BROKEN_OFF = frozenset({"malformed_model_output", "malformed_tool_use"})

# What the service says of a field that a model does not know; it has one code, ValidationException, for all of them.
_NO_FORM = {
    Form.TOOL: re.compile(r"tool[ _]?choice|toolConfig|tool use|tools?\b", re.IGNORECASE),
    Form.SCHEMA: re.compile(r"output_?config|textFormat|structured output|json_?schema|response_?format", re.IGNORECASE),
}
_NO_TEMPERATURE = re.compile(r"\btemperature\b")


class BedrockModel:
    """Asks a model, an inference profile or an ARN, given as it is. Safe to share between threads.

    The answer is the input of a tool that the model has to call. Claude and Nova can be made to; Llama, DeepSeek, Mistral and
    others refuse `toolChoice.tool`, and then get the schema as output format, and where they refuse that too, in words.
    Credentials and proxies are those of the AWS SDK.
    """

    def __init__(
        self,
        *,
        model: str,
        region: str,
        url: str | None = None,
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        timeout_s: float = TIMEOUT_S,
        attempts: int = ATTEMPTS,
        prices: Prices | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Raises BadSetting. `url` replaces the region's endpoint of bedrock-runtime."""
        self._version = named("bedrock", model)
        self._model = model
        self._bounds = Bounds(max_output_tokens=max_output_tokens, timeout_s=timeout_s, attempts=attempts)
        self._lane = Lane()
        self._client = Lazily(lambda: aws.runtime_client(region=region, url=url, timeout_s=timeout_s))
        self._asking: Asking[Mapping[str, object]] = Asking(
            version=self._version,
            shape=Shape(form=_LADDER[0]),
            prepare=lambda remaining_s: self._client.get(timeout_s=remaining_s),
            send=self._send,
            read=_read,
            bounds=self._bounds,
            prices=prices or Prices.shipped(),
            sleep=sleep,
        )

    @property
    def version(self) -> str:
        return self._version

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        return self._asking.answer(prompt, timeout_s=timeout_s)

    def _send(self, prompt: Prompt, shape: Shape, remaining_s: float) -> Mapping[str, object]:
        client = self._client.get(timeout_s=remaining_s)
        request = self._request(prompt, shape)

        def call() -> Mapping[str, object]:
            try:
                return client.converse(**request)
            except Exception as error:
                raise self._meaning(error, shape) from None

        return self._lane.within(remaining_s, call)

    def _request(self, prompt: Prompt, shape: Shape) -> dict[str, Any]:
        limits: dict[str, object] = {"maxTokens": self._bounds.max_output_tokens}
        if shape.temperature:
            limits["temperature"] = 0.0
        instructions = written_out(prompt) if shape.form is Form.TEXT else prompt.instructions
        request: dict[str, Any] = {
            "modelId": self._model,
            "system": [{"text": instructions}],
            "messages": [{"role": "user", "content": [{"text": prompt.material}]}],
            "inferenceConfig": limits,
        }
        if shape.form is Form.TOOL:
            tool = {"name": prompt.name, "description": "Takes the answer.", "inputSchema": {"json": prompt.schema}}
            request["toolConfig"] = {"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": prompt.name}}}
        elif shape.form is Form.SCHEMA:
            schema = {"name": prompt.name, "schema": json.dumps(prompt.schema)}
            request["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": schema}}}
        return request

    def _meaning(self, error: Exception, shape: Shape) -> ModelFailed:
        if aws.error_code(error) == "ValidationException" and (instead := _instead(aws.service_message(error), shape)):
            return UnfitShape(instead)
        return aws.failure(error, model=self._model)


def _instead(message: str, shape: Shape) -> Shape | None:
    if shape.temperature and _NO_TEMPERATURE.search(message):
        return Shape(form=shape.form, temperature=False)
    refused = _NO_FORM.get(shape.form)
    return shape.below(_LADDER) if refused is not None and refused.search(message) else None


def _read(prompt: Prompt, shape: Shape, reply: Mapping[str, object], meter: Meter) -> Mapping[str, object]:
    usage = part(reply, "usage")
    note_usage(meter, inputs=usage.get("inputTokens"), outputs=usage.get("outputTokens"))
    stopped = reply.get("stopReason")
    if stopped in _REFUSALS:
        raise ModelRefused(f"Bedrock: the model or a guardrail declined to answer ({stopped})")
    if stopped in _CUT_OFF:
        raise ModelMalformed(f"Bedrock: the answer was cut off ({stopped}); more output tokens may help")
    if stopped in _BROKEN_OFF:
        raise ModelMalformed(f"Bedrock: the model broke its answer ({stopped})")
    content = parts(part(part(reply, "output"), "message"), "content")
    if shape.form is not Form.TOOL:
        return object_in("".join(str(block["text"]) for block in content if "text" in block))
    calls = [part(block, "toolUse") for block in content if "toolUse" in block]
    if len(calls) != 1 or calls[0].get("name") != prompt.name:
        raise ModelMalformed("Bedrock: the model did not call the one tool that takes the answer")
    return object_given(calls[0].get("input"))
