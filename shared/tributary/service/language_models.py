"""Language models as the settings choose them: which adapter, where, with whose key."""

from __future__ import annotations

from enum import StrEnum
from typing import TypedDict

from pydantic import SecretStr

from tributary.core.errors import BadSetting
from tributary.core.ports import LanguageModel
from tributary.core.spending import Purpose
from tributary.models.prices import Prices
from tributary.service.settings import PREFIX, Settings

LANGUAGE_MODELS = frozenset({"bedrock", "openai", "claude"})


class Role(StrEnum):
    """What a language model may be set up for; the settings TRIBUTARY_<ROLE>, _MODEL, _URL and _API_KEY say which."""

    JUDGE = "judge"
    STRONG_JUDGE = "strong_judge"
    SCREEN = "screen"
    DISTILLER = "distiller"

    @property
    def purpose(self) -> Purpose:
        return Purpose.DISTILL if self is Role.DISTILLER else Purpose(self.value)


def language_model(settings: Settings, role: Role) -> LanguageModel | None:
    """Returns the model of the role; None when the role is not a language model's. Raises BadSetting, naming the variable."""
    chosen: str | None = getattr(settings, role)
    if chosen not in LANGUAGE_MODELS:
        return None
    variable = f"{PREFIX}{role.upper()}"
    model: str | None = getattr(settings, f"{role}_model")
    if model is None:
        raise BadSetting(f"{variable}_MODEL: must name the model when {variable}={chosen}")
    own_url: str | None = getattr(settings, f"{role}_url")
    bounds = _Bounds(
        max_output_tokens=settings.max_output_tokens,
        timeout_s=settings.model_timeout_s,
        attempts=settings.model_attempts,
        prices=prices(settings),
    )
    if chosen == "claude":
        from tributary.models.llms import ClaudeModel

        return ClaudeModel(model=model, command=settings.claude_command, **bounds)
    if chosen == "bedrock":
        from tributary.models.llms import BedrockModel

        return BedrockModel(model=model, region=region(settings, role), url=own_url or settings.bedrock_url, **bounds)
    from tributary.models.llms import OpenAiModel

    key = openai_key(settings, url=own_url, own=getattr(settings, f"{role}_api_key"))
    return OpenAiModel(model=model, url=own_url or settings.openai_url, api_key=key, **bounds)


class _Bounds(TypedDict):
    max_output_tokens: int
    timeout_s: float
    attempts: int
    prices: Prices


def region(settings: Settings, role: Role) -> str:
    """Returns the region of Bedrock; raises BadSetting when the role needs one and none is set."""
    if settings.aws_region is None:
        raise BadSetting(f"{PREFIX}AWS_REGION: must name the region of Bedrock when {PREFIX}{role.upper()}=bedrock")
    return settings.aws_region


def openai_key(settings: Settings, *, url: str | None, own: SecretStr | None) -> str | None:
    """Returns the role's own key, else the general one. That belongs to the general address, and is sent nowhere else."""
    if own is not None:
        return own.get_secret_value()
    if url not in (None, settings.openai_url) or settings.openai_api_key is None:
        return None
    return settings.openai_api_key.get_secret_value()


def prices(settings: Settings) -> Prices:
    """Returns the shipped prices, with the operator's before them; raises BadSetting."""
    shipped = Prices.shipped()
    return shipped if settings.prices_file is None else shipped.with_file(settings.prices_file)
