"""What an account can really invoke, found out by asking. Functions of explicit arguments, for the operator's command."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tributary.core.errors import ModelFailed, ModelMalformed
from tributary.models import aws
from tributary.models.addresses import OPENAI_URL
from tributary.models.bounded import Lane
from tributary.models.llms import openai as compatible
from tributary.models.llms.answers import parts
from tributary.models.llms.claude import executable, passed_on
from tributary.models.llms.running import run

if TYPE_CHECKING:
    from mypy_boto3_bedrock import BedrockClient
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

INVOCABLE = "invocable"
NEEDS_PROFILE = "needs_profile"
"""The bare model cannot be invoked; one of its inference profiles may."""
NOT_TRIED = "not_tried"
"""The provider lists it and nobody asked it, or it gives no text."""

_AT_ONCE = 8
_MOST_PAGES = 50
_PROFILES_A_PAGE = 1000
_FEW_TOKENS = 16
_MOST_VERSION_BYTES = 4096


@dataclass(frozen=True, kw_only=True)
class ListedModel:
    """One entry of a provider's list. `state` is one of the words above, or the code of the error that asking it gave."""

    model: str
    kind: str
    """`model` or `inference_profile`."""
    state: str


def bedrock_models(*, region: str, url: str | None, control_url: str | None = None, timeout_s: float) -> list[ListedModel]:
    """Returns the region's text models and the account's inference profiles, each asked for at most 16 tokens.

    The list comes from the control plane, whose endpoint `control_url` replaces. Raises ModelFailed when it cannot be had, and
    BadSetting.
    """
    runtime = aws.runtime_client(region=region, url=url, timeout_s=timeout_s)
    control = aws.control_client(region=region, url=control_url, timeout_s=timeout_s)
    lane = Lane()
    try:
        found = lane.within(timeout_s, lambda: [*_foundation(control), *_profiles(control)])
    except ModelFailed:
        raise
    except Exception as error:
        raise aws.failure(error, model="bedrock:ListFoundationModels") from None

    def tried(one: ListedModel) -> ListedModel:
        if one.state != INVOCABLE:
            return one
        return ListedModel(model=one.model, kind=one.kind, state=_state(lane, runtime, one.model, timeout_s))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(tried, found))


def openai_models(*, url: str | None, api_key: str | None, timeout_s: float) -> list[ListedModel]:
    """Returns what the provider lists, sorted; it lists what it has, which the key may not always use. Raises ModelFailed."""
    place = (url or OPENAI_URL).rstrip("/")
    client = compatible.client(url=place, key=compatible.key_for(place, api_key), timeout_s=timeout_s)
    content = compatible.fetched(
        lambda: client.models.with_streaming_response.list(timeout=timeout_s), lane=Lane(), timeout_s=timeout_s
    )
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise ModelMalformed("the provider's list of models is not JSON; does the URL end with /v1?") from None
    names = {one["id"] for one in parts(document, "data") if isinstance(one.get("id"), str)}
    return [ListedModel(model=str(name), kind="model", state=NOT_TRIED) for name in sorted(names, key=str)]


def claude_version(*, command: Path | str, timeout_s: float, environment: Mapping[str, str] | None = None) -> str:
    """Returns what `claude --version` prints; raises ModelFailed, and BadSetting when there is no such program."""
    known = os.environ if environment is None else environment
    with tempfile.TemporaryDirectory(prefix="tributary-claude-", ignore_cleanup_errors=True) as folder:
        ran = run(
            [executable(command, known), "--version"],
            given=b"",
            environment=passed_on(known),
            folder=Path(folder),
            timeout_s=timeout_s,
            most_bytes=_MOST_VERSION_BYTES,
        )
    if ran.code:
        raise ModelFailed(f"Claude Code ended with exit code {ran.code}")
    return ran.output.decode("utf-8", "replace").strip()


def _foundation(control: BedrockClient) -> Iterator[ListedModel]:
    for one in control.list_foundation_models()["modelSummaries"]:
        if one.get("modelLifecycle", {}).get("status", "ACTIVE") != "ACTIVE":
            continue
        state = INVOCABLE if "ON_DEMAND" in one.get("inferenceTypesSupported", []) else NEEDS_PROFILE
        if "TEXT" not in one.get("outputModalities", []):
            state = NOT_TRIED
        yield ListedModel(model=one["modelId"], kind="model", state=state)


def _profiles(control: BedrockClient) -> Iterator[ListedModel]:
    page = control.list_inference_profiles(maxResults=_PROFILES_A_PAGE)
    for _ in range(_MOST_PAGES):
        for one in page["inferenceProfileSummaries"]:
            if one["status"] == "ACTIVE":
                yield ListedModel(model=one["inferenceProfileId"], kind="inference_profile", state=INVOCABLE)
        if not (following := page.get("nextToken")):
            return
        page = control.list_inference_profiles(maxResults=_PROFILES_A_PAGE, nextToken=following)


def _state(lane: Lane, runtime: BedrockRuntimeClient, model: str, timeout_s: float) -> str:
    def call() -> str:
        try:
            runtime.converse(
                modelId=model,
                messages=[{"role": "user", "content": [{"text": "ready?"}]}],
                inferenceConfig={"maxTokens": _FEW_TOKENS},
            )
        except Exception as error:
            return aws.error_code(error)
        return INVOCABLE

    try:
        return lane.within(timeout_s, call)
    except ModelFailed as error:
        return type(error).__name__
