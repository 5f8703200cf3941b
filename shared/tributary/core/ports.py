"""What the pipelines ask of models. Adapters live in `models/`; `service` chooses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from tributary.core.decision import ScreenFinding, Verdict
from tributary.core.spending import Purpose
from tributary.core.transcript import Distilled, Transcript

Vector = Sequence[float]
"""An embedding: (dimension,) finite numbers of unit norm."""


@dataclass(frozen=True, kw_only=True)
class SpaceDefinition:
    """All that decides what a vector means. Two embedders may serve one space only when these are equal."""

    model: str
    pooling: str
    windowing: str
    quantisation: str
    dimension: int
    floor: float
    """Similarity under which a hit is noise in this space; calibrated by measurement."""
    weights_apart: float = 0.0
    """By how much the similarity of a pair may differ between two embedders that share the space; measured."""

    @property
    def name(self) -> str:
        """Names the space; unique by definition. The floor and `weights_apart` are measured, and no part of it."""
        return f"{self.model}/{self.pooling}/{self.windowing}/{self.quantisation}/{self.dimension}"


class Embedder(Protocol):
    """Turns texts into vectors of one space."""

    @property
    def space(self) -> SpaceDefinition: ...

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        """Returns one vector a text, in order; raises ModelFailed. No text is cut off: a long one is embedded in windows.

        `timeout_s` is the caller's; an embedder over a wire has a bound of its own as well. One in this process needs none.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class JudgedText:
    """One side of a pair, as the judge sees it."""

    lesson_id: UUID
    text: str
    situation: str
    subject: str | None


class Judge(Protocol):
    """Tells for each candidate whether the new lesson says the same, the opposite, or something else."""

    @property
    def version(self) -> str:
        """Name and version, recorded in decisions and part of the verdict cache's key."""
        ...

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        """Returns verdicts on some or all of the candidates and on nothing else; raises ModelFailed."""
        ...


class Screen(Protocol):
    """Looks for text that would hijack a later reader."""

    @property
    def version(self) -> str: ...

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        """Returns the finding over all fields (name -> text); raises ModelFailed."""
        ...


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """One question to a language model that is answered with a JSON object.

    `instructions` are ours. `material` holds what others wrote, as escaped data inside a fence that it cannot close.
    """

    purpose: Purpose
    name: str
    """Names the answer's form: letters, digits and underscores."""
    instructions: str
    material: str
    schema: Mapping[str, object]
    """JSON schema of the answer: an object."""


class LanguageModel(Protocol):
    """Answers in a given form."""

    @property
    def version(self) -> str:
        """Provider and model as pinned, `bedrock:anthropic.claude-haiku-4-5-20251001-v1:0`."""
        ...

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        """Returns the JSON object that the model gave, which was asked to fit the schema and may not; raises ModelFailed.

        Each attempt is charged to the account at hand.
        """
        ...


class PendingNotice(Protocol):
    """Tells whoever settles pending lessons that a tribe has some, so that they need not wait for the gardener."""

    def tell(self, tribe_id: UUID) -> None:
        """Returns within a second; raises whatever kept it from being told. To be told twice, or in vain, does no harm."""
        ...


class Distiller(Protocol):
    """Finds in a transcript what is worth remembering."""

    @property
    def version(self) -> str:
        """Provider and model as pinned."""
        ...

    def distill(self, transcript: Transcript, *, most: int, timeout_s: float | None) -> Distilled:
        """Returns at most `most` lessons, each resting on the transcript; raises ModelFailed when none of it was read."""
        ...
