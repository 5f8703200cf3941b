"""Bedrock's Converse over a wire, with the errors that the service gives."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.providers.brain import INPUT_TOKENS, OUTPUT_TOKENS, Brain, Routes
from tests.providers.server import Asked, Reply
from tributary.core.ports import LanguageModel

MODEL = "anthropic.claude-haiku-4-5-20251001-v1:0"
PROFILE = f"us.{MODEL}"
ARN = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abcdefghijkl"
EVERY_FORM = frozenset({"tool", "schema"})


def converse_routes(brain: Brain, *, forms: frozenset[str] = EVERY_FORM, temperature: bool = True) -> Routes:
    """Returns Converse for models that know these forms of an answer, and a temperature or none."""

    def converse(asked: Asked) -> Reply:
        body = asked.body
        if not temperature and "temperature" in body.get("inferenceConfig", {}):
            return error(400, "ValidationException", _NO_TEMPERATURE)
        if "toolConfig" in body:
            return _tool(body, brain) if "tool" in forms else error(400, "ValidationException", _NO_TOOL)
        if "outputConfig" in body and "schema" not in forms:
            return error(400, "ValidationException", _NO_SCHEMA)
        instructions, material, schema = read(body)
        return reply([{"text": json.dumps(brain(instructions, material, schema))}])

    return [("POST", r"/model/(?P<model>[^/]+)/converse", converse)]


def listing_routes(models: list[dict[str, Any]], profiles: list[dict[str, Any]]) -> Routes:
    """Returns the control plane's lists; profiles come one a page."""

    def foundation_models(asked: Asked) -> Reply:
        return Reply(document={"modelSummaries": models})

    def inference_profiles(asked: Asked) -> Reply:
        at = int(asked.path.partition("nextToken=")[2].partition("&")[0] or 0)
        page: dict[str, Any] = {"inferenceProfileSummaries": profiles[at : at + 1]}
        return Reply(document=page | ({"nextToken": str(at + 1)} if at + 1 < len(profiles) else {}))

    return [("GET", r"/foundation-models", foundation_models), ("GET", r"/inference-profiles", inference_profiles)]


def read(body: Mapping[str, Any]) -> tuple[str, str, Mapping[str, object]]:
    """Returns instructions, material and schema of a request."""
    schema: Mapping[str, object] = {}
    if "toolConfig" in body:
        schema = body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"]
    elif "outputConfig" in body:
        schema = json.loads(body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"])
    system = body.get("system") or [{"text": ""}]
    return system[0]["text"], body["messages"][0]["content"][0]["text"], schema


def reply(content: list[Mapping[str, object]], *, stop: str = "end_turn") -> Reply:
    usage = {"inputTokens": INPUT_TOKENS, "outputTokens": OUTPUT_TOKENS, "totalTokens": INPUT_TOKENS + OUTPUT_TOKENS}
    message = {"role": "assistant", "content": content}
    return Reply(document={"output": {"message": message}, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 12}})


def tool_use(name: str, answer: object) -> Mapping[str, object]:
    return {"toolUse": {"toolUseId": "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", "name": name, "input": answer}}


def error(status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> Reply:
    """An error as the service writes it: its kind in a header, its words in the body."""
    named = {"x-amzn-errortype": f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/", **(headers or {})}
    return Reply(status=status, document={"message": message}, headers=named)


def access_denied() -> Reply:
    return error(403, "AccessDeniedException", "You don't have access to the model with the specified model ID.")


def on_demand(model: str = MODEL) -> Reply:
    return error(
        400,
        "ValidationException",
        f"Invocation of model ID {model} with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an"
        " inference profile that contains this model.",
    )


def no_such_model() -> Reply:
    return error(400, "ValidationException", "The provided model identifier is invalid.")


def model_timeout() -> Reply:
    return error(408, "ModelTimeoutException", "The model request timed out. Try your request again.")


_NO_TOOL = "This model doesn't support the toolConfig.toolChoice.tool field. Remove toolConfig.toolChoice.tool and try again."
_NO_SCHEMA = "This model doesn't support the outputConfig.textFormat field. Remove outputConfig.textFormat and try again."
_NO_TEMPERATURE = "The model returned the following errors: `temperature` is deprecated for this model."


def _tool(body: Mapping[str, Any], brain: Brain) -> Reply:
    name = body["toolConfig"]["toolChoice"]["tool"]["name"]
    return reply([tool_use(name, brain(*read(body)))], stop="tool_use")


class BedrockWire:
    """Bedrock in the conformance suite."""

    name = "bedrock"
    version = f"bedrock:{PROFILE}"

    def routes(self, brain: Brain) -> Routes:
        return converse_routes(brain)

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
        from tributary.models.llms import BedrockModel

        return BedrockModel(
            model=PROFILE,
            region="us-east-1",
            url=url,
            timeout_s=timeout_s,
            attempts=attempts,
            max_output_tokens=max_output_tokens,
            sleep=sleep,
        )

    def answered(self, answer: object) -> Reply:
        return reply([tool_use("verdicts", answer)], stop="tool_use")

    def said(self, text: str) -> Reply:
        return reply([{"text": text}])

    def declined(self) -> Reply:
        return reply([{"text": "Sorry, that is not allowed."}], stop="guardrail_intervened")

    def cut_off(self) -> Reply:
        return reply([tool_use("verdicts", {"said": "ye"})], stop="max_tokens")

    def throttled(self, reset_s: float | None) -> Reply:
        headers = {} if reset_s is None else {"retry-after": f"{reset_s:g}"}
        return error(429, "ThrottlingException", "Too many requests, please wait before trying again.", headers)

    def away(self) -> Reply:
        return error(503, "ServiceUnavailableException", "Service is not available now, please try again.")

    def expired(self) -> Reply:
        return error(403, "ExpiredTokenException", "The security token included in the request is expired")

    def asked(self, body: Any, headers: Mapping[str, str]) -> tuple[str, str, Mapping[str, object]]:
        return read(body)
