"""The one face of the library: what every door calls."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from types import TracebackType
from typing import Self, cast
from uuid import UUID

from tributary import access
from tributary.access import charged
from tributary.actions import Actions
from tributary.core.activity import Activity
from tributary.core.agent import Principal, SignedIn
from tributary.core.costs import By, Costs
from tributary.core.decision import Learned, Reinforced
from tributary.core.diff import Diff
from tributary.core.errors import NotMigrated, UnknownCell
from tributary.core.evaluation import EvaluationRun
from tributary.core.lesson import CounterClaim, Draft
from tributary.core.lesson import Status as LessonStatus
from tributary.core.limits import DISTILLED_LESSONS
from tributary.core.requests import EVERYTHING, Filters, LessonDetail, Listing, Question, Recalled
from tributary.core.stats import Stats
from tributary.core.status import Status
from tributary.core.transcript import Distilled, Transcript
from tributary.core.verification import Verification
from tributary.curate import Curator, Desk
from tributary.evidence import Files
from tributary.garden import Gardener, Stopped, never
from tributary.learn import Attempt, Distilling, Learner, Pended, Settled
from tributary.recall import (
    Chronicler,
    Comparer,
    Historian,
    Prober,
    Reader,
    Recaller,
    Signer,
    Statistician,
    Verifier,
    cited_receipt,
)
from tributary.service.databases import Databases
from tributary.service.responding import Responding
from tributary.store import Database, check_level, check_revision, rows, statement, within

TURN_S = 3.0
"""A tribe that has more to settle than that lets the others go before it; a lesson that was begun is finished."""
SPARE_S = 2.0
CLOSE_S = 3.0
"""For so long the counts that are still to be handed over keep a process from ending."""


@dataclass(frozen=True, kw_only=True)
class ModelsUsed:
    """The models of a memory by name and version; None where there is none."""

    judge: str
    strong_judge: str | None
    screen: str
    embedder: str
    distiller: str | None


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Shared memory over one database. Thread-safe; every method raises only the errors of `core.errors`."""

    cell: str | None = None
    """The name of the database, if it has one."""
    databases: Databases
    learner: Learner
    distilling: Distilling
    curate: Curator
    """What curators, and authors of their own lessons, do besides learning."""
    desk: Desk
    """What curators look through."""
    actions: Actions
    """Side effects that happen once."""
    gardener: Gardener
    """What time, room and missing models left to do. For workers and operators, not for callers."""
    files: Files
    """Evidence files, which lessons refer to by hash."""
    agents: access.Agents
    """Who may use the memory, as curators manage it."""
    sessions: access.Sessions
    """Who is signed in to the dashboard."""
    recaller: Recaller
    reader: Reader
    comparer: Comparer
    history: Historian
    """What happened to lessons, and to the tribe."""
    signer: Signer
    verifier: Verifier
    usage: access.Usage
    """Counts the reads that were answered."""
    timekeeper: access.Timekeeper
    """Counts recalls and learns by the hour, with how long they took."""
    ledger: access.Ledger
    """Charges tribes for the models that are called for them."""
    responding: Responding
    """What the incident agent works with (`responder.Responder`)."""
    bookkeeper: access.Bookkeeper
    statistician: Statistician
    chronicler: Chronicler
    prober: Prober
    warm_up: Callable[[], None]
    used: Callable[[], ModelsUsed]
    on_close: Callable[[], None]

    @property
    def database(self) -> Database:
        """The writer."""
        return self.databases.writer

    def cell_for(self, _token: str, /) -> str | None:
        """Returns None: there are no others, whose requests could be kept apart (`Cells.cell_for`)."""
        return None

    def authenticate(self, token: str) -> Principal:
        """Returns the agent behind a bearer token; raises Unauthenticated.

        The writer knows a token from the moment that it was made. While it is away a replica lets in whom it knows, and a
        token that it does not know raises Unavailable: it may be new.
        """
        return access.authenticate(self.databases.current, token, cell=self.cell)

    def of(self, principal: Principal) -> Self:
        """Returns this memory for an agent of its database; raises UnknownCell for one of another cell."""
        if principal.cell not in (None, self.cell):
            raise UnknownCell(principal.cell)
        return self

    @property
    def books(self) -> tuple[access.Usage, access.Timekeeper, access.Ledger]:
        """What is counted in the process, and written down now and then."""
        return self.usage, self.timekeeper, self.ledger

    def authenticate_principal(self, user_arn: str) -> Principal:
        """Returns the agent that an AWS caller acts as, whom AWS itself has named; raises Unauthenticated, and as above."""
        return access.authenticate_principal(self.databases.current, user_arn)

    def sign_in(self, token: str, *, source: str) -> SignedIn:
        """Begins a session of a person by an agent's token (`access.Sessions.begin`)."""
        return self.sessions.begin(token, source=source)

    def session(self, secret: str) -> Principal:
        """Returns the agent that is signed in by a session's secret, as it is stored now (`access.Sessions.principal`)."""
        return self.sessions.principal(secret)

    def sign_out(self, secret: str) -> None:
        """Ends a session (`access.Sessions.end`)."""
        self.sessions.end(secret)

    def audit_refusal(self, principal: Principal, *, action: str, code: str, detail: str) -> None:
        """Records a refusal, in a transaction of its own."""
        access.audit_refusal(self.database, principal, action=action, code=code, detail=detail)

    def health(self) -> None:
        """Returns when the database, or its replica while it is away, answers and serves this code; else raises why not."""
        found = cast(rows.Document | None, self.databases.current.value(statement("recall", "status_schema"), {}))
        if found is None or found["revision"] is None:
            raise NotMigrated
        check_revision(found["revision"])
        check_level(found["oldest_code"])

    def warm(self) -> None:
        """Loads the embedding model now rather than at the first request."""
        self.warm_up()

    def models_used(self) -> ModelsUsed:
        """Returns which models it works with. Loads the embedding model where its name says too little."""
        return self.used()

    @charged
    def learn(
        self,
        principal: Principal,
        draft: Draft,
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
        wait: bool = True,
    ) -> Learned:
        """Learns a lesson and tells what became of it (`learn.Learner.learn`)."""
        began = time.perf_counter()
        learned = self.learner.learn(principal, draft, idempotency_key=idempotency_key, deadline_s=deadline_s, wait=wait)
        self.timekeeper.learned(principal.tribe_id, _ms_since(began))
        return learned

    @charged
    def learn_all(
        self,
        principal: Principal,
        drafts: Sequence[Draft],
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
        wait: bool = True,
    ) -> list[Attempt]:
        """Learns lessons one after another; one that fails does not sink the others (`learn.Learner.learn_all`)."""
        return self.learner.learn_all(principal, drafts, idempotency_key=idempotency_key, deadline_s=deadline_s, wait=wait)

    @charged
    def contest(
        self,
        principal: Principal,
        lesson_id: UUID,
        claim: CounterClaim,
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> Learned:
        """Learns what speaks against a believed lesson (`learn.Learner.contest`)."""
        began = time.perf_counter()
        learned = self.learner.contest(principal, lesson_id, claim, idempotency_key=idempotency_key, deadline_s=deadline_s)
        self.timekeeper.learned(principal.tribe_id, _ms_since(began))
        return learned

    @charged
    def distill(
        self,
        principal: Principal,
        transcript: Transcript,
        *,
        most: int = DISTILLED_LESSONS,
        deadline_s: float | None = None,
    ) -> Distilled:
        """Proposes lessons from a transcript, and learns none of them (`learn.Distilling.distill`)."""
        return self.distilling.distill(principal, transcript, most=most, deadline_s=deadline_s)

    def reinforce(
        self,
        principal: Principal,
        lesson_id: UUID,
        *,
        idempotency_key: str | None = None,
        receipt: Mapping[str, object] | None = None,
    ) -> Reinforced:
        """Counts the agent as one more that found the lesson true; `receipt` is the document of the recall that served it."""
        served_by = None if receipt is None else cited_receipt(self.signer, principal, lesson_id, receipt)
        return self.learner.reinforce(principal, lesson_id, idempotency_key=idempotency_key, served_by=served_by)

    def settle_pending(self, *, stopped: Stopped = never) -> int:
        """Settles what was kept as pending, in every tribe; returns how many lessons. For workers, not for callers.

        Tribes take turns of some seconds, so that one with much to settle keeps no other waiting. Begins no lesson once
        `stopped`.
        """
        settled = 0
        tried: defaultdict[UUID, set[Pended]] = defaultdict(set)
        while True:
            cut_short = False
            for tribe_id in self.learner.tribes_with_pending():
                if stopped():
                    return settled
                found = self._turn(tribe_id, tried[tribe_id], stopped)
                settled += found.done
                cut_short |= found.cut_short
            if not cut_short:
                return settled

    def _turn(self, tribe_id: UUID, tried: set[Pended], stopped: Stopped) -> Settled:
        # No deadline for the judges: one that takes longer than a turn must get to answer, too.
        ends_at = time.monotonic() + TURN_S
        with self.ledger.on(tribe_id):
            return self.learner.settle(tribe_id, stopped=lambda: stopped() or time.monotonic() >= ends_at, tried=tried)

    def settle(self, tribe_id: UUID, *, deadline_s: float) -> Settled:
        """Settles what one tribe has pending, within `deadline_s`; raises Unavailable. For workers, not for callers.

        A database that hangs takes no more than `SPARE_S` beyond it.
        """
        with within(deadline_s + SPARE_S), self.ledger.on(tribe_id):
            return self.learner.settle(tribe_id, deadline_s=deadline_s)

    @charged
    def recall(self, principal: Principal, question: Question) -> Recalled:
        """Returns what the tribe believes about a question, with a receipt."""
        began = time.perf_counter()
        recalled = self.recaller.recall(principal, question)
        self.timekeeper.recalled(principal.tribe_id, recalled.receipt.coverage, _ms_since(began))
        self.usage.count(principal, "recall")
        return recalled

    @charged
    def verify(self, principal: Principal, receipt: Mapping[str, object], query: str) -> Verification:
        """Replays the document of a receipt, and tells whether the tribe believed what it says (`recall.Verifier.verify`)."""
        return self.verifier.verify(principal, receipt, query)

    def lessons(
        self,
        principal: Principal,
        *,
        status: LessonStatus | None = LessonStatus.ACTIVE,
        limit: int = 20,
        before: str | None = None,
        as_of: int | datetime | None = None,
        ref: str | None = None,
        ref_prefix: str | None = None,
        mine: bool = False,
        filters: Filters = EVERYTHING,
    ) -> Listing:
        """Returns a page of lessons, newest first (`recall.Reader.lessons`); `status` None lists every status."""
        listing = self.reader.lessons(
            principal,
            status=status,
            limit=limit,
            before=before,
            as_of=as_of,
            ref=ref,
            ref_prefix=ref_prefix,
            mine=mine,
            filters=filters,
        )
        self.usage.count(principal, "lessons")
        return listing

    def diff(
        self,
        principal: Principal,
        *,
        since: int | datetime = 0,
        until: int | datetime | None = None,
        limit: int = 20,
        before: str | None = None,
    ) -> Diff:
        """Returns a page of what was believed at one moment and not at the other (`recall.Comparer.diff`)."""
        diff = self.comparer.diff(principal, since=since, until=until, limit=limit, before=before)
        self.usage.count(principal, "diff")
        return diff

    def lesson(self, principal: Principal, lesson_id: UUID, *, as_of: int | datetime | None = None) -> LessonDetail:
        """Returns one lesson as it stands or stood."""
        detail = self.reader.lesson(principal, lesson_id, as_of=as_of)
        self.usage.count(principal, "lesson")
        return detail

    def stats(self, principal: Principal) -> Stats:
        """Returns how the tribe stands and is used."""
        return self.statistician.stats(principal)

    @charged
    def status(self, principal: Principal) -> Status:
        """Returns what can be seen of all that a recall of this tribe needs; raises nothing that it can tell instead."""
        return self.prober.status(principal)

    def activity(self, principal: Principal, *, hours: int = 24) -> Activity:
        """Returns how busy the tribe was of late (`recall.Chronicler.activity`)."""
        return self.chronicler.activity(principal, hours=hours)

    def evaluations(self, principal: Principal, *, limit: int = 20) -> tuple[EvaluationRun, ...]:
        """Returns what evals found of the code and the models, newest run first (`recall.Chronicler.evaluations`)."""
        return self.chronicler.evaluations(principal, limit=limit)

    def costs(self, principal: Principal, *, since: date | None = None, until: date | None = None, by: By = By.DAY) -> Costs:
        """Returns what calls of models cost the tribe (`access.Bookkeeper.costs`)."""
        return self.bookkeeper.costs(principal, since=since, until=until, by=by)

    def close(self) -> None:
        """Hands over what was counted and charged, gives back connections and leaves the embedded server."""
        with within(CLOSE_S):
            self.usage.flush()
            self.timekeeper.flush()
            self.ledger.flush(at_last=True)
        self.databases.close()
        self.on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _ms_since(began: float) -> float:
    """Returns the milliseconds since an instant of `time.perf_counter`."""
    return (time.perf_counter() - began) * 1000
