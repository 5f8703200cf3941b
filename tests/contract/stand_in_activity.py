"""How busy a tribe was and what evals found, for tests of the HTTP edge."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

from tributary.core.activity import Activity, Bucket, Conflicts, Judging, Latency, ModelCalls, Models, Window
from tributary.core.agent import Principal, Role
from tributary.core.evaluation import Better, Evaluation, EvaluationRun
from tributary.core.receipt import Coverage

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
RUN = EvaluationRun(
    run_id=UUID("0199c0de-0000-7000-8000-00000000ee01"),
    at=NOW,
    commit="c80afec",
    tier="offline",
    models={"judge": "local-rules/6", "strong judge": None},
    found=(
        Evaluation(suite="classification", metric="confusion.conflicts.conflicts", value=89, n=97, lower=None, upper=None),
        Evaluation(suite="classification", metric="confusion.conflicts.unsure", value=8, n=97, lower=None, upper=None),
        Evaluation(suite="classification", metric="confusion.same.same", value=71, n=71, lower=None, upper=None),
        Evaluation(
            suite="classification", metric="test_accuracy", value=0.94, n=267, lower=0.905, upper=0.963, better=Better.HIGHER
        ),
        Evaluation(suite="classification", metric="tier.cheap.settled", value=160, n=168, lower=None, upper=None),
        Evaluation(suite="classification", metric="tier.strong.calls", value=8, n=168, lower=None, upper=None),
        Evaluation(suite="end-to-end", metric="generation.1.with_memory", value=30.0, n=3, lower=None, upper=None),
        Evaluation(suite="end-to-end", metric="generation.1.without", value=31.5, n=3, lower=None, upper=None),
    ),
)


def activity_of(principal: Principal, hours: int) -> Activity:
    """Returns some activity, calls of models to a curator only."""
    window = Window.of(NOW, hours)
    quiet = tuple(Bucket(start=start, ticks=0, events={}, recalls={}) for start in window.starts[:-1])
    busy = Bucket(
        start=window.starts[-1],
        ticks=3,
        events={"learned": 2, "superseded": 1},
        recalls={Coverage.COMPLETE: 9, Coverage.UNKNOWN: 1},
    )
    models = Models(
        calls=(
            ModelCalls(
                purpose="strong_judge",
                model="openai:gpt-5",
                failed=1,
                unpriced=0,
                input_tokens=900,
                output_tokens=80,
                cost_usd=Decimal("0.0375"),
                latency=Latency.of({17: 4}),
            ),
        ),
        judging=Judging(pairs=8, escalated=2),
    )
    return Activity(
        window=window,
        until=NOW,
        buckets=(*quiet, busy),
        conflicts=Conflicts(replaced=1, accepted=1, rejected=0, both_stand=0),
        recall=Latency.of({6: 9, 30: 1}),
        learn=Latency.of({12: 2}),
        models=models if principal.role is Role.CURATOR else None,
    )
