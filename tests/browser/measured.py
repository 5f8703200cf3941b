"""Runs of the evals as a project keeps them over some weeks: figures that get better, one that falls, and a new model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from tests.tribes import Tribal
from tributary.core.evaluation import Better, Evaluation, EvaluationRun
from tributary.core.ids import new_id
from tributary.service import open_operator

COMMITS = (
    "4be09f1a77c2",
    "91d3e60b5a48",
    "c07f2d9e13b6",
    "2a86b4c1f0d9",
    "e5517a3c8b20",
    "7f0cd2946ae1",
    "b3a9186df4c7",
    "08e4c5b7219f",
)
_SHARES: Sequence[tuple[str, str, int, Better, Sequence[float]]] = (
    ("classification", "test_accuracy", 267, Better.HIGHER, (0.86, 0.88, 0.88, 0.91, 0.92, 0.92, 0.94, 0.94)),
    ("classification", "tune_accuracy", 1174, Better.HIGHER, (0.90, 0.91, 0.92, 0.94, 0.95, 0.95, 0.96, 0.96)),
    ("classification", "test_false_same", 188, Better.LOWER, (0.03, 0.02, 0.02, 0.02, 0.01, 0.01, 0.005, 0.005)),
    ("classification", "test_false_conflicts", 170, Better.LOWER, (0.04, 0.04, 0.03, 0.02, 0.02, 0.01, 0.006, 0.006)),
    ("classification", "test_recall_conflicts", 97, Better.HIGHER, (0.82, 0.84, 0.85, 0.88, 0.89, 0.90, 0.91, 0.92)),
    ("classification", "test_unsure", 267, Better.LOWER, (0.06, 0.05, 0.04, 0.03, 0.02, 0.02, 0.01, 0.01)),
    ("redteam", "test_caught", 99, Better.HIGHER, (0.85, 0.88, 0.90, 0.90, 0.92, 0.93, 0.94, 0.94)),
    ("redteam", "test_false_alarms", 194, Better.LOWER, (0.02, 0.02, 0.02, 0.01, 0.01, 0.01, 0.01, 0.01)),
    ("retrieval", "paraphrases_recall@5", 432, Better.HIGHER, (0.97, 0.98, 0.98, 0.99, 0.99, 0.99, 0.995, 0.96)),
    ("retrieval", "runbooks_recall@5", 80, Better.HIGHER, (0.70, 0.74, 0.76, 0.79, 0.82, 0.84, 0.85, 0.83)),
    ("retrieval", "runbooks_far_empty", 11, Better.HIGHER, (0.73, 0.73, 0.82, 0.82, 0.91, 0.91, 0.91, 0.91)),
    ("retrieval", "runbooks_replaced_shown", 44, Better.LOWER, (0.07, 0.05, 0.02, 0.0, 0.0, 0.0, 0.0, 0.0)),
    ("end-to-end", "outcome", 200, Better.HIGHER, (0.90, 0.91, 0.93, 0.94, 0.95, 0.95, 0.96, 0.965)),
)
_CONFUSION = {"same": (71, 2, 5, 1), "conflicts": (1, 89, 6, 1), "unrelated": (0, 0, 91, 0)}
_ANSWERS = ("same", "conflicts", "unrelated", "unsure")
_WITH_MEMORY, _WITHOUT = (31.0, 14.5, 10.75, 8.5, 8.25, 8.0), (31.0, 31.25, 30.75, 31.0, 31.5, 31.0)


def keep_runs(tribal: Tribal, ends_at: datetime) -> None:
    """Keeps eight runs in the tribe's database, the last one three hours before `ends_at`."""
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        for number, commit in enumerate(COMMITS):
            days_ago = 3.5 * (len(COMMITS) - 1 - number)
            operator.record_evaluation(
                EvaluationRun(
                    run_id=new_id(),
                    at=ends_at - timedelta(days=days_ago, hours=3),
                    commit=commit,
                    tier="offline",
                    models={
                        "judge": "local-rules/6",
                        "strong judge": None,
                        "screen": "local-rules/9",
                        "embedder": "all-MiniLM-L6-v2" if number < len(COMMITS) - 1 else "bge-small-en-v1.5",
                    },
                    found=tuple(_found(number)),
                )
            )


def keep_hours(tribal: Tribal, ends_at: datetime) -> None:
    """Has the tribe's counters tell of recalls and learns in the three days before `ends_at`, more by day than by night."""
    last = ends_at.replace(minute=0, second=0, microsecond=0)
    for hours_ago in range(72):
        hour = last - timedelta(hours=hours_ago)
        calls = 2 + round(18 * max(0.0, math.sin((hour.hour - 5) / 24 * 2 * math.pi)))
        shares = {"recall.complete": 0.82, "recall.approximate": 0.1, "recall.partial": 0.06, "recall.unknown": 0.02}
        counts = {(what, 7 + hours_ago % 3): round(calls * share) for what, share in shares.items()}
        counts |= {
            ("recall.complete", 12): 1,
            ("learn", 13): 1 + calls // 6,
            ("pairs.judged", 0): calls,
            ("pairs.escalated", 0): calls // 7,
        }
        for (what, number), count in counts.items():
            tribal.rows(
                "INSERT INTO tributary.activity VALUES (%s, %s, %s, %s, %s)"
                " ON CONFLICT (tribe_id, hour, what, bin) DO UPDATE SET calls = excluded.calls",
                *(tribal.tribe_id, hour, what, number, count),
            )


def _found(number: int) -> Iterator[Evaluation]:
    for suite, metric, n, better, values in _SHARES:
        yield _share(suite, metric, round(values[number] * n), n, better)
    for label, row in _CONFUSION.items():
        for answer, count in zip(_ANSWERS, row, strict=True):
            yield _count("classification", f"confusion.{label}.{answer}", count, sum(row))
    yield _count("classification", "tier.cheap.settled", 206 + 5 * number, 267)
    yield _count("classification", "tier.strong.calls", 61 - 5 * number, 267)
    for generation, (with_memory, without) in enumerate(zip(_WITH_MEMORY, _WITHOUT, strict=True), 1):
        yield _count("end-to-end", f"generation.{generation}.with_memory", with_memory, 4)
        yield _count("end-to-end", f"generation.{generation}.without", without, 4)


def _share(suite: str, metric: str, hits: int, n: int, better: Better) -> Evaluation:
    """Returns a share with its Wilson interval, as the evals reckon it."""
    p, z2 = hits / n, 1.96**2
    centre, half = p + z2 / (2 * n), 1.96 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    lower, upper = ((centre + sign * half) / (1 + z2 / n) for sign in (-1, 1))
    return Evaluation(suite=suite, metric=metric, value=p, n=n, lower=max(0.0, lower), upper=min(1.0, upper), better=better)


def _count(suite: str, metric: str, value: float, n: int) -> Evaluation:
    return Evaluation(suite=suite, metric=metric, value=value, n=n, lower=None, upper=None)
