"""Language models as the settings choose them: which adapter, where, with whose key."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TypedDict

from pydantic import SecretStr

from tributary.core.errors import BadSetting
from tributary.core.ports import LanguageModel
from tributary.core.spending import Purpose
from tributary.models.prices import Prices
from tributary.service.settings import PREFIX, Settings

REGION = r"[a-z]{2}(-[a-z]+)+-[0-9]{1,2}"
"""How AWS names its regions."""
LANGUAGE_MODELS = frozenset({"bedrock", "openai", "claude"})


class Role(StrEnum):
    """What a language model may be set up for; the settings TRIBUTARY_<ROLE>, _MODEL, _URL and _API_KEY say which."""

    JUDGE = "judge"
    STRONG_JUDGE = "strong_judge"
    SCREEN = "screen"
    DISTILLER = "distiller"

    @property
    def variable(self) -> str:
        """The setting that chooses the role's provider."""
        return PREFIX + self.upper()

    @property
    def purpose(self) -> Purpose:
        return Purpose.DISTILL if self is Role.DISTILLER else Purpose(self.value)


def language_model(settings: Settings, role: Role) -> LanguageModel | None:
    """Returns the model of the role; None when the role is not a language model's. Raises BadSetting, naming the variable."""
    chosen: str | None = getattr(settings, role)
    if chosen not in LANGUAGE_MODELS:
        return None
    model: str | None = getattr(settings, f"{role}_model")
    if model is None:
        raise BadSetting(f"{role.variable}_MODEL: must name the model when {role.variable}={chosen}")
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

        return BedrockModel(model=model, region=region(settings, role.variable), url=own_url or settings.bedrock_url, **bounds)
    from tributary.models.llms import OpenAiModel

    url, key = place(settings, role)
    return OpenAiModel(model=model, url=url, api_key=key, **bounds)


class _Bounds(TypedDict):
    max_output_tokens: int
    timeout_s: float
    attempts: int
    prices: Prices


def region(settings: Settings, variable: str) -> str:
    """Returns the region of Bedrock, which `variable` chose; raises BadSetting when none is set, or something else."""
    found = settings.aws_region
    if found is None:
        raise BadSetting(f"{PREFIX}AWS_REGION: is needed by {variable}; set it, or AWS_REGION, to a region of AWS")
    if not re.fullmatch(REGION, found):
        raise BadSetting(f"{PREFIX}AWS_REGION: must be a region of AWS such as eu-central-1 (it is '{found}')")
    return found


def place(settings: Settings, role: Role) -> tuple[str | None, str | None]:
    """Returns where the role's model is, None for the provider's own address, and the key for there.

    The provider's key belongs to the provider's address, and is sent to no other.
    """
    provider = {"openai": "openai", "jev": "jev"}[getattr(settings, role)]
    general: str | None = getattr(settings, f"{provider}_url")
    url: str | None = getattr(settings, f"{role}_url")
    key: SecretStr | None = getattr(settings, f"{role}_api_key")
    if key is None and url in (None, general):
        key = getattr(settings, f"{provider}_api_key")
    return url or general, None if key is None else key.get_secret_value()


def prices(settings: Settings) -> Prices:
    """Returns the shipped prices, with the operator's before them; raises BadSetting."""
    shipped = Prices.shipped()
    return shipped if settings.prices_file is None else shipped.with_file(settings.prices_file)
