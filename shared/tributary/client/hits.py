"""What a recall found: a sequence of hits with its receipt."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import overload

from tributary.client.prompt import prompt
from tributary.client.receipts import Receipt
from tributary.client.values import Challenge, Lesson
from tributary.contract.models import HitReply


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A recalled lesson. `label` says how to read it when it is no plain advice; `challenges` speak against it."""

    lesson: Lesson
    score: float
    confidence: float
    label: str | None
    challenges: tuple[Challenge, ...]
    terms: dict[str, float]
    """What the score is made of, by name."""
    _receipt: Receipt | None = field(default=None, repr=False, compare=False)

    @property
    def id(self) -> str:
        return self.lesson.id

    @property
    def text(self) -> str:
        return self.lesson.text

    @property
    def situation(self) -> str:
        return self.lesson.situation

    @property
    def subject(self) -> str | None:
        return self.lesson.subject

    @classmethod
    def of(cls, reply: HitReply, receipt: Receipt | None = None) -> Hit:
        return cls(
            lesson=reply.lesson,
            score=reply.score,
            confidence=reply.confidence,
            label=reply.label,
            challenges=tuple(reply.challenges),
            terms=dict(reply.terms),
            _receipt=receipt,
        )


class Hits(Sequence[Hit]):
    """The hits of one recall, best first, and the receipt of the search. No hits is false."""

    def __init__(self, hits: Sequence[Hit], receipt: Receipt) -> None:
        self._hits = tuple(hits)
        self.receipt = receipt

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self._hits[index]

    def __len__(self) -> int:
        return len(self._hits)

    def __repr__(self) -> str:
        return f"<Hits: {len(self)}, coverage {self.receipt.coverage}, receipt {self.receipt.id}>"

    def as_prompt(self) -> str:
        """Returns the hits as text for a language model.

        Lessons stand as untrusted data inside a fence that their text cannot close, each cited by its id, with label and
        challenges; after it, in words, what the search covered. Every call draws a new fence.
        """
        return prompt(self._hits, self.receipt, nonce=secrets.token_hex(8))


def receipt_of(hit: Hit) -> Receipt | None:
    """Returns the receipt of the recall that served the hit; None for a hit of no recall."""
    return hit._receipt
