"""From verdicts to the outcome of a learn: pure, so that it can be re-derived whenever a standing changed meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeVar
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.confidence import lapsed, not_yet_valid
from tributary.core.decision import Outcome, Verdict, VerdictKind
from tributary.core.errors import Corrupt
from tributary.core.lesson import Draft, How, Lesson, Status
from tributary.core.normal import subject_key

Checked = TypeVar("Checked")

CHALLENGE_SIMILARITY = 0.6
"""An `unsure` verdict about a lesson with no common subject is shown as a challenge from this similarity up."""


class Equals(StrEnum):
    """What a conflict between sources of equal rank comes to."""

    DISPUTE = "dispute"
    NEWEST_OBSERVATION = "newest_observation"


@dataclass(frozen=True, kw_only=True)
class Precedence:
    """Lessons whose source is `how` (with evidence, when `with_evidence`) outrank those whose source is one of `over`."""

    how: How
    with_evidence: bool
    over: frozenset[How]

    def holds(self, draft: Draft, old: Lesson) -> bool:
        evident = bool(draft.evidence) or not self.with_evidence
        return draft.source.how is self.how and evident and old.source.how in self.over


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Which source outranks which in a tribe; `version` counts its changes."""

    version: int = 1
    precedence: tuple[Precedence, ...] = (
        Precedence(how=How.OBSERVED, with_evidence=True, over=frozenset({How.IMPORTED, How.TOLD})),
    )
    equals: Equals = Equals.DISPUTE

    def outranks(self, draft: Draft, old: Lesson) -> bool:
        if any(rule.holds(draft, old) for rule in self.precedence):
            return True
        both_observed = draft.source.how is How.OBSERVED and old.source.how is How.OBSERVED
        return self.equals is Equals.NEWEST_OBSERVATION and both_observed

    @classmethod
    def from_document(cls, version: int, document: Mapping[str, object]) -> Policy:
        """Returns the policy stored as `{"precedence": [{"how", "with_evidence", "over"}], "equals"}`; {} is the default.

        Raises Corrupt when it is stored otherwise.
        """
        default = cls(version=version)
        try:
            stored = document.get("precedence")
            precedence = default.precedence if stored is None else tuple(map(_precedence, _checked(stored, list)))
            return cls(version=version, precedence=precedence, equals=Equals(str(document.get("equals", default.equals))))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Corrupt("the tribe's stored policy is not what it should be; store {} for the default one") from None


def _precedence(rule: Mapping[str, object]) -> Precedence:
    return Precedence(
        how=How(str(rule["how"])),
        with_evidence=_checked(rule["with_evidence"], bool),
        over=frozenset(How(one) for one in _checked(rule["over"], list)),
    )


def _checked(value: object, kind: type[Checked]) -> Checked:
    if not isinstance(value, kind):
        raise TypeError(f"not a {kind.__name__}")
    return value


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A lesson that the new one might repeat or contradict.

    `similarity` is None when it has no vector in the learner's space. `confirmed_by_writer` tells whether the writer counts
    for it already, as its author or by an earlier confirmation. `dispute_id` is its own open dispute, if it is disputed;
    `opponents` are the believed lessons that an earlier verdict made its rivals.
    """

    lesson: Lesson
    similarity: float | None
    confirmed_by_writer: bool
    dispute_id: UUID | None = None
    opponents: frozenset[UUID] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Judged:
    candidate: Candidate
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a learn would do to the tribe's beliefs, if nothing that it depends on has changed since.

    confirm     the lesson that this one repeats (outcome reinforced, unchanged, or joining a disputed or pending one)
    supersede   active lessons that it replaces
    dispute     active lessons that it contradicts and may not replace
    challenge   active lessons that it may contradict
    settle      disputed lessons that say the same as this now believed one
    contend     open disputes whose contender contradicts this now believed one
    rivals      every lesson that a verdict called conflicting, whatever its status
    lapse       active lessons that time ended, to be stamped
    """

    outcome: Outcome
    reason: str
    confirm: UUID | None = None
    supersede: tuple[UUID, ...] = ()
    dispute: tuple[UUID, ...] = ()
    challenge: tuple[UUID, ...] = ()
    settle: tuple[UUID, ...] = ()
    contend: tuple[UUID, ...] = ()
    rivals: tuple[UUID, ...] = ()
    lapse: tuple[UUID, ...] = ()


@dataclass(frozen=True)
class _Sides:
    """Verdicts by kind, split by what the candidate's standing is."""

    same: list[Judged] = field(default_factory=list)
    conflicts: list[Judged] = field(default_factory=list)
    unsure: list[Judged] = field(default_factory=list)


