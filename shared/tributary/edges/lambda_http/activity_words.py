"""From the core's words about activity and evals to the contract's models."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import cast

from tributary.contract import activity as contract
from tributary.contract.history import EventName
from tributary.core.activity import BOUNDS_MS, Activity, Bucket, Conflicts, Latency, ModelCalls, Models
from tributary.core.evaluation import Confusion, Evaluation, EvaluationRun, Generation, Tiers
from tributary.core.receipt import Coverage


def activity(one: Activity) -> contract.ActivityReply:
    return contract.ActivityReply(
        since=one.window.since,
        until=one.until,
        every=one.window.every.value,
        buckets=[_bucket(bucket) for bucket in one.buckets],
        conflicts=_conflicts(one.conflicts),
        recall=_latency(one.recall),
        learn=_latency(one.learn),
        models=None if one.models is None else _models(one.models),
    )


def evaluations(runs: Iterable[EvaluationRun]) -> contract.EvaluationsReply:
    return contract.EvaluationsReply(runs=[_evaluation(run) for run in runs])


def _bucket(one: Bucket) -> contract.BucketReply:
    return contract.BucketReply(
        start=one.start,
        ticks=one.ticks,
        events={cast(EventName, event): count for event, count in one.events.items()},
        recalls=contract.RecallsReply(
            complete=one.recalls.get(Coverage.COMPLETE, 0),
            approximate=one.recalls.get(Coverage.APPROXIMATE, 0),
            partial=one.recalls.get(Coverage.PARTIAL, 0),
            unknown=one.recalls.get(Coverage.UNKNOWN, 0),
        ),
    )


def _conflicts(one: Conflicts) -> contract.ConflictsReply:
    return contract.ConflictsReply(
        replaced=one.replaced, accepted=one.accepted, rejected=one.rejected, both_stand=one.both_stand, total=one.total
    )


def _latency(one: Latency) -> contract.LatencyReply:
    return contract.LatencyReply(
        calls=one.calls,
        p50_ms=one.quantile_ms(0.5),
        p95_ms=one.quantile_ms(0.95),
        bins=[
            contract.BinReply(below_ms=below_ms, calls=calls)
            for below_ms, calls in zip((*BOUNDS_MS, None), one.counts, strict=True)
        ],
    )


def _models(one: Models) -> contract.ModelsReply:
    judging = one.judging
    return contract.ModelsReply(
        calls=[_calls(calls) for calls in one.calls],
        cost_usd=float(sum((calls.cost_usd for calls in one.calls), Decimal(0))),
        judging=contract.JudgingReply(pairs=judging.pairs, escalated=judging.escalated, escalation_rate=judging.escalation_rate),
    )


def _calls(one: ModelCalls) -> contract.ModelCallsReply:
    return contract.ModelCallsReply(
        purpose=one.purpose,
        model=one.model,
        calls=one.latency.calls,
        failed=one.failed,
        unpriced=one.unpriced,
        input_tokens=one.input_tokens,
        output_tokens=one.output_tokens,
        cost_usd=float(one.cost_usd),
        latency=_latency(one.latency),
    )


def _evaluation(run: EvaluationRun) -> contract.EvaluationReply:
    return contract.EvaluationReply(
        run=str(run.run_id),
        at=run.at,
        commit=run.commit,
        tier=cast(contract.Tier, run.tier),
        models=dict(run.models),
        metrics=[_metric(one) for one in run.metrics],
        confusion=None if run.confusion is None else _confusion(run.confusion),
        tiers=None if run.tiers is None else _tiers(run.tiers),
        generations=[_generation(one) for one in run.generations],
    )


def _metric(one: Evaluation) -> contract.MetricReply:
    return contract.MetricReply(
        suite=one.suite,
        metric=one.metric,
        value=one.value,
        n=one.n,
        lower=one.lower,
        upper=one.upper,
        better=None if one.better is None else one.better.value,
    )


def _confusion(one: Confusion) -> contract.ConfusionReply:
    return contract.ConfusionReply(
        labels=list(one.labels), answers=list(one.answers), counts=[list(counts) for counts in one.counts]
    )


def _tiers(one: Tiers) -> contract.TiersReply:
    return contract.TiersReply(pairs=one.pairs, settled_by_cheap=one.settled_by_cheap, strong_calls=one.strong_calls)


def _generation(one: Generation) -> contract.GenerationReply:
    return contract.GenerationReply(
        number=one.number, tasks=one.tasks, steps_with_memory=one.steps_with_memory, steps_without=one.steps_without
    )
