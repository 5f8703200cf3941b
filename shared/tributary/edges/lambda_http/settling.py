"""The pending queue's messages as Lambda hands them over: the tribes that they name are settled, and what is left comes again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from tributary.core.errors import TributaryError, Unavailable
from tributary.edges.lambda_http.port import Context, Event
from tributary.queues.message import PendingMessage
from tributary.telemetry import Event as LogEvent
from tributary.telemetry import Metric, log, metrics

if TYPE_CHECKING:
    from tributary.learn import Settled

MARGIN_S = 3.0
"""Kept back of the function's time: a lesson that was begun is finished in it."""

Tribes = Mapping[PendingMessage, Sequence[str]]
"""The ids of the messages that name a tribe of a cell."""


class Settling(Protocol):
    """The part of `service.Memory` that is used here."""

    def settle(self, tribe_id: UUID, *, deadline_s: float) -> Settled: ...


class Settlings(Protocol):
    """The part of `service.Cells` that is used here."""

    def named(self, cell: str | None) -> Settling: ...


def settled(event: Event, cells: Settlings, context: Context) -> dict[str, Any]:
    """Settles what the tribes of a batch have pending, each tribe once, and tells which messages are to come again.

    Those are the messages of a tribe that has pending lessons which could not be settled now, were not come to in time, or that
    another settler is at. What is no message of ours comes again too, until the queue gives it up to its dead letters. Raises
    nothing for a single tribe.
    """
    tribes, again = _read(event)
    again += _settled(tribes, cells, context)
    return {"batchItemFailures": [{"itemIdentifier": one} for one in again]}


def _read(event: Event) -> tuple[Tribes, list[str]]:
    tribes: dict[PendingMessage, list[str]] = {}
    unreadable: list[str] = []
    for record in event["Records"]:
        message_id = record["messageId"]
        try:
            tribes.setdefault(PendingMessage.read(record["body"]), []).append(message_id)
        except (ValueError, RecursionError) as error:
            log.event(LogEvent.QUEUE_UNREADABLE, level=log.ERROR, error=error, message=message_id)
            metrics.record(Metric.QUEUE_MESSAGES, of="unreadable")
            unreadable.append(message_id)
    return tribes, unreadable


def _settled(tribes: Tribes, cells: Settlings, context: Context) -> Iterator[str]:
    """Gives the messages that are to come again. Each tribe has its share of the time that is left, and none is asked at none."""
    away: set[str | None] = set()
    for number, (tribe, messages) in enumerate(tribes.items()):
        none_left = False
        left_s = context.get_remaining_time_in_millis() / 1000 - MARGIN_S
        with log.operation(tribe=str(tribe.tribe_id), cell=tribe.cell):
            try:
                if tribe.cell not in away and left_s > 0:
                    share_s = left_s / (len(tribes) - number)
                    found = cells.named(tribe.cell).settle(tribe.tribe_id, deadline_s=share_s)
                    none_left = found.none_left
                    log.event(
                        LogEvent.QUEUE_SETTLED,
                        settled=found.done,
                        failed=found.failed,
                        cut_short=found.cut_short,
                        taken=found.taken,
                    )
            except TributaryError as error:
                if isinstance(error, Unavailable):
                    away.add(tribe.cell)  # each of its others would wait for the database as long, and in vain
                log.event(LogEvent.SETTLE_FAILED, level=log.WARNING, error=error, code=error.code)
            except Exception as error:
                log.event(LogEvent.SETTLE_FAILED, level=log.ERROR, error=error, code="internal")
        metrics.record(Metric.QUEUE_MESSAGES, len(messages), of="settled" if none_left else "left")
        if not none_left:
            yield from messages
