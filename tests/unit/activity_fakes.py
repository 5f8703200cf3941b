"""How busy a tribe was and what evals found, as the API replies."""

from __future__ import annotations

from typing import Any

from tests.unit.client_fakes import AT

LATENCY: dict[str, Any] = {
    "calls": 3,
    "p50_ms": 12.5,
    "p95_ms": 70.0,
    "bins": [{"below_ms": 15.0, "calls": 2}, {"below_ms": None, "calls": 1}],
}
BUCKET: dict[str, Any] = {
    "start": AT,
    "ticks": 2,
    "events": {"superseded": 1, "learned": 2},
    "recalls": {"complete": 2, "approximate": 0, "partial": 0, "unknown": 1},
}
QUIET: dict[str, Any] = {
    "start": AT,
    "ticks": 0,
    "events": {},
    "recalls": dict.fromkeys(("complete", "approximate", "partial", "unknown"), 0),
}
MODELS: dict[str, Any] = {
    "calls": [
        {
            **{"purpose": "strong_judge", "model": "openai:gpt\x1b", "calls": 3, "failed": 1, "unpriced": 0},
            **{"input_tokens": 900, "output_tokens": 80, "cost_usd": 0.0375, "latency": LATENCY},
        }
    ],
    "cost_usd": 0.0375,
    "judging": {"pairs": 8, "escalated": 2, "escalation_rate": 0.25},
}
ACTIVITY: dict[str, Any] = {
    **{"since": AT, "until": AT, "every": "hour", "buckets": [QUIET, BUCKET]},
    "conflicts": {"replaced": 1, "accepted": 0, "rejected": 2, "both_stand": 0, "total": 3},
    **{"recall": LATENCY, "learn": LATENCY, "models": MODELS},
}
EVALUATION: dict[str, Any] = {
    **{"run": "0199c0de-0000-7000-8000-00000000ee01", "at": AT, "commit": "abc", "tier": "offline"},
    "models": {"judge": "local-rules/6", "strong judge": None},
    "metrics": [
        {
            **{"suite": "classification", "metric": "accuracy", "value": 0.94, "n": 267},
            **{"lower": 0.905, "upper": 0.963, "better": "higher"},
        }
    ],
    "confusion": {"labels": ["same"], "answers": ["same", "unsure"], "counts": [[71, 8]]},
    "tiers": {"pairs": 79, "settled_by_cheap": 70, "strong_calls": 9},
    "generations": [{"number": 1, "tasks": 3, "steps_with_memory": 30.0, "steps_without": 31.5}],
}
