"""Between the contract's models of what happened and the core's types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from tributary.contract import diff as contract
from tributary.contract import history, models
from tributary.core import ids
from tributary.core.diff import BeliefChange, Diff
from tributary.core.history import Chain, Change, Changes, Citation, Link, Occurrence, Ruling, Timeline
from tributary.edges.lambda_http.translate import instant, lesson, lesson_ids, receipt


def timeline(one: Timeline) -> history.TimelineReply:
    return history.TimelineReply(
        lesson=lesson(one.lesson, confidence=one.confidence),
        events=[history.EventReply(**_event(event)) for event in one.events],
        decisions=[_ruling(ruling) for ruling in one.decisions],
        predecessors=_chain(one.before),
        successors=_chain(one.after),
        next=one.next_before,
        receipt=receipt(one.receipt),
    )


def changes(page: Changes) -> history.ChangesReply:
    return history.ChangesReply(
        changes=[_change(one) for one in page.changes], after=page.after, tick=page.tick, clock=page.clock, more=page.more
    )


def diff(page: Diff) -> contract.DiffReply:
    return contract.DiffReply(
        since=instant(page.since),
        until=instant(page.until),
        began=page.began,
        ended=page.ended,
        changes=[_belief_change(one) for one in page.changes],
        next=page.next_before,
        receipt=receipt(page.receipt),
    )


def citations(found: Iterable[Citation]) -> list[models.CitedReceiptReply]:
    return [models.CitedReceiptReply.model_validate(one.document()) for one in found]


def _belief_change(one: BeliefChange) -> contract.BeliefChangeReply:
    return contract.BeliefChangeReply(
        change="began" if one.began else "ended",
        how=one.how.value,
        at=one.at,
        event=None if one.event is None else history.EventReply(**_event(one.event)),
        lesson=lesson(one.lesson, confidence=one.confidence),
        replaced=lesson_ids(one.replaced),
    )


def _change(one: Change) -> history.ChangeReply:
    return history.ChangeReply(
        **_event(one.occurrence),
        lesson=_shown(ids.Prefix.LESSON, one.lesson_id),
        kind=None if one.kind is None else one.kind.value,
        subject=one.subject,
        text=one.text,
        held=one.held,
    )


def _event(one: Occurrence) -> dict[str, Any]:
    return {
        "tick": one.tick,
        "at": one.at,
        "event": one.event.value,
        "status": None if one.status is None else one.status.value,
        "by": one.by,
        "decision": _shown(ids.Prefix.DECISION, one.decision_id),
        "disputes": [ids.show(ids.Prefix.DISPUTE, dispute) for dispute in one.disputes],
        "ending": one.ending,
        "cause": one.cause,
        "other": _shown(ids.Prefix.LESSON, one.other),
        "successor": _shown(ids.Prefix.LESSON, one.successor),
        "receipt": one.receipt,
        "since": one.since,
        "space": one.space,
    }


def _ruling(one: Ruling) -> history.RulingReply:
    return history.RulingReply(
        id=ids.show(ids.Prefix.DECISION, one.decision_id),
        tick=one.tick,
        outcome=one.outcome.value,
        reason=one.reason,
        receipts=citations(one.receipts),
    )


def _chain(one: Chain) -> history.ChainReply:
    return history.ChainReply(lessons=[_link(link) for link in one.links], more=one.more)


def _link(one: Link) -> history.LinkReply:
    return history.LinkReply(
        id=ids.show(ids.Prefix.LESSON, one.lesson_id),
        status=one.status.value,
        text=one.text,
        learned=instant(one.learned),
        activated=instant(one.activated) if one.activated else None,
        deactivated=instant(one.deactivated) if one.deactivated else None,
        superseded_by=_shown(ids.Prefix.LESSON, one.superseded_by),
        held=one.held,
    )


def _shown(prefix: ids.Prefix, value: UUID | None) -> str | None:
    return None if value is None else ids.show(prefix, value)
