"""Learning as its callers see it: one lesson, a batch, a contest, a confirmation, and the settling of what was kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import cast
from uuid import UUID

from psycopg.types.json import Jsonb

from tributary.access import SERVER_KEY, Admission, Admitted, check_key, request_digest
from tributary.core.action import Completion
from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.confidence import lapsed
from tributary.core.decision import Learned, Reinforced, ScreenFinding
from tributary.core.errors import InvalidRequest, NotFound, TributaryError, Unavailable, WrongStanding
from tributary.core.history import Citation
from tributary.core.ids import Prefix, show
from tributary.core.lesson import CounterClaim, Draft, Lesson, Status
from tributary.core.limits import BATCH_LESSONS, check_draft
from tributary.core.normal import exact_text
from tributary.core.spending import account
from tributary.learn.admit import content_of, draft_of
from tributary.learn.deadline import Deadline
from tributary.learn.deciding import RELEASED, Decider, index_of
from tributary.learn.proposal import Stored
from tributary.learn.replies import learned, reinforced
from tributary.learn.settling import Pended, Settled, Stragglers, settle_all
from tributary.learn.telling import Telling
from tributary.spaces import Placed
from tributary.store import Database, rows, statement
from tributary.telemetry import Event, Metric, Span, log, metrics, traces

Attempt = Learned | TributaryError
"""What became of one lesson of a batch."""
Cite = Callable[[Principal, Sequence[Mapping[str, object]]], tuple[Citation, ...]]
"""Checks receipts that a writer cites and returns what is kept of them; raises InvalidRequest for one that is not genuine."""


@dataclass(frozen=True, kw_only=True)
class Learner:
    """Takes lessons in: admit -> screen -> embed -> candidates -> judge -> commit."""

    database: Database
    admission: Admission
    decider: Decider
    cite: Cite
    telling: Telling = field(default_factory=Telling)
    now: Now = utc_now
    stragglers: Stragglers = field(default_factory=Stragglers)

    def learn(
        self,
        principal: Principal,
        draft: Draft,
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
        wait: bool = True,
    ) -> Learned:
        """Learns `draft` as `principal` and tells what became of it.

        The same key with the same draft gives the first reply again. Past the deadline, or at once without `wait`, the lesson is
        kept as pending. Nothing is kept as pending unscreened: where the deadline leaves a model that screens no time, the lesson
        is held back, as `screen_unavailable`, until the gardener has had it screened. Raises InvalidRequest, Forbidden,
        IdempotencyConflict, RateLimited, WrongStanding (a curator erased the very same words), ModelFailed (the embedder),
        Overloaded and Unavailable; in each of these nothing was written.
        """
        deadline = Deadline.after(deadline_s)
        with traces.span(Span.LEARN, tribe=principal.tribe_id, agent=principal.name):
            door = self._admit(principal, draft, idempotency_key)
            result = self._admitted(principal, draft, door, deadline=deadline, wait=wait)
        return self._told(principal, result)

    def learn_completing(
        self,
        principal: Principal,
        draft: Draft,
        completion: Completion,
        *,
        deadline_s: float | None = None,
        wait: bool = True,
    ) -> Learned:
        """Learns `draft` as `learn` does, and completes an action in the same transaction: both are committed, or neither.

        It is let in with the completion, and not counted once more. Raises what `learn` raises, and NotFound, Forbidden or
        WrongStanding where the action cannot be completed.
        """
        deadline = Deadline.after(deadline_s)
        check_draft(draft)
        with traces.span(Span.LEARN, tribe=principal.tribe_id, agent=principal.name):
            citations = self.cite(principal, draft.receipts)
            admitted = Admitted(
                key=f"{SERVER_KEY}action:{completion.key}",
                digest=request_digest("learn", content_of(draft, citations)),
                replay=None,
            )
            door = _Door(citations=citations, admitted=admitted)
            result = self._admitted(principal, draft, door, deadline=deadline, wait=wait, completes=completion)
        return self._told(principal, result)

    def learn_all(
        self,
        principal: Principal,
        drafts: Sequence[Draft],
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
        wait: bool = True,
    ) -> list[Attempt]:
        """Learns up to BATCH_LESSONS lessons in their order, each as `learn` does; one that fails does not sink the others.

        Lesson n has the key '<key>#<n>', so a repeated batch gives each its first reply. They share the deadline: those that it
        leaves no time for are kept as pending, or held back when they could not be screened in it.
        """
        principal.require(Role.WRITER)
        if not 1 <= len(drafts) <= BATCH_LESSONS:
            raise InvalidRequest("lessons", f"must be 1 to {BATCH_LESSONS} lessons; these are {len(drafts)}")
        check_key(idempotency_key if idempotency_key is None else f"{idempotency_key}#{len(drafts) - 1}")
        with traces.span(Span.LEARN_BATCH, tribe=principal.tribe_id, agent=principal.name, lessons=len(drafts)):
            attempts = list(self._attempts(principal, drafts, idempotency_key, Deadline.after(deadline_s), wait))
        pended = any(isinstance(one, Learned) and one.pended for one in attempts)
        self.telling.after(principal.tribe_id, pended=pended)
        if isinstance(first := attempts[0], Unavailable):
            raise first  # nothing was written
        return attempts

    def contest(
        self,
        principal: Principal,
        lesson_id: UUID,
        claim: CounterClaim,
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> Learned:
        """Learns what `principal` says against a believed lesson, as a contradiction whatever a judge would say of the two.

        So it replaces the lesson where the writer may do that, and is disputed otherwise. Raises what `learn` raises, NotFound,
        and WrongStanding when the lesson is not believed.
        """
        deadline = Deadline.after(deadline_s)
        principal.require(Role.WRITER)
        known = self._shown(principal, lesson_id)
        # what an erased lesson's claim would be about is gone, but a repeated request is still answered from the record
        draft = claim.against(replace(known, situation=known.situation or "erased"))
        check_draft(draft)
        if exact_text(draft.text) == exact_text(known.text):
            raise InvalidRequest("text", "is what the lesson itself says; say what holds instead, or why it does not hold")
        admitted = self.admission.admit(principal, "contest", {"lesson": lesson_id.hex, **asdict(claim)}, idempotency_key)
        if admitted.replay is not None:
            return self._told(principal, learned(admitted.replay))
        if not known.believed:
            raise WrongStanding(f"the lesson is {known.status}; only a believed lesson can be contested")
        with traces.span(Span.LEARN, tribe=principal.tribe_id, agent=principal.name):
            proposal = self.decider.propose(
                principal, draft, key=admitted.key, digest=admitted.digest, contests=lesson_id, deadline=deadline
            )
            result = learned(self.decider.decide(proposal, deadline))
        return self._told(principal, result)

    def reinforce(
        self,
        principal: Principal,
        lesson_id: UUID,
        *,
        idempotency_key: str | None = None,
        served_by: UUID | None = None,
    ) -> Reinforced:
        """Counts `principal` as one more agent that found the lesson true; a second time changes nothing.

        `served_by` is the receipt that the lesson was recalled with. Raises NotFound, and WrongStanding when the lesson is not
        believed (or time has ended the belief).
        """
        principal.require(Role.WRITER)
        receipt = None if served_by is None else show(Prefix.RECEIPT, served_by)
        admitted = self.admission.admit(principal, "reinforce", {"lesson": lesson_id.hex, "receipt": receipt}, idempotency_key)
        if admitted.replay is not None:
            return reinforced(admitted.replay)
        known = self._shown(principal, lesson_id)
        if known.believed and lapsed(known, at=self.now()):
            raise WrongStanding("the lesson has lapsed: its validity is over or nobody confirmed it for too long; learn it anew")
        reply = self.database.value(
            statement("learn", "reinforce"),
            {
                "tribe_id": principal.tribe_id,
                "agent_id": principal.agent_id,
                "lesson_id": lesson_id,
                "details": Jsonb({} if receipt is None else {"receipt": receipt}),
                "key": admitted.key,
                "digest": admitted.digest,
            },
        )
        result = reinforced(rows.document(reply))
        metrics.record(Metric.LEARNED, of=result.outcome.value)
        log.event(Event.REINFORCED, lesson=show(Prefix.LESSON, lesson_id), outcome=result.outcome.value, tick=result.tick)
        return result

    def reconsider(
        self,
        author: Principal,
        lesson: Lesson,
        stored: Stored,
        *,
        key: str,
        digest: bytes,
        deadline_s: float | None,
        finding: ScreenFinding | None = None,
    ) -> rows.Document:
        """Gives a stored lesson another standing, judged anew as its author's; returns the reply's document.

        `author` has the role that the outcome is derived for; `finding` is the screen's, where it was asked before. What a
        curator decides is not screened again. For the rooms above: curation and gardening.
        """
        deadline = Deadline.after(deadline_s)
        with traces.span(Span.RECONSIDER, tribe=author.tribe_id, agent=author.name):
            proposal = self.decider.propose(
                author,
                draft_of(lesson),
                key=key,
                digest=digest,
                lesson_id=lesson.lesson_id,
                stored=stored,
                finding=finding or (RELEASED if stored.actor is not None else None),
                deadline=deadline,
            )
            return self.decider.decide(proposal, deadline)

    def index_of(self, author: Principal, lesson: Lesson) -> dict[str, object]:
        """Returns what a held back lesson is found by (vector and terms), for the schema's functions."""
        proposal = self.decider.propose(
            author, draft_of(lesson), key="", digest=b"", lesson_id=lesson.lesson_id, finding=RELEASED
        )
        return index_of(proposal)

    def settle(
        self,
        tribe_id: UUID,
        *,
        deadline_s: float | None = None,
        stopped: Callable[[], bool] = lambda: False,
        tried: set[Pended] | None = None,
    ) -> Settled:
        """Settles lessons of a tribe that were kept as pending, for their authors, each tried once; tells what came of them.

        No lesson is begun past the deadline, or once `stopped`; what a judge has no answer to by the deadline stays pending.
        Passes over those in `tried`, and adds to it. One settler of a tribe at a time: another finds that it is `taken`, and
        tries nothing. Safe beside any other worker even so: whoever commits first settles a lesson, the other finds that it did.
        Raises Unavailable.
        """

        def one(pending: rows.Document, left_s: float | None) -> bool | None:
            return self._settled(tribe_id, pending, left_s)

        return settle_all(
            self.database, tribe_id, one, stragglers=self.stragglers, deadline_s=deadline_s, stopped=stopped, tried=tried
        )

    def tribes_with_pending(self) -> list[UUID]:
        """Returns the tribes that `settle` has work in."""
        return [cast(UUID, row[0]) for row in self.database.rows(statement("learn", "tribes_with_pending"), {})]

    def _admit(self, principal: Principal, draft: Draft, key: str | None) -> _Door:
        principal.require(Role.WRITER)
        check_draft(draft)
        citations = self.cite(principal, draft.receipts)
        return _Door(citations=citations, admitted=self.admission.admit(principal, "learn", content_of(draft, citations), key))

    def _admitted(
        self,
        principal: Principal,
        draft: Draft,
        door: _Door,
        *,
        deadline: Deadline,
        wait: bool,
        placed: Placed | None = None,
        completes: Completion | None = None,
    ) -> Learned:
        admitted = door.admitted
        if admitted.replay is not None:
            log.event(Event.LEARN_REPLAYED)
            traces.note(replayed=True)
            return learned(admitted.replay)
        proposal = self.decider.propose(
            principal, draft, key=admitted.key, digest=admitted.digest, placed=placed, deadline=deadline
        )
        proposal = replace(proposal, citations=door.citations, completes=completes)
        if not wait or deadline.passed:
            return learned(self.decider.keep(proposal))
        return learned(self.decider.decide(proposal, deadline))

    def _attempts(
        self, principal: Principal, drafts: Sequence[Draft], key: str | None, deadline: Deadline, wait: bool
    ) -> Iterator[Attempt]:
        doors = list(self._doors(principal, drafts, key))
        placed = self._placed(principal, drafts, doors, deadline)
        gone: Unavailable | None = None
        for number, (draft, door) in enumerate(zip(drafts, doors, strict=True)):
            if gone is not None or isinstance(door, TributaryError):
                yield gone or cast(TributaryError, door)
                continue
            try:
                with traces.span(Span.LEARN, tribe=principal.tribe_id, agent=principal.name):
                    attempt = self._admitted(principal, draft, door, deadline=deadline, wait=wait, placed=placed.get(number))
                yield attempt
            except Unavailable as error:  # each of the others would wait for the database as long, and in vain
                gone = error
                yield error
            except TributaryError as error:
                account().decided(None)  # what led to no decision is none of the next one's
                yield error

    def _doors(self, principal: Principal, drafts: Sequence[Draft], key: str | None) -> Iterator[_Door | TributaryError]:
        """Lets the lessons of a batch in, each for itself, before a model is asked about any."""
        gone: Unavailable | None = None
        for number, draft in enumerate(drafts):
            try:
                yield gone or self._admit(principal, draft, None if key is None else f"{key}#{number}")
            except Unavailable as error:
                gone = error
                yield error
            except TributaryError as error:
                yield error

    def _placed(
        self, principal: Principal, drafts: Sequence[Draft], doors: Sequence[_Door | TributaryError], deadline: Deadline
    ) -> dict[int, Placed]:
        """Embeds in one call what was let in and is new; without it each is embedded, or fails, on its own."""
        new = [number for number, door in enumerate(doors) if isinstance(door, _Door) and door.admitted.replay is None]
        try:
            placed = self.decider.embed(principal.tribe_id, [drafts[number] for number in new], deadline) if new else []
            return dict(zip(new, placed, strict=True))
        except TributaryError:
            return {}
        finally:
            account().decided(None)  # one call for all of them is for no single decision

    def _shown(self, principal: Principal, lesson_id: UUID) -> Lesson:
        """Returns a lesson as it stands; raises NotFound for none, and for a held back one of somebody else's."""
        shown = rows.document(
            self.database.value(
                statement("recall", "show"),
                {"tribe_id": principal.tribe_id, "lesson_id": lesson_id, "tick": None, "instant": None, "now": self.now()},
            )
        )
        known = rows.lesson(shown["lesson"])
        if shown["held"] and principal.agent_id != known.agent_id and principal.role is not Role.CURATOR:
            raise NotFound
        return known

    def _settled(self, tribe_id: UUID, pending: rows.Document, deadline_s: float | None) -> bool | None:
        """Settles one lesson; None when somebody else did. One that cannot be settled now must not keep the others waiting."""
        lesson_id = UUID(pending["lesson"]["lesson_id"])
        shown = show(Prefix.LESSON, lesson_id)
        try:
            lesson, role = rows.lesson(pending["lesson"]), rows.role(pending["role"])
            author = Principal(tribe_id=tribe_id, agent_id=lesson.agent_id, name=lesson.agent_name, role=role)
            document = self.reconsider(
                author,
                lesson,
                Stored(stands=Status.PENDING),
                key=f"{SERVER_KEY}settle:{lesson_id.hex}:{pending['since']}",  # it may be kept as pending more than once
                digest=request_digest("settle", {"lesson": lesson_id.hex}),
                deadline_s=deadline_s,
                finding=RELEASED if pending["released"] else None,
            )
            return None if document["replayed"] else True
        except (Unavailable, WrongStanding) as error:
            account().decided(None)
            if isinstance(error, Unavailable):
                raise  # each of the others would wait for the database as long, and in vain
            return None  # it was retired, erased or settled meanwhile
        except TributaryError as error:
            log.event(Event.SETTLE_FAILED, level=log.WARNING, error=error, code=error.code, lesson=shown)
        except Exception as error:
            log.event(Event.SETTLE_FAILED, level=log.ERROR, error=error, code="internal", lesson=shown)
        account().decided(None)
        return False

    def _told(self, principal: Principal, result: Learned) -> Learned:
        self.telling.after(principal.tribe_id, pended=result.pended)
        return result


@dataclass(frozen=True, kw_only=True)
class _Door:
    """A lesson that was let in, and the receipts that its writer cited for it."""

    citations: tuple[Citation, ...]
    admitted: Admitted
