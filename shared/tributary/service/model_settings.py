"""The settings that choose models, and bound what they may take and cost."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, SecretStr
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, NoDecode

from tributary.core.responding import Allowed
from tributary.models.keys import KEY_RULE, is_sendable

EmbedderName = Literal["minilm", "sentence-transformers", "bedrock", "hash"]
StrongJudgeName = Literal["bedrock", "openai", "claude", "jev"]
JudgeName = Literal["local", "bedrock", "openai", "claude", "jev"]
ScreenName = Literal["local", "bedrock", "openai", "claude", "jev", "guardrails"]
DistillerName = Literal["bedrock", "openai", "claude"]
ResponderName = Literal["bedrock", "openai", "claude", "scripted"]


def _whole(value: object) -> object:
    """Refuses what pydantic takes for a whole number though nobody wrote one: 1.0, true, 1_000, digits of other scripts."""
    written = isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,30}\s*", value) is not None
    if not written and (isinstance(value, bool) or not isinstance(value, int)):
        raise PydanticCustomError("whole", "must be a whole number")
    return value


def _http(value: str) -> str:
    rule = "must begin with http:// or https:// and name a host, without user, query or fragment"
    try:
        found = urlsplit(value)
        sound = found.scheme in ("http", "https") and bool(found.hostname) and found.port != 0
    except ValueError:
        sound = False
    if not sound or found.username is not None or found.query or found.fragment or not value.isprintable() or " " in value:
        raise PydanticCustomError("http_url", rule)
    return value.rstrip("/")


def _amount(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"\s*[0-9]{1,30}([.][0-9]{1,30})?\s*", value):
        raise PydanticCustomError("amount", "must be an amount such as 2.50")
    return value


def split(value: object) -> object:
    """Returns the parts of a text that are separated by commas; anything else as it is."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _allowed(value: str) -> str:
    try:
        return str(Allowed.parse(value))
    except ValueError as error:
        raise PydanticCustomError("allowed", str(error)) from None


def _named(value: str) -> str:
    if len(value) > 1024 or not value.isprintable():
        raise PydanticCustomError("model", "must be the id of a model or a folder: at most 1024 printable characters")
    return value


def _pinned(value: str) -> str:
    if len(value) > 256 or value.startswith("-") or any(c.isspace() or not c.isprintable() for c in value):
        rule = "must be the id of a model: at most 256 characters without spaces, the first of them no hyphen"
        raise PydanticCustomError("model", rule)
    return value


def _sendable(value: SecretStr) -> SecretStr:
    if not is_sendable(value.get_secret_value()):
        raise PydanticCustomError("key", KEY_RULE)
    return value


def _expanded(value: object) -> object:
    try:
        return Path(value).expanduser() if isinstance(value, str | Path) else value
    except RuntimeError:
        raise PydanticCustomError("home_folder", "must not begin with the home folder of a user who is not known") from None


Folder = Annotated[Path, BeforeValidator(_expanded)]
Url = Annotated[str, AfterValidator(_http)]
ModelOrFolder = Annotated[str, AfterValidator(_named)]
Model = Annotated[str, AfterValidator(_pinned)]
Whole = Annotated[int, BeforeValidator(_whole)]
Key = Annotated[SecretStr, AfterValidator(_sendable)]
Usd = Annotated[Decimal, BeforeValidator(_amount), Field(ge=0, le=1_000_000)]
Floor = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Dimension = Annotated[Whole, Field(ge=1, le=16_000)]


