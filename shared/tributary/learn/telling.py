"""Telling whoever settles pending lessons that a commit left some."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from tributary.core.ports import PendingNotice
from tributary.telemetry import Event, Metric, log, metrics


@dataclass(frozen=True, kw_only=True)
class Telling:
    """Tells at most once a request, where anybody is to be told. Without a notice nobody is: a worker or the gardener looks."""

    notice: PendingNotice | None = None

    def after(self, tribe_id: UUID, *, pended: bool) -> None:
        """Tells that something of the tribe is pending, when `pended`; raises nothing, since the reply is settled."""
        if self.notice is None or not pended:
            return
        try:
            self.notice.tell(tribe_id)
            metrics.record(Metric.PENDING_NOTICES)
        except Exception as error:
            metrics.record(Metric.PENDING_NOTICES_FAILED)
            log.event(Event.NOTICE_FAILED, level=log.WARNING, error=error, tribe=str(tribe_id))
