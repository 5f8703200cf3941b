"""What a model answers about a transcript, and what of that can be proposed: only what rests on the transcript's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tributary.core.errors import InvalidRequest, ModelMalformed
from tributary.core.lesson import Draft, Evidence, How, Kind, Source
from tributary.core.limits import EVIDENCE_CHARACTERS, check_draft
from tributary.core.normal import normal_text, subject_key
from tributary.core.secrets import secrets_in
from tributary.core.transcript import Drop, Transcript

EVIDENCE_TYPE = "transcript"
SHORTEST_QUOTE = 8
"""A shorter quotation stands in almost any text."""
MOST_NAMED = 50
"""Of one answer, so many lessons are looked at."""
_MOST_QUOTES = 8
_RANK = tuple(How)


class _Answered(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class _Quote(_Answered):
    turn: int
    quote: str


class _Tag(_Answered):
    key: str
    value: str


class _Named(_Answered):
    text: str
    situation: str
    subject: str | None = None
    kind: Annotated[Kind, Field(strict=False)] = Kind.GOTCHA
    rationale: str | None = None
    tags: list[_Tag] = Field(default_factory=list)
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    evidence: list[_Quote]


def _closed(properties: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def schema_for(most: int) -> Mapping[str, object]:
    """Returns the JSON schema of an answer with at most `most` lessons; how many is said in words, too: not all providers hold
    a model to it."""
    lesson = _closed(
        {
            "text": {"type": "string", "description": "The lesson itself: one or two sentences that stand alone."},
            "situation": {"type": "string", "description": "When it applies, in a few words."},
            "subject": {"type": ["string", "null"], "description": "The one system, service or tool that it is about."},
            "kind": {"type": "string", "enum": [kind.value for kind in Kind]},
            "rationale": {"type": ["string", "null"], "description": "Why it is so, as far as the transcript shows it."},
            "tags": {"type": "array", "items": _closed({"key": {"type": "string"}, "value": {"type": "string"}})},
            "confidence": {"type": "number", "description": "From 0 to 1: how well the transcript supports it."},
            "evidence": {
                "type": "array",
                "items": _closed(
                    {
                        "turn": {"type": "integer", "description": "Number of the turn."},
                        "quote": {"type": "string", "description": "Words of that turn, copied exactly."},
                    }
                ),
            },
        }
    )
    return _closed({"lessons": {"type": "array", "items": lesson, "description": f"At most {most}; none is a good answer."}})


@dataclass
class Proposals:
    """Gathers what answers name, drops what cannot be proposed, and counts why."""

    transcript: Transcript
    dropped: Counter[Drop] = field(default_factory=Counter)
    _kept: dict[object, Draft] = field(default_factory=dict)
    _texts: dict[int, str] = field(default_factory=dict)

    def take(self, answer: Mapping[str, object]) -> None:
        """Takes one answer in; raises ModelMalformed when it is none."""
        named = answer.get("lessons")
        if not isinstance(named, list):
            raise ModelMalformed("the answer has no list of lessons")
        self._count(Drop.TOO_MANY, len(named) - MOST_NAMED)
        for one in named[:MOST_NAMED]:
            draft = self._draft(one)
            if isinstance(draft, Drop):
                self._count(draft)
                continue
            key = (normal_text(draft.text), normal_text(draft.situation), subject_key(draft.subject))
            if key in self._kept:
                self._count(Drop.REPEATED)
                draft = _joined(self._kept[key], draft)
            self._kept[key] = draft

    def surest(self, most: int) -> tuple[Draft, ...]:
        """Returns at most `most` of what is kept, surest first; among equals, first named first."""
        ranked = sorted(self._kept.values(), key=lambda draft: -draft.confidence)
        self._count(Drop.TOO_MANY, len(ranked) - most)
        return tuple(ranked[:most])

    def _count(self, why: Drop, times: int = 1) -> None:
        if times > 0:
            self.dropped[why] += times

    def _draft(self, given: Any) -> Draft | Drop:
        try:
            named = _Named.model_validate(given)
        except (ValidationError, RecursionError):
            return Drop.MALFORMED
        wrong = self._unfounded(named.evidence)
        if wrong is not None:
            return wrong
        source, evidence = self._sources(named.evidence[:_MOST_QUOTES])
        draft = Draft(
            text=named.text.strip(),
            situation=named.situation.strip(),
            source=source,
            kind=named.kind,
            subject=_stated(named.subject),
            tags={tag.key: tag.value for tag in named.tags},
            evidence=evidence,
            rationale=_stated(named.rationale),
            confidence=round(named.confidence, 4),
        )
        try:
            check_draft(draft)
        except InvalidRequest:
            return Drop.BREAKS_A_RULE
        return Drop.SECRET if _holds_a_secret(draft) else draft

    def _unfounded(self, quotes: Sequence[_Quote]) -> Drop | None:
        """Returns why the quotations support nothing; None when each of them stands where it is said to."""
        if not quotes or any(len(normal_text(one.quote)) < SHORTEST_QUOTE for one in quotes):
            return Drop.NO_EVIDENCE
        if any(self.transcript.turn(one.turn) is None for one in quotes):
            return Drop.NO_SUCH_TURN
        if any(normal_text(one.quote) not in self._text(one.turn) for one in quotes):
            return Drop.NOT_QUOTED
        return None

    def _text(self, number: int) -> str:
        if number not in self._texts:
            self._texts[number] = normal_text(self.transcript.turns[number - 1].text)
        return self._texts[number]

    def _sources(self, quotes: Sequence[_Quote]) -> tuple[Source, tuple[Evidence, ...]]:
        """Returns how the agent knows, by the turn that ranks highest, and every quotation with its place."""

        def rank(quote: _Quote) -> tuple[int, int]:
            return _RANK.index(self.transcript.turns[quote.turn - 1].role.how), quote.turn

        best = min(quotes, key=rank).turn
        evidence = [
            Evidence(type=EVIDENCE_TYPE, ref=self.transcript.place(one.turn), note=one.quote.strip()[:EVIDENCE_CHARACTERS])
            for one in quotes
        ]
        source = Source(how=self.transcript.turns[best - 1].role.how, ref=self.transcript.place(best))
        return source, tuple(dict.fromkeys(evidence))


def _joined(first: Draft, other: Draft) -> Draft:
    """Returns the first with the other's evidence and the better source and confidence of the two."""
    evidence = tuple(dict.fromkeys([*first.evidence, *other.evidence]))[:_MOST_QUOTES]
    source = min(first.source, other.source, key=lambda source: _RANK.index(source.how))
    return replace(first, evidence=evidence, source=source, confidence=max(first.confidence, other.confidence))


def _stated(value: str | None) -> str | None:
    return value.strip() or None if value is not None else None


def _holds_a_secret(draft: Draft) -> bool:
    return any(secrets_in(text) for text in _texts_of(draft))


def _texts_of(draft: Draft) -> Iterable[str]:
    yield from (draft.text, draft.situation, draft.subject or "", draft.rationale or "")
    yield from (f"{key}={value}" for key, value in draft.tags.items())
    yield from (one.note or "" for one in draft.evidence)
