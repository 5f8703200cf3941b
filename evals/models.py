"""The models that a run asks: those of this computer offline, those that the settings choose live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tributary import service
from tributary.core.ports import Embedder, Judge, LanguageModel, Screen, SpaceDefinition, Vector
from tributary.models.embedders import MiniLmEmbedder
from tributary.models.judges import LocalJudge
from tributary.models.screens import LocalScreen
from tributary.service import Settings

THREADS = 2


@dataclass(frozen=True, kw_only=True)
class Models:
    """`judge` is what a memory would use: the cheap judge, with the strong one behind it where there is one."""

    judge: Judge
    cheap_judge: Judge
    strong_judge: Judge | None
    screen: Screen
    embedder: Embedder
    language_model: LanguageModel | None

    def versions(self) -> dict[str, str | None]:
        """Returns what each part is, as results and reports name it."""
        return {
            "judge": self.judge.version,
            "cheap_judge": self.cheap_judge.version,
            "strong_judge": self.strong_judge.version if self.strong_judge else None,
            "screen": self.screen.version,
            "embedder": self.embedder.space.name,
            "language_model": self.language_model.version if self.language_model else None,
        }


def local() -> Models:
    """Returns what needs no network and always answers alike."""
    judge = LocalJudge()
    return Models(
        judge=judge,
        cheap_judge=judge,
        strong_judge=None,
        screen=LocalScreen(),
        embedder=Remembering(MiniLmEmbedder(threads=THREADS)),
        language_model=None,
    )


def chosen(settings: Settings) -> Models:
    """Returns the models that the settings choose, never another one instead; raises BadSetting."""
    found = service.Models(settings)
    return Models(
        judge=found.judge,
        cheap_judge=found.cheap_judge,
        strong_judge=found.strong_judge,
        screen=found.screen,
        embedder=Remembering(found.embedder),
        language_model=found.grader,
    )


class Remembering:
    """An embedder that embeds equal texts once: suites embed the same lessons for the memory and for their baselines."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    @property
    def space(self) -> SpaceDefinition:
        return self._embedder.space

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new:
            self._known.update(zip(new, self._embedder.embed(new, timeout_s=timeout_s), strict=True))
        return [self._known[text] for text in texts]
