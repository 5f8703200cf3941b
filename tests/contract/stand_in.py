"""A memory for tests of the HTTP edge: keeps what it is asked, answers simply, fails on demand.

It is no second implementation of the product: recall gives back every lesson, nothing is judged. What the real memory does
with a request is tested where the real memory is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from uuid import UUID

from tests.contract.stand_in_actions import StandInActions
from tests.contract.stand_in_activity import RUN, activity_of
from tests.contract.stand_in_agents import StandInAgents
from tests.contract.stand_in_curation import StandInCurator, StandInDesk
from tests.contract.stand_in_files import StandInFiles
from tests.contract.stand_in_history import StandInHistory, diff_of
from tests.contract.stand_in_responding import responding
from tests.contract.stand_in_status import STATUS, costs_of, stats_of
from tributary.core.activity import Activity
from tributary.core.agent import Principal, Role, SignedIn
from tributary.core.costs import By, Costs
from tributary.core.decision import Challenge, Learned, Outcome, Reinforced
from tributary.core.diff import Diff
from tributary.core.errors import NotFound, TributaryError, Unauthenticated, UnknownCell
from tributary.core.evaluation import EvaluationRun
from tributary.core.ids import new_id
from tributary.core.lesson import CounterClaim, Draft, Evidence, How, Instant, Lesson, Source, Status
from tributary.core.receipt import Coverage, Receipt, ScoredHit, Searched, SearchPath
from tributary.core.requests import EVERYTHING, Filters, Hit, LessonDetail, Listing, Question, Recalled
from tributary.core.stats import Stats
from tributary.core.status import Status as MemoryStatus
from tributary.core.transcript import Distilled, Drop, Transcript
from tributary.core.verification import Aspect, Difference, Doubt, Verification
from tributary.service.responding import Responding

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
TRIBE = UUID("0199c0de-0000-7000-8000-000000000001")
READER, WRITER, CURATOR = (
    Principal(tribe_id=TRIBE, agent_id=UUID(int=number), name=f"agent-{role}", role=role)
    for number, role in enumerate(Role, start=1)
)

BOUND = {
    "arn:aws:sts::123456789012:assumed-role/incident-agent/i-0abc123def4567890": READER,
    "arn:aws:iam::123456789012:user/agents/scribe": WRITER,
}
"""AWS callers of the sample events, and whom they act as."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call that reached the memory, with all that it was given."""

    name: str
    given: dict[str, object]


