"""From verdicts to the outcome of a learn: pure, so that it can be re-derived whenever a standing changed meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.confidence import lapsed, not_yet_valid, shown_confidence
from tributary.core.curation import Ending, Rejection
from tributary.core.decision import NoAnswer, Outcome, Verdict, VerdictKind
from tributary.core.ids import Prefix, show
from tributary.core.lesson import Draft, Lesson, Status
from tributary.core.normal import subject_key
from tributary.core.policy import Policy
from tributary.core.replacing import counted, may_replace_all, why_replaced

CHALLENGE_SIMILARITY = 0.6
"""An `unsure` verdict about a lesson with no common subject is shown as a challenge from this similarity up."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A lesson that the new one might repeat or contradict.

    `similarity` is None when it has no vector in the learner's space. `confirmed_by_writer` tells whether the writer counts
    for it already, as its author or by an earlier confirmation. `dispute_id` is its own open dispute, if it is disputed;
    `opponents` are the believed lessons that an earlier verdict made its rivals. `rejected_as` tells that a curator rejected it.
    """

    lesson: Lesson
    similarity: float | None
    confirmed_by_writer: bool
    dispute_id: UUID | None = None
    opponents: frozenset[UUID] = frozenset()
    rejected_as: Rejection | None = None


@dataclass(frozen=True, kw_only=True)
class Judged:
    candidate: Candidate
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a learn would do to the tribe's beliefs, if nothing that it depends on has changed since.

    confirm     the lesson that this one repeats (outcome reinforced, unchanged, or joining a disputed or pending one)
    supersede   active lessons that it replaces
    dispute     active lessons that it (or the disputed lesson joined in its place) contradicts and may not replace
    challenge   active lessons that it (or the lesson confirmed in its place) may contradict
    settle      disputed lessons that say the same as this now believed one
    contend     open disputes whose contender contradicts this now believed one
    rivals      every lesson that a verdict called conflicting, whatever its status
    lapse       active lessons that time ended, to be stamped
    retire      active lessons that a curator's word ends though nothing new takes their place
    overturn    lessons that a curator had rejected and that say the same as what is accepted now
    precedent   the lesson that a curator rejected when the same was said before
    confidence_at_most   what the new lesson's confidence is bounded by
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
    retire: tuple[UUID, ...] = ()
    overturn: tuple[UUID, ...] = ()
    precedent: UUID | None = None
    confidence_at_most: float | None = None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a decision is about besides a new lesson's own words.

    `ending` is how a curator ends the dispute of the lesson; `against` are the believed lessons that the writer speaks against,
    `replaces` those among them whose place it takes, whatever time either claims to hold at; `released` tells
    that a curator lets a held back lesson in, `stored` that the lesson is stored already.
    """

    ending: Ending | None = None
    against: frozenset[UUID] = frozenset()
    replaces: frozenset[UUID] = frozenset()
    released: bool = False
    stored: bool = False


PLAINLY = Asked()


@dataclass(frozen=True)
class _Sides:
    """Verdicts by kind, split by what the candidate's standing is."""

    same: list[Judged] = field(default_factory=list)
    conflicts: list[Judged] = field(default_factory=list)
    unsure: list[Judged] = field(default_factory=list)


