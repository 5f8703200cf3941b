"""Steps 2 to 6 of a learn: from what was said to what became of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.curation import Rejection
from tributary.core.decision import SCREEN_UNAVAILABLE, Outcome, ScreenFinding, Unscreened, VerdictKind
from tributary.core.errors import Forbidden, ModelFailed, NotFound, Overloaded, WrongStanding
from tributary.core.ids import Prefix, new_id, show
from tributary.core.lesson import Draft, Status
from tributary.core.normal import content_hash, subject_key, text_hash
from tributary.core.outcome import Plan, plan_outcome
from tributary.core.policy import Policy
from tributary.core.ports import Judge, Screen
from tributary.core.spending import account
from tributary.core.terms import terms_of
from tributary.learn.admit import embedded_text, screened_fields
from tributary.learn.candidates import read_candidates
from tributary.learn.commit import ahead_of, commit
from tributary.learn.deadline import Deadline
from tributary.learn.judging import Bench
from tributary.learn.proposal import Proposal, Reading, Refused, Stored
from tributary.spaces import Placed, Profiles, TribeProfile
from tributary.store import Database, rows
from tributary.telemetry import Event, Metric, Span, log, metrics, traces

REPLANS = 64
"""Each refusal means that another relevant write did commit, so this is reached under no load that makes progress."""
RELEASED = ScreenFinding(screen="released/1")
"""A curator's word instead of a screen's."""
_UNREAD = Reading(
    tick=0, at=datetime(1970, 1, 1, tzinfo=UTC), role=Role.WRITER, policy=Policy(), rare=(), farthest=None, candidates={}
)
"""What is kept unjudged depends on no other lesson, so nothing has to be read for it."""


@dataclass(frozen=True, kw_only=True)
class Decider:
    """Decides lessons one by one. Every model call is made outside any transaction; the commit is one call under the gate."""

    database: Database
    judge: Judge
    screen: Screen
    profiles: Profiles
    exact_limit: int
    on_judged: Callable[[UUID, int, int], None]
    """Told of a tribe's pairs that a judge answered about, and of those that the strong judge was asked about as well."""

    def bench(self, tribe_id: UUID, draft: Draft, *, lesson_id: UUID, content_hash: bytes) -> Bench:
        """Returns what judges one lesson of a tribe."""
        told = partial(self.on_judged, tribe_id)
        return Bench(self.judge, draft, lesson_id=lesson_id, content_hash=content_hash, on_judged=told)

    def propose(
        self,
        principal: Principal,
        draft: Draft,
        *,
        key: str,
        digest: bytes,
        lesson_id: UUID | None = None,
        stored: Stored | None = None,
        contests: UUID | None = None,
        placed: Placed | None = None,
        finding: ScreenFinding | None = None,
        deadline: Deadline | None = None,
    ) -> Proposal:
        """Screens and embeds a draft. `placed` is its embedding and `finding` the screen's, where these were made before.

        Raises ModelFailed when the embedder fails; a screen that fails holds the lesson back.
        """
        deadline = deadline or Deadline.never()
        profile = self.profiles.get(principal.tribe_id)
        text = embedded_text(draft)
        screening = finding or self.screened(draft, deadline)
        placed, ahead = self._embedded(profile, text, deadline, placed=placed)
        return Proposal(
            principal=principal,
            draft=draft,
            lesson_id=lesson_id or new_id(),
            decision_id=new_id(),
            key=key,
            request_digest=digest,
            content_hash=content_hash(draft, secret=profile.secret),
            text_hash=text_hash(draft, secret=profile.secret),
            subject_key=subject_key(draft.subject),
            terms=terms_of(text),
            placed=placed,
            ahead=ahead,
            screening=screening,
            stored=stored,
            contests=contests,
        )

    def embed(self, tribe_id: UUID, drafts: Sequence[Draft], deadline: Deadline) -> list[Placed]:
        """Returns the drafts' embeddings where the tribe serves from, in order; raises ModelFailed."""
        texts = [embedded_text(one) for one in drafts]
        with traces.span(Span.EMBED, texts=len(texts)):
            return self.profiles.get(tribe_id).placed(texts, timeout_s=deadline.embedding_s())

    def screened(self, draft: Draft, deadline: Deadline) -> ScreenFinding:
        """Returns the screen's finding; a screen that cannot run, for whatever reason, must not let anything through."""
        try:
            with traces.span(Span.SCREEN, screen=self.screen.version) as span:
                finding = self.screen.screen(screened_fields(draft), timeout_s=deadline.remaining_s())
                span.note(quarantined=finding.quarantined)
                return finding
        except Exception as error:
            level = log.WARNING if isinstance(error, ModelFailed) else log.ERROR
            log.event(Event.SCREEN_UNAVAILABLE, level=level, error=error, screen=self.screen.version)
            return ScreenFinding(screen=self.screen.version, reasons=(SCREEN_UNAVAILABLE,), unscreened=Unscreened.of(error))

    def decide(self, proposal: Proposal, deadline: Deadline) -> rows.Document:
        """Judges, plans and commits until nothing relevant was committed in between; returns the reply's document.

        Raises Overloaded, Forbidden, and WrongStanding when the lesson that it is about stands otherwise by now.
        """
        bench = self._bench(proposal)
        gate_wait_ms = 0.0
        for replans in range(REPLANS):
            # all of it anew after a refusal: one event may change what speaks against several candidates. Verdicts are kept
            reading = self._read(proposal)
            if reading is None:
                proposal = self._moved(proposal, deadline)
                continue
            if self.profiles.unaware_of(proposal.principal.tribe_id, reading.building):
                proposal = self._ahead(proposal, deadline)
            bench.force(_forced(proposal, reading))
            replace(proposal.principal, role=reading.role).require(Role.WRITER)
            plan = _held_back(proposal, reading) or self._plan(proposal, reading, bench, deadline)
            outcome, waited_ms = commit(self.database, replace(proposal, replans=replans), reading, bench, plan)
            gate_wait_ms += waited_ms
            if not isinstance(outcome, Refused):
                _committed(outcome, candidates=len(reading.candidates), replans=replans, gate_wait_ms=gate_wait_ms)
                return outcome
            log.event(Event.LEARN_REPLANNED, changed=outcome.changed, fresh=outcome.fresh, tick=reading.tick)
        raise Overloaded

    def keep(self, proposal: Proposal) -> rows.Document:
        """Keeps a lesson as pending (or quarantined) without comparing it with anything."""
        plan = _held_back(proposal, _UNREAD) or Plan(outcome=Outcome.PENDING, reason="kept to be judged soon, as was asked")
        bench = self._bench(proposal)
        gate_wait_ms = 0.0
        for _ in range(REPLANS):  # refused only when the tribe began to serve from another space just now
            outcome, waited_ms = commit(self.database, proposal, _UNREAD, bench, plan)
            gate_wait_ms += waited_ms
            if not isinstance(outcome, Refused):
                _committed(outcome, candidates=0, replans=0, gate_wait_ms=gate_wait_ms)
                return outcome
            proposal = self._moved(proposal, Deadline.never())
        raise Overloaded

    def _bench(self, proposal: Proposal) -> Bench:
        return self.bench(
            proposal.principal.tribe_id, proposal.draft, lesson_id=proposal.lesson_id, content_hash=proposal.content_hash
        )

    def _embedded(
        self, profile: TribeProfile, text: str, deadline: Deadline, *, placed: Placed | None = None
    ) -> tuple[Placed, Placed | None]:
        """Returns a text's embeddings: where the tribe serves from, unless `placed` is it, and where it builds, if it does."""
        with traces.span(Span.EMBED, texts=1 if placed is None else 0):
            return (
                placed or profile.placed([text], timeout_s=deadline.embedding_s())[0],
                self.profiles.ahead(profile, text, timeout_s=deadline.embedding_s()),
            )

    def _read(self, proposal: Proposal) -> Reading | None:
        with traces.span(Span.CANDIDATES) as span:
            reading = read_candidates(self.database, proposal, exact_limit=self.exact_limit)
            if reading is not None:
                span.note(candidates=len(reading.candidates), tick=reading.tick)
            return reading

    def _moved(self, proposal: Proposal, deadline: Deadline) -> Proposal:
        """Returns the proposal embedded where the tribe serves from by now; raises what `propose` raises."""
        self.profiles.forget(proposal.principal.tribe_id)
        profile = self.profiles.get(proposal.principal.tribe_id)
        placed, ahead = self._embedded(profile, embedded_text(proposal.draft), deadline)
        return replace(proposal, placed=placed, ahead=ahead)

    def _ahead(self, proposal: Proposal, deadline: Deadline) -> Proposal:
        """Returns the proposal embedded in the space that the tribe builds by now, too."""
        profile = self.profiles.get(proposal.principal.tribe_id)
        ahead = self.profiles.ahead(profile, embedded_text(proposal.draft), timeout_s=deadline.embedding_s())
        return replace(proposal, ahead=ahead)

    def _plan(self, proposal: Proposal, reading: Reading, bench: Bench, deadline: Deadline) -> Plan:
        _check_replaceable(proposal, reading)
        contested = None if proposal.contests is None else reading.candidates.get(proposal.contests)
        if proposal.contests is not None and (contested is None or not contested.lesson.believed):
            stands = contested.lesson.status if contested else "unknown"
            raise WrongStanding(f"the lesson is {stands}; only a believed lesson can be contested")
        writer = replace(proposal.principal, role=reading.role)
        judged = bench.judge_all(reading.candidates, deadline)
        if judged is None:
            # what is pending stays so: to keep it once more would only spend the key under which it is settled
            if proposal.asked.ending is not None or (proposal.stored and proposal.stored.stands is Status.PENDING):
                raise Overloaded("not every candidate could be judged in time; nothing was changed, try again")
            return Plan(outcome=Outcome.PENDING, reason="kept unjudged: the deadline passed before every candidate was judged")
        return plan_outcome(proposal.draft, writer, reading.policy, judged, at=reading.at, asked=proposal.asked)