class ModelSettings(BaseSettings):
    """Which models are asked, where they are, and how much of them may be used."""

    embedder: EmbedderName = Field(
        default="minilm", description="What turns text into vectors. `hash` is for tests and refuses to serve."
    )
    embedder_model: ModelOrFolder | None = Field(default=None, description="Model id, or folder for sentence-transformers.")
    embedder_dimension: Dimension | None = Field(
        default=None, description="Numbers of a vector, where the model leaves a choice (Titan v2: 1024, 512 or 256)."
    )
    embedder_floor: Floor | None = Field(
        default=None, description="Similarity under which a hit is noise, where the space's own was not measured (bedrock)."
    )
    embedder_threads: Annotated[Whole, Field(ge=1, le=64)] = Field(
        default=1, description="Threads of one embedding in this process."
    )
    next_embedder: EmbedderName | None = Field(
        default=None, description="The embedder that tribes are to serve from next, while their new spaces are built."
    )
    next_embedder_model: ModelOrFolder | None = Field(
        default=None, description="Its model id, or folder for sentence-transformers."
    )
    next_embedder_dimension: Dimension | None = Field(default=None, description="Numbers of its vectors.")
    next_embedder_floor: Floor | None = Field(default=None, description="Similarity under which a hit is noise in its space.")
    next_embedder_threads: Annotated[Whole, Field(ge=1, le=64)] = Field(
        default=1, description="Threads of one of its embeddings."
    )

    judge: JudgeName = Field(default="local", description="What tells same, opposite and unrelated lessons apart.")
    judge_model: Model | None = Field(default=None, description="Its model id, pinned: recorded with each verdict.")
    judge_url: Url | None = Field(default=None, description="Where it is, instead of the provider's own address.")
    judge_api_key: Key | None = Field(default=None, description="Its key, instead of the provider's.")
    strong_judge: StrongJudgeName | None = Field(
        default=None, description="What is asked as well when the first judge says `conflicts`, is not sure enough, or is away."
    )
    strong_judge_model: Model | None = Field(default=None, description="Its model id.")
    strong_judge_url: Url | None = Field(default=None, description="Where it is.")
    strong_judge_api_key: Key | None = Field(default=None, description="Its key.")
    strong_judge_below: float = Field(
        default=0.75, ge=0.0, le=1.0, allow_inf_nan=False, description="Confidence of the first judge under which it is asked."
    )

    screen: ScreenName = Field(
        default="local", description="What holds hostile lessons back. The local rules always run; a model is asked after them."
    )
    screen_model: Model | None = Field(default=None, description="Its model id.")
    screen_url: Url | None = Field(default=None, description="Where it is.")
    screen_api_key: Key | None = Field(default=None, description="Its key.")
    screen_at: float = Field(
        default=0.70, gt=0.0, le=1.0, allow_inf_nan=False, description="Probability of a hazard from which a lesson is held back."
    )
    guardrail_id: Model | None = Field(default=None, description="The Bedrock guardrail, for `TRIBUTARY_SCREEN=guardrails`.")
    guardrail_version: Annotated[str, Field(pattern=r"^(DRAFT|[1-9][0-9]{0,7})$")] | None = Field(
        default=None, description="Its version: a number, or DRAFT."
    )

    distiller: DistillerName | None = Field(default=None, description="What makes lessons of an agent's transcript.")
    distiller_model: Model | None = Field(default=None, description="Its model id.")
    distiller_url: Url | None = Field(default=None, description="Where it is.")
    distiller_api_key: Key | None = Field(default=None, description="Its key.")

    responder: ResponderName | None = Field(
        default=None, description="What decides in the incident agent. `scripted` follows a file, for trying it out."
    )
    responder_model: Model | None = Field(default=None, description="Its model id.")
    responder_url: Url | None = Field(default=None, description="Where it is.")
    responder_api_key: Key | None = Field(default=None, description="Its key.")
    responder_script: Folder | None = Field(default=None, description="The script, for `TRIBUTARY_RESPONDER=scripted`.")
    responder_rds: Literal["off", "on"] = Field(
        default="off", description="Whether the incident agent has tools for Amazon RDS, to read and to change what is allowed."
    )
    responder_rds_url: Url | None = Field(default=None, description="Endpoint of RDS, instead of the region's.")
    responder_allow: Annotated[tuple[Annotated[str, AfterValidator(_allowed)], ...], NoDecode, BeforeValidator(split)] = Field(
        default=(),
        description="What it may change, as verb and targets: `reboot_db_instance:orders-*,failover_db_cluster:orders`.",
    )
    responder_turns_per_minute: Annotated[Whole, Field(ge=1, le=10_000)] = Field(
        default=6, description="Turns a minute that one agent may go on asking for; as many may come at once."
    )
    responder_turns_per_day: Annotated[Whole, Field(ge=1, le=10_000_000)] = Field(
        default=500, description="Turns of one tribe on a day (UTC)."
    )
    responder_usd_per_turn: Usd = Field(
        default=Decimal("0.50"), description="US dollars from which on a turn asks its model no more."
    )
    responder_usd_per_day: Usd = Field(
        default=Decimal(10), description="US dollars that a tribe's turns may cost on a day (UTC)."
    )

    aws_region: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        validation_alias=AliasChoices("TRIBUTARY_AWS_REGION", "AWS_REGION", "AWS_DEFAULT_REGION"),
        description="Region of Bedrock.",
    )
    bedrock_url: Url | None = Field(default=None, description="Endpoint of Bedrock's runtime, instead of the region's.")
    openai_url: Url | None = Field(
        default=None, description="Any OpenAI-compatible base URL (OpenRouter, DeepSeek, Ollama, vLLM), with its /v1."
    )
    openai_api_key: Key | None = Field(
        default=None, description="Key of the OpenAI-compatible provider; a server on this computer may need none."
    )
    openai_own_key: SecretStr | None = Field(
        default=None, validation_alias="OPENAI_API_KEY", description="Key that is sent to OpenAI's own address alone."
    )
    jev_url: Url | None = Field(default=None, description="Address of TypeSafe's API, instead of its own.")
    jev_api_key: Key | None = Field(default=None, description="Key of TypeSafe's API.")
    jev_own_key: SecretStr | None = Field(
        default=None, validation_alias="TYPESAFE_API_KEY", description="Key that is sent to TypeSafe's own address alone."
    )
    claude_command: Folder = Field(default=Path("claude"), description="The Claude Code executable: a name on PATH or a file.")

    max_output_tokens: Annotated[Whole, Field(ge=1, le=1_000_000)] = Field(
        default=2048, description="Most tokens of one answer of a language model."
    )
    model_timeout_s: float = Field(
        default=20.0,
        gt=0.0,
        le=600.0,
        allow_inf_nan=False,
        description="Most seconds of one question to a model, with retries.",
    )
    model_attempts: Annotated[Whole, Field(ge=1, le=10)] = Field(
        default=3, description="Attempts at one question when the provider throttles or is away."
    )
    model_concurrency: Annotated[Whole, Field(ge=1, le=64)] = Field(
        default=4, description="Pairs of one lesson that a judge over a wire is asked about at a time."
    )
    embedder_cache: Annotated[Whole, Field(ge=0, le=1_000_000)] = Field(
        default=1024, description="Texts whose vectors a process keeps, where the embedder is over a wire; 0 keeps none."
    )
    budget_calls_per_day: Annotated[Whole, Field(ge=0, le=1_000_000_000)] | None = Field(
        default=None,
        description="Calls of models over a wire by a tribe on a day (UTC), from which on the strong tier is skipped.",
    )
    budget_usd_per_day: Usd | None = Field(
        default=None, description="US dollars that they may cost on a day (UTC), from which on the strong tier is skipped."
    )
    prices_file: Folder | None = Field(default=None, description="Prices that go before the shipped ones.")

    traces: Literal["off", "otlp", "console"] = Field(default="off", description="Where OpenTelemetry spans go.")
    traces_url: Url | None = Field(default=None, description="OTLP/HTTP endpoint of the traces.")
