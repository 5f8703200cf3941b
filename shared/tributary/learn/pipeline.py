"""The pipeline of a learn, step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.confidence import lapsed
from tributary.core.decision import Learned, Outcome, Reinforced, ScreenFinding
from tributary.core.errors import ModelFailed, Overloaded, WrongStanding
from tributary.core.ids import new_id
from tributary.core.lesson import Draft
from tributary.core.normal import content_hash, subject_key
from tributary.core.outcome import Plan, plan_outcome
from tributary.core.ports import Embedder, Judge, Screen
from tributary.core.terms import terms_of
from tributary.learn.admit import admit, embedded_text, screened_fields
from tributary.learn.candidates import Reading, read_candidates
from tributary.learn.commit import Commit, Refused, commit
from tributary.learn.deadline import Deadline
from tributary.learn.judging import Bench
from tributary.learn.replies import learned, reinforced
from tributary.spaces import EXACT_LIMIT, Profiles, as_text
from tributary.store import Database, rows, statement
from tributary.telemetry import Event, log

REPLANS = 64
"""Each refusal means that another relevant write did commit, so this is reached under no load that makes progress."""


@dataclass(frozen=True, kw_only=True)
class Learner:
    """Takes lessons in. Every model call is made outside any transaction; the commit is one call under the gate."""

    database: Database
    embedder: Embedder
    judge: Judge
    screen: Screen
    profiles: Profiles
    now: Now = utc_now
    exact_limit: int = EXACT_LIMIT

    def learn(
        self, principal: Principal, draft: Draft, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> Learned:
        """Learns `draft` as `principal` and tells what became of it.

        The same key with the same draft gives the first reply again. Past the deadline the lesson is kept as pending.
        Raises InvalidRequest, Forbidden, IdempotencyConflict, ModelFailed (the embedder), Overloaded and Unavailable; in
        each of these nothing was written.
        """
        deadline = Deadline.after(deadline_s)
        admitted = admit(self.database, principal, draft, idempotency_key)
        if admitted.replay is not None:
            log.event(Event.LEARN_REPLAYED)
            return learned(admitted.replay)
        finding = self._screened(draft)
        profile = self.profiles.get(principal.tribe_id)
        proposal = Commit(
            principal=principal,
            draft=draft,
            lesson_id=new_id(),
            decision_id=new_id(),
            key=admitted.key,
            request_digest=admitted.digest,
            content_hash=content_hash(draft, secret=profile.secret),
            subject_key=subject_key(draft.subject),
            terms=terms_of(embedded_text(draft)),
            space_id=profile.space_id,
            embedding=as_text(self.embedder.embed([embedded_text(draft)])[0]),
            screening=finding,
        )
        reading = read_candidates(self.database, proposal, exact_limit=self.exact_limit)
        if finding.quarantined:
            plan = Plan(outcome=Outcome.QUARANTINED, reason=f"held back by the screen: {', '.join(finding.reasons)}")
            return self._settle(proposal, reading, Bench(self.judge, draft, proposal.lesson_id), deadline, fixed=plan)
        return self._settle(proposal, reading, Bench(self.judge, draft, proposal.lesson_id), deadline)

    def reinforce(self, principal: Principal, lesson_id: UUID, *, idempotency_key: str | None = None) -> Reinforced:
        """Counts `principal` as one more agent that found the lesson true; a second time changes nothing.

        Raises NotFound, and WrongStanding when the lesson is not believed (or time has ended the belief).
        """
        principal.require(Role.WRITER)
        admitted = admit(self.database, principal, lesson_id, idempotency_key)
        if admitted.replay is not None:
            return reinforced(admitted.replay)
        shown = rows.document(
            self.database.value(
                statement("recall", "show"),
                {"tribe_id": principal.tribe_id, "lesson_id": lesson_id, "tick": None, "instant": None, "now": self.now()},
            )
        )
        known = rows.lesson(shown["lesson"])
        if known.believed and lapsed(known, at=self.now()):
            raise WrongStanding("the lesson has lapsed: its validity is over or nobody confirmed it for too long; learn it anew")
        reply = rows.document(
            self.database.value(
                statement("learn", "reinforce"),
                {
                    "tribe_id": principal.tribe_id,
                    "agent_id": principal.agent_id,
                    "lesson_id": lesson_id,
                    "key": admitted.key,
                    "digest": admitted.digest,
                },
            )
        )
        result = reinforced(reply)
        log.event(Event.REINFORCED, lesson=lesson_id, outcome=result.outcome.value, tick=result.tick)
        return result

    def _screened(self, draft: Draft) -> ScreenFinding:
        try:
            return self.screen.screen(screened_fields(draft))
        except Exception as error:  # a screen that cannot run, for whatever reason, must not let anything through
            level = log.WARNING if isinstance(error, ModelFailed) else log.ERROR
            log.event(Event.SCREEN_UNAVAILABLE, level=level, error=error, screen=self.screen.version)
            return ScreenFinding(screen=self.screen.version, reasons=("screen_unavailable",))

    def _settle(
        self, proposal: Commit, reading: Reading, bench: Bench, deadline: Deadline, *, fixed: Plan | None = None
    ) -> Learned:
        """Judges, plans and commits until nothing relevant was committed in between."""
        for replans in range(REPLANS):
            replace(proposal.principal, role=reading.role).require(Role.WRITER)
            plan = fixed or self._plan(proposal, reading, bench, deadline)
            outcome = commit(self.database, replace(proposal, replans=replans), reading, bench, plan)
            if not isinstance(outcome, Refused):
                result = learned(outcome)
                log.event(
                    Event.LEARNED,
                    lesson=result.lesson.lesson_id if result.lesson else None,
                    outcome=result.outcome.value,
                    tick=result.tick,
                    candidates=len(reading.candidates),
                    replans=replans,
                )
                return result
            log.event(Event.LEARN_REPLANNED, changed=len(outcome.changed), fresh=len(outcome.fresh), tick=outcome.tick)
            if not outcome.serving:
                self.profiles.forget(proposal.principal.tribe_id)
                raise Overloaded("the tribe began to serve from another embedding space; try again")
            reading = reading.after(outcome)
        raise Overloaded

    def _plan(self, proposal: Commit, reading: Reading, bench: Bench, deadline: Deadline) -> Plan:
        writer = replace(proposal.principal, role=reading.role)
        judged = bench.judge_all(reading.candidates, deadline)
        if judged is None:
            return Plan(outcome=Outcome.PENDING, reason="kept unjudged: the deadline passed before every candidate was judged")
        return plan_outcome(proposal.draft, writer, reading.policy, judged, at=reading.at)