def _check_replaceable(proposal: Proposal, reading: Reading) -> None:
    """Raises what `replaceable_v1` refuses under the gate, before a judge is paid for it."""
    for lesson_id in proposal.draft.replaces:
        named = reading.candidates.get(lesson_id)
        if named is None:
            raise NotFound(f"there is no lesson {show(Prefix.LESSON, lesson_id)} to replace")
        if named.lesson.agent_id != proposal.principal.agent_id and reading.role is not Role.CURATOR:
            raise Forbidden(f"{show(Prefix.LESSON, lesson_id)} is another agent's; only its author or a curator may replace it")
        if not named.lesson.believed:
            rule = f"{show(Prefix.LESSON, lesson_id)} is {named.lesson.status}; only a believed lesson can be replaced"
            raise WrongStanding(rule)


def _held_back(proposal: Proposal, reading: Reading) -> Plan | None:
    """Returns the plan for what the screen caught; what a curator said of the very same words before goes first."""
    if not (reasons := proposal.screening.reasons):
        return None
    equals = [one for one in reading.candidates.values() if one.lesson.content_hash == proposal.content_hash]
    if any(one.lesson.believed for one in equals):
        return None  # a curator released them, or an earlier screen let them pass: they are confirmed, and nothing new is shown
    known = next((one.lesson.lesson_id for one in equals if one.rejected_as is Rejection.INJECTION), None)
    record = f"; a curator retired the same as an injection: {show(Prefix.LESSON, known)}" if known else ""
    return Plan(outcome=Outcome.QUARANTINED, reason=f"held back by the screen: {', '.join(reasons)}{record}")