def plan_outcome(
    draft: Draft, writer: Principal, policy: Policy, judged: Sequence[Judged], *, at: datetime, asked: Asked = PLAINLY
) -> Plan:
    """Returns what the verdicts come to for this writer under this policy, at the instant `at` (DESIGN 4, step 6)."""
    gone = tuple(j.candidate.lesson.lesson_id for j in judged if _lapsed(j, at))
    standing = [j for j in judged if not _lapsed(j, at)]
    disputed = _split(j for j in standing if j.candidate.lesson.status is Status.DISPUTED)
    known = _Known(
        active=_active(draft, standing, disputed, at, asked.replaces),
        disputed=disputed,
        pending=_split(j for j in standing if j.candidate.lesson.status is Status.PENDING),
        rejected=_split(j for j in standing if j.candidate.rejected_as is not None),
        gone=gone,
    )
    restated = [j for j in known.active.same if claims_another_time(draft, j.candidate.lesson, at) and not _over(draft, at)]
    capped = None
    if len(restated) == len(known.active.same):
        # equal words for another time are another claim: they replace or dispute the first, as any contradiction would
        known = replace(known, active=replace(known.active, same=[], conflicts=known.active.conflicts + restated))
        # but an author gains nothing by saying the same again
        own = [j.candidate.lesson for j in restated if j.candidate.lesson.agent_id == writer.agent_id]
        capped = min((shown_confidence(one, at=at) for one in own), default=None)
        if asked.stored and capped is not None and capped < draft.confidence:
            return _repeat(_surest(restated), lapse=gone)  # what a stored lesson says, its confidence too, never changes

    if asked.ending is None:
        plan = _answered_by_the_known(draft, writer, policy, known, asked)
        if plan is not None:
            return plan
    elif known.active.same:
        return _stood_for(known, asked.ending)
    return replace(_believed(draft, writer, policy, known, asked.ending), confidence_at_most=capped)


def _over(draft: Draft, at: datetime) -> bool:
    """Tells whether what the draft claims is over already: it says nothing of what holds now."""
    return draft.valid_until is not None and draft.valid_until <= at


def _active(draft: Draft, standing: Sequence[Judged], disputed: _Sides, at: datetime, replaces: frozenset[UUID]) -> _Sides:
    """Splits the believed candidates by verdict.

    What opposes a disputed lesson that says the same opposes this one. A claim about another time contradicts nothing, but it
    does replace what its writer says.
    """
    sides = _split(j for j in standing if j.candidate.lesson.status is Status.ACTIVE)
    opponents = frozenset[UUID]().union(*(j.candidate.opponents for j in disputed.same))
    contradicted = {j.candidate.lesson.lesson_id for j in sides.conflicts + sides.same}
    opposed = [
        j
        for j in standing
        if j.candidate.lesson.lesson_id in opponents
        and j.candidate.lesson.status is Status.ACTIVE
        and j.candidate.lesson.lesson_id not in contradicted
    ]
    conflicts = [
        j
        for j in sides.conflicts + opposed
        if j.candidate.lesson.lesson_id in replaces or not (_over(draft, at) or _apart(draft, j.candidate.lesson))
    ]
    ids = {j.candidate.lesson.lesson_id for j in opposed}
    unsure = [j for j in sides.unsure if j.candidate.lesson.lesson_id not in ids and not _over(draft, at)]
    return replace(sides, conflicts=conflicts, unsure=unsure)


def _apart(draft: Draft, known: Lesson) -> bool:
    """Tells whether the two claim to hold at times that have nothing in common; without a bound there is no end on that side."""
    before = draft.valid_until is not None and known.valid_from is not None and draft.valid_until <= known.valid_from
    after = known.valid_until is not None and draft.valid_from is not None and known.valid_until <= draft.valid_from
    return before or after


@dataclass(frozen=True, kw_only=True)
class _Known:
    """The candidates by standing and verdict; `gone` are those that time ended."""

    active: _Sides
    disputed: _Sides
    pending: _Sides
    rejected: _Sides
    gone: tuple[UUID, ...]

    @property
    def rivals(self) -> tuple[UUID, ...]:
        return _ids(self.active.conflicts + self.disputed.conflicts + self.pending.conflicts)


