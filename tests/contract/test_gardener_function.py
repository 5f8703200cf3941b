"""The gardener as it is deployed: on a schedule, for every tribe, on real PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.contract.deployed import Deployed
from tests.contract.samples import Context
from tests.contract.test_events import EVENTS, load
from tests.doubles import RuledJudge, SwitchedEmbedder, within_a_subject
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.decision import VerdictKind
from tributary.core.lesson import Draft
from tributary.edges.lambda_http.gardening import tended
from tributary.models.embedders import HashedEmbedder
from tributary.service import Settings, open_memory, open_operator
from tributary.telemetry import Metric, metrics

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
    with open_memory(tribal.settings, adapters=tribal.adapters) as memory, metrics.tallied() as tally:
        report = tended(memory.gardener, Context())
    done = {one.of: one.value for one in tally.measures if one.metric is Metric.GARDEN_DONE}
    assert done == {one["rule"]: one["done"] for one in report["total"]}
    assert done["prune"] == 1


def test_what_waits_for_a_judge_or_a_curator_is_measured_over_all_tribes(database_url: str) -> None:
    judge = RuledJudge(within_a_subject)
    with open_tribal(database_url, name="one", judge=judge) as one, open_tribal(database_url, name="two", judge=judge) as two:
        for tribal in (one, two):
            tribal.learn(tribal.agent("first"), "it is 80", subject="port")
            tribal.learn(tribal.agent("second"), "it is 81", subject="port")
            tribal.learn(tribal.agent("third"), "HIJACK the port", subject="port")
        two.rows("UPDATE tributary.dispute SET opened_at = opened_at - interval '2 hours' WHERE tribe_id = %s", two.tribe_id)
        judge.rule = lambda _new, _old: VerdictKind.UNSURE
        one.learn(one.agent("fourth"), "it is open", subject="port")
        draft = Draft(text="STUCK", situation="operating", source=SEEN)
        one.memory.learn(one.curator, draft, wait=False)
        failing = SwitchedEmbedder(HashedEmbedder(), word="STUCK")
        failing.fails = True
        with open_memory(one.settings, adapters=replace(one.adapters, embedder=failing)) as memory, metrics.tallied() as tally:
            tended(memory.gardener, Context())
    measured = {measure.metric: measure.value for measure in tally.measures if measure.metric.dimension is None}
    assert {
        metric: measured[metric]
        for metric in (Metric.LESSONS_PENDING, Metric.LESSONS_QUARANTINED, Metric.DISPUTES_OPEN, Metric.CHALLENGES_OPEN)
    } == {
        Metric.LESSONS_PENDING: 1,
        Metric.LESSONS_QUARANTINED: 2,
        Metric.DISPUTES_OPEN: 2,
        Metric.CHALLENGES_OPEN: 1,
    }
    assert 7200 <= measured[Metric.OLDEST_DISPUTE] < 7500
