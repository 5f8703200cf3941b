"""Models whose calls a run's purse hears of, whatever account is at hand: a memory charges them to its tribe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

from evals.answers import Part
from evals.models import Models
from evals.purse import Purse
from tributary.core.decision import NoAnswer, ScreenFinding, Verdict
from tributary.core.errors import TributaryError
from tributary.core.ports import Embedder, Judge, JudgedText, LanguageModel, Prompt, Screen, SpaceDefinition, Vector
from tributary.core.spending import Account, CallEnd, ModelCall, Purpose, account, on_account


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


_PARTS = {
    Purpose.JUDGE: Part.JUDGE,
    Purpose.STRONG_JUDGE: Part.JUDGE,
    Purpose.SCREEN: Part.SCREEN,
    Purpose.EMBED: Part.EMBEDDER,
    Purpose.DISTILL: Part.LANGUAGE_MODEL,
    Purpose.GRADE: Part.LANGUAGE_MODEL,
}


@dataclass(frozen=True)
class _Both:
    at_hand: Account
    purse: Purse

    def charge(self, call: ModelCall) -> None:
        self.at_hand.charge(call)
        self.purse.charge(call)
        if call.end is CallEnd.ANSWERED:
            self.purse.answers.answered(_PARTS[call.purpose])

    def may_spend(self) -> bool:
        return self.at_hand.may_spend() and self.purse.may_spend()

    @contextmanager
    def reserve(self, calls: int) -> Iterator[int]:
        with self.at_hand.reserve(calls) as granted:
            yield granted if self.purse.may_spend() else 0

    def decided(self, decision_id: UUID | None) -> None:
        self.at_hand.decided(decision_id)


@contextmanager
def _on_both(purse: Purse, part: Part) -> Iterator[None]:
    with on_account(_Both(account(), purse)):
        try:
            yield
        except TributaryError as error:
            purse.answers.failed(part, _told(error))
            raise


def _told(error: TributaryError) -> str:
    """Returns what went wrong first: two judges that were away in turn say no more than that both were."""
    while isinstance(error.__cause__, TributaryError):
        error = error.__cause__
    return error.detail


@dataclass(frozen=True)
class _Judge:
    inner: Judge
    purse: Purse

    @property
    def version(self) -> str:
        return self.inner.version

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        with _on_both(self.purse, Part.JUDGE):
            verdicts = self.inner.judge(new, candidates, timeout_s=timeout_s)
        for one in verdicts:
            if one.cause is None:
                self.purse.answers.answered(Part.JUDGE)
            elif one.cause != NoAnswer.BUDGET_SPENT:
                self.purse.answers.failed(Part.JUDGE, one.reason)
        return verdicts


@dataclass(frozen=True)
class _Screen:
    inner: Screen
    purse: Purse

    @property
    def version(self) -> str:
        return self.inner.version

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        with _on_both(self.purse, Part.SCREEN):
            found = self.inner.screen(fields, timeout_s=timeout_s)
        if not found.quarantined:  # what is held back may have been caught by rules, before any model was asked
            self.purse.answers.answered(Part.SCREEN)
        return found


@dataclass(frozen=True)
class _Embedder:
    inner: Embedder
    purse: Purse

    @property
    def space(self) -> SpaceDefinition:
        return self.inner.space

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        with _on_both(self.purse, Part.EMBEDDER):
            vectors = self.inner.embed(texts, timeout_s=timeout_s)
        self.purse.answers.answered(Part.EMBEDDER)
        return vectors


@dataclass(frozen=True)
class _LanguageModel:
    inner: LanguageModel
    purse: Purse

    @property
    def version(self) -> str:
        return self.inner.version

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        with _on_both(self.purse, Part.LANGUAGE_MODEL):
            said = self.inner.answer(prompt, timeout_s=timeout_s)
        self.purse.answers.answered(Part.LANGUAGE_MODEL)
        return said
