"""Routes about what happened."""

from __future__ import annotations

from tributary.contract import diff, history, limits
from tributary.contract.route import MOMENT, QueryParameter, Route

_LAST_TICK = 10**18 - 1

HISTORY: tuple[Route, ...] = (
    Route(
        operation="timeline",
        method="GET",
        path="/v1/lessons/{id}/timeline",
        function="recall",
        role="reader",
        summary="Tell what happened to a lesson, and which lessons came before and after it",
        reply=history.TimelineReply,
        query=(
            QueryParameter(
                name="limit",
                description="How many events a page holds; it may hold more, since a tick is never split.",
                schema={"type": "integer", "minimum": 1, "maximum": limits.RECALL_LIMIT, "default": limits.RECALL_LIMIT},
            ),
            QueryParameter(
                name="before",
                description="`next` of the page before: events of earlier ticks.",
                schema={"type": "integer", "minimum": 1, "maximum": _LAST_TICK},
            ),
        ),
    ),
    Route(
        operation="changes",
        method="GET",
        path="/v1/changes",
        function="recall",
        role="reader",
        summary="Tell what changed in the tribe after a tick, without a gap",
        reply=history.ChangesReply,
        query=(
            QueryParameter(
                name="after",
                description="`tick` of the page before, or of any earlier reply; everything when absent.",
                schema={"type": "integer", "minimum": 0, "maximum": _LAST_TICK, "default": 0},
            ),
            QueryParameter(
                name="limit",
                description="How many changes a page holds; a tick that has more comes whole.",
                schema={"type": "integer", "minimum": 1, "maximum": limits.CHANGES_LIMIT, "default": 100},
            ),
            QueryParameter(
                name="newest",
                description="`true`: the last changes up to now, not the first after the tick; `after` in the reply tells where"
                " they begin.",
                schema={"type": "string", "enum": ["true", "false"], "default": "false"},
            ),
            QueryParameter(
                name="wait_s",
                description="When there is nothing new: seconds to wait for it. A server may cut it short, down to not at all.",
                schema={"type": "integer", "minimum": 0, "maximum": limits.CHANGES_WAIT_S, "default": 0},
            ),
        ),
        waits="wait_s",
    ),
    Route(
        operation="diff",
        method="GET",
        path="/v1/diff",
        function="recall",
        role="reader",
        summary="Tell what was believed at one moment and not at another, newest change first",
        reply=diff.DiffReply,
        query=(
            QueryParameter(
                name="from",
                description="The earlier moment: a tick, or an RFC 3339 time with offset; the tribe's beginning when absent.",
                schema={"type": "string", "pattern": MOMENT, "default": "0"},
            ),
            QueryParameter(
                name="to",
                description="The later moment, likewise; now when absent. One before `from` is refused.",
                schema={"type": "string", "pattern": MOMENT},
            ),
            QueryParameter(
                name="limit",
                description="How many changes a page holds.",
                schema={"type": "integer", "minimum": 1, "maximum": limits.RECALL_LIMIT, "default": 20},
            ),
            QueryParameter(
                name="before",
                description="`next` of the page before, with the same `from` and `to`: it goes on about the same moments.",
                schema={"type": "string"},
            ),
        ),
    ),
)
