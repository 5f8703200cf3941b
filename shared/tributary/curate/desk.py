"""What curators look through, each page with a receipt: a listing searches, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, LiteralString, TypeVar
from uuid import UUID

from tributary.access import agent_of, token_of
from tributary.core.agent import Agent, Principal, Role, Token
from tributary.core.clock import Now, utc_now
from tributary.core.curation import AuditEntry, DecisionDetail, DecisionRecord, Dispute, DisputeKind, Held, Review, ReviewState
from tributary.core.errors import NotFound
from tributary.core.ids import Prefix, show
from tributary.core.requests import Page
from tributary.curate import documents
from tributary.curate.disputes import find_dispute
from tributary.recall import Signer, Stopwatch, check_limit, cursor, listing_receipt, parse_cursor
from tributary.store import Database, rows, statement

Item = TypeVar("Item")
Place = tuple[int, UUID]
"""Tick and id of an item: where it stands in its listing."""


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Disputes, challenges, quarantine, decisions, reviews, agents and audit of a tribe; pages are newest first."""

    database: Database
    signer: Signer
    now: Now = utc_now

    def disputes(
        self,
        principal: Principal,
        *,
        kind: DisputeKind | None = DisputeKind.CONFLICT,
        is_open: bool | None = True,
        lesson_id: UUID | None = None,
        limit: int = 20,
        before: str | None = None,
    ) -> Page[Dispute]:
        """Returns disputes about conflicts, or challenges (kind unsure); `is_open` None gives the settled ones too."""
        principal.require(Role.READER)
        state = None if is_open is None else "open" if is_open else "settled"
        filters = {
            "kind": "any" if kind is None else kind.value,
            "state": state or "any",
            "lesson": None if lesson_id is None else show(Prefix.LESSON, lesson_id),
        }
        return self._page(
            principal,
            statement("curate", "disputes"),
            {"kind": None if kind is None else kind.value, "state": state, "lesson_id": lesson_id},
            _Kind(name="disputes", prefix=Prefix.DISPUTE, read=documents.dispute, place=lambda d: (d.opened.tick, d.dispute_id)),
            filters,
            limit,
            before,
        )

    def dispute(self, principal: Principal, dispute_id: UUID) -> Dispute:
        """Returns one dispute; raises NotFound."""
        principal.require(Role.READER)
        return find_dispute(self.database, principal, dispute_id)

    def quarantine(self, principal: Principal, *, limit: int = 20, before: str | None = None) -> Page[Held]:
        """Returns the lessons that are held back, with the reasons. For curators."""
        principal.require(Role.CURATOR)
        kind = _Kind(
            name="held",
            prefix=Prefix.LESSON,
            read=documents.held,
            place=lambda h: (h.lesson.learned.tick, h.lesson.lesson_id),
        )
        return self._page(principal, statement("curate", "quarantine"), {}, kind, {}, limit, before)

    def decisions(
        self, principal: Principal, *, lesson_id: UUID | None = None, limit: int = 20, before: str | None = None
    ) -> Page[DecisionRecord]:
        """Returns decisions, of one lesson or of all. For curators."""
        principal.require(Role.CURATOR)
        return self._page(
            principal,
            statement("curate", "decisions"),
            {"lesson_id": lesson_id},
            _Kind(name="decisions", prefix=Prefix.DECISION, read=documents.decision, place=lambda d: (d.tick, d.decision_id)),
            {"lesson": None if lesson_id is None else show(Prefix.LESSON, lesson_id)},
            limit,
            before,
        )

    def decision(self, principal: Principal, decision_id: UUID) -> DecisionDetail:
        """Returns one decision with the lessons that it was about. For curators. Raises NotFound."""
        principal.require(Role.CURATOR)
        found = self.database.value(
            statement("curate", "decision_for"),
            {"tribe_id": principal.tribe_id, "agent_id": principal.agent_id, "decision_id": decision_id},
        )
        if found is None:
            raise NotFound("there is no such decision in this tribe")
        return documents.decision_detail(rows.document(found))

    def reviews(
        self,
        principal: Principal,
        *,
        state: ReviewState | None = ReviewState.OPEN,
        limit: int = 20,
        before: str | None = None,
    ) -> Page[Review]:
        """Returns cases of the review queue; `state` None gives all of them. For curators."""
        principal.require(Role.CURATOR)
        wanted = None if state is None else state.value
        return self._page(
            principal,
            statement("curate", "reviews"),
            {"state": wanted},
            _Kind(name="reviews", prefix=Prefix.REVIEW, read=documents.review, place=lambda r: (r.tick, r.review_id)),
            {"state": wanted or "any"},
            limit,
            before,
        )

    def agents(self, principal: Principal, *, limit: int = 20, before: str | None = None) -> Page[Agent]:
        """Returns the agents of the tribe, the revoked ones too. For curators, by the role that is stored now."""
        principal.require(Role.CURATOR)
        return self._page(
            principal,
            statement("access", "page_of_agents"),
            {"actor_id": principal.agent_id},
            _Kind(name="agents", prefix=Prefix.AGENT, read=agent_of, place=lambda a: (0, a.agent_id)),
            {},
            limit,
            before,
        )

    def agent(self, principal: Principal, agent_id: UUID) -> Agent:
        """Returns one agent, a revoked one too. For curators, by the role that is stored now. Raises NotFound."""
        principal.require(Role.CURATOR)
        which = {"tribe_id": principal.tribe_id, "actor_id": principal.agent_id, "agent_id": agent_id}
        return agent_of(rows.document(self.database.value(statement("access", "agent"), which)))

    def tokens(self, principal: Principal, agent_id: UUID, *, limit: int = 20, before: str | None = None) -> Page[Token]:
        """Returns an agent's tokens, those that are not let in any more too, without secret or hash. For curators.

        The role is the one that is stored now. Raises NotFound.
        """
        principal.require(Role.CURATOR)
        return self._page(
            principal,
            statement("access", "page_of_tokens"),
            {"actor_id": principal.agent_id, "agent_id": agent_id},
            _Kind(name="tokens", prefix=Prefix.TOKEN, read=token_of, place=lambda t: (0, t.token_id)),
            {"agent": show(Prefix.AGENT, agent_id)},
            limit,
            before,
        )

    def audit(self, principal: Principal, *, limit: int = 20, before: str | None = None) -> Page[AuditEntry]:
        """Returns refusals and administrative changes. For curators."""
        principal.require(Role.CURATOR)
        return self._page(
            principal,
            statement("curate", "audit"),
            {},
            _Kind(name="entries", prefix=Prefix.AUDIT, read=documents.audit_entry, place=lambda e: (0, e.audit_id)),
            {},
            limit,
            before,
        )

    def _page(
        self,
        principal: Principal,
        query: LiteralString,
        parameters: Mapping[str, object],
        kind: _Kind[Item],
        filters: Mapping[str, object],
        limit: int,
        before: str | None,
    ) -> Page[Item]:
        check_limit(limit)
        before_tick, before_id = parse_cursor(before)
        watch = Stopwatch()
        with watch.stage("database"):
            found = rows.document(
                self.database.value(
                    query,
                    {
                        "tribe_id": principal.tribe_id,
                        "agent_id": principal.agent_id,
                        "limit": limit,
                        "before_tick": before_tick,
                        "before_id": before_id,
                        "now": self.now(),
                        **parameters,
                    },
                )
            )
        items: Sequence[Item] = [kind.read(one) for one in found[kind.name]]
        places = [kind.place(one) for one in items]
        return Page(
            items=tuple(items),
            next_before=cursor(*places[-1]) if found["more"] else None,
            receipt=listing_receipt(
                self.signer,
                principal,
                found,
                {**filters, "limit": limit, "before": before},
                [place[1] for place in places],
                watch,
                prefix=kind.prefix,
            ),
        )


@dataclass(frozen=True, kw_only=True)
class _Kind(Generic[Item]):
    """What one listing lists: under which name the document holds it, how to read it, and where an item stands."""

    name: str
    prefix: Prefix
    read: Callable[[rows.Document], Item]
    place: Callable[[Item], Place]
