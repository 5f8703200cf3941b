"""What curators, and authors of their own lessons, do about beliefs besides learning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from tributary.access import Admission, Admitted, Ledger, charged
from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.confidence import expired
from tributary.core.curation import (
    Dispute,
    DisputeKind,
    Ending,
    Erased,
    Mistake,
    Reported,
    Resolved,
    RetireCause,
    Retired,
    Signal,
)
from tributary.core.decision import Learned, VerdictKind
from tributary.core.errors import InvalidRequest, WrongStanding
from tributary.core.ids import Prefix, new_id, show
from tributary.core.lesson import Lesson, Status
from tributary.core.limits import GOLDEN_CHARACTERS, check_short, check_tick
from tributary.core.policy import Policy
from tributary.core.ports import Screen
from tributary.core.reviewing import Case, screened_case, wrong_verdicts
from tributary.curate import documents
from tributary.curate.disputes import find_dispute
from tributary.curate.reports import case_of
from tributary.curate.words import check_words
from tributary.learn import Learner, Resolution, Stored, learned, resolved
from tributary.store import Database, rows, statement
from tributary.telemetry import Event, log


@dataclass(frozen=True, kw_only=True)
class Curator:
    """Changes the standing of lessons, each time under the gate and with its events; roles are checked again there.

    Every method takes an idempotency key, and gives the first reply again when the same request comes with the same key.
    """

    database: Database
    admission: Admission
    learner: Learner
    screen: Screen
    ledger: Ledger
    now: Now = utc_now

    @charged
    def retire(self, principal: Principal, lesson_id: UUID, cause: RetireCause, *, idempotency_key: str | None = None) -> Retired:
        """Ends a lesson: an author's own, or any at a curator's word.

        What a curator retires as wrong or as an injection is remembered: the same is not silently believed when it comes again.
        Raises NotFound, Forbidden, and WrongStanding when it has ended already.
        """
        principal.require(Role.WRITER)
        if cause is RetireCause.INJECTION:
            principal.require(Role.CURATOR)
        admitted = self._admit(principal, "retire", {"lesson": lesson_id.hex, "cause": cause.value}, idempotency_key)
        if admitted.replay is not None:
            return documents.retired(admitted.replay)
        cases: tuple[Case, ...] = ()
        index = None
        if principal.role is Role.CURATOR and cause is not RetireCause.OUTDATED:
            lesson = self._lesson(principal, lesson_id)
            held = lesson.status is Status.QUARANTINED
            if cause is RetireCause.INJECTION:
                cases = (screened_case(Signal.INJECTION, lesson, held=held),)
            if held:
                index = Jsonb(self.learner.index_of(_author(principal, lesson, Role.WRITER), lesson))
        document = self._write(
            statement("curate", "retire"),
            principal,
            admitted,
            {"lesson_id": lesson_id, "cause": cause.value, "index": index, "reviews": Jsonb(list(cases))},
        )
        result = documents.retired(document)
        _log("retire", result.lesson, result.tick)
        self._tell(principal, result)
        return result

    @charged
    def release(
        self, principal: Principal, lesson_id: UUID, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> Learned:
        """Learns a quarantined lesson as its author's, in one tick: judged, but not screened again.

        Raises NotFound, and WrongStanding when it is not quarantined.
        """
        principal.require(Role.CURATOR)
        admitted = self._admit(principal, "release", {"lesson": lesson_id.hex}, idempotency_key)
        if admitted.replay is not None:
            return learned(admitted.replay)
        lesson = self._lesson(principal, lesson_id)
        if lesson.status is not Status.QUARANTINED:
            raise WrongStanding(f"the lesson is {lesson.status}; only a quarantined lesson can be released")
        stored = Stored(stands=Status.QUARANTINED, actor=principal, reviews=(screened_case(Signal.RELEASED, lesson, held=True),))
        document = self.learner.reconsider(
            _author(principal, lesson, Role.WRITER),
            lesson,
            stored,
            key=admitted.key,
            digest=admitted.digest,
            deadline_s=deadline_s,
        )
        result = learned(document)
        self._tell(principal, result)
        return result

    def erase(self, principal: Principal, lesson_id: UUID, *, idempotency_key: str | None = None) -> Erased:
        """Removes what a lesson says, and every other copy of the very same words, from all that the tribe keeps.

        A tombstone with the keyed hash stays, by which the same words are refused when they come again. Raises NotFound, and
        WrongStanding when it is erased already.
        """
        principal.require(Role.CURATOR)
        admitted = self._admit(principal, "erase", {"lesson": lesson_id.hex}, idempotency_key)
        if admitted.replay is not None:
            return documents.erased(admitted.replay)
        result = documents.erased(self._write(statement("curate", "erase"), principal, admitted, {"lesson_id": lesson_id}))
        _log("erase", result.lesson, result.tick)
        self._tell(principal, result)
        return result

    @charged
    def resolve(
        self,
        principal: Principal,
        dispute_id: UUID,
        ending: Ending,
        *,
        rationale: str | None = None,
        seen_tick: int | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> Resolved:
        """Ends a dispute as accepted, rejected or both_stand.

        An accepted contender is judged again and replaces every believed rival in the same tick; a rejected one is retired, and
        remembered; where both stand, the rivalry is annulled and the case queued for review. With `seen_tick` nothing is
        decided about lessons that came into the dispute later. Raises NotFound, and WrongStanding when it was settled before.
        """
        principal.require(Role.CURATOR)
        if ending is Ending.MOOT:
            raise InvalidRequest("ending", "must be accepted, rejected or both_stand")
        if ending is Ending.REJECTED and rationale is None:
            raise InvalidRequest("rationale", "is required: whoever claims the same again is pointed to it")
        check_tick("seen_tick", seen_tick)
        content = {"dispute": dispute_id.hex, "ending": ending.value, "rationale": rationale, "seen_tick": seen_tick}
        admitted = self._admit(principal, "resolve", content, idempotency_key)
        if admitted.replay is not None:
            return resolved(admitted.replay)
        if rationale is not None:
            check_words(self.screen, "rationale", rationale)
        dispute = find_dispute(self.database, principal, dispute_id)
        if ending is Ending.ACCEPTED and expired(dispute.contender, at=self.now()):
            raise WrongStanding("what the contender claims is over by its own words; reject it, or learn what holds now")
        word = Resolution(dispute_id=dispute_id, ending=ending, rationale=rationale, seen_tick=seen_tick)
        cases = wrong_verdicts(dispute) if ending is Ending.BOTH_STAND else ()
        believes = dispute.kind is DisputeKind.CONFLICT and ending is not Ending.REJECTED
        if believes and dispute.contender.status is Status.DISPUTED:
            document = self._believe(principal, dispute, word, cases, admitted, deadline_s)
        else:
            document = self._end(principal, word, cases, admitted)
        result = resolved(document)
        _log(f"resolve:{ending}", result.lesson, result.tick, dispute=show(Prefix.DISPUTE, dispute_id))
        self._tell(principal, result)
        return result

    @charged
    def report(
        self,
        principal: Principal,
        decision_id: UUID,
        mistake: Mistake,
        *,
        candidate: UUID | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
    ) -> Reported:
        """Queues a decision that was wrong for review.

        Its verdict on `candidate`, or the finding of the screen, should have been `mistake`. `candidate` may be left out when
        the decision compared with one lesson only. Changes no belief. Raises NotFound, and InvalidRequest when the decision
        says nothing of that pair.
        """
        principal.require(Role.WRITER)
        content = {"decision": decision_id.hex, "mistake": mistake.value, "candidate": candidate and candidate.hex, "note": note}
        admitted = self._admit(principal, "report", content, idempotency_key)
        if admitted.replay is not None:
            return documents.reported(admitted.replay)
        if note is not None:
            check_words(self.screen, "note", note)
        found = self.database.value(statement("curate", "decision"), {"tribe_id": principal.tribe_id, "decision_id": decision_id})
        case = case_of(principal, rows.document(found), mistake, candidate, note)
        request = {**_request(principal, admitted), "decision_id": str(decision_id), "reviews": [case]}
        result = documents.reported(
            rows.document(self.database.value(statement("curate", "report"), {"request": Jsonb(request)}))
        )
        log.event(Event.CURATED, action="report", decision=show(Prefix.DECISION, decision_id), tick=result.tick)
        return result

    def accept_review(self, principal: Principal, review_id: UUID, golden: str, *, idempotency_key: str | None = None) -> None:
        """Takes a case off the review queue because it became the row `golden` of a golden set, which is written already.

        Accepted as the same row once more it stays so. Raises NotFound, also when what it was about was erased meanwhile, and
        WrongStanding when it was closed otherwise.
        """
        principal.require(Role.CURATOR)
        check_short("golden", golden, GOLDEN_CHARACTERS)
        self._close_review(principal, review_id, "accept_review", {"golden": golden, "reason": None}, idempotency_key)

    def reject_review(
        self, principal: Principal, review_id: UUID, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> None:
        """Takes a case off the review queue: it teaches nothing. Raises NotFound, and WrongStanding when it is closed."""
        principal.require(Role.CURATOR)
        self._close_review(principal, review_id, "reject_review", {"golden": None, "reason": reason}, idempotency_key)

    def _close_review(
        self, principal: Principal, review_id: UUID, action: str, said: Mapping[str, str | None], key: str | None
    ) -> None:
        admitted = self._admit(principal, action, {"review": review_id.hex, **said}, key)
        if admitted.replay is not None:
            return
        if (reason := said["reason"]) is not None:
            check_words(self.screen, "reason", reason)
        self._write(statement("curate", "close_review"), principal, admitted, {"review_id": review_id, **said})
        log.event(Event.CURATED, action=action, review=show(Prefix.REVIEW, review_id))

    def policy(self, principal: Principal) -> Policy:
        """Returns the tribe's policy; its `version` is what a change of it must name."""
        principal.require(Role.READER)
        found = self.database.value(statement("curate", "policy"), {"tribe_id": principal.tribe_id})
        return _policy(rows.document(found))

    def set_policy(self, principal: Principal, policy: Policy) -> Policy:
        """Puts `policy` in place of the version that it carries and returns it with its new one. Audited.

        Raises WrongStanding when the policy was changed since that version.
        """
        principal.require(Role.CURATOR)
        policy.check()
        if not 1 <= policy.version < 2**31 - 1:
            raise InvalidRequest("version", "must be the version of a policy that was read")
        found = self.database.value(
            statement("curate", "set_policy"),
            {
                "tribe_id": principal.tribe_id,
                "agent_id": principal.agent_id,
                "audit_id": new_id(),
                "policy": Jsonb(policy.document()),
                "version": policy.version,
            },
        )
        result = _policy(rows.document(found))
        log.event(Event.CURATED, action="set_policy", version=result.version)
        return result

    def _believe(
        self,
        principal: Principal,
        dispute: Dispute,
        word: Resolution,
        cases: tuple[Case, ...],
        admitted: Admitted,
        deadline_s: float | None,
    ) -> rows.Document:
        said = VerdictKind.CONFLICTS if word.ending is Ending.ACCEPTED else VerdictKind.UNRELATED
        stored = Stored(
            stands=Status.DISPUTED,
            actor=principal,
            resolution=word,
            forced={one.lesson_id: said for one in dispute.about},
            reviews=cases,
        )
        author = _author(principal, dispute.contender, Role.CURATOR)
        return self.learner.reconsider(
            author, dispute.contender, stored, key=admitted.key, digest=admitted.digest, deadline_s=deadline_s
        )

    def _end(self, principal: Principal, word: Resolution, cases: tuple[Case, ...], admitted: Admitted) -> rows.Document:
        request = {**_request(principal, admitted), "resolves": word.document(), "reviews": list(cases)}
        return rows.document(self.database.value(statement("curate", "end_dispute"), {"request": Jsonb(request)}))

    def _admit(self, principal: Principal, operation: str, content: Mapping[str, object], key: str | None) -> Admitted:
        # a tribe whose day is full must still be put right
        return self.admission.admit(principal, operation, content, key, past_the_day=principal.role is Role.CURATOR)

    def _write(
        self, query: LiteralString, principal: Principal, admitted: Admitted, parameters: Mapping[str, object]
    ) -> rows.Document:
        who = {"tribe_id": principal.tribe_id, "agent_id": principal.agent_id, "key": admitted.key, "digest": admitted.digest}
        return rows.document(self.database.value(query, {**who, **parameters}))

    def _tell(self, principal: Principal, result: Learned | Retired | Erased | Resolved) -> None:
        self.learner.telling.after(principal.tribe_id, pended=result.pended)

    def _lesson(self, principal: Principal, lesson_id: UUID) -> Lesson:
        found = self.database.value(
            statement("recall", "show"),
            {"tribe_id": principal.tribe_id, "lesson_id": lesson_id, "tick": None, "instant": None, "now": None},
        )
        return rows.lesson(rows.document(found)["lesson"])


def _author(principal: Principal, lesson: Lesson, role: Role) -> Principal:
    return Principal(tribe_id=principal.tribe_id, agent_id=lesson.agent_id, name=lesson.agent_name, role=role)


def _request(principal: Principal, admitted: Admitted) -> dict[str, object]:
    return {
        "tribe_id": str(principal.tribe_id),
        "actor_id": str(principal.agent_id),
        "key": admitted.key,
        "request_digest": admitted.digest.hex(),
    }


def _policy(document: rows.Document) -> Policy:
    return Policy.from_document(document["version"], document["policy"])


def _log(action: str, lesson: Lesson, tick: int, *, dispute: str | None = None) -> None:
    log.event(Event.CURATED, action=action, lesson=show(Prefix.LESSON, lesson.lesson_id), tick=tick, dispute=dispute)
