"""The catalogue of events that the product logs: every log line of ours carries one of these names."""

from __future__ import annotations

from enum import StrEnum


class Event(StrEnum):
    """Each name says what happened; docs/events.md says what to do about it."""

    SERVICE_STARTED = "service.started"
    FUNCTION_STARTED = "function.started"
    SERVICE_MODELS = "service.models"
    SERVICE_STOPPED = "service.stopped"
    SECRET_UNREAD = "secret.unread"  # noqa: S105  (the name of an event)
    REQUEST_SERVED = "request.served"
    REQUEST_REFUSED = "request.refused"
    REQUEST_FAILED = "request.failed"
    LEARNED = "learn.committed"
    LEARN_REPLANNED = "learn.replanned"
    LEARN_REPLAYED = "learn.replayed"
    DISTILLED = "distill.answered"
    SETTLE_FAILED = "settle.failed"
    NOTICE_FAILED = "notice.failed"
    QUEUE_UNREADABLE = "queue.unreadable"
    QUEUE_SETTLED = "queue.settled"
    REINFORCED = "reinforce.committed"
    CURATED = "curate.committed"
    MIGRATION_FAILED = "migration.failed"
    GARDEN_SWEPT = "garden.swept"
    GARDEN_FAILED = "garden.failed"
    OPERATED = "operator.done"
    SPACE_REFUSED = "space.refused"
    SPACE_PASSED_OVER = "space.passed_over"
    RECALLED = "recall.answered"
    RECALL_DEGRADED = "recall.degraded"
    MODEL_FAILED = "model.failed"
    JUDGE_UNAVAILABLE = "judge.unavailable"
    SCREEN_UNAVAILABLE = "screen.unavailable"
    USAGE_DELAYED = "usage.delayed"
    LEDGER_DELAYED = "ledger.delayed"
    LEDGER_LOST = "ledger.lost"
    LOOK_FAILED = "look.failed"
    PAGE_FAILED = "page.failed"
    AUDIT_FAILED = "audit.failed"
    DATABASE_RETRIED = "database.retried"
    DATABASE_UNAVAILABLE = "database.unavailable"
    METRICS_LOST = "metrics.lost"
    TRACES_LOST = "traces.lost"
