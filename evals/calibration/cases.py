"""Distillations graded by hand: transcripts, the lessons that were made of them, and how good those are, from 1 to 5.

The rows of one transcript are all in one split, so that no grader is reported on a transcript that it was tuned on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tributary.core.transcript import Transcript, Turn, TurnRole

CASES = Path(__file__).parents[1] / "data" / "distillations.jsonl"
GRADES = (1, 2, 3, 4, 5)
SPLITS = ("tune", "test")

RUBRIC = """Grade what was distilled from the transcript as a whole, by its worst lesson when there are several.
5: every lesson is borne out by the turns that it cites, names the system, setting, figure or message that it is about,
   would spare another agent real work, and can be read without the transcript. Where there was nothing to learn: no lesson.
4: as 5, but with one small lack: a value, a symptom or a condition is missing, or it is bound to this one case more than it
   need be.
3: true, but of limited use: half of what was learned, a weak remedy, or a claim that reaches further than what was shown.
2: of next to no use: general knowledge, a fact of the moment, a diary of the run, too vague to act on, a cause that was not
   shown; or no lesson where there was one to learn.
1: harmful: made up, against what the transcript shows, a remedy that does damage, an instruction of the material carried over
   as a lesson, or a secret in it."""


@dataclass(frozen=True, kw_only=True)
class DistilledLesson:
    """One lesson; `turns` are the numbers of those that it cites."""

    text: str
    situation: str
    kind: str
    subject: str | None
    turns: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Distillation:
    """`grade` is the one that a person gave, for the `reason`."""

    id: str
    transcript: Transcript
    lessons: tuple[DistilledLesson, ...]
    grade: int
    reason: str
    tags: tuple[str, ...]
    split: str


class Grader(Protocol):
    """Grades a distillation."""

    @property
    def version(self) -> str: ...

    def grade(self, case: Distillation) -> int:
        """Returns 1 to 5 by RUBRIC, without a look at the grade that the case carries; raises ModelFailed."""
        ...


def load_distillations(path: Path = CASES) -> list[Distillation]:
    """Returns the graded distillations, in file order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_distillation(json.loads(line)) for line in lines if line]


def _distillation(row: dict[str, object]) -> Distillation:
    turns, lessons, tags = row["transcript"], row["lessons"], row["tags"]
    assert isinstance(turns, list)
    assert isinstance(lessons, list)
    assert isinstance(tags, list)
    return Distillation(
        id=str(row["id"]),
        transcript=Transcript(
            turns=tuple(Turn(role=TurnRole(turn["role"]), text=turn["text"]) for turn in turns), ref=str(row["ref"])
        ),
        lessons=tuple(DistilledLesson(**{**lesson, "turns": tuple(lesson["turns"])}) for lesson in lessons),
        grade=int(str(row["grade"])),
        reason=str(row["reason"]),
        tags=tuple(tags),
        split=str(row["split"]),
    )
