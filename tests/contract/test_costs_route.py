"""GET /v1/costs: who may ask, for which days, and what comes back."""

from __future__ import annotations

from datetime import date

import httpx
import pytest

from tests.contract.samples import bearer, errors_of
from tests.contract.stand_in import CURATOR, StandIn
from tributary.core import ids
from tributary.core.costs import By


def test_costs_come_by_agent_with_the_budget_of_today(api: httpx.Client) -> None:
    body = api.get("/v1/costs?by=agent", headers=bearer("curator")).json()
    assert [(one["key"], one["name"]) for one in body["rows"]] == [
        (ids.show(ids.Prefix.AGENT, CURATOR.agent_id), CURATOR.name),
        ("", None),
    ]
    assert (body["total"]["calls"], body["total"]["cost_usd"], body["unpriced_models"]) == (12, 0.0375, ["openai:unheard-of"])
    assert body["budget"] == {"calls_per_day": 100, "usd_per_day": 2.5, "calls_today": 12, "usd_today": 0.0375, "spent": False}


def test_days_and_sum_reach_the_service(api: httpx.Client, memory: StandIn) -> None:
    body = api.get("/v1/costs?from=2026-02-01&to=2026-02-28", headers=bearer("curator")).json()
    assert (body["since"], body["until"], body["by"]) == ("2026-02-01", "2026-02-28", "day")
    api.get("/v1/costs?by=purpose", headers=bearer("curator"))
    assert [(one["since"], one["until"], one["by"]) for one in memory.calls_of("costs")] == [
        (date(2026, 2, 1), date(2026, 2, 28), By.DAY),
        (None, None, By.PURPOSE),
    ]


@pytest.mark.parametrize("given", ["yesterday", "2026-02-30", "20260201", "2026-02-01T00:00:00Z", "2026-W05-1"])
@pytest.mark.parametrize("name", ["from", "to"])
def test_what_is_no_day_is_refused(api: httpx.Client, name: str, given: str) -> None:
    refused = api.get("/v1/costs", params={name: given}, headers=bearer("curator"))
    assert errors_of(refused) == {name: "must be a day such as 2026-03-01"}


@pytest.mark.parametrize("who", ["reader", "writer"])
def test_costs_are_a_curators(api: httpx.Client, who: str) -> None:
    assert api.get("/v1/costs", headers=bearer(who)).status_code == 403