def _answered_by_the_known(draft: Draft, writer: Principal, policy: Policy, known: _Known, asked: Asked) -> Plan | None:
    """Returns the plan when the lesson will not be believed as one of its own, None when it will."""
    active, disputed, pending, gone = known.active, known.disputed, known.pending, known.gone
    if active.same:
        contested = [j for j in active.conflicts if j.candidate.lesson.lesson_id in asked.against]
        ends = may_replace_all(draft, writer, policy, _lessons(contested))
        return replace(
            _repeat(_surest(active.same), lapse=gone),
            challenge=() if ends else _ids(contested),
            retire=_ids(contested) if ends else (),
        )
    if rejected := [j for j in known.rejected.same if not (asked.released and _as_injection(j))]:
        return _rejected_before(_surest(rejected), known)
    unsure = [j for j in known.rejected.unsure if not (asked.released and _as_injection(j))]
    if perhaps := [j for j in unsure if worth_a_challenge(draft, j)]:
        return _perhaps_rejected(_surest(perhaps), known)
    if active.conflicts and not may_replace_all(draft, writer, policy, _lessons(active.conflicts)):
        if disputed.same:
            return replace(_join(_surest(disputed.same), lapse=gone), dispute=_ids(active.conflicts))
        return Plan(
            outcome=Outcome.DISPUTED,
            reason=f"contradicts {counted(active.conflicts)} that this writer may not replace; a curator decides",
            dispute=_ids(active.conflicts),
            rivals=known.rivals,
            lapse=gone,
        )
    if pending.same and not active.conflicts and writer.role is not Role.CURATOR:
        # a curator's word does not wait for what a writer said to be judged as a writer's
        return _join(_surest(pending.same), lapse=gone)
    if not active.conflicts and (opposed := [j for j in disputed.same if j.candidate.opponents.difference(gone)]):
        return _join(_surest(opposed), lapse=gone)
    return None


def _rejected_before(record: Judged, known: _Known) -> Plan:
    """Answers from the record: what a curator rejected is held back, or disputed again with a pointer to it."""
    named = show(Prefix.LESSON, record.candidate.lesson.lesson_id)
    if _as_injection(record):
        return _held_back(f"a curator retired the same as an injection: {named}", known)
    if record.candidate.confirmed_by_writer and not known.disputed.same:
        lesson_id = record.candidate.lesson.lesson_id
        reason = f"a curator rejected the same when this agent said it before: {named}"
        return Plan(outcome=Outcome.DISPUTED, reason=reason, confirm=lesson_id, lapse=known.gone, precedent=lesson_id)
    return _disputed_again(f"a curator rejected the same before: {named}; a curator decides again", record, known)


def _perhaps_rejected(record: Judged, known: _Known) -> Plan:
    """What may be what a curator rejected is not silently believed either, least of all because no judge could be asked."""
    named = show(Prefix.LESSON, record.candidate.lesson.lesson_id)
    if _as_injection(record):
        return _held_back(f"it may be what a curator retired as an injection: {named}", known)
    return _disputed_again(f"it may be what a curator rejected before: {named}; a curator decides", record, known)


def _as_injection(record: Judged) -> bool:
    return record.candidate.rejected_as is Rejection.INJECTION


def _held_back(reason: str, known: _Known) -> Plan:
    return Plan(outcome=Outcome.QUARANTINED, reason=reason, lapse=known.gone)


def _disputed_again(reason: str, record: Judged, known: _Known) -> Plan:
    """Joins the dispute in which the same is said already, or opens one against all that stood against the rejected lesson."""
    if known.disputed.same:
        return replace(_join(_surest(known.disputed.same), lapse=known.gone), dispute=_ids(known.active.conflicts))
    against = dict.fromkeys(_ids(known.active.conflicts))
    against.update(dict.fromkeys(sorted(record.candidate.opponents.difference(known.gone))))
    return Plan(
        outcome=Outcome.DISPUTED,
        reason=reason,
        dispute=tuple(against),
        rivals=known.rivals,
        lapse=known.gone,
        precedent=record.candidate.lesson.lesson_id,
    )


