"""Cases for the review queue: what a golden set of the judge or the screen might learn from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from tributary.core.curation import Dispute, Signal
from tributary.core.decision import VerdictKind
from tributary.core.ids import new_id
from tributary.core.lesson import Lesson, Status

Case = Mapping[str, object]
"""One case as the schema's functions take it."""

JUDGE = "judge"
SCREEN = "screen"
HARMFUL = "harmful"
HARMLESS = "harmless"


def wrong_verdicts(dispute: Dispute) -> tuple[Case, ...]:
    """Returns a case for each pair of a dispute whose two sides do not contradict each other after all."""
    found = str(VerdictKind.CONFLICTS if dispute.kind == "conflict" else VerdictKind.UNSURE)
    return tuple(
        pair_case(
            Signal.BOTH_STAND,
            old=one,
            new=_side(dispute.contender),
            new_lesson=dispute.contender,
            found=found,
            expected=VerdictKind.UNRELATED.value,
        )
        for one in dispute.about
        if one.status is not Status.ERASED and dispute.contender.status is not Status.ERASED
    )


def screened_case(signal: Signal, lesson: Lesson, *, held: bool, note: str | None = None) -> Case:
    """Returns the case of a text that the screen should have found harmful or harmless, as the signal says.

    `held` tells whether it was held back; a report says that this was wrong.
    """
    expected = HARMLESS if signal is Signal.RELEASED or (signal is Signal.REPORTED and held) else HARMFUL
    inputs = {
        "text": lesson.text,
        "situation": lesson.situation,
        "subject": lesson.subject,
        "rationale": lesson.rationale,
        "tags": dict(lesson.tags),
        "evidence": [{"type": one.type, "ref": one.ref, "note": one.note} for one in lesson.evidence],
    }
    return _case(signal, SCREEN, inputs, found=HARMFUL if held else HARMLESS, expected=expected, lessons=[lesson], note=note)


def pair_case(
    signal: Signal,
    *,
    old: Lesson,
    new: Mapping[str, object],
    new_lesson: Lesson,
    found: str,
    expected: str,
    note: str | None = None,
) -> Case:
    """Returns the case of a pair on which the judge was wrong; `new_lesson` stands for what `new` says."""
    inputs = {"old": _side(old), "new": dict(new)}
    return _case(signal, JUDGE, inputs, found=found, expected=expected, lessons=[old, new_lesson], note=note)


def side_of(said: Mapping[str, object]) -> Mapping[str, object]:
    """Returns what a judge is shown of a lesson or a draft, by field."""
    return {name: said.get(name) for name in ("situation", "text", "subject")}


def _side(lesson: Lesson) -> Mapping[str, object]:
    return {"situation": lesson.situation, "text": lesson.text, "subject": lesson.subject}


def _case(
    signal: Signal,
    suite: str,
    inputs: Mapping[str, object],
    *,
    found: str,
    expected: str,
    lessons: Iterable[Lesson],
    note: str | None,
) -> Case:
    written = json.dumps([suite, inputs], sort_keys=True, ensure_ascii=False).encode()
    return {
        "review_id": str(new_id()),
        "signal": signal.value,
        "suite": suite,
        "fingerprint": hashlib.sha256(written).hexdigest(),
        "inputs": inputs,
        "found": found,
        "expected": expected,
        "note": note,
        "lesson_ids": sorted({str(one.lesson_id) for one in lessons}),
    }
