"""What a late answer of the judge comes to, when both lessons are believed already. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tributary.core.agent import Principal
from tributary.core.decision import Outcome, VerdictKind
from tributary.core.lesson import Draft
from tributary.core.outcome import Judged, claims_another_time, worth_a_challenge
from tributary.core.policy import Policy
from tributary.core.replacing import may_replace


@dataclass(frozen=True, kw_only=True)
class SecondAnswer:
    """What changes between the newer lesson and the others.

    same       the lesson that the newer one repeats: the newer one is retired, and nothing else is done about it
    replace    lessons that it contradicts and may replace: they are retired
    clear      lessons that it has nothing to do with: what was open between them is closed
    challenge  lessons with which it is to be looked at by a curator: a challenge is opened where none is open
    """

    same: UUID | None = None
    replace: tuple[UUID, ...] = ()
    clear: tuple[UUID, ...] = ()
    challenge: tuple[UUID, ...] = ()

    @property
    def outcome(self) -> Outcome:
        if self.same is not None:
            return Outcome.REINFORCED
        return Outcome.SUPERSEDED if self.replace else Outcome.LEARNED

    @property
    def reason(self) -> str:
        if self.same is not None:
            return "judged again: a believed lesson says the same"
        if self.replace:
            return f"judged again: it contradicts and replaces {len(self.replace)} believed lesson(s)"
        if self.challenge:
            return f"judged again: it may contradict {len(self.challenge)} believed lesson(s); a curator decides"
        return "judged again: nothing that was left open speaks against it"

    def kinds(self, answered: int) -> Counter[str]:
        """Counts pairs by what came of them."""
        found = Counter(
            same=int(self.same is not None),
            contradicted=len(self.replace),
            cleared=len(self.clear),
            challenged=len(self.challenge),
        )
        found["unchanged"] = answered - found.total()
        return +found


def second_answer(
    draft: Draft, writer: Principal, policy: Policy, judged: Sequence[Judged], *, open_with: frozenset[UUID], at: datetime
) -> SecondAnswer:
    """Returns what real answers about believed lessons come to. `open_with` are those with which a challenge is open.

    The rules are those of a learn, but that the newer lesson is believed already: where its author may not replace what it
    contradicts, both stay until a curator has decided.
    """
    same = [one for one in judged if _same(one) and not claims_another_time(draft, one.candidate.lesson, at)]
    if same:
        surest = max(same, key=lambda one: (one.verdict.confidence, one.candidate.lesson.lesson_id))
        return SecondAnswer(same=surest.candidate.lesson.lesson_id)
    against = [one for one in judged if _same(one) or one.verdict.kind is VerdictKind.CONFLICTS]
    replace = [one for one in against if may_replace(draft, writer, policy, one.candidate.lesson)]
    unsure = [one for one in judged if one.verdict.kind is VerdictKind.UNSURE and worth_a_challenge(draft, one)]
    doubtful = [one for one in against if one not in replace] + unsure
    return SecondAnswer(
        replace=_ids(replace),
        clear=tuple(one for one in _ids([j for j in judged if j.verdict.kind is VerdictKind.UNRELATED]) if one in open_with),
        challenge=tuple(one for one in _ids(doubtful) if one not in open_with),
    )


def _same(judged: Judged) -> bool:
    return judged.verdict.kind is VerdictKind.SAME


def _ids(judged: Sequence[Judged]) -> tuple[UUID, ...]:
    return tuple(one.candidate.lesson.lesson_id for one in judged)
