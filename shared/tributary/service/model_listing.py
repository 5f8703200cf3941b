"""The operator's look at the models: whether those that are set up answer, and what else their providers would."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tributary.core.errors import TributaryError
from tributary.models.llms import listing
from tributary.models.llms.listing import ListedModel
from tributary.models.llms.openai import OPENAI_URL
from tributary.service.language_models import LANGUAGE_MODELS, Role, language_model, place, region
from tributary.service.settings import Settings


@dataclass(frozen=True, kw_only=True)
class RoleSeen:
    """Whether the model of a role answered. `code` and `detail` are those of the error when it did not."""

    role: str
    provider: str
    model: str | None
    ms: float
    code: str | None = None
    detail: str | None = None

    def document(self) -> dict[str, object]:
        return {
            "role": self.role,
            "provider": self.provider,
            "model": self.model,
            "answers": self.code is None,
            "ms": round(self.ms),
            "code": self.code,
            "detail": self.detail,
        }


@dataclass(frozen=True, kw_only=True)
class ProviderSeen:
    """What a provider has, at one place. `version` is that of a program; `code` and `detail` say why there is no list."""

    provider: str
    place: str
    models: Sequence[ListedModel] = ()
    version: str | None = None
    code: str | None = None
    detail: str | None = None

    def document(self) -> dict[str, object]:
        return {
            "provider": self.provider,
            "place": self.place,
            "version": self.version,
            "models": [{"model": one.model, "kind": one.kind, "state": one.state} for one in self.models],
            "code": self.code,
            "detail": self.detail,
        }


@dataclass(frozen=True, kw_only=True)
class ModelsSeen:
    """All of it."""

    roles: Sequence[RoleSeen]
    providers: Sequence[ProviderSeen]

    def document(self) -> dict[str, object]:
        return {"roles": [one.document() for one in self.roles], "providers": [one.document() for one in self.providers]}


def list_models(settings: Settings) -> ModelsSeen:
    """Asks each language model that is set up one tiny question, and each provider in use what it has. Raises nothing."""
    used = [role for role in Role if getattr(settings, role) in LANGUAGE_MODELS]
    places = {_place(settings, role): role for role in reversed(used)}
    return ModelsSeen(
        roles=[_role(settings, role) for role in used],
        providers=[_provider(settings, provider, place, role) for (provider, place), role in reversed(places.items())],
    )


def _role(settings: Settings, role: Role) -> RoleSeen:
    began = time.monotonic()
    code = detail = None
    try:
        if model := language_model(settings, role):
            listing.answers(model, role.purpose)
    except TributaryError as error:
        code, detail = error.code, error.detail
    return RoleSeen(
        role=role,
        provider=getattr(settings, role),
        model=getattr(settings, f"{role}_model"),
        ms=(time.monotonic() - began) * 1000,
        code=code,
        detail=detail,
    )


def _place(settings: Settings, role: Role) -> tuple[str, str]:
    provider: str = getattr(settings, role)
    own: str | None = getattr(settings, f"{role}_url")
    if provider == "claude":
        return provider, str(settings.claude_command)
    if provider == "bedrock":
        return provider, own or settings.bedrock_url or settings.aws_region or "no region"
    return provider, own or settings.openai_url or OPENAI_URL


def _provider(settings: Settings, provider: str, place: str, role: Role) -> ProviderSeen:
    try:
        if provider == "claude":
            version = listing.claude_version(command=settings.claude_command, timeout_s=settings.model_timeout_s)
            return ProviderSeen(provider=provider, place=place, version=version)
        return ProviderSeen(provider=provider, place=place, models=list(_models(settings, provider, role)))
    except TributaryError as error:
        return ProviderSeen(provider=provider, place=place, code=error.code, detail=error.detail)


def _models(settings: Settings, provider: str, role: Role) -> Iterator[ListedModel]:
    own: str | None = getattr(settings, f"{role}_url")
    if provider == "openai":
        found, key = place(settings, role)
        yield from listing.openai_models(url=found, api_key=key, timeout_s=settings.model_timeout_s)
    else:
        url = own or settings.bedrock_url
        yield from listing.bedrock_models(region=region(settings, role.variable), url=url, timeout_s=settings.model_timeout_s)
