"""Made from curation.py by `make async-client`: change that one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Generic, Protocol

from tributary.client import agent_calls
from tributary.client import curation_calls as calls
from tributary.client.calls import Call
from tributary.client.curation import Item, Result, SomePage
from tributary.client.curation_calls import DisputeState, ListingPage, ReviewFilter
from tributary.client.errors import BadReply, WrongStanding
from tributary.client.ids import AgentRef, DecisionRef, DisputeRef, LessonRef, ReviewRef, TokenRef
from tributary.client.keys import key_or_new
from tributary.contract.agents import AgentReply, NewTokenReply, TokenReply
from tributary.contract.curation import (
    AuditEntryReply,
    DecisionDetailReply,
    DecisionReply,
    DisputeReply,
    ErasedReply,
    HeldReply,
    Mistake,
    PolicyReply,
    ReportedReply,
    ResolvedReply,
    ReviewClosedReply,
    ReviewReply,
)
from tributary.contract.models import LearnReply
from tributary.contract.route import Role


class AsyncRun(Protocol):
    """Carries out a call and returns what it comes to."""

    async def __call__(self, call: Call[Result]) -> Result: ...


class AsyncPaged(AsyncIterator[Item], Generic[Item, SomePage]):
    """Items newest first; pages are fetched as needed. `pages()` gives them a page at a time, each with its receipt."""

    def __init__(self, run: AsyncRun, ask: Callable[[str | None], Call[SomePage]], before: str | None) -> None:
        self._run = run
        self._ask = ask
        self._before = before
        self._items = (item async for page in self.pages() for item in page.items)

    async def __anext__(self) -> Item:
        item: Item = await anext(self._items)
        return item

    async def pages(self) -> AsyncIterator[SomePage]:
        """Yields the pages from the first one on, whatever was yielded before."""
        before = self._before
        while True:
            page = await self._run(self._ask(before))
            if page.next is not None and page.next == before:
                raise BadReply("the server's next page is the page before")
            yield page
            before = page.next
            if before is None:
                return


class AsyncListing(AsyncPaged[Item, ListingPage[Item]], Generic[Item]):
    """Items of a listing, whose pages tell nothing besides."""


class AsyncCuration:
    """The curator's side of a memory, as `memory.curation`.

    Readers, too, may look at disputes, challenges and the policy, and writers may report; the rest is a curator's.
    `seen_tick`, the `tick` of the page on which a dispute was read, keeps lessons that came into it later out of the decision.
    Each write is given a key, so that a lost reply decides nothing twice.
    """

    def __init__(self, run: AsyncRun) -> None:
        self._run = run

    def disputes(
        self,
        state: DisputeState = "open",
        *,
        lesson: LessonRef | None = None,
        page_size: int = 50,
        before: str | None = None,
    ) -> AsyncListing[DisputeReply]:
        """Lists disputes, newest first: a contender that is not believed, and what it contradicts."""
        return AsyncListing(
            self._run, lambda at: calls.disputes(state=state, lesson=lesson, page_size=page_size, before=at), before
        )

    def challenges(
        self,
        state: DisputeState = "open",
        *,
        lesson: LessonRef | None = None,
        page_size: int = 50,
        before: str | None = None,
    ) -> AsyncListing[DisputeReply]:
        """Lists challenges, newest first: pairs of believed lessons that may contradict each other."""
        return AsyncListing(
            self._run, lambda at: calls.challenges(state=state, lesson=lesson, page_size=page_size, before=at), before
        )

    async def dispute(self, dispute: DisputeRef) -> DisputeReply:
        """Returns one dispute or challenge with both sides as they stand now."""
        return await self._run(calls.dispute(dispute))

    async def accept(
        self,
        dispute: DisputeRef,
        *,
        rationale: str | None = None,
        seen_tick: int | None = None,
        idempotency_key: str | None = None,
    ) -> ResolvedReply:
        """Finds the contender right: it replaces every believed rival in the same tick."""
        key = key_or_new(idempotency_key)
        return await self._run(calls.accept(dispute, rationale=rationale, seen_tick=seen_tick, idempotency_key=key))

    async def reject(
        self, dispute: DisputeRef, rationale: str, *, seen_tick: int | None = None, idempotency_key: str | None = None
    ) -> ResolvedReply:
        """Finds the contender wrong: it is retired, and the same claim is disputed, and pointed here, when it comes again."""
        key = key_or_new(idempotency_key)
        return await self._run(calls.reject(dispute, rationale=rationale, seen_tick=seen_tick, idempotency_key=key))

    async def both_stand(
        self,
        dispute: DisputeRef,
        *,
        rationale: str | None = None,
        seen_tick: int | None = None,
        idempotency_key: str | None = None,
    ) -> ResolvedReply:
        """Finds the verdict wrong: both sides are believed, and the case is queued for review."""
        key = key_or_new(idempotency_key)
        return await self._run(calls.both_stand(dispute, rationale=rationale, seen_tick=seen_tick, idempotency_key=key))

    def quarantine(self, *, page_size: int = 50, before: str | None = None) -> AsyncListing[HeldReply]:
        """Lists lessons that the screen held back, newest first: text that nobody should follow."""
        return AsyncListing(self._run, lambda at: calls.quarantine(page_size=page_size, before=at), before)

    async def release(self, lesson: LessonRef, *, idempotency_key: str | None = None) -> LearnReply:
        """Learns a quarantined lesson as its author's: it is judged as any other, but not screened again."""
        return await self._run(calls.release(lesson, idempotency_key=key_or_new(idempotency_key)))

    async def erase(self, lesson: LessonRef, *, idempotency_key: str | None = None) -> ErasedReply:
        """Removes what a lesson says, and every other of the very same words, for good; a tombstone stays."""
        return await self._run(calls.erase(lesson, idempotency_key=key_or_new(idempotency_key)))

    def decisions(
        self, lesson: LessonRef | None = None, *, page_size: int = 50, before: str | None = None
    ) -> AsyncListing[DecisionReply]:
        """Lists decisions, newest first: all of them, or those that `lesson` was part of."""
        return AsyncListing(self._run, lambda at: calls.decisions(lesson=lesson, page_size=page_size, before=at), before)

    async def decision(self, decision: DecisionRef) -> DecisionDetailReply:
        """Returns one decision with the lessons that it was about, as they stand now."""
        return await self._run(calls.decision(decision))

    async def report(
        self,
        decision: DecisionRef,
        should_be: Mistake,
        *,
        lesson: LessonRef | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
    ) -> ReportedReply:
        """Queues a decision that was wrong for review, by a writer's word; it changes no belief.

        `should_be` is what its verdict on `lesson` should have been, or the screen's finding of the text itself (`harmful`,
        `harmless`). `lesson` may be left out when the decision compared with one lesson only.
        """
        key = key_or_new(idempotency_key)
        return await self._run(calls.report(decision, should_be=should_be, lesson=lesson, note=note, idempotency_key=key))

    def reviews(
        self, state: ReviewFilter = "open", *, page_size: int = 50, before: str | None = None
    ) -> AsyncListing[ReviewReply]:
        """Lists cases of the review queue, newest first."""
        return AsyncListing(self._run, lambda at: calls.reviews(state=state, page_size=page_size, before=at), before)

    async def accept_review(self, review: ReviewRef, *, golden: str, idempotency_key: str | None = None) -> ReviewClosedReply:
        """Takes a case off the review queue that was written down as the row `golden` of a golden set.

        Raises NotFound when it is not there any more, as when what it was about was erased, and WrongStanding when it was
        closed otherwise: then the row has to be taken back.
        """
        return await self._run(calls.accept_review(review, golden=golden, idempotency_key=key_or_new(idempotency_key)))

    async def reject_review(
        self, review: ReviewRef, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> ReviewClosedReply:
        """Takes a case off the review queue: it teaches nothing, for the reason that may be given."""
        return await self._run(calls.reject_review(review, reason=reason, idempotency_key=key_or_new(idempotency_key)))

    async def policy(self) -> PolicyReply:
        """Returns which source outranks which, and how much the tribe keeps."""
        return await self._run(calls.policy())

    async def set_policy(self, policy: PolicyReply | Mapping[str, object]) -> PolicyReply:
        """Puts `policy` as a whole in place of the version that it carries, and returns it with its new one.

        Raises WrongStanding when the policy was changed since that version. Take what `policy()` returned, changed with
        `model_copy(update={...})`, or a mapping of the same fields.
        """
        request = calls.policy_request(policy)
        try:
            return await self._run(calls.set_policy(request))
        except WrongStanding:
            # It takes no key. A try whose reply was lost makes the next one come too late, to find its own work done.
            found = await self.policy()
            if calls.is_in_force(request, found):
                return found
            raise

    def audit(self, *, page_size: int = 50, before: str | None = None) -> AsyncListing[AuditEntryReply]:
        """Lists refusals and administrative changes, newest first."""
        return AsyncListing(self._run, lambda at: calls.audit(page_size=page_size, before=at), before)

    def agents(self, *, page_size: int = 50, before: str | None = None) -> AsyncListing[AgentReply]:
        """Lists the tribe's agents, newest first, the revoked ones too."""
        return AsyncListing(self._run, lambda at: agent_calls.agents(page_size=page_size, before=at), before)

    async def create_agent(self, name: str, role: Role, *, days: int = 365) -> NewTokenReply:
        """Makes an agent and its first token, good for `days`, whose secret is in the reply and nowhere else. Asks once."""
        return await self._run(agent_calls.create_agent(name, role, days=days))

    async def agent(self, agent: AgentRef) -> AgentReply:
        """Returns one agent, a revoked one too."""
        return await self._run(agent_calls.agent(agent))

    def tokens(self, agent: AgentRef, *, page_size: int = 50, before: str | None = None) -> AsyncListing[TokenReply]:
        """Lists an agent's tokens, newest first, without their secrets."""
        return AsyncListing(self._run, lambda at: agent_calls.tokens(agent, page_size=page_size, before=at), before)

    async def new_token(
        self, agent: AgentRef, *, days: int = 365, revoke_others: bool = False, newest: TokenRef | None = None
    ) -> NewTokenReply:
        """Gives an agent another token, whose secret is in the reply and nowhere else. Asks once.

        With `revoke_others` all that it had stop working. Raises WrongStanding when it has a newer token than `newest`.
        """
        return await self._run(agent_calls.new_token(agent, days=days, revoke_others=revoke_others, newest=newest))

    async def set_role(self, agent: AgentRef, role: Role) -> AgentReply:
        """Makes an agent a reader, a writer or a curator."""
        return await self._run(agent_calls.set_role(agent, role))

    async def revoke_agent(self, agent: AgentRef) -> AgentReply:
        """Ends an agent and all its tokens; what it taught stays."""
        return await self._run(agent_calls.revoke_agent(agent))

    async def revoke_token(self, token: TokenRef) -> TokenReply:
        """Ends one token, by its id; the agent and its other tokens go on."""
        return await self._run(agent_calls.revoke_token(token))
