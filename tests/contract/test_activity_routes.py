"""GET /v1/activity and /v1/evaluations: who is told what, and what is refused."""

from __future__ import annotations

import httpx
import pytest

from tests.contract.samples import bearer, errors_of
from tests.contract.stand_in import StandIn


def test_activity_comes_in_whole_buckets_with_calls_of_models_for_a_curator(api: httpx.Client) -> None:
    body = api.get("/v1/activity?hours=2", headers=bearer("curator")).json()
    assert (body["every"], body["since"], body["until"]) == ("hour", "2026-03-01T11:00:00Z", "2026-03-01T12:30:00Z")
    quiet, busy = body["buckets"]
    assert (quiet["ticks"], quiet["events"]) == (0, {})
    assert busy["events"] == {"learned": 2, "superseded": 1}
    assert busy["recalls"] == {"complete": 9, "approximate": 0, "partial": 0, "unknown": 1}
    assert (body["conflicts"]["total"], body["recall"]["calls"], body["recall"]["bins"][-1]) == (
        2,
        10,
        {"below_ms": None, "calls": 1},
    )
    assert body["models"]["judging"] == {"pairs": 8, "escalated": 2, "escalation_rate": 0.25}
    assert (body["models"]["calls"][0]["calls"], body["models"]["cost_usd"]) == (4, 0.0375)


def test_a_reader_is_told_of_no_model_and_a_day_when_nobody_says_how_long(api: httpx.Client, memory: StandIn) -> None:
    body = api.get("/v1/activity", headers=bearer("reader")).json()
    assert (body["models"], len(body["buckets"])) == (None, 24)
    assert [one["hours"] for one in memory.calls_of("activity")] == [24]


def test_a_run_comes_with_its_matrix_its_tiers_and_its_curve(api: httpx.Client) -> None:
    (run,) = api.get("/v1/evaluations", headers=bearer("reader")).json()["runs"]
    assert run["confusion"] == {
        "labels": ["same", "conflicts"],
        "answers": ["same", "conflicts", "unsure"],
        "counts": [[71, 0, 0], [0, 89, 8]],
    }
    assert run["tiers"] == {"pairs": 168, "settled_by_cheap": 160, "strong_calls": 8}
    assert run["generations"] == [{"number": 1, "tasks": 3, "steps_with_memory": 30.0, "steps_without": 31.5}]
    assert [one["metric"] for one in run["metrics"]] == ["test_accuracy"]


@pytest.mark.parametrize("given", ["0", "745", "x", "-1", "1.5", "1e2"])
def test_hours_that_are_none_or_too_many_are_refused(api: httpx.Client, memory: StandIn, given: str) -> None:
    refused = api.get("/v1/activity", params={"hours": given}, headers=bearer("reader"))
    assert errors_of(refused) == {"hours": "must be a whole number from 1 to 744"}
    assert memory.asked() == []


@pytest.mark.parametrize("given", ["0", "51", "all"])
def test_runs_that_are_none_or_too_many_are_refused(api: httpx.Client, given: str) -> None:
    refused = api.get("/v1/evaluations", params={"limit": given}, headers=bearer("reader"))
    assert errors_of(refused) == {"limit": "must be a whole number from 1 to 50"}
