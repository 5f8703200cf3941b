"""Models that cost something: real implementations of the ports that charge the account at hand, as adapters over a wire do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from tests.doubles import WordScreen
from tributary.core.clock import Now, utc_now
from tributary.core.decision import ScreenFinding, Verdict, VerdictKind
from tributary.core.errors import ModelFailed
from tributary.core.ports import Embedder, JudgedText, SpaceDefinition, Vector
from tributary.core.spending import CallEnd, ModelCall, Purpose, account
from tributary.models.embedders import HashedEmbedder


def call(
    purpose: Purpose = Purpose.JUDGE,
    *,
    model: str = "wire:model-1",
    at: datetime | None = None,
    end: CallEnd = CallEnd.ANSWERED,
    cost: str | None = "0.25",
    tokens: tuple[int | None, int | None] = (100, 10),
) -> ModelCall:
    return ModelCall(
        purpose=purpose,
        model=model,
        at=at or utc_now(),
        ms=12.5,
        end=end,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cost_usd=None if cost is None else Decimal(cost),
    )


@dataclass
class ChargingEmbedder:
    """An embedder over a wire."""

    inner: Embedder = field(default_factory=HashedEmbedder)

    @property
    def space(self) -> SpaceDefinition:
        return self.inner.space

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        account().charge(call(Purpose.EMBED, model="wire:embedder", cost="0.01", tokens=(8, None)))
        return self.inner.embed(texts)


@dataclass
class ChargingScreen:
    """A screen over a wire."""

    inner: WordScreen = field(default_factory=WordScreen)
    version: str = "charging-word/1"

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        account().charge(call(Purpose.SCREEN, model="wire:screen", cost="0.02"))
        return self.inner.screen(fields)


@dataclass
class ChargingJudge:
    """A judge over a wire that answers by a rule of the test's; away it charges a failed call."""

    version: str
    rule: Callable[[JudgedText, JudgedText], VerdictKind]
    purpose: Purpose = Purpose.JUDGE
    confidence: float = 0.9
    cost: str | None = "0.5"
    away: bool = False
    now: Now = utc_now
    asked: list[tuple[str, str]] = field(default_factory=list)

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        self.asked += [(new.text, one.text) for one in candidates]
        end = CallEnd.FAILED if self.away else CallEnd.ANSWERED
        account().charge(call(self.purpose, model=f"wire:{self.version}", cost=self.cost, at=self.now(), end=end))
        if self.away:
            raise ModelFailed(f"{self.version} is away")
        return [
            Verdict(
                lesson_id=one.lesson_id,
                kind=self.rule(new, one),
                confidence=self.confidence,
                judge=self.version,
                reason="by the test's rule",
            )
            for one in candidates
        ]
