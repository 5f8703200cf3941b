"""The difference between two moments: the request for a page of it, and what its reply says. Pure, as `calls` is."""

from __future__ import annotations

from dataclasses import dataclass

from tributary.client.calls import Call, page_query
from tributary.client.curation import Paged
from tributary.client.curation_calls import ListingPage
from tributary.client.receipts import read_receipt
from tributary.client.replies import read
from tributary.client.values import Moment, shown_moment
from tributary.contract.diff import BeliefChangeReply, DiffReply
from tributary.contract.models import InstantReply

BeliefChange = BeliefChangeReply


@dataclass(frozen=True, kw_only=True)
class DiffPage(ListingPage[BeliefChange]):
    """Some of what changed between two moments, newest first, and how much did on all pages together.

    since, until   what the two moments were resolved to: a tick and an instant each
    began, ended   how many lessons came to be believed, and how many ceased to be
    """

    since: InstantReply
    until: InstantReply
    began: int
    ended: int


class Diff(Paged[BeliefChange, DiffPage]):
    """What was believed at one of two moments and not at the other, newest change first."""


def diff(from_: Moment, to: Moment | None, *, page_size: int, before: str | None) -> Call[DiffPage]:
    query = {"from": shown_moment(from_, "from_")} | ({} if to is None else {"to": shown_moment(to, "to")})
    return Call(
        operation="diff",
        method="GET",
        path="/v1/diff",
        query=query | page_query(page_size, before),
        read=_read_page,
    )


def _read_page(body: bytes) -> DiffPage:
    reply = read(DiffReply, body)
    return DiffPage(
        items=tuple(reply.changes),
        next=reply.next,
        receipt=read_receipt(body),
        since=reply.since,
        until=reply.until,
        began=reply.began,
        ended=reply.ended,
    )
