"""The operator's look at the models: whether those that are set up answer, and what else their providers would."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from tributary.core.errors import ModelFailed, TributaryError
from tributary.core.ports import Distiller, Embedder, Judge, JudgedText, LanguageModel, Prompt
from tributary.core.spending import Purpose
from tributary.core.transcript import Transcript, Turn, TurnRole
from tributary.models.addresses import OPENAI_URL
from tributary.models.llms import listing
from tributary.models.llms.listing import ListedModel
from tributary.service.language_models import LANGUAGE_MODELS, Role, place, region
from tributary.service.models import TITAN, Models, over_a_wire
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
    """Has each model over a wire do one tiny thing, and asks each provider of a language model what it has. Raises nothing."""
    used = [role for role in Role if getattr(settings, role) in LANGUAGE_MODELS]
    places = {_place(settings, role): role for role in reversed(used)}
    return ModelsSeen(
        roles=[_role(settings, role) for role in over_a_wire(settings)],
        providers=[_provider(settings, provider, place, role) for (provider, place), role in reversed(places.items())],
    )


def _role(settings: Settings, role: str) -> RoleSeen:
    began = time.monotonic()
    code = detail = None
    try:
        _TRIALS[role](Models(_alone(settings, role)), settings.model_timeout_s)
    except TributaryError as error:
        code, detail = error.code, error.detail
    return RoleSeen(
        role=role,
        provider=getattr(settings, role),
        model=_model(settings, role),
        ms=(time.monotonic() - began) * 1000,
        code=code,
        detail=detail,
    )


def _alone(settings: Settings, role: str) -> Settings:
    """Returns the settings with no other model over a wire, so that what is wrong with one hides nothing of another."""
    others = [one for one in _TRIALS if one != role]
    names = [f"{one}{suffix}" for one in others for suffix in ("", *_SUFFIXES)]
    fields = {name: Settings.model_fields[name] for name in names if name in Settings.model_fields}
    return settings.model_copy(update={name: field.default for name, field in fields.items()})


def _model(settings: Settings, role: str) -> str | None:
    provider: str = getattr(settings, role)
    if provider == "guardrails":
        return f"{settings.guardrail_id}:{settings.guardrail_version}"
    model: str | None = getattr(settings, f"{role}_model")
    return model or (TITAN if role in ("embedder", "next_embedder") else None)


def _embed(embedder: Embedder | None, timeout_s: float) -> None:
    if embedder is not None:
        embedder.embed(["ready"], timeout_s=timeout_s)


def _judge(judge: Judge | None, timeout_s: float) -> None:
    """Has one pair judged; raises ModelFailed, also for an answer that cannot be used, which a judge reports as a verdict."""
    if judge is None:
        return
    for verdict in judge.judge(_NEW, [_KNOWN], timeout_s=timeout_s):
        if verdict.cause is not None:
            raise ModelFailed(f"it gave no verdict that can be used ({verdict.cause})")


def _distill(distiller: Distiller | None, timeout_s: float) -> None:
    if distiller is not None:
        distiller.distill(_TRANSCRIPT, most=1, timeout_s=timeout_s)


def _respond(model: LanguageModel | None, timeout_s: float) -> None:
    if model is not None:
        model.answer(_READY, timeout_s=timeout_s)


_SUFFIXES = ("_model", "_url", "_api_key", "_dimension", "_floor")
_KNOWN = JudgedText(lesson_id=UUID(int=1), text="The relay listens on port 7400.", situation="connecting", subject="relay")
_NEW = JudgedText(lesson_id=UUID(int=2), text="Backups of the archive run at night.", situation="archiving", subject="archive")
_TRANSCRIPT = Transcript(turns=(Turn(role=TurnRole.USER, text="Is the relay up?"), Turn(role=TurnRole.TOOL, text="It is up.")))
_READY = Prompt(
    purpose=Purpose.RESPONDER,
    name="ready",
    instructions="Say whether you are ready.",
    material="",
    schema={
        "type": "object",
        "properties": {"ready": {"type": "boolean"}},
        "required": ["ready"],
        "additionalProperties": False,
    },
)
_TRIALS: Mapping[str, Callable[[Models, float], object]] = {
    "embedder": lambda models, timeout_s: _embed(models.embedder, timeout_s),
    "next_embedder": lambda models, timeout_s: _embed(models.next_embedder, timeout_s),
    Role.JUDGE: lambda models, timeout_s: _judge(models.cheap_judge, timeout_s),
    Role.STRONG_JUDGE: lambda models, timeout_s: _judge(models.strong_judge, timeout_s),
    Role.SCREEN: lambda models, timeout_s: models.screen.screen({"text": _KNOWN.text}, timeout_s=timeout_s),
    Role.DISTILLER: lambda models, timeout_s: _distill(models.distiller, timeout_s),
    Role.RESPONDER: lambda models, timeout_s: _respond(models.responder, timeout_s),
}
"""By setting, one tiny and harmless thing for its model to do, in the way in which a memory would have it done."""


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
