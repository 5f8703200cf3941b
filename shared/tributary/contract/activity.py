"""Replies about how busy a tribe was, hour by hour, and about what evals found of the code and the models."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from tributary.contract.history import EventName
from tributary.contract.models import Reply

Every = Literal["hour", "day"]
Tier = Literal["offline", "live"]
Better = Literal["higher", "lower", "nearer 0"]


class RecallsReply(Reply):
    """Recalls by the coverage of their receipts."""

    complete: int
    approximate: int
    partial: int
    unknown: int


class BucketReply(Reply):
    """One hour or day (UTC), from `start` up to the start of the next one."""

    start: datetime
    ticks: int
    events: dict[EventName, int] = Field(description="By what happened; what did not is left out.")
    recalls: RecallsReply


class BinReply(Reply):
    """Calls that took less than `below_ms`, and no less than the bin before; the last bin has no end."""

    below_ms: float | None
    calls: int


class LatencyReply(Reply):
    """How long calls took. Quantiles are reckoned from the bins: right to within one, whose ends lie at most 1.67 times apart."""

    calls: int
    p50_ms: float | None = Field(description="Null when there was no call.")
    p95_ms: float | None = Field(description="Null when there was no call.")
    bins: list[BinReply] = Field(description="The shortest first; always the same ones, empty ones too.")


class ConflictsReply(Reply):
    """How contradictions ended. Those that only lost their point, since other changes ended a side of them, are not counted."""

    replaced: int = Field(description="Settled by learning: the new lesson replaced what it contradicts.")
    accepted: int = Field(description="By a curator, for the contender.")
    rejected: int = Field(description="By a curator, against the contender.")
    both_stand: int = Field(description="By a curator: the verdict was wrong.")
    total: int


class ModelCallsReply(Reply):
    """Calls of one model for one purpose. `judge` is the cheap tier of judging, `strong_judge` the strong one."""

    purpose: str
    model: str
    calls: int
    failed: int = Field(description="Those of them that gave no answer.")
    unpriced: int = Field(description="Those of them that may have cost something that no sum holds, for want of a price.")
    input_tokens: int
    output_tokens: int
    cost_usd: float
    latency: LatencyReply


class JudgingReply(Reply):
    """Pairs of a new lesson and a candidate that a judge answered about; one that runs in the process is no call of a model."""

    pairs: int
    escalated: int = Field(description="Those of them that the strong judge was asked about as well.")
    escalation_rate: float | None = Field(description="Escalated of judged pairs, 0 to 1; null when none was judged.")


class ModelsReply(Reply):
    """What models over a wire were called for, the dearest first."""

    calls: list[ModelCallsReply]
    cost_usd: float
    judging: JudgingReply


class ActivityReply(Reply):
    """How busy the tribe was. Recalls, learns and pairs are counted best effort, and come in up to a minute late."""

    since: datetime = Field(description="The start of the first bucket.")
    until: datetime = Field(description="The moment of this reply; the last bucket is still running.")
    every: Every = Field(description="How long a bucket is: an hour, or a day where more than 72 hours were asked for.")
    buckets: list[BucketReply] = Field(description="In order, without a gap.")
    conflicts: ConflictsReply
    recall: LatencyReply
    learn: LatencyReply = Field(description="Single learns and contests, not those of a batch.")
    models: ModelsReply | None = Field(description="For curators; null for others.")


class MetricReply(Reply):
    """One figure over `n` cases; `lower` and `upper` bound its 95 % interval where it has one."""

    suite: str
    metric: str
    value: float
    n: int
    lower: float | None
    upper: float | None
    better: Better | None = Field(description="Which way it gets better; null where the run did not say.")


class ConfusionReply(Reply):
    """How often pairs of each label got each answer of the judge: `counts` has a row for a label, a column for an answer."""

    labels: list[str]
    answers: list[str]
    counts: list[list[int]]


class TiersReply(Reply):
    """Which judge settled the labelled pairs."""

    pairs: int
    settled_by_cheap: int
    strong_calls: int = Field(description="Pairs that the strong judge was asked about as well.")


class GenerationReply(Reply):
    """A generation of fresh agents: what a task took them with the memory of those before, and without any."""

    number: int
    tasks: int
    steps_with_memory: float
    steps_without: float


class EvaluationReply(Reply):
    """One run of the evals."""

    run: str
    at: datetime
    commit: str
    tier: Tier
    models: dict[str, str | None] = Field(description="By the part that each has.")
    metrics: list[MetricReply] = Field(description="By suite and name.")
    confusion: ConfusionReply | None = Field(description="Of the judge, on the labelled pairs of the split `test`.")
    tiers: TiersReply | None = Field(description="On the same pairs.")
    generations: list[GenerationReply] = Field(description="In order; empty where the run did not play them.")


class EvaluationsReply(Reply):
    """Runs of the evals that were kept in this database, newest first. They are about the code and the models, not the tribe."""

    runs: list[EvaluationReply]
