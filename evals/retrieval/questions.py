"""The questions, each labelled with the sections that answer it equally well; of three sets, each split in halves.

    answerable      asked as someone on call or an agent would: by identifier, by symptom, in other words than the runbook's
    superseded      the section that answers is replaced on the way by `replacement`, which says something else
    unanswerable    no section answers: `near` ones are from operations, `far` ones from elsewhere

They were written from reading the runbooks, not from what a search found. What is tuned is tuned on the split `tune`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

FILE = Path(__file__).parents[1] / "data" / "retrieval_questions.jsonl"
SPLITS = ("tune", "test")


class Set(StrEnum):
    ANSWERABLE = "answerable"
    SUPERSEDED = "superseded"
    UNANSWERABLE = "unanswerable"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """`right` names sections as file#heading; the sections of a superseded question are those before the change."""

    id: str
    set: Set
    question: str
    right: tuple[str, ...]
    replacement: str | None
    tags: tuple[str, ...]
    split: str

    @property
    def kind(self) -> str:
        """The set; of what has no answer, whether it is `near` or `far`."""
        return self.tags[0] if self.set is Set.UNANSWERABLE else self.set.value


def load(path: Path = FILE) -> list[Asked]:
    """Returns all questions, in file order."""
    return [_asked(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line]


def _asked(row: Mapping[str, object]) -> Asked:
    right, tags, replacement = row["right"], row["tags"], row.get("replacement")
    assert isinstance(right, list)
    assert isinstance(tags, list)
    return Asked(
        id=str(row["id"]),
        set=Set(str(row["set"])),
        question=str(row["question"]),
        right=tuple(right),
        replacement=None if replacement is None else str(replacement),
        tags=tuple(tags),
        split=str(row["split"]),
    )
