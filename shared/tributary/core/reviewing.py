"""Cases for the review queue: what a golden set of the judge or the screen might learn from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from uuid import UUID

from tributary.core.curation import Dispute, Signal
from tributary.core.decision import Verdict, VerdictKind
from tributary.core.ids import new_id
from tributary.core.lesson import Draft, Lesson, Status

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
            new=side_of(dispute.contender),
            new_lesson=dispute.contender.lesson_id,
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
    return _case(
        signal, SCREEN, inputs, found=HARMFUL if held else HARMLESS, expected=expected, lessons=[lesson.lesson_id], note=note
    )


def pair_case(
    signal: Signal,
    *,
    old: Lesson,
    new: Mapping[str, object],
    new_lesson: UUID,
    found: str,
    expected: str,
    note: str | None = None,
) -> Case:
    """Returns the case of a pair on which the judge was wrong; `new_lesson` stands for what `new` says."""
    inputs = {"old": side_of(old), "new": dict(new)}
    return _case(signal, JUDGE, inputs, found=found, expected=expected, lessons=[old.lesson_id, new_lesson], note=note)


def overruled_case(verdict: Verdict, *, old: Lesson, new: Draft, new_lesson: UUID) -> Case | None:
    """Returns the case of a pair about which the strong tier said another thing than the cheap one; None when it did not.

    Only two answers can speak against each other: a tier that was unsure, or away, said nothing that is wrong.
    """
    first = verdict.first
    if first is None or first.no_answer or verdict.no_answer:
        return None
    if first.kind is verdict.kind or VerdictKind.UNSURE in (first.kind, verdict.kind):
        return None
    return pair_case(
        Signal.OVERRULED,
        old=old,
        new=side_of(new),
        new_lesson=new_lesson,
        found=first.kind.value,
        expected=verdict.kind.value,
    )


def side_of(said: Lesson | Draft) -> Mapping[str, object]:
    """Returns what a judge is shown of a lesson or a draft, by field."""
    return {"situation": said.situation, "text": said.text, "subject": said.subject}


def _case(
    signal: Signal,
    suite: str,
    inputs: Mapping[str, object],
    *,
    found: str,
    expected: str,
    lessons: Iterable[UUID],
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
        "lesson_ids": sorted({str(one) for one in lessons}),
    }
