"""Language models as the settings choose them: which adapter, where, with whose key."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TypedDict

from pydantic import SecretStr

from tributary.core.errors import BadSetting
from tributary.core.ports import LanguageModel
from tributary.core.spending import Purpose
from tributary.models.addresses import OPENAI_URL
from tributary.models.jev import DEFAULT_URL as TYPESAFE_URL
from tributary.models.keys import KEY_RULE, is_sendable
from tributary.models.loopback import is_here
from tributary.models.prices import Prices
from tributary.service.settings import PREFIX, Settings, variable_of

REGION = r"[a-z]{2}(-[a-z]+)+-[0-9]{1,2}"
"""How AWS names its regions."""
_OWN_URLS = {"openai": OPENAI_URL, "jev": TYPESAFE_URL}
LANGUAGE_MODELS = frozenset({"bedrock", "openai", "claude"})


class Role(StrEnum):
    """What a language model may be set up for; the settings TRIBUTARY_<ROLE>, _MODEL, _URL and _API_KEY say which."""

    JUDGE = "judge"
    STRONG_JUDGE = "strong_judge"
    SCREEN = "screen"
    DISTILLER = "distiller"
    RESPONDER = "responder"

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
    """Returns where the role's model is, None for the provider's own address, and the key for there; raises BadSetting.

    The provider's key belongs to the provider's address, and is sent to no other. One under the name that it has for all
    programs (OPENAI_API_KEY, TYPESAFE_API_KEY) was not set for us, and is sent to the provider's own address alone.
    """
    provider: str = getattr(settings, role)
    general: str | None = getattr(settings, f"{provider}_url")
    url: str | None = getattr(settings, f"{role}_url")
    key: SecretStr | None = getattr(settings, f"{role}_api_key")
    if key is None and url in (None, general):
        key = getattr(settings, f"{provider}_api_key")
    url = url or general
    if key is None and url in (None, _OWN_URLS[provider]):
        key = getattr(settings, f"{provider}_own_key")
        if key is not None and not is_sendable(key.get_secret_value()):
            raise BadSetting(f"{variable_of(f'{provider}_own_key')}: {KEY_RULE}")
    return url, None if key is None else key.get_secret_value()


def check_place(settings: Settings, role: Role) -> None:
    """Raises BadSetting where a key is missing, or would cross a network for everybody to read."""
    provider: str = getattr(settings, role)
    url, key = place(settings, role)
    its_own = getattr(settings, f"{role}_url") is not None
    setting = role.variable if its_own else f"{PREFIX}{provider.upper()}"
    elsewhere = url is not None and not is_here(url)
    in_plain = elsewhere and str(url).startswith("http://")
    needed = provider == "jev" or url is None or (elsewhere and not in_plain)
    if key is None and needed:
        others = f"{PREFIX}{provider.upper()}_API_KEY" if its_own else variable_of(f"{provider}_own_key")
        why = f"; {others} is not sent to this address" if url else ""
        raise BadSetting(f"{setting}_API_KEY: is needed by {role.variable}={provider}{why}")
    if key is not None and in_plain:
        raise BadSetting(f"{setting}_URL: is plain http:// and of another computer, so no key may go there; use https://")


def prices(settings: Settings) -> Prices:
    """Returns the shipped prices, with the operator's before them; raises BadSetting."""
    shipped = Prices.shipped()
    return shipped if settings.prices_file is None else shipped.with_file(settings.prices_file)
