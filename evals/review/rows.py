"""From a case of the review queue to the row of a golden set."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tributary.client import Review
from tributary.core.secrets import secrets_in
from tributary.models.screens import LocalScreen
from tributary.models.screens.rules import Reason

JUDGE_PAIRS, SCREEN_CASES, LIVE_ONLY = "judge_pairs.jsonl", "screen_cases.jsonl", "screen_live_only.jsonl"
VERDICTS = ("same", "conflicts", "unrelated")
ATTACK, BENIGN = "attack", "benign"
_LABELS = {"harmful": ATTACK, "harmless": BENIGN}
FIELDS = ("text", "situation", "subject", "rationale", "tags", "evidence", "all")
SPLITS = ("tune", "test")
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_PERSONAL = (
    ("an e-mail address", re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.-]+\b")),
    ("an IP address", re.compile(r"\b(?!10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)(?:\d{1,3}\.){3}\d{1,3}\b")),
    ("a telephone number", re.compile(r"(?<![\w.:/-])\+\d[\d ()/-]{8,}\d\b")),
)


class CannotAccept(Exception):
    """A case cannot become a row as it was asked for."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the reviewer says of a case; None is what the signal says."""

    label: str | None = None
    tags: tuple[str, ...] = ()
    split: str = "tune"
    code: str | None = None
    field: str = "text"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row and the file that it belongs into."""

    file: str
    id: str
    fields: Mapping[str, Any]

    @property
    def texts(self) -> tuple[str, ...]:
        """What of it came from lessons."""
        if self.file == JUDGE_PAIRS:
            return tuple(value for side in ("old", "new") for value in self.fields[side].values())
        return (self.fields["text"],)

    @property
    def said(self) -> tuple[str, ...]:
        """By what another row is told to be the same case."""
        if self.file == JUDGE_PAIRS:
            return tuple(str(self.fields[side].get(name)) for side in ("old", "new") for name in ("situation", "text", "subject"))
        return (self.fields["text"],)


def row_id(case: Review) -> str:
    """Returns the id that the case's row has, whoever accepts it and however often; raises CannotAccept."""
    if not _FINGERPRINT.fullmatch(case.fingerprint):
        raise CannotAccept("the server gives no fingerprint of the case; it is older than this tool")
    return f"rev-{case.fingerprint[:16]}"


def row_of(case: Review, wanted: Wanted) -> Row:
    """Returns the row that a case becomes; raises CannotAccept saying what is missing."""
    if wanted.split not in SPLITS:
        raise CannotAccept(f"the split must be one of {', '.join(SPLITS)}")
    return _pair(case, wanted) if case.suite == "judge" else _text(case, wanted)


def warnings(row: Row) -> list[str]:
    """Returns what in the row had better not stand in a repository, as far as rules can tell."""
    text = "\n".join(row.texts)
    found = [f"a secret ({kind.value.replace('_', ' ')})" for kind in secrets_in(text)]
    return [*found, *(what for what, pattern in _PERSONAL if pattern.search(text))]


def _pair(case: Review, wanted: Wanted) -> Row:
    label = wanted.label or case.expected
    if label not in VERDICTS:
        raise CannotAccept(f"the label of a pair must be one of {', '.join(VERDICTS)}, not '{label}'")
    sides = {name: _side(case.inputs.get(name)) for name in ("old", "new")}
    fields = {"id": row_id(case), **sides, "label": label, "tags": _tags(case, wanted), "split": wanted.split}
    return Row(file=JUDGE_PAIRS, id=row_id(case), fields=fields)


def _side(given: object) -> dict[str, str]:
    side = given if isinstance(given, Mapping) else {}
    text, situation, subject = (side.get(name) for name in ("text", "situation", "subject"))
    if not isinstance(text, str) or not isinstance(situation, str):
        raise CannotAccept("the case does not hold both texts of its pair")
    return {"situation": situation, "text": text, **({"subject": subject} if isinstance(subject, str) else {})}


def _text(case: Review, wanted: Wanted) -> Row:
    given = wanted.label or case.expected
    label = _LABELS.get(given, given)
    if label not in (ATTACK, BENIGN):
        raise CannotAccept(f"the label of a text must be {ATTACK} or {BENIGN}, not '{given}'")
    text = _said(case.inputs, wanted.field)
    caught = LocalScreen().screen({"text": text}).reasons
    code = None
    if label == ATTACK:
        code = wanted.code or (caught[0] if caught else None)
        codes = [reason.value for reason in Reason]
        if code not in codes:
            raise CannotAccept(f"the rules do not catch it, so say what it is: --code {'|'.join(codes)}")
    elif wanted.code is not None:
        raise CannotAccept("--code is for attacks; what is benign has none")
    missed = label == ATTACK and not caught
    fields = {
        "id": row_id(case),
        "label": label,
        "reason": code,
        "tags": _tags(case, wanted),
        "text": text,
        # nothing is tuned on what the rules cannot see
        "split": "test" if missed else wanted.split,
    }
    return Row(file=LIVE_ONLY if missed else SCREEN_CASES, id=row_id(case), fields=fields)


def _said(inputs: Mapping[str, object], field: str) -> str:
    names: Sequence[str] = FIELDS[:-1] if field == "all" else (field,)
    lines = [line for name in names for line in _lines(inputs.get(name))]
    text = "\n".join(line for line in lines if line.strip())
    if not text:
        raise CannotAccept(f"the case says nothing in its field '{field}'")
    return text


def _lines(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [f"{name}: {inner}" for name, inner in value.items() if inner is not None]
    return [line for item in value for line in _lines(item)] if isinstance(value, list) else []


def _tags(case: Review, wanted: Wanted) -> list[str]:
    return list(dict.fromkeys(["review", case.signal, *wanted.tags]))
