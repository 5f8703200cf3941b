"""Language models of Amazon Bedrock, through Converse."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tributary.core.errors import ModelFailed, ModelMalformed, ModelRefused
from tributary.core.ports import Prompt
from tributary.models import aws
from tributary.models.bounded import ATTEMPTS, Lane
from tributary.models.lazily import Lazily
from tributary.models.llms.answers import each_once, note_usage, object_given, object_in, part, parts, written_out
from tributary.models.llms.asking import MAX_OUTPUT_TOKENS, TIMEOUT_S, Asking, Bounds, Form, Shape, UnfitShape, named
from tributary.models.llms.refusals import says, unsupported
from tributary.models.metering import Meter
from tributary.models.prices import Prices

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

_LADDER = (Form.TOOL, Form.SCHEMA, Form.TEXT)
_REFUSALS = frozenset({"guardrail_intervened", "content_filtered", "refusal"})
_CUT_OFF = frozenset({"max_tokens", "model_context_window_exceeded"})
_AMBIGUOUS = "TributaryFoundANameTwice"
_BROKEN_OFF = frozenset({"malformed_model_output", "malformed_tool_use"})

# What the service calls the fields that a model may not know; it has one code, ValidationException, for all refusals.
_NO_FORM = {
    Form.TOOL: unsupported(r"\btool[ _]?(?:choice|config|use)|\btools?\b"),
    Form.SCHEMA: unsupported(r"output_?config|textFormat|structured output|json_?schema|response_?format"),
}
_NO_TEMPERATURE = unsupported(r"\btemperature\b")


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
        self._client = Lazily(lambda: _strictly(aws.runtime_client(region=region, url=url, timeout_s=timeout_s)))
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
                raise self._meaning(error, prompt, shape) from None

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

    def _meaning(self, error: Exception, prompt: Prompt, shape: Shape) -> ModelFailed:
        if aws.error_code(error) == "ValidationException" and (instead := _instead(aws.service_message(error), prompt, shape)):
            return UnfitShape(instead)
        return aws.failure(error, model=self._model)


def _instead(message: str, prompt: Prompt, shape: Shape) -> Shape | None:
    """Returns the shape to try after a refusal whose words, which may quote the question, call a field unsupported."""
    if shape.temperature and says(_NO_TEMPERATURE, message, sent=prompt.material):
        return replace(shape, temperature=False)
    refused = _NO_FORM.get(shape.form)
    return shape.below(_LADDER) if refused is not None and says(refused, message, sent=prompt.material) else None


def _strictly(client: BedrockRuntimeClient) -> BedrockRuntimeClient:
    """Makes a client mark replies that cannot be read in one way only: the library itself takes the last of two equal names."""

    def look(response_dict: Mapping[str, Any], customized_response_dict: dict[str, object], **_: object) -> None:
        try:
            json.loads(response_dict["body"], object_pairs_hook=each_once)
        except (ValueError, RecursionError):
            customized_response_dict[_AMBIGUOUS] = True

    client.meta.events.register("before-parse.bedrock-runtime.Converse", look)
    return client


def _read(prompt: Prompt, shape: Shape, reply: Mapping[str, object], meter: Meter) -> Mapping[str, object]:
    usage = part(reply, "usage")
    note_usage(meter, inputs=usage.get("inputTokens"), outputs=usage.get("outputTokens"))
    stopped = reply.get("stopReason")
    if reply.get(_AMBIGUOUS):
        raise ModelMalformed("Bedrock: an object of the answer has a name twice, so it says two things")
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
