"""What a decision must have come to: the pure plan over the model's state, and what applying it does (DESIGN 4, step 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tests.history.model import ACTIVE, DISPUTED, ERASED, PENDING, QUARANTINED, Model, Quarrel, Standing
from tests.history.tables import Row
from tributary.core.agent import Principal
from tributary.core.curation import Ending, Rejection
from tributary.core.decision import Outcome, Verdict, VerdictKind
from tributary.core.lesson import Draft, How, Instant, Kind, Lesson, Source, Status
from tributary.core.normal import content_hash
from tributary.core.outcome import Asked, Candidate, Judged, Plan, plan_outcome
from tributary.core.policy import Policy

Event = tuple[str, UUID]
BY_RECORD = "rejected_before"
"""Why it is held back, when a curator called the same an injection before."""
OVERTURNED = "overturned"
"""The cause for which a lesson is cleared of what a curator said of it."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One decision, with what was asked for.

    lesson_id  the lesson that is given a standing; None when what was said got none of its own
    stands     how it stood, None when it is new
    resolved   the dispute that this ends, by `ending`
    """

    decision: Row
    draft: Draft
    lesson_id: UUID | None
    stands: str | None
    contests: UUID | None
    ending: Ending | None
    resolved: UUID | None
    events: Counter[Event]

    @property
    def known(self) -> UUID | None:
        """The lesson that stands for what was said instead of one of its own."""
        named: UUID = self.decision["lesson_id"]
        return None if named == self.lesson_id else named

    @property
    def replaces(self) -> frozenset[UUID]:
        """The lessons whose place it is to take, which only what is new can say."""
        return frozenset(self.draft.replaces if self.stands is None else ())

    @property
    def against(self) -> frozenset[UUID]:
        """All lessons that its writer said it contradicts."""
        return self.replaces | frozenset([] if self.contests is None else [self.contests])

    @property
    def released(self) -> bool:
        """Tells whether a curator lets a held back lesson in: nobody else decides about one."""
        return self.stands == QUARANTINED

    @property
    def caught(self) -> bool:
        """Tells whether the screen caught it. By record it is held back for what a curator said of the same."""
        return bool(set(self.decision["screening"]["reasons"]) - {BY_RECORD})


@dataclass(frozen=True, kw_only=True)
class Effects:
    """What a plan does at its tick.

    contradicts  what a new dispute is about, None when there is none
    joined       what comes into the dispute that was joined
    cleared      what a curator found not to contradict the lesson
    overturned   what a curator had rejected, and now let in
    """

    outcome: str
    events: Counter[Event]
    standing: str | None
    contradicts: frozenset[UUID] | None
    joined: frozenset[UUID]
    challenged: tuple[UUID, ...]
    plan: Plan
    superseded: frozenset[UUID]
    retired: frozenset[UUID]
    cleared: frozenset[UUID]
    overturned: frozenset[UUID]


@dataclass(frozen=True, kw_only=True)
class Deriver:
    """Derives decisions anew from the model's state. `rows` are the lessons' rows, `drafts` what each lesson says."""

    model: Model
    rows: Mapping[UUID, Row]
    drafts: Mapping[UUID, Draft]
    secret: bytes

    def effects(self, case: Case, writer: Principal, policy: Policy, at: Sequence[datetime]) -> list[Effects]:
        """Returns what may have come of it: one for each of the instants at which the plan may have been made, if they differ."""
        plans: list[Plan] = []
        judged = self._judged(case, writer=writer.agent_id)
        for instant in at:
            plan = self._plan(case, writer, policy, judged, instant)
            if plan not in plans:
                plans.append(plan)
        return [self._applied(case, plan) for plan in plans]

    def _judged(self, case: Case, *, writer: UUID) -> list[Judged]:
        said = {one["lesson_id"]: one for one in case.decision["verdicts"]}
        return [
            Judged(
                candidate=self._candidate(row["lesson_id"], row["similarity"], writer),
                verdict=_verdict(said[row["lesson_id"]]),
            )
            for row in case.decision["candidates"]
            if row["lesson_id"] in said and row["lesson_id"] in self.model.lessons
        ]

    def _plan(self, case: Case, writer: Principal, policy: Policy, judged: Sequence[Judged], at: datetime) -> Plan:
        if case.caught and not self._believed_already(case):
            return Plan(outcome=Outcome.QUARANTINED, reason="held back by the screen")
        if case.decision["outcome"] == Outcome.PENDING and case.known is None:
            return Plan(outcome=Outcome.PENDING, reason="kept unjudged")
        asked = Asked(
            ending=case.ending,
            against=case.against,
            replaces=case.replaces,
            released=case.released,
            stored=case.stands is not None,
        )
        return plan_outcome(case.draft, writer, policy, judged, at=at, asked=asked)

    def _believed_already(self, case: Case) -> bool:
        """Tells whether the very same words were believed when it was read: then the screen's catch is passed over."""
        equal = content_hash(case.draft, secret=self.secret)
        seen = case.decision["candidates"]
        return any(one["status"] == ACTIVE and bytes(self.rows[one["lesson_id"]]["content_hash"]) == equal for one in seen)

    def _candidate(self, lesson_id: UUID, similarity: float | None, writer: UUID) -> Candidate:
        standing = self.model.lessons[lesson_id]
        rejected = None if standing.status == ERASED else standing.rejected_as
        return Candidate(
            lesson=self.lesson(standing),
            similarity=None if similarity is None else float(similarity),
            confirmed_by_writer=self.model.counts_for(writer, lesson_id),
            dispute_id=self.model.dispute_of(lesson_id),
            opponents=self.model.opponents(lesson_id),
            rejected_as=None if rejected is None else Rejection(rejected),
        )

    def lesson(self, standing: Standing) -> Lesson:
        row = self.rows[standing.lesson_id]
        said = self.drafts.get(standing.lesson_id)
        return Lesson(
            lesson_id=standing.lesson_id,
            agent_id=standing.agent_id,
            agent_name="",
            kind=Kind(row["kind"]),
            status=Status(standing.status or "erased"),
            text=said.text if said else "",
            situation=said.situation if said else "",
            subject=said.subject if said else None,
            tags={},
            source=Source(how=How(row["source_how"])),
            evidence=(),
            rationale=None,
            confidence=row["confidence"],
            valid_from=row["valid_from"],
            valid_until=row["valid_until"],
            keep_until=None,
            learned=Instant(tick=standing.learned, at=row["learned_at"]),
            activated=None,
            deactivated=None,
            superseded_by=None,
            content_hash=bytes(row["content_hash"]),
            confirmations=len(standing.confirmed),
            contradictions=self.model.contradictions_at(standing.lesson_id, self.model.now),
            last_confirmed_at=row["learned_at"],  # no history lasts long enough for a lesson to wither
        )

    def _applied(self, case: Case, plan: Plan) -> Effects:
        """Returns what the commit makes of a plan. It must hold the same as learn_apply_v1, in other words."""
        model, known = self.model, plan.confirm
        writer = case.decision["agent_id"]
        outcome = plan.outcome.value
        confirms = known is not None and outcome != "unchanged" and not model.counts_for(writer, known)
        if outcome == "reinforced" and not confirms:
            outcome = "unchanged"
        standing = None if known is not None else ACTIVE if outcome in ("learned", "superseded") else outcome
        supersede, contradicts = set(plan.supersede), set(plan.dispute)
        settle, challenge = plan.settle, plan.challenge
        cleared: frozenset[UUID] = frozenset()
        if case.ending is Ending.BOTH_STAND and case.resolved in model.quarrels:
            cleared = frozenset(model.quarrels[case.resolved].about)
        if case.stands is not None and case.lesson_id is not None and standing == ACTIVE:
            held = model.opponents(case.lesson_id) - cleared - supersede - set(plan.lapse) - set(plan.retire)
            if held and case.ending is Ending.ACCEPTED:
                supersede |= held
                outcome = "superseded"
            elif held:
                outcome = standing = DISPUTED
                supersede, contradicts, settle, challenge = set(), set(held), (), ()
        ends = supersede.union(plan.retire, plan.lapse)
        challenge = tuple(one for one in challenge if one not in ends and (known is None or not model.doubted(known, one)))
        joined = frozenset(contradicts - model.disputed_by(known)) if known is not None and outcome == DISPUTED else frozenset()
        overturned = self._overturned(case, plan)
        events: Counter[Event] = Counter()
        for name, lessons in (("retired", (*plan.lapse, *plan.retire)), ("reinforced", (known,) if confirms else ())):
            events.update((name, one) for one in lessons if one is not None)
        if known is not None and case.stands is not None and case.lesson_id is not None:
            events["retired", case.lesson_id] += 1
        elif standing is not None and case.lesson_id is not None:
            if standing != case.stands:
                events["learned" if standing == ACTIVE else "pended" if standing == "pending" else standing, case.lesson_id] += 1
            events.update(("superseded", one) for one in supersede)
            events.update(("retired", one) for one in settle)
            if outcome == DISPUTED:
                events.update(("challenged", one) for one in contradicts)
        if standing == ACTIVE or known is not None:
            events.update(("challenged", one) for one in challenge)
        events.update(("challenged", one) for one in joined)
        events.update(("cleared", one) for one in cleared)
        events.update((OVERTURNED, one) for one in overturned)
        return Effects(
            outcome=outcome,
            events=events,
            standing=standing,
            contradicts=frozenset(contradicts) if outcome == DISPUTED and known is None else None,
            joined=joined,
            challenged=challenge if standing == ACTIVE or known is not None else (),
            plan=plan,
            superseded=frozenset(supersede) if standing == ACTIVE else frozenset(),
            retired=frozenset(plan.retire),
            cleared=cleared,
            overturned=overturned,
        )

    def _overturned(self, case: Case, plan: Plan) -> frozenset[UUID]:
        """Only a curator takes back what a curator said: at the end of a dispute, or by letting a held back lesson in."""
        if case.resolved is None and not case.released:
            return frozenset()
        return frozenset(one for one in plan.overturn if self.model.lessons[one].rejected_as is not None)