def index_of(proposal: Proposal) -> dict[str, object]:
    """Returns what the schema puts a stored lesson's vector and terms in by, without a decision about it."""
    return {
        "tribe_id": str(proposal.principal.tribe_id),
        "lesson": {"lesson_id": str(proposal.lesson_id)},
        "space_id": proposal.space_id,
        "embedding": proposal.embedding,
        **ahead_of(proposal),
        "terms": list(proposal.terms),
    }


def _forced(proposal: Proposal, reading: Reading) -> dict[UUID, VerdictKind]:
    """Returns what is not asked of a judge: the pairs that the writer named, what a curator said, and the rivals on record."""
    forced: dict[UUID, VerdictKind] = {}
    forced.update(dict.fromkeys(proposal.against, VerdictKind.CONFLICTS))
    if proposal.stored is not None:
        # an earlier verdict, or the agent who contested, made them rivals; nobody but a curator takes that back
        forced.update(dict.fromkeys(reading.opponents, VerdictKind.CONFLICTS))
        forced.update(proposal.stored.forced)
    return forced


def _committed(document: rows.Document, *, candidates: int, replans: int, gate_wait_ms: float) -> None:
    """Says what a lesson came to, in the log and in the span of its learn, and for which decision models were called."""
    reply = document["reply"]
    account().decided(UUID(reply["decision_id"]))
    lesson = show(Prefix.LESSON, UUID(reply["lesson_id"]))
    if not document["replayed"]:
        metrics.record(Metric.LEARNED, of=reply["outcome"])
        metrics.record(Metric.GATE_WAIT, gate_wait_ms)
        metrics.record(Metric.REPLANS, replans)
    log.event(Event.LEARNED, lesson=lesson, outcome=reply["outcome"], tick=reply["tick"], candidates=candidates, replans=replans)
    traces.note(
        lesson=lesson,
        outcome=reply["outcome"],
        tick=reply["tick"],
        candidates=candidates,
        replans=replans,
        gate_wait_ms=round(gate_wait_ms, 3),
        decision=None if reply["decision_id"] is None else show(Prefix.DECISION, UUID(reply["decision_id"])),
        replayed=document["replayed"],
    )