@dataclass
class StandIn:
    """Knows the tokens `reader`, `writer` and `curator`. `failure` is raised by every call, `failure_of` by some."""

    calls: list[Call] = field(default_factory=list)
    kept: dict[UUID, Lesson] = field(default_factory=dict)
    principals: dict[str, Principal] = field(default_factory=lambda: {one.role.value: one for one in (READER, WRITER, CURATOR)})
    bound: dict[str, Principal] = field(default_factory=lambda: dict(BOUND))
    sessions: dict[str, str] = field(default_factory=dict)
    """The tokens by which people signed in, by the secrets of their sessions."""
    failure: Exception | None = None
    failure_of: dict[str, Exception] = field(default_factory=dict)
    pending: bool = False
    while_recalling: Callable[[], object] = lambda: None
    """Runs inside each recall: where tests stop and look."""
    while_learning: Callable[[], object] = lambda: None
    """Runs inside each learn, as a model does that takes its time."""
    while_waiting: Callable[[threading.Event], object] = lambda _: None
    """Runs where a caller waits for a change; is given what ends the wait."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def forget(self) -> None:
        """Makes it as good as new."""
        self.__init__()  # type: ignore[misc]  # a dataclass's own, all defaults

    def calls_of(self, name: str) -> list[dict[str, object]]:
        return [call.given for call in self.calls if call.name == name]

    def asked(self) -> list[str]:
        """Returns the names of the calls that asked for something, leaving out who it was that asked."""
        return [call.name for call in self.calls if call.name != "authenticate"]

    def cell_for(self, _token: str, /) -> str | None:
        return None

    def authenticate(self, token: str) -> Principal:
        self._note("authenticate", token=token)
        if token not in self.principals:
            raise Unauthenticated
        return self.principals[token]

    def authenticate_principal(self, user_arn: str) -> Principal:
        self._note("authenticate_principal", user_arn=user_arn)
        if user_arn not in self.bound:
            raise Unauthenticated(f"no agent is bound to '{user_arn}'")
        return self.bound[user_arn]

    def sign_in(self, token: str, *, source: str) -> SignedIn:
        self._note("sign_in", token=token, source=source)
        if token not in self.principals:
            raise Unauthenticated
        secret = f"trs_{token}"
        self.sessions[secret] = token
        return SignedIn(secret=secret, principal=self.principals[token], ends_at=AT)

    def session(self, secret: str) -> Principal:
        self._note("session", secret=secret)
        if secret not in self.sessions:
            raise Unauthenticated
        return self.principals[self.sessions[secret]]

    def sign_out(self, secret: str) -> None:
        self._note("sign_out", secret=secret)
        self.sessions.pop(secret, None)

    def of(self, principal: Principal) -> StandIn:
        if principal.cell is not None:
            raise UnknownCell(principal.cell)
        return self

    def health(self) -> None:
        self._note("health")

    @property
    def curate(self) -> StandInCurator:
        return StandInCurator(self._note, self._lesson)

    @property
    def desk(self) -> StandInDesk:
        return StandInDesk(self._note)

    @property
    def agents(self) -> StandInAgents:
        return StandInAgents(self._note)

    @property
    def actions(self) -> StandInActions:
        return StandInActions(self._note)

    @property
    def files(self) -> StandInFiles:
        return StandInFiles(self._note)

    @property
    def responding(self) -> Responding:
        self._note("respond")
        return responding()

    @property
    def history(self) -> StandInHistory:
        return StandInHistory(self._note, self.while_waiting)

    def learn(
        self,
        principal: Principal,
        draft: Draft,
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
        wait: bool = True,
    ) -> Learned:
        self._note("learn", principal=principal, draft=draft, idempotency_key=idempotency_key, deadline_s=deadline_s, wait=wait)
        self.while_learning()
        return self._learned(principal, draft)

    def learn_all(
        self,
        principal: Principal,
        drafts: Sequence[Draft],
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
        wait: bool = True,
    ) -> list[Learned | TributaryError]:
        self._note(
            "learn_all",
            principal=principal,
            drafts=tuple(drafts),
            idempotency_key=idempotency_key,
            deadline_s=deadline_s,
            wait=wait,
        )
        return [self._learned(principal, draft) for draft in drafts]

    def contest(
        self,
        principal: Principal,
        lesson_id: UUID,
        claim: CounterClaim,
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> Learned:
        self._note(
            "contest",
            principal=principal,
            lesson_id=lesson_id,
            claim=claim,
            idempotency_key=idempotency_key,
            deadline_s=deadline_s,
        )
        return self._learned(principal, claim.against(self._lesson(lesson_id)))

    def _learned(self, principal: Principal, draft: Draft) -> Learned:
        lesson = replace(lesson_of(draft, principal), status=Status.PENDING if self.pending else Status.ACTIVE)
        self.kept[lesson.lesson_id] = lesson
        return Learned(
            outcome=Outcome.PENDING if self.pending else Outcome.LEARNED,
            lesson=lesson,
            replaced=(),
            dispute_id=None,
            challenges=(),
            reason="nothing that is believed contradicts it",
            decision_id=new_id(),
            tick=1,
            replayed=False,
        )

    def distill(
        self, principal: Principal, transcript: Transcript, *, most: int = 5, deadline_s: float | None = None
    ) -> Distilled:
        self._note("distill", principal=principal, transcript=transcript, most=most, deadline_s=deadline_s)
        draft = Draft(
            text="The deploy API needs X-Batch: true",
            situation="deploying",
            source=Source(how=How.OBSERVED, ref=transcript.place(1)),
            evidence=(Evidence(type="transcript", ref=transcript.place(1), note=transcript.turns[0].text[:100] or None),),
        )
        return Distilled(lessons=(draft,), dropped={Drop.NOT_QUOTED: 2}, unread=((2, 3),), model="made/1")

    def reinforce(
        self,
        principal: Principal,
        lesson_id: UUID,
        *,
        idempotency_key: str | None = None,
        receipt: Mapping[str, object] | None = None,
    ) -> Reinforced:
        self._note("reinforce", principal=principal, lesson_id=lesson_id, idempotency_key=idempotency_key, receipt=receipt)
        return Reinforced(outcome=Outcome.REINFORCED, lesson=self._lesson(lesson_id), reason="confirmed", tick=2, replayed=False)

    def recall(self, principal: Principal, question: Question) -> Recalled:
        self._note("recall", principal=principal, question=question)
        self.while_recalling()
        hits = tuple(
            Hit(
                lesson=lesson,
                score=0.5,
                confidence=0.7,
                terms={"similarity": 0.5},
                label=None,
                challenges=(Challenge(dispute_id=new_id(), lesson_id=lesson.lesson_id, text="not so"),),
            )
            for lesson in self.kept.values()
        )
        return Recalled(hits=hits[: question.limit], receipt=receipt_of(question.filters(), hits[: question.limit]))

    def verify(self, principal: Principal, receipt: Mapping[str, object], query: str) -> Verification:
        self._note("verify", principal=principal, receipt=receipt, query=query)
        return Verification.of(
            causes=[Doubt.TIME_BUDGET],
            differences=[Difference(aspect=Aspect.SCORE, lesson_id=new_id(), said=0.9, found=0.5)],
            erased=[new_id()],
            missed=[new_id()],
        )

    def lessons(
        self,
        principal: Principal,
        *,
        status: Status | None = Status.ACTIVE,
        limit: int = 20,
        before: str | None = None,
        as_of: int | datetime | None = None,
        ref: str | None = None,
        ref_prefix: str | None = None,
        mine: bool = False,
        filters: Filters = EVERYTHING,
    ) -> Listing:
        asked = {"status": status, "limit": limit, "before": before, "as_of": as_of, "filters": filters}
        self._note("lessons", principal=principal, **asked, ref=ref, ref_prefix=ref_prefix, mine=mine)
        page = tuple(self.kept.values())[:limit]
        return Listing(lessons=page, confidences=(0.7,) * len(page), next_before=None, receipt=receipt_of({}, ()))

    def diff(
        self,
        principal: Principal,
        *,
        since: int | datetime = 0,
        until: int | datetime | None = None,
        limit: int = 20,
        before: str | None = None,
    ) -> Diff:
        self._note("diff", principal=principal, since=since, until=until, limit=limit, before=before)
        return diff_of(receipt_of({}, ()))

    def lesson(self, principal: Principal, lesson_id: UUID, *, as_of: int | datetime | None = None) -> LessonDetail:
        self._note("lesson", principal=principal, lesson_id=lesson_id, as_of=as_of)
        return LessonDetail(lesson=self._lesson(lesson_id), confidence=0.7, challenges=(), receipt=receipt_of({}, ()))

    def stats(self, principal: Principal) -> Stats:
        self._note("stats", principal=principal)
        return stats_of(principal)

    def status(self, principal: Principal) -> MemoryStatus:
        self._note("status", principal=principal)
        return STATUS

    def activity(self, principal: Principal, *, hours: int = 24) -> Activity:
        self._note("activity", principal=principal, hours=hours)
        return activity_of(principal, hours)

    def evaluations(self, principal: Principal, *, limit: int = 20) -> tuple[EvaluationRun, ...]:
        self._note("evaluations", principal=principal, limit=limit)
        return (RUN,)[:limit]

    def costs(self, principal: Principal, *, since: date | None = None, until: date | None = None, by: By = By.DAY) -> Costs:
        self._note("costs", principal=principal, since=since, until=until, by=by)
        return costs_of(principal, since, until, by)

    def audit_refusal(self, principal: Principal, *, action: str, code: str, detail: str) -> None:
        self._note("audit_refusal", principal=principal, action=action, code=code, detail=detail)

    def _note(self, name: str, **given: object) -> None:
        with self._lock:
            self.calls.append(Call(name=name, given=given))
        failure = self.failure_of.get(name, self.failure)
        if failure:
            raise failure

    def _lesson(self, lesson_id: UUID) -> Lesson:
        if lesson_id not in self.kept:
            raise NotFound("there is no such lesson in this tribe")
        return self.kept[lesson_id]


def lesson_of(draft: Draft, principal: Principal) -> Lesson:
    """Returns the lesson that a draft becomes when nothing speaks against it."""
    return Lesson(
        lesson_id=new_id(),
        agent_id=principal.agent_id,
        agent_name=principal.name,
        kind=draft.kind,
        status=Status.ACTIVE,
        text=draft.text,
        situation=draft.situation,
        subject=draft.subject,
        tags=draft.tags,
        source=draft.source,
        evidence=draft.evidence,
        rationale=draft.rationale,
        confidence=draft.confidence,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        keep_until=draft.keep_until,
        learned=Instant(tick=1, at=AT),
        activated=Instant(tick=1, at=AT),
        deactivated=None,
        superseded_by=None,
        content_hash=b"\x00" * 32,
        confirmations=0,
        contradictions=0,
        last_confirmed_at=AT,
    )


def receipt_of(filters: dict[str, object], hits: tuple[Hit, ...]) -> Receipt:
    """Returns the receipt of a complete, exact search."""
    return Receipt(
        receipt_id=new_id(),
        searched=(Searched(tribe=TRIBE, tick=1, at=AT, settled=True),),
        query_digest="00",
        filters=filters,
        paths=(SearchPath.VECTOR_EXACT, SearchPath.TERMS),
        space="test/mean/1/none/3",
        floor=0.3,
        considered=len(hits),
        excluded=(),
        hits=tuple(ScoredHit(lesson_id=hit.lesson.lesson_id, score=hit.score, similarity=0.5, terms=hit.terms) for hit in hits),
        coverage=Coverage.COMPLETE,
        causes=(),
        ranking="v2",
        ms={"embed": 1.0, "database": 2.0},
        key="k1",
        signature="00",
    )
