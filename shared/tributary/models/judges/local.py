"""The judge that needs no model: rules over what separates the same from the opposite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tributary.core.decision import Verdict, VerdictKind
from tributary.core.ports import JudgedText
from tributary.models.judges.exact import told_apart
from tributary.models.judges.settle import settle
from tributary.models.judges.side import side_of

VERSION = "local-rules/6"


class LocalJudge:
    """Judges pairs by rules; deterministic, without I/O, so that it can neither fail nor time out."""

    @property
    def version(self) -> str:
        return VERSION

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        """Returns one verdict a candidate, in order. `timeout_s` is not needed: a pair takes well under a millisecond."""
        side = side_of(new)
        verdicts: list[Verdict] = []
        for candidate in candidates:
            finding = settle(side_of(candidate), side)
            if finding.kind is VerdictKind.SAME and told_apart(new.text, candidate.text):
                finding = replace(finding, kind=VerdictKind.UNSURE, confidence=0.5, reason="an option, unit or exponent differs")
            verdicts.append(
                Verdict(
                    lesson_id=candidate.lesson_id,
                    kind=finding.kind,
                    confidence=finding.confidence,
                    judge=VERSION,
                    reason=finding.reason,
                )
            )
        return verdicts
