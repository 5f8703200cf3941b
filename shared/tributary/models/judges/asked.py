"""A judge that asks a language model: one pair a request, several requests at a time, and only what fits the form counts."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tributary.core.decision import NoAnswer, Verdict, VerdictKind
from tributary.core.errors import ModelFailed, ModelMalformed, ModelTimedOut, ModelUnreachable
from tributary.core.ports import JudgedText, LanguageModel, Prompt
from tributary.core.spending import Purpose
from tributary.models.fence import RULE, fenced
from tributary.models.judges.meanings import MEANINGS, shown
from tributary.telemetry import Event, log

PROMPT_VERSION = "pair-prompt/1"
AWAY_AFTER = 3
"""Pairs that the model was away for, after which the others of the lesson are not asked about: each try costs time and money."""
REASON_CHARACTERS = 200
_LONGEST_REASON = 4000
"""A reason is cut; one of this size is no reason, and what came with it no answer."""

_EXAMPLES = (
    ("The relay listens on port 7400.", "Connect to the relay on port 7400.", "same"),
    ("The relay listens on port 7400.", "The relay listens on port 7500 now.", "conflicts"),
    ("The relay listens on port 7400.", "The relay of staging listens on port 7500.", "unrelated"),
    ("Workers are drained before an upgrade.", "Workers are not drained before an upgrade.", "conflicts"),
    ("Workers are drained before an upgrade.", "Workers are drained before an upgrade, but for spot workers.", "conflicts"),
    ("The exporter leaks memory.", "The exporter leaks memory while a backup runs.", "unrelated"),
    ("Calls need the header X-Team.", "Calls need the header X-Trace.", "unrelated"),
    ("Version 3 of the tool needs the flag --legacy.", "Version 4 of the tool needs no flag.", "unrelated"),
)

_INSTRUCTIONS = "\n".join(
    [
        "You compare two lessons that agents wrote down about operating software systems: `known`, which is believed, and `new`.",
        "Answer what their relation is:",
        *(f"- {kind.value}: {meaning}" for kind, meaning in MEANINGS.items()),
        "The subject and the situation are part of what a lesson claims: other environments, hosts or versions are other things.",
        "Judge what is written, not which of the two is true. When in doubt between same and conflicts, answer unsure.",
        "Examples, situations left out:",
        *(f"- known: {known} new: {new} -> {answer}" for known, new, answer in _EXAMPLES),
        "Give `pair` exactly as it stands in the material, the verdict, your confidence from 0 to 1 that it is right, and a"
        " reason of one short sentence.",
        RULE,
    ]
)

_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "pair": {"type": "string", "description": "The pair's label, as it was given."},
        "verdict": {"type": "string", "enum": [kind.value for kind in VerdictKind]},
        "confidence": {"type": "number", "description": "How sure the verdict is, from 0 to 1."},
        "reason": {"type": "string", "description": "One short sentence."},
    },
    "required": ["pair", "verdict", "confidence", "reason"],
    "additionalProperties": False,
}


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    pair: str
    verdict: Annotated[VerdictKind, Field(strict=False)]  # a string of the wire; still only one that is spelt as asked
    confidence: Annotated[float, Field(ge=0.0, le=1.0)]  # which NaN is not
    reason: Annotated[str, Field(max_length=_LONGEST_REASON)]


class AskedJudge:
    """Asks `model` about every pair, `concurrency` at a time, all within one deadline.

    A model that refuses, answers what was not asked, or does not answer in time leaves that pair `unsure`, with the cause.
    """

    def __init__(self, *, model: LanguageModel, purpose: Purpose, concurrency: int) -> None:
        self._model = model
        self._purpose = purpose
        self._concurrency = concurrency

    @property
    def version(self) -> str:
        return f"{self._model.version}+{PROMPT_VERSION}"

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        """Returns one verdict a candidate, in order; raises ModelFailed when the model was away for all of them."""
        if not candidates:
            return []
        asking = _Asking(timeout_s)
        found = self._ask_all(asking, [self._prompt(new, one) for one in candidates])
        failures = [one for one in found if isinstance(one, Exception)]
        if failures and len(failures) == len(found) and not any(NoAnswer.of(one).replied for one in failures):
            raise next((one for one in failures if not isinstance(one, _NotAsked)), failures[0])
        for one in {type(one): one for one in failures if not isinstance(one, _NotAsked)}.values():
            level = log.WARNING if isinstance(one, ModelFailed) else log.ERROR
            log.event(Event.JUDGE_UNAVAILABLE, level=level, error=one, judge=self.version)
        return [self._verdict(candidate, one) for candidate, one in zip(candidates, found, strict=True)]

    def _prompt(self, new: JudgedText, candidate: JudgedText) -> _Pair:
        label = hashlib.sha256(new.lesson_id.bytes + candidate.lesson_id.bytes).hexdigest()[:8]
        prompt = Prompt(
            purpose=self._purpose,
            name="verdict",
            instructions=_INSTRUCTIONS,
            material=fenced({"pair": label, "known": shown(candidate), "new": shown(new)}),
            schema=_SCHEMA,
        )
        return _Pair(label=label, prompt=prompt)

    def _ask_all(self, asking: _Asking, pairs: Sequence[_Pair]) -> list[_Answer | Exception]:
        """Returns an answer, or what went wrong, for each pair in order. Nobody waits past the deadline for a hanging model."""
        pool = ThreadPoolExecutor(max_workers=min(self._concurrency, len(pairs)), thread_name_prefix="judge")
        try:
            # each thread works on the account of the one that asks
            begun = [pool.submit(copy_context().run, self._ask, asking, one) for one in pairs]
            wait(begun, timeout=asking.remaining_s())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return [_outcome(one) for one in begun]

    def _ask(self, asking: _Asking, pair: _Pair) -> _Answer:
        if asking.in_vain:
            raise _NotAsked
        remaining_s = asking.remaining_s()
        if remaining_s is not None and remaining_s <= 0:
            raise ModelTimedOut("no time was left for the pair")
        try:
            answer = _checked(self._model.answer(pair.prompt, timeout_s=remaining_s), pair.label)
        except Exception as error:
            asking.count(replied=NoAnswer.of(error).replied)
            raise
        asking.count(replied=True)
        return answer

    def _verdict(self, candidate: JudgedText, found: _Answer | Exception) -> Verdict:
        if isinstance(found, Exception):
            cause = NoAnswer.of(found)
            return Verdict.unanswered(candidate.lesson_id, judge=self.version, cause=cause, reason="the model gave no answer")
        return Verdict(
            lesson_id=candidate.lesson_id,
            kind=found.verdict,
            confidence=found.confidence,
            judge=self.version,
            reason=_one_line(found.reason),
        )


class _NotAsked(ModelUnreachable):
    """The model was away for other pairs of the lesson, so it was not asked about this one."""


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """A question about one pair, and the label that its answer has to name. It is no id of ours, and no lesson can know it."""

    label: str
    prompt: Prompt


class _Asking:
    """What the threads of one lesson share: until when they may ask, and for how many pairs in a row the model was away."""

    def __init__(self, timeout_s: float | None) -> None:
        self._until = None if timeout_s is None else time.monotonic() + timeout_s
        self._away = 0
        self._lock = threading.Lock()

    def remaining_s(self) -> float | None:
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    def count(self, *, replied: bool) -> None:
        with self._lock:
            self._away = 0 if replied else self._away + 1

    @property
    def in_vain(self) -> bool:
        return self._away >= AWAY_AFTER


def _outcome(future: Future[_Answer]) -> _Answer | Exception:
    if future.cancelled() or not future.done():
        return ModelTimedOut("no answer before the deadline")
    error = future.exception()
    if error is None:
        return future.result()
    return error if isinstance(error, Exception) else ModelFailed("the question was broken off")


def _checked(answer: object, label: str) -> _Answer:
    """Returns an answer that fits the form and names the pair that was asked about; raises ModelMalformed."""
    try:
        checked = _Answer.model_validate(answer)
    except ValidationError:
        raise ModelMalformed("the answer does not fit the form of a verdict") from None  # it quotes what the model wrote
    if checked.pair != label:
        raise ModelMalformed("the answer is about another pair than the one that was asked about")
    return checked


def _one_line(text: str) -> str:
    """Returns the model's words as one short line without characters that nobody sees: they are shown, and never acted on."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= REASON_CHARACTERS else f"{line[: REASON_CHARACTERS - 1]}…"
