"""The gardener as it is deployed: on a schedule, for every tribe, on real PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.contract.deployed import Deployed
from tests.contract.samples import Context
from tests.contract.test_events import EVENTS, load
from tests.tribes import Tribal
from tributary.edges.lambda_http.gardening import tended
from tributary.edges.lambda_http.reply import Measure
from tributary.service import Settings, open_memory, open_operator

SCHEDULED = load(EVENTS / "gardener" / "scheduler.json")


def test_the_function_tends_every_tribe_and_answers_with_the_report(database_url: str) -> None:
    with open_operator(Settings.model_validate({"TRIBUTARY_DATABASE_URL": database_url})) as operator:
        operator.create_tribe("one")
        operator.create_tribe("two")
    with Deployed("gardener", {"TRIBUTARY_DATABASE_URL": database_url}) as gardener:
        report = gardener(SCHEDULED)
        lines = [json.loads(line) for line in gardener.end().splitlines()]
    assert [one["tribe"] for one in report["tribes"]] == ["one", "two"]
    assert not [one for one in report["total"] if one["failed"]]
    assert [line["tribes"] for line in lines if line["event"] == "garden.swept"] == [2]


def test_a_function_without_its_database_fails_so_that_its_schedule_sees_it() -> None:
    with Deployed("gardener", {"TRIBUTARY_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}) as gardener:
        assert gardener(SCHEDULED) == {"raised": "Unavailable"}


def test_what_was_done_left_and_refused_is_measured_by_rule(tribal: Tribal) -> None:
    tribal.rows("INSERT INTO tributary.tribe_day VALUES (%s, '2020-01-01', 1)", tribal.tribe_id)
    measured: list[Measure] = []

    def meter(measures: Sequence[Measure]) -> None:
        measured.extend(measures)

    with open_memory(tribal.settings, adapters=tribal.adapters) as memory:
        report = tended(memory.gardener, Context(), meter=meter)
    done = {one.dimensions["rule"]: one.value for one in measured if one.name == "GardenDone"}
    assert done == {one["rule"]: one["done"] for one in report["total"]}
    assert done["prune"] == 1
    assert {one.name for one in measured} == {"GardenLatency", "GardenDone", "GardenLeft", "GardenRefused", "GardenFailed"}
