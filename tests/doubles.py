"""Models that tests steer: real implementations of the ports, never patches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tributary.core.decision import ScreenFinding, Verdict, VerdictKind
from tributary.core.errors import ModelFailed, TributaryError
from tributary.core.ports import Embedder, JudgedText, SpaceDefinition, Vector

Rule = Callable[[JudgedText, JudgedText], VerdictKind]


@dataclass
class RuledJudge:
    """Judges by a rule of the test's, after `delay_s`, and counts the pairs that it was asked about."""

    rule: Rule
    delay_s: float = 0.0
    confidence: float = 0.9
    asked: list[int] = field(default_factory=list)
    before: Callable[[], None] | None = None
    version: str = "ruled/1"

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        self.asked.append(len(candidates))
        if self.before is not None:
            self.before()
        if self.delay_s:
            time.sleep(self.delay_s)
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


class BrokenJudge:
    """A judge that cannot be reached."""

    version = "broken/1"

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        raise ModelFailed("the judge cannot be reached")


@dataclass
class WordScreen:
    """Holds back whatever contains `word`; fails when told to."""

    word: str = "HIJACK"
    fails: bool = False
    version: str = "word/1"

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        if self.fails:
            raise ModelFailed("the screen cannot be reached")
        caught = any(self.word in text for text in fields.values())
        return ScreenFinding(screen=self.version, reasons=("override",) if caught else ())


class SwitchedEmbedder:
    """An embedder that can be switched off, for texts with `word` in them alone where one is given."""

    def __init__(self, embedder: Embedder, *, word: str = "") -> None:
        self._embedder = embedder
        self._word = word
        self.fails = False
        self.failed = 0
        self.error: type[TributaryError] = ModelFailed

    @property
    def space(self) -> SpaceDefinition:
        return self._embedder.space

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        if self.fails and any(self._word in text for text in texts):
            self.failed += 1
            raise self.error("the embedder cannot be reached")
        return self._embedder.embed(texts)


class SetClock:
    """A clock that the test sets: real time plus an offset, or one that stands still."""

    def __init__(self, *, stands_at: datetime | None = None) -> None:
        self._stands_at = stands_at
        self._offset = timedelta()
        self._lock = threading.Lock()

    def __call__(self) -> datetime:
        with self._lock:
            return (self._stands_at or datetime.now(UTC)) + self._offset

    def advance(self, **by: float) -> None:
        with self._lock:
            self._offset += timedelta(**by)


def same_text_same_else_conflict(new: JudgedText, old: JudgedText) -> VerdictKind:
    return VerdictKind.SAME if new.text == old.text else VerdictKind.CONFLICTS


def all_unrelated(new: JudgedText, old: JudgedText) -> VerdictKind:
    return VerdictKind.SAME if new.text == old.text else VerdictKind.UNRELATED


def within_a_subject(new: JudgedText, old: JudgedText) -> VerdictKind:
    """Lessons of one subject conflict unless they say the same; others have nothing to do with each other."""
    together = new.subject is not None and new.subject == old.subject
    return same_text_same_else_conflict(new, old) if together else VerdictKind.UNRELATED