def _stood_for(known: _Known, ending: Ending) -> Plan:
    """A curator's word about a lesson that another, believed one has come to say in the meantime."""
    stands = _surest(known.active.same)
    return Plan(
        outcome=Outcome.REINFORCED,
        reason="another believed lesson says the same by now",
        confirm=stands.candidate.lesson.lesson_id,
        retire=_ids(known.active.conflicts) if ending is Ending.ACCEPTED else (),
        overturn=_ids(known.rejected.same),
        lapse=known.gone,
    )


def _believed(draft: Draft, writer: Principal, policy: Policy, known: _Known, ending: Ending | None) -> Plan:
    """The lesson is believed, in place of what it contradicts. A wrong verdict that is annulled replaces nothing."""
    conflicts = known.active.conflicts
    if ending is Ending.BOTH_STAND and conflicts:
        return Plan(
            outcome=Outcome.DISPUTED,
            reason=f"the verdict was wrong, but it contradicts {counted(conflicts)} that the dispute was not about",
            dispute=_ids(conflicts),
            rivals=known.rivals,
            lapse=known.gone,
        )
    challenge = _ids([j for j in known.active.unsure if worth_a_challenge(draft, j)])
    return Plan(
        outcome=Outcome.SUPERSEDED if conflicts else Outcome.LEARNED,
        reason=_why_believed(draft, writer, policy, known, ending, challenges=len(challenge)) + _unanswered(known),
        supersede=_ids(conflicts),
        challenge=challenge,
        settle=_ids(known.disputed.same),
        contend=tuple(j.candidate.dispute_id for j in known.disputed.conflicts if j.candidate.dispute_id is not None),
        rivals=known.rivals,
        overturn=_ids(known.rejected.same),
        lapse=known.gone,
    )


def _why_believed(
    draft: Draft, writer: Principal, policy: Policy, known: _Known, ending: Ending | None, *, challenges: int
) -> str:
    if ending is Ending.BOTH_STAND:
        return "a curator found that it contradicts none of them"
    if ending is Ending.ACCEPTED:
        replaced = f"; it replaces {counted(known.active.conflicts)}" if known.active.conflicts else ""
        return f"a curator found it right{replaced}"
    if known.active.conflicts:
        return why_replaced(draft, writer, policy, _lessons(known.active.conflicts))
    if challenges:
        return f"kept, but it may contradict {challenges} believed lesson(s)"
    if known.disputed.same:
        return "was disputed, and nothing that is believed speaks against it any more"
    return "kept" if _silent(known) else "nothing known says the same or the opposite"


def _unanswered(known: _Known) -> str:
    """Returns what is to be added where the judge was away: what it said nothing about is no finding."""
    silent = _silent(known)
    return f"; the judge gave no answer about {counted(silent)} and will be asked again" if silent else ""


def _silent(known: _Known) -> list[Judged]:
    return [j for j in known.active.unsure if j.verdict.no_answer not in (None, NoAnswer.BUDGET_SPENT)]


def claims_another_time(draft: Draft, known: Lesson, at: datetime) -> bool:
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


def worth_a_challenge(draft: Draft, judged: Judged) -> bool:
    """Tells whether an `unsure` verdict is shown as a challenge: within a subject, or between lessons that are much alike.

    What a first tier called a contradiction is shown in any case: the strong one did not say that it is none.
    """
    first, candidate = judged.verdict.first, judged.candidate
    if first is not None and first.kind is VerdictKind.CONFLICTS:
        return True
    shared = subject_key(draft.subject)
    if shared is not None and shared == subject_key(candidate.lesson.subject):
        return True
    return candidate.similarity is not None and candidate.similarity >= CHALLENGE_SIMILARITY


def _surest(judged: Sequence[Judged]) -> Judged:
    return max(judged, key=lambda j: (j.verdict.confidence, j.candidate.lesson.lesson_id))


def _lessons(judged: Sequence[Judged]) -> tuple[Lesson, ...]:
    return tuple(j.candidate.lesson for j in judged)


def _ids(judged: Sequence[Judged]) -> tuple[UUID, ...]:
    return tuple(one.lesson_id for one in _lessons(judged))