def plan_outcome(draft: Draft, writer: Principal, policy: Policy, judged: Sequence[Judged], *, at: datetime) -> Plan:
    """Returns what the verdicts come to for this writer under this policy, at the instant `at` (DESIGN 4, step 6)."""
    gone = tuple(j.candidate.lesson.lesson_id for j in judged if _lapsed(j, at))
    standing = [j for j in judged if not _lapsed(j, at)]
    active = _split(j for j in standing if j.candidate.lesson.status is Status.ACTIVE)
    disputed = _split(j for j in standing if j.candidate.lesson.status is Status.DISPUTED)
    pending = _split(j for j in standing if j.candidate.lesson.status is Status.PENDING)
    rivals = _ids(active.conflicts + disputed.conflicts + pending.conflicts)
    restated = [j for j in active.same if _claims_another_time(draft, j.candidate.lesson, at)]
    if len(restated) == len(active.same):
        # equal words for another time are another claim: they replace or dispute the first, as any contradiction would
        active = replace(active, same=[], conflicts=active.conflicts + restated)

    if active.same:
        return _repeat(_surest(active.same), lapse=gone)
    if active.conflicts and not _may_replace(draft, writer, policy, active.conflicts):
        if disputed.same:
            return _join(_surest(disputed.same), lapse=gone)
        return Plan(
            outcome=Outcome.DISPUTED,
            reason=f"contradicts {_count(active.conflicts)} that this writer may not replace; a curator decides",
            dispute=_ids(active.conflicts),
            rivals=rivals,
            lapse=gone,
        )
    if pending.same and not active.conflicts:
        return _join(_surest(pending.same), lapse=gone)
    if not active.conflicts and (opposed := [j for j in disputed.same if j.candidate.opponents.difference(gone)]):
        return _join(_surest(opposed), lapse=gone)
    challenge = _ids([j for j in active.unsure if _worth_a_challenge(draft, j)])
    replaces = bool(active.conflicts)
    reason = _why_replaced(draft, writer, policy, active.conflicts) if replaces else "nothing known says the same or the opposite"
    if disputed.same and not replaces:
        reason = "was disputed, and nothing that is believed speaks against it any more"
    if challenge and not replaces:
        reason = f"kept, but it may contradict {len(challenge)} believed lesson(s)"
    return Plan(
        outcome=Outcome.SUPERSEDED if replaces else Outcome.LEARNED,
        reason=reason,
        supersede=_ids(active.conflicts),
        challenge=challenge,
        settle=_ids(disputed.same),
        contend=tuple(j.candidate.dispute_id for j in disputed.conflicts if j.candidate.dispute_id is not None),
        rivals=rivals,
        lapse=gone,
    )


def _claims_another_time(draft: Draft, known: Lesson, at: datetime) -> bool:
    """Tells whether the draft claims to hold at a time that `known` does not, or the other way round.

    A draft that names no time says that it holds now, which a lesson that is valid now says, too.
    """
    if (draft.valid_from, draft.valid_until) == (known.valid_from, known.valid_until):
        return False
    names_no_time = draft.valid_from is None and draft.valid_until is None
    return not names_no_time or not_yet_valid(known, at=at)


def _lapsed(judged: Judged, at: datetime) -> bool:
    lesson = judged.candidate.lesson
    return lesson.status is Status.ACTIVE and lapsed(lesson, at=at)


def _split(judged: Iterable[Judged]) -> _Sides:
    sides = _Sides()
    by_kind = {
        VerdictKind.SAME: sides.same,
        VerdictKind.CONFLICTS: sides.conflicts,
        VerdictKind.UNSURE: sides.unsure,
        VerdictKind.UNRELATED: [],
    }
    for one in judged:
        by_kind[one.verdict.kind].append(one)
    return sides


def _repeat(known: Judged, *, lapse: tuple[UUID, ...]) -> Plan:
    lesson_id = known.candidate.lesson.lesson_id
    if known.candidate.confirmed_by_writer:
        reason = "this agent already counts for the same lesson"
        return Plan(outcome=Outcome.UNCHANGED, reason=reason, confirm=lesson_id, lapse=lapse)
    return Plan(outcome=Outcome.REINFORCED, reason="another agent found the same", confirm=lesson_id, lapse=lapse)


def _join(known: Judged, *, lapse: tuple[UUID, ...]) -> Plan:
    status = known.candidate.lesson.status
    outcome = Outcome.DISPUTED if status is Status.DISPUTED else Outcome.PENDING
    reason = f"the same was said before and is {status}"
    return Plan(outcome=outcome, reason=reason, confirm=known.candidate.lesson.lesson_id, lapse=lapse)


def _may_replace(draft: Draft, writer: Principal, policy: Policy, conflicts: Sequence[Judged]) -> bool:
    if writer.role is Role.CURATOR:
        return True
    lessons = [j.candidate.lesson for j in conflicts]
    return all(old.agent_id == writer.agent_id or policy.outranks(draft, old) for old in lessons)


def _why_replaced(draft: Draft, writer: Principal, policy: Policy, conflicts: Sequence[Judged]) -> str:
    lessons = [j.candidate.lesson for j in conflicts]
    own = [old.agent_id == writer.agent_id for old in lessons]
    outranked = [policy.outranks(draft, old) for old in lessons]
    if all(own):
        why = "its own author says otherwise now"
    elif all(outranked):
        why = "its source outranks theirs"
    elif all(mine or lesser for mine, lesser in zip(own, outranked, strict=True)):
        why = "its author says otherwise now, and its source outranks the others'"
    else:
        why = "a curator says otherwise"
    return f"replaces {_count(conflicts)}: {why}"


def _worth_a_challenge(draft: Draft, judged: Judged) -> bool:
    candidate = judged.candidate
    shared = subject_key(draft.subject)
    if shared is not None and shared == subject_key(candidate.lesson.subject):
        return True
    return candidate.similarity is not None and candidate.similarity >= CHALLENGE_SIMILARITY


def _surest(judged: Sequence[Judged]) -> Judged:
    return max(judged, key=lambda j: (j.verdict.confidence, j.candidate.lesson.lesson_id))


def _ids(judged: Sequence[Judged]) -> tuple[UUID, ...]:
    return tuple(j.candidate.lesson.lesson_id for j in judged)


def _count(judged: Sequence[Judged]) -> str:
    return "a believed lesson" if len(judged) == 1 else f"{len(judged)} believed lessons"
