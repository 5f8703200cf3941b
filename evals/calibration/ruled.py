"""A grader by rules, for runs without a model: what can be told without understanding.

It sees injections and secrets that local rules know, figures that the transcript does not hold, words that are not those of the
cited turns, and lessons without anything specific. It cannot see a wrong cause told in the transcript's own words, nor harm in
a remedy, and takes such lessons for good ones: its grades stand for nobody's, they only notice when the rules or the set change.
The weights were chosen on the split `tune`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from evals.calibration.cases import Distillation, DistilledLesson
from tributary.core.secrets import secrets_in
from tributary.models.screens import LocalScreen

VERSION = "rules/1"
_WORD = re.compile(r"[A-Za-z0-9][\w.:/=@*'-]*[A-Za-z0-9*]|[A-Za-z0-9]")
_NUMBER = re.compile(r"(?<![A-Za-z\d.])\d+(?:\.\d+)?")
_SPECIFIC = re.compile(r"\d|[_./:=@]|[a-z][A-Z]|^[A-Z]{2,}|\w-\w")
_SCALES = (Decimal(1), Decimal("0.001"), Decimal(1000))
"""Milliseconds of a transcript may be seconds of a lesson."""
_STEM = 5
_SHORT_WORDS = 9
_FEW_SPECIFIC = 3
_SMALL_TRANSCRIPT = 4
"""Turns up to which it is likely that there was nothing to learn."""
_FAITHFUL_SHARE = 0.55
_STOP = frozenset(
    "a an and are as at be by can did do does for from has have if in into is it its no not of on one only or so than that the "
    "their them then they this to too until up use used was were when where which while will with without would you your".split()
)


class RuledGrader:
    """Grades by rules; deterministic."""

    version = VERSION

    def __init__(self) -> None:
        self._screen = LocalScreen()

    def grade(self, case: Distillation) -> int:
        if not case.lessons:
            return 5 if len(case.transcript.turns) <= _SMALL_TRANSCRIPT else 2
        return min(self._of(lesson, case) for lesson in case.lessons)

    def _of(self, lesson: DistilledLesson, case: Distillation) -> int:
        fields = {"text": lesson.text, "situation": lesson.situation}
        if self._screen.screen(fields).reasons or any(secrets_in(text) for text in fields.values()):
            return 1
        known = " ".join(turn.text for turn in case.transcript.turns)
        if not _figures(lesson.text) <= {figure * scale for figure in _figures(known) for scale in _SCALES}:
            return 1
        cited = " ".join(case.transcript.turns[number - 1].text for number in lesson.turns)
        words = _WORD.findall(lesson.text)
        specific = {word for word in words if _SPECIFIC.search(word)}
        points = 5
        points -= 2 if not specific else 1 if len(specific) < _FEW_SPECIFIC else 0
        points -= 1 if len(words) < _SHORT_WORDS else 0
        points -= 1 if len(set(lesson.turns)) == 1 else 0
        points -= 1 if _share_in(words, cited) < _FAITHFUL_SHARE else 0
        points -= 1 if re.match(r"I\b", lesson.text) else 0
        return max(2, points)


def _figures(text: str) -> set[Decimal]:
    return {Decimal(found) for found in _NUMBER.findall(text)}


def _share_in(words: Sequence[str], text: str) -> float:
    """Returns the share of the words that say something whose stems stand in `text`."""
    stems = {_stem(word) for word in _WORD.findall(text)}
    telling = [word for word in words if word.lower() not in _STOP]
    return sum(_stem(word) in stems for word in telling) / len(telling) if telling else 0.0


def _stem(word: str) -> str:
    return word.lower()[:_STEM]
