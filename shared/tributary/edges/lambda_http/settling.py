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
_LEAST_S = 0.001

Tribes = Mapping[UUID, Sequence[str]]
"""The ids of the messages that name a tribe."""


class Settling(Protocol):
    """The part of `service.Memory` that is used here."""

    def settle(self, tribe_id: UUID, *, deadline_s: float) -> Settled: ...


def settled(event: Event, memory: Settling, context: Context) -> dict[str, Any]:
    """Settles what the tribes of a batch have pending, each tribe once, and tells which messages are to come again.

    Those are the messages of a tribe that has pending lessons which could not be settled now, or were not come to in time. What
    is no message of ours comes again too, until the queue gives it up to its dead letters. Raises nothing for a single tribe.
    """
    tribes, again = _read(event)
    again += _settled(tribes, memory, context)
    return {"batchItemFailures": [{"itemIdentifier": one} for one in again]}


def _read(event: Event) -> tuple[Tribes, list[str]]:
    tribes: dict[UUID, list[str]] = {}
    unreadable: list[str] = []
    for record in event["Records"]:
        message_id = record["messageId"]
        try:
            tribes.setdefault(_tribe_of(record["body"]), []).append(message_id)
        except (ValueError, RecursionError) as error:
            log.event(LogEvent.QUEUE_UNREADABLE, level=log.ERROR, error=error, message=message_id)
            metrics.record(Metric.QUEUE_MESSAGES, of="unreadable")
            unreadable.append(message_id)
    return tribes, unreadable


def _tribe_of(body: object) -> UUID:
    """Returns the tribe that a message names; raises ValueError when it is none of ours, or for another cell."""
    message = PendingMessage.read(body)
    if message.cell is not None:
        raise ValueError("this process serves the home cell alone")
    return message.tribe_id


def _settled(tribes: Tribes, memory: Settling, context: Context) -> Iterator[str]:
    """Gives the messages that are to come again. Each tribe has its share of the time that is left."""
    away = False
    for number, (tribe_id, messages) in enumerate(tribes.items()):
        none_left = False
        left_s = context.get_remaining_time_in_millis() / 1000 - MARGIN_S
        with log.operation(tribe=str(tribe_id)):
            try:
                if not away:
                    found = memory.settle(tribe_id, deadline_s=max(_LEAST_S, left_s / (len(tribes) - number)))
                    none_left = found.none_left
                    log.event(LogEvent.QUEUE_SETTLED, settled=found.done, failed=found.failed, cut_short=found.cut_short)
            except TributaryError as error:
                away = isinstance(error, Unavailable)  # each of the others would wait for the database as long, and in vain
                log.event(LogEvent.SETTLE_FAILED, level=log.WARNING, error=error, code=error.code)
            except Exception as error:
                log.event(LogEvent.SETTLE_FAILED, level=log.ERROR, error=error, code="internal")
        metrics.record(Metric.QUEUE_MESSAGES, len(messages), of="settled" if none_left else "left")
        if not none_left:
            yield from messages
