"""Models whose calls a run's purse hears of, whatever account is at hand: a memory charges them to its tribe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

from evals.models import Models
from evals.purse import Purse
from tributary.core.decision import ScreenFinding, Verdict
from tributary.core.ports import Embedder, Judge, JudgedText, LanguageModel, Prompt, Screen, SpaceDefinition, Vector
from tributary.core.spending import Account, ModelCall, account, on_account


def charged(models: Models, purse: Purse) -> Models:
    """Returns the models, each of whose calls is charged to the purse as well."""
    return replace(
        models,
        judge=_Judge(models.judge, purse),
        cheap_judge=_Judge(models.cheap_judge, purse),
        strong_judge=None if models.strong_judge is None else _Judge(models.strong_judge, purse),
        screen=_Screen(models.screen, purse),
        embedder=_Embedder(models.embedder, purse),
        language_model=None if models.language_model is None else _LanguageModel(models.language_model, purse),
    )


@dataclass(frozen=True)
class _Both:
    at_hand: Account
    purse: Purse

    def charge(self, call: ModelCall) -> None:
        self.at_hand.charge(call)
        self.purse.charge(call)

    def may_spend(self) -> bool:
        return self.at_hand.may_spend() and self.purse.may_spend()

    @contextmanager
    def reserve(self, calls: int) -> Iterator[int]:
        with self.at_hand.reserve(calls) as granted:
            yield granted if self.purse.may_spend() else 0

    def decided(self, decision_id: UUID | None) -> None:
        self.at_hand.decided(decision_id)


@contextmanager
def _on_both(purse: Purse) -> Iterator[None]:
    with on_account(_Both(account(), purse)):
        yield


@dataclass(frozen=True)
class _Judge:
    inner: Judge
    purse: Purse

    @property
    def version(self) -> str:
        return self.inner.version

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        with _on_both(self.purse):
            return self.inner.judge(new, candidates, timeout_s=timeout_s)


@dataclass(frozen=True)
class _Screen:
    inner: Screen
    purse: Purse

    @property
    def version(self) -> str:
        return self.inner.version

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        with _on_both(self.purse):
            return self.inner.screen(fields, timeout_s=timeout_s)


@dataclass(frozen=True)
class _Embedder:
    inner: Embedder
    purse: Purse

    @property
    def space(self) -> SpaceDefinition:
        return self.inner.space

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        with _on_both(self.purse):
            return self.inner.embed(texts, timeout_s=timeout_s)


@dataclass(frozen=True)
class _LanguageModel:
    inner: LanguageModel
    purse: Purse

    @property
    def version(self) -> str:
        return self.inner.version

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        with _on_both(self.purse):
            return self.inner.answer(prompt, timeout_s=timeout_s)