def committed(model: Model, case: Case, effects: Effects, tick: int, find: Mapping[tuple[str, UUID | None], UUID]) -> None:
    """Takes over into the model what a decision does besides moving lessons: rivals, disputes, and what a curator rejected.

    `find` names the disputes that it opened, by kind and by the lesson that a challenge is about.
    """
    plan, lesson_id = effects.plan, case.lesson_id
    if lesson_id is not None and effects.cleared:
        model.annul_rivals(lesson_id, effects.cleared)
        said = {one["lesson_id"]: one["verdict"] for one in case.decision["verdicts"]}
        model.stand_together.update(
            frozenset((lesson_id, one)) for one in effects.cleared if said.get(one) == VerdictKind.UNRELATED
        )
    if lesson_id is not None and plan.confirm is None:
        model.make_rivals(lesson_id, (*plan.rivals, *(effects.contradicts or ())))
        if effects.standing in (PENDING, QUARANTINED):
            model.make_rivals(lesson_id, tuple(case.against))
        if effects.contradicts is not None and (found := find.get(("conflict", None))):
            model.open(found, _quarrel(case, "conflict", lesson_id, effects.contradicts, tick, precedent=plan.precedent))
        if effects.standing == ACTIVE:
            for dispute_id in plan.contend:
                if dispute_id != case.resolved and model.quarrels[dispute_id].closed is None:
                    model.bring_into(dispute_id, lesson_id, tick)
    contender = plan.confirm or lesson_id
    for about in effects.challenged:
        if contender is not None and (found := find.get(("unsure", about))):
            model.open(found, _quarrel(case, "unsure", contender, frozenset({about}), tick))
    if plan.confirm is not None and effects.joined and (joins := model.dispute_of(plan.confirm)):
        model.make_rivals(plan.confirm, effects.joined)
        for one in effects.joined:
            model.bring_into(joins, one, tick)
    _said_by_curator(model, case, effects, tick)


def _said_by_curator(model: Model, case: Case, effects: Effects, tick: int) -> None:
    """Takes over the end of a dispute, and what a curator rejects or takes back with it."""
    if case.resolved in model.quarrels and case.ending is not None:
        resolved = model.quarrels[case.resolved]
        resolved.close(tick, case.ending.value, case.decision["actor_id"])
        for one in (effects.superseded | effects.retired) & resolved.about.keys():  # what the curator saw
            model.lessons[one].reject(tick, "wrong")
    for one in effects.overturned:
        model.lessons[one].reject(tick, None)


def _quarrel(
    case: Case, kind: str, contender: UUID, about: frozenset[UUID], tick: int, *, precedent: UUID | None = None
) -> Quarrel:
    return Quarrel(
        kind=kind,
        contender=contender,
        decision_id=case.decision["decision_id"],
        precedent=precedent,
        opened=tick,
        about=dict.fromkeys(about, tick),
    )


def _verdict(row: Row) -> Verdict:
    return Verdict(
        lesson_id=row["lesson_id"],
        kind=VerdictKind(row["verdict"]),
        confidence=row["confidence"],
        judge=row["judge"],
        reason="as recorded",
        cause=None,
    )
