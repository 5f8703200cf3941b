"""What the HTTP edge asks of the service, of Lambda and of API Gateway, as types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from datetime import date, datetime
    from uuid import UUID

    from tributary.access import Agents
    from tributary.actions import Actions
    from tributary.core.activity import Activity
    from tributary.core.agent import Principal
    from tributary.core.costs import By, Costs
    from tributary.core.decision import Learned, Reinforced
    from tributary.core.diff import Diff
    from tributary.core.errors import TributaryError
    from tributary.core.evaluation import EvaluationRun
    from tributary.core.lesson import CounterClaim, Draft, Status
    from tributary.core.requests import Filters, LessonDetail, Listing, Question, Recalled
    from tributary.core.stats import Stats
    from tributary.core.status import Status as MemoryStatus
    from tributary.core.transcript import Distilled, Transcript
    from tributary.core.verification import Verification
    from tributary.curate import Curator, Desk
    from tributary.evidence import Files
    from tributary.recall import Historian
    from tributary.service.responding import Responding

    Attempt = Learned | TributaryError

Event = dict[str, Any]
"""A Lambda event as the runtime hands it over: parsed JSON (API Gateway HTTP API, payload format 2.0)."""


class Door(Protocol):
    """Says who is calling, and leads the caller to the memory of its tribe: `service.Memory` itself, or `service.Cells`.

    Safe to call from several threads.
    """

    def cell_for(self, token: str, /) -> str | None: ...

    def authenticate(self, token: str) -> Principal: ...

    def authenticate_principal(self, user_arn: str) -> Principal: ...

    def health(self) -> None: ...

    def of(self, principal: Principal) -> MemoryFace: ...


class MemoryFace(Protocol):
    """The part of `service.Memory` that operations use. Safe to call from several threads."""

    @property
    def curate(self) -> Curator: ...

    @property
    def desk(self) -> Desk: ...

    @property
    def agents(self) -> Agents: ...

    @property
    def actions(self) -> Actions: ...

    @property
    def history(self) -> Historian: ...

    @property
    def files(self) -> Files: ...

    @property
    def responding(self) -> Responding: ...

    def learn(
        self,
        principal: Principal,
        draft: Draft,
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
        wait: bool = True,
    ) -> Learned: ...

    def learn_all(
        self,
        principal: Principal,
        drafts: Sequence[Draft],
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
        wait: bool = True,
    ) -> list[Attempt]: ...

    def contest(
        self,
        principal: Principal,
        lesson_id: UUID,
        claim: CounterClaim,
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> Learned: ...

    def distill(
        self, principal: Principal, transcript: Transcript, *, most: int = ..., deadline_s: float | None = None
    ) -> Distilled: ...

    def reinforce(
        self,
        principal: Principal,
        lesson_id: UUID,
        *,
        idempotency_key: str | None = None,
        receipt: Mapping[str, object] | None = None,
    ) -> Reinforced: ...

    def recall(self, principal: Principal, question: Question) -> Recalled: ...

    def verify(self, principal: Principal, receipt: Mapping[str, object], query: str) -> Verification: ...

    def lessons(
        self,
        principal: Principal,
        *,
        status: Status | None = ...,
        limit: int = ...,
        before: str | None = ...,
        as_of: int | datetime | None = ...,
        ref: str | None = ...,
        ref_prefix: str | None = ...,
        mine: bool = ...,
        filters: Filters = ...,
    ) -> Listing: ...

    def diff(
        self,
        principal: Principal,
        *,
        since: int | datetime = ...,
        until: int | datetime | None = ...,
        limit: int = ...,
        before: str | None = ...,
    ) -> Diff: ...

    def lesson(self, principal: Principal, lesson_id: UUID, *, as_of: int | datetime | None = None) -> LessonDetail: ...

    def stats(self, principal: Principal) -> Stats: ...

    def status(self, principal: Principal) -> MemoryStatus: ...

    def activity(self, principal: Principal, *, hours: int = ...) -> Activity: ...

    def evaluations(self, principal: Principal, *, limit: int = ...) -> tuple[EvaluationRun, ...]: ...

    def costs(self, principal: Principal, *, since: date | None = None, until: date | None = None, by: By = ...) -> Costs: ...

    def audit_refusal(self, principal: Principal, *, action: str, code: str, detail: str) -> None: ...


OpenMemory = Callable[[], Door]
"""Gives the door to the memory, opening it at the first call. May raise any error of the tree."""


class Context(Protocol):
    """The part of Lambda's context object that is used here."""

    def get_remaining_time_in_millis(self) -> int: ...


Handler = Callable[[Event, Context], dict[str, Any]]
