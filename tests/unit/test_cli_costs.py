"""`tributary costs`: what it tells, in which form, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli_fakes import Surroundings
from tests.unit.test_cli import run


def cost(key: str, calls: int = 12, *, name: str | None = None, unpriced: int = 0, dollars: float = 1.5) -> dict[str, Any]:
    figures = {"calls": calls, "failed": 1, "unpriced": unpriced, "input_tokens": 30_000, "output_tokens": 900}
    return {"key": key, "name": name, "cost_usd": dollars, **figures}


FREE = {"calls_per_day": None, "usd_per_day": None, "calls_today": 3, "usd_today": 0.0375, "spent": False}
COSTS: dict[str, Any] = {
    "since": "2026-02-01",
    "until": "2026-03-01",
    "by": "agent",
    "rows": [cost("agt_1", 9, name="ann\x1b"), cost("", 3, dollars=0.00012)],
    "total": cost("total"),
    "unpriced_models": [],
    "budget": FREE,
}


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    found = Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")})
    found.tribe.replies["costs"] = COSTS
    return found


def test_costs_are_told_in_a_table_with_their_total_and_todays_share(around: Surroundings) -> None:
    assert run(around, "costs", "--by", "agent").stdout.splitlines() == [
        "agent\tcalls\tfailed\ttokens in\ttokens out\tdollars",
        "ann\\x1b\t9\t1\t30000\t900\t1.50",
        "(gardener, operator)\t3\t1\t30000\t900\t0.0001",
        "total\t12\t1\t30000\t900\t1.50",
        "today (UTC): 3 calls, 0.0375 dollars",
    ]


def test_the_days_and_the_sum_are_asked_for(around: Surroundings) -> None:
    run(around, "costs", "--from", "2026-02-01", "--to", "2026-03-01", "--by", "model")
    run(around, "costs")
    asked = [dict(request.url.params) for request in around.tribe.requests]
    assert asked == [{"from": "2026-02-01", "to": "2026-03-01", "by": "model"}, {"by": "day"}]


def test_a_budget_and_what_is_in_no_sum_are_named(around: Surroundings) -> None:
    budget = {"calls_per_day": 3, "usd_per_day": 2.5, "calls_today": 3, "usd_today": 1.0, "spent": True}
    unpriced = {"total": cost("total", unpriced=2), "unpriced_models": ["openai:a", "openai:b"]}
    around.tribe.replies["costs"] = {**COSTS, **unpriced, "budget": budget}
    assert run(around, "costs").stdout.splitlines()[-3:] == [
        "2 calls without a known price, in no sum: openai:a, openai:b (see TRIBUTARY_PRICES_FILE)",
        "today (UTC): 3 calls of 3, 1.00 of 2.50 dollars",
        "Today's budget is used up: the strong judge is skipped, and what it would have settled is a challenge.",
    ]


def test_costs_of_calls_without_any_price_are_unknown_and_not_nothing(around: Surroundings) -> None:
    rows = [cost("a", 2, unpriced=2, dollars=0.0), cost("b", 2, unpriced=1, dollars=0.5), cost("c", 2, dollars=0.0)]
    around.tribe.replies["costs"] = {**COSTS, "by": "model", "rows": rows, "total": cost("total", 6, unpriced=6, dollars=0.0)}
    told = [line.split("\t")[-1] for line in run(around, "costs", "--by", "model").stdout.splitlines()[1:5]]
    assert told == ["unknown", "0.5000", "0.0000", "unknown"]


def test_a_tribe_that_called_no_model_is_told_so(around: Surroundings) -> None:
    around.tribe.replies["costs"] = {**COSTS, "rows": [], "total": cost("total", 0)}
    assert run(around, "costs").stdout.startswith("No model was called from 2026-02-01 to 2026-03-01.\n")


def test_costs_are_one_json_value_for_machines(around: Surroundings) -> None:
    assert json.loads(run(around, "costs", "--json").stdout) == COSTS


@pytest.mark.parametrize("given", ["yesterday", "2026-02-30", "2026-03-01T00:00:00Z"])
def test_what_is_no_day_is_refused_before_anything_is_asked(around: Surroundings, given: str) -> None:
    refused = run(around, "costs", "--from", given)
    assert refused.exit_code == 2
    assert "must be a day such as 2026-03-01" in refused.stderr
    assert around.tribe.requests == []
