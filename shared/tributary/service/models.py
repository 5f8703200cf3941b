"""Which models the settings choose. Nothing is loaded or reached before it is used; what is missing is refused at once."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

from tributary.core.errors import BadSetting
from tributary.core.ports import Distiller, Embedder, Judge, LanguageModel, Screen
from tributary.models.installed import need
from tributary.models.jev import is_pinned
from tributary.models.prices import Prices
from tributary.service.language_models import Role, check_place, language_model, place, prices, region
from tributary.service.settings import PREFIX, Settings
from tributary.spaces import FIRST, NEXT

TITAN = "amazon.titan-embed-text-v2:0"
_TAKES: dict[str | None, frozenset[str]] = {
    "bedrock": frozenset({"MODEL", "URL"}),
    "openai": frozenset({"MODEL", "URL", "API_KEY"}),
    "jev": frozenset({"MODEL", "URL", "API_KEY"}),
    "claude": frozenset({"MODEL"}),
    "guardrails": frozenset({"URL"}),
}
_LIBRARIES = {
    "bedrock": ("boto3", "boto3", "aws"),
    "guardrails": ("boto3", "boto3", "aws"),
    "openai": ("openai", "openai", "openai"),
    "jev": ("typesafe_sdk", "typesafe-sdk", "jev"),
}
"""By provider: the module that it needs, the library that has it, and the extra that brings the library along."""


def over_a_wire(settings: Settings) -> tuple[str, ...]:
    """Returns which settings have a model asked over a wire, in lower case and without prefix: `embedder`, `judge`."""
    embedders = [name for name in ("embedder", "next_embedder") if getattr(settings, name) == "bedrock"]
    return (*embedders, *(role.value for role in Role if getattr(settings, role) not in (None, "local", "scripted")))


class Models:
    """The adapters that the settings choose, made when they are first asked for."""

    def __init__(self, settings: Settings) -> None:
        """Raises BadSetting for settings of a role that do not go together, whether or not its model is ever used."""
        self._settings = settings
        self._prices = prices(settings)
        for role in Role:
            _check(settings, role)
        if settings.responder == "scripted" or settings.responder_script is not None:
            _script(settings)

    def chosen(self, role: Role) -> str | None:
        """Returns the provider of the role's model over a wire, None when there is none."""
        provider: str | None = getattr(self._settings, role)
        return None if provider == "local" else provider

    @cached_property
    def judge(self) -> Judge:
        """Both tiers, where there are two."""
        if self.strong_judge is None:
            return self.cheap_judge
        from tributary.models.judges import TieredJudge

        return TieredJudge(cheap=self.cheap_judge, strong=self.strong_judge, below=self._settings.strong_judge_below)

    @cached_property
    def cheap_judge(self) -> Judge:
        if self.chosen(Role.JUDGE) is None:
            from tributary.models.judges import LocalJudge

            return LocalJudge()
        return self._judge_of(Role.JUDGE)

    @cached_property
    def strong_judge(self) -> Judge | None:
        return None if self.chosen(Role.STRONG_JUDGE) is None else self._judge_of(Role.STRONG_JUDGE)

    @cached_property
    def screen(self) -> Screen:
        """The local rules, and the model that is asked about what they let through."""
        from tributary.models.screens import LayeredScreen, LocalScreen

        local = LocalScreen()
        return local if self.chosen(Role.SCREEN) is None else LayeredScreen(local=local, model=self._screen())

    @cached_property
    def distiller(self) -> Distiller | None:
        if self.chosen(Role.DISTILLER) is None:
            return None
        from tributary.models.distillers import AskedDistiller

        return AskedDistiller(self._language_model(Role.DISTILLER))

    @cached_property
    def responder(self) -> LanguageModel | None:
        """What decides in the incident agent."""
        if self.chosen(Role.RESPONDER) is None:
            return None
        if self.chosen(Role.RESPONDER) == "scripted":
            from tributary.models.llms import ScriptedModel

            return ScriptedModel(_script(self._settings), setting=f"{Role.RESPONDER.variable}_SCRIPT")
        return self._language_model(Role.RESPONDER)

    @cached_property
    def embedder(self) -> Embedder:
        found = self._embedder(FIRST)
        if found is None:
            raise BadSetting(f"{FIRST}: must name an embedder")
        return found

    @cached_property
    def next_embedder(self) -> Embedder | None:
        return self._embedder(NEXT)

    def _embedder(self, variable: str) -> Embedder | None:
        """Returns the embedder that `variable` chooses, None when it chooses none; raises BadSetting."""
        name: str | None = self._said(variable, "")
        model: str | None = self._said(variable, "_model")
        dimension: int | None = self._said(variable, "_dimension")
        floor: float | None = self._said(variable, "_floor")
        only_bedrocks = {"DIMENSION": dimension, "FLOOR": floor}
        if name is None:
            for suffix, value in {"MODEL": model, **only_bedrocks}.items():
                if value is not None:
                    raise BadSetting(f"{variable}_{suffix}: is set without {variable}; set both")
            return None
        for suffix, value in only_bedrocks.items():
            if value is not None and name != "bedrock":
                raise BadSetting(f"{variable}_{suffix}: is set, but {variable} is {name}, which leaves no choice")
        if name == "minilm":
            from tributary.models.embedders import MiniLmEmbedder

            if model is not None:
                raise BadSetting(f"{variable}_MODEL: is set, but {variable} is minilm, which is one model")
            return MiniLmEmbedder(threads=self._said(variable, "_threads"))
        if name == "sentence-transformers":
            from tributary.models.embedders import SentenceTransformersEmbedder

            if model is None:
                raise BadSetting(f"{variable}_MODEL: must name a model or folder when {variable}=sentence-transformers")
            return SentenceTransformersEmbedder(model=model)
        if name == "bedrock":
            return self._bedrock_embedder(variable, model, dimension, floor)
        raise BadSetting(f"{variable}: 'hash' is for tests only; use minilm, sentence-transformers or bedrock")

    def _said(self, variable: str, suffix: str) -> Any:
        return getattr(self._settings, variable.removeprefix(PREFIX).lower() + suffix)

    def _bedrock_embedder(self, variable: str, model: str | None, dimension: int | None, floor: float | None) -> Embedder:
        from tributary.models.embedders import BedrockEmbedder, CachedEmbedder

        settings = self._settings
        _check_installed(settings, "bedrock", variable)
        embedder = BedrockEmbedder(
            setting=variable,
            model=model or TITAN,
            dimension=dimension,
            floor=floor,
            region=region(settings, variable),
            url=settings.bedrock_url,
            timeout_s=settings.model_timeout_s,
            attempts=settings.model_attempts,
            concurrency=settings.model_concurrency,
            prices=self._prices,
        )
        return CachedEmbedder(embedder, settings.embedder_cache)

    def _judge_of(self, role: Role) -> Judge:
        if self.chosen(role) == "jev":
            from tributary.models.judges import JevJudge

            return JevJudge(purpose=role.purpose, **self._jev(role))
        from tributary.models.judges import AskedJudge

        return AskedJudge(model=self._language_model(role), purpose=role.purpose, concurrency=self._settings.model_concurrency)

    def _screen(self) -> Screen:
        settings = self._settings
        if self.chosen(Role.SCREEN) == "guardrails":
            from tributary.models.screens import GuardrailsScreen

            return GuardrailsScreen(
                guardrail=settings.guardrail_id or "",
                version=settings.guardrail_version or "",
                region=region(settings, Role.SCREEN.variable),
                url=settings.screen_url or settings.bedrock_url,
                timeout_s=settings.model_timeout_s,
                attempts=settings.model_attempts,
                prices=self._prices,
            )
        if self.chosen(Role.SCREEN) == "jev":
            from tributary.models.screens import JevScreen

            return JevScreen(at=settings.screen_at, **self._jev(Role.SCREEN))
        from tributary.models.screens import AskedScreen

        return AskedScreen(model=self._language_model(Role.SCREEN), at=settings.screen_at)

    @cached_property
    def grader(self) -> LanguageModel | None:
        """The language model that grades others' work, in evals: the strongest one that is set up for another task."""
        roles = (Role.STRONG_JUDGE, Role.JUDGE, Role.DISTILLER, Role.SCREEN)
        return next((found for role in roles if (found := language_model(self._settings, role))), None)

    def _language_model(self, role: Role) -> LanguageModel:
        found = language_model(self._settings, role)
        if found is None:
            raise BadSetting(f"{role.variable}: {self.chosen(role)} is no language model")
        return found

    def _jev(self, role: Role) -> _Jev:
        url, key = place(self._settings, role)
        return _Jev(
            api_key=key or "",
            url=url,
            model=getattr(self._settings, f"{role}_model"),
            timeout_s=self._settings.model_timeout_s,
            attempts=self._settings.model_attempts,
            prices=self._prices,
        )


