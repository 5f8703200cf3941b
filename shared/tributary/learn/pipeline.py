"""The pipeline of a learn, step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.confidence import lapsed
from tributary.core.decision import Learned, Outcome, Reinforced, ScreenFinding
from tributary.core.errors import ModelFailed, Overloaded, TributaryError, WrongStanding
from tributary.core.ids import Prefix, new_id, show
from tributary.core.lesson import Draft
from tributary.core.normal import content_hash, subject_key
from tributary.core.outcome import Plan, plan_outcome
from tributary.core.ports import Embedder, Judge, Screen
from tributary.core.terms import terms_of
from tributary.learn.admit import SERVER_KEY, admit, draft_of, embedded_text, request_digest, screened_fields
from tributary.learn.candidates import read_candidates
from tributary.learn.commit import commit
from tributary.learn.deadline import Deadline
from tributary.learn.judging import Bench
from tributary.learn.proposal import Proposal, Reading, Refused
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
        proposal = self._proposal(principal, draft, lesson_id=new_id(), key=admitted.key, digest=admitted.digest)
        return self._learn(proposal, deadline)

    def settle(self, tribe_id: UUID, *, most: int = 100) -> int:
        """Settles lessons of a tribe that were kept as pending, for their authors; returns how many.

        Safe beside any other worker: whoever commits first settles a lesson, the other finds that it did.
        """
        pending = cast(
            list[rows.Document], self.database.value(statement("learn", "pending"), {"tribe_id": tribe_id, "limit": most})
        )
        return sum(self._settled(tribe_id, one) for one in pending)

    def tribes_with_pending(self) -> list[UUID]:
        """Returns the tribes that `settle` has work in."""
        return [cast(UUID, row[0]) for row in self.database.rows(statement("learn", "tribes_with_pending"), {})]

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
        log.event(Event.REINFORCED, lesson=show(Prefix.LESSON, lesson_id), outcome=result.outcome.value, tick=result.tick)
        return result

    def _proposal(self, principal: Principal, draft: Draft, *, lesson_id: UUID, key: str, digest: bytes) -> Proposal:
        profile = self.profiles.get(principal.tribe_id)
        finding = self._screened(draft)
        text = embedded_text(draft)
        return Proposal(
            principal=principal,
            draft=draft,
            lesson_id=lesson_id,
            decision_id=new_id(),
            key=key,
            request_digest=digest,
            content_hash=content_hash(draft, secret=profile.secret),
            subject_key=subject_key(draft.subject),
            terms=terms_of(text),
            space_id=profile.space_id,
            embedding=as_text(self.embedder.embed([text])[0]),
            screening=finding,
        )

    def _learn(self, proposal: Proposal, deadline: Deadline) -> Learned:
        reading = read_candidates(self.database, proposal, exact_limit=self.exact_limit)
        bench = Bench(self.judge, proposal.draft, lesson_id=proposal.lesson_id, content_hash=proposal.content_hash)
        held_back = None
        if reasons := proposal.screening.reasons:
            held_back = Plan(outcome=Outcome.QUARANTINED, reason=f"held back by the screen: {', '.join(reasons)}")
        return self._commit(proposal, reading, bench, deadline, fixed=held_back)

    def _settled(self, tribe_id: UUID, pending: rows.Document) -> bool:
        """Settles one lesson; one that cannot be settled now must not keep the others waiting."""
        lesson = rows.lesson(pending["lesson"])
        author = Principal(tribe_id=tribe_id, agent_id=lesson.agent_id, name=lesson.agent_name, role=rows.role(pending["role"]))
        key = f"{SERVER_KEY}settle:{lesson.lesson_id.hex}"
        try:
            proposal = self._proposal(
                author, draft_of(lesson), lesson_id=lesson.lesson_id, key=key, digest=request_digest(lesson.lesson_id)
            )
            return not self._learn(replace(proposal, settles=True), Deadline.after(None)).replayed
        except TributaryError as error:
            log.event(
                Event.SETTLE_FAILED, level=log.WARNING, error=error, code=error.code, lesson=show(Prefix.LESSON, lesson.lesson_id)
            )
            return False

    def _screened(self, draft: Draft) -> ScreenFinding:
        try:
            return self.screen.screen(screened_fields(draft))
        except Exception as error:  # a screen that cannot run, for whatever reason, must not let anything through
            level = log.WARNING if isinstance(error, ModelFailed) else log.ERROR
            log.event(Event.SCREEN_UNAVAILABLE, level=level, error=error, screen=self.screen.version)
            return ScreenFinding(screen=self.screen.version, reasons=("screen_unavailable",))

    def _commit(
        self, proposal: Proposal, reading: Reading, bench: Bench, deadline: Deadline, *, fixed: Plan | None = None
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
                    lesson=show(Prefix.LESSON, result.lesson.lesson_id) if result.lesson else None,
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

    def _plan(self, proposal: Proposal, reading: Reading, bench: Bench, deadline: Deadline) -> Plan:
        writer = replace(proposal.principal, role=reading.role)
        judged = bench.judge_all(reading.candidates, deadline)
        if judged is None:
            return Plan(outcome=Outcome.PENDING, reason="kept unjudged: the deadline passed before every candidate was judged")
        return plan_outcome(proposal.draft, writer, reading.policy, judged, at=reading.at)
