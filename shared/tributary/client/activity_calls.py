"""Requests for how busy a tribe was and for what evals found, and how their replies are read. Pure, as `calls` is."""

from __future__ import annotations

from tributary.client.calls import Call
from tributary.client.errors import broken
from tributary.client.replies import read
from tributary.contract import limits
from tributary.contract.activity import ActivityReply, EvaluationsReply


def activity(hours: int) -> Call[ActivityReply]:
    query = {"hours": _whole("hours", hours, limits.ACTIVITY_HOURS)}
    return Call(operation="activity", method="GET", path="/v1/activity", query=query, read=lambda body: read(ActivityReply, body))


def evaluations(limit: int) -> Call[EvaluationsReply]:
    query = {"limit": _whole("limit", limit, limits.EVALUATION_RUNS)}
    return Call(
        operation="evaluations",
        method="GET",
        path="/v1/evaluations",
        query=query,
        read=lambda body: read(EvaluationsReply, body),
    )


def _whole(name: str, number: int, most: int) -> str:
    if type(number) is not int or not 1 <= number <= most:
        raise broken(name, f"must be a whole number from 1 to {most}")
    return str(number)