class _Jev(TypedDict):
    api_key: str
    url: str | None
    model: str
    timeout_s: float
    attempts: int
    prices: Prices


def _script(settings: Settings) -> Path:
    """Returns the file that a scripted model follows; raises BadSetting where it is missing, or set for another model."""
    variable = Role.RESPONDER.variable
    if settings.responder != "scripted" and settings.responder_script is not None:
        raise BadSetting(f"{variable}_SCRIPT: is set, but {variable} is not scripted")
    if settings.responder_script is None:
        raise BadSetting(f"{variable}_SCRIPT: must name the file when {variable}=scripted")
    return settings.responder_script


def _check(settings: Settings, role: Role) -> None:
    """Raises BadSetting for what a role's provider takes none of, and for what it needs and has not."""
    provider: str | None = getattr(settings, role)
    takes = _TAKES.get(provider, frozenset())
    for suffix in ("MODEL", "URL", "API_KEY"):
        given = getattr(settings, f"{role}_{suffix.lower()}") is not None
        if given and suffix not in takes:
            chosen = "is not set; set both" if provider is None else f"is {provider}, which takes none"
            raise BadSetting(f"{role.variable}_{suffix}: is set, but {role.variable} {chosen}")
        if suffix == "MODEL" in takes and not given:
            raise BadSetting(f"{role.variable}_MODEL: must name the model when {role.variable}={provider}")
    if provider in ("bedrock", "guardrails"):
        region(settings, role.variable)
    if provider == "guardrails":
        for name in ("guardrail_id", "guardrail_version"):
            if getattr(settings, name) is None:
                raise BadSetting(f"{PREFIX}{name.upper()}: is needed by {role.variable}=guardrails")
    if provider == "jev" and not is_pinned(model := getattr(settings, f"{role}_model")):
        raise BadSetting(f"{role.variable}_MODEL: must be pinned, such as jev-1.13.0 (it is '{model}')")
    if provider in ("openai", "jev"):
        check_place(settings, role)
    _check_installed(settings, provider, role.variable)


def _check_installed(settings: Settings, provider: str | None, variable: str) -> None:
    """Raises BadSetting when the library or program is missing that `variable` chose with its provider. Loads nothing."""
    if provider in _LIBRARIES:
        module, library, extra = _LIBRARIES[provider]
        need(module, library=library, extra=extra, by=f"{variable}: {provider}")
    if provider == "claude":
        from tributary.models.llms.claude import executable

        executable(settings.claude_command, os.environ)
