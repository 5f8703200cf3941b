"""The pages Quality and Cost: what is not known is no nought, names stay text, and each asks the database a few times only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import httpx2
import pytest

from tests.charging import call
from tests.conftest import new_database
from tests.dashboards import Markup, Visitor, overheard, visiting
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Role
from tributary.core.evaluation import Better, Evaluation, EvaluationRun
from tributary.core.ids import new_id
from tributary.core.spending import CallEnd, Purpose, account
from tributary.edges.dashboard.port import Setup
from tributary.edges.dashboard.views.quality import RECORD
from tributary.service import open_operator

HOSTILE = '</bdi></svg><script>alert(1)</script><img src=x onerror=alert(1)>" {{7*7}} \u202e'


@pytest.fixture(scope="module")
def tribal(server_url: str, template: str) -> Iterator[Tribal]:
    """A tribe whose models were called and in whose database two runs of the evals are kept, with names that want to be more."""
    with new_database(server_url, template) as url, open_tribal(url, budget_usd_per_day=0.5) as opened:
        spend(opened)
        record(opened, *runs(opened.clock()))
        yield opened


def spend(tribal: Tribal) -> None:
    now, writer = tribal.clock(), tribal.agent("night-watch")
    with tribal.memory.ledger.on(tribal.tribe_id, writer.agent_id):
        account().charge(call(Purpose.STRONG_JUDGE, model="wire:strong", at=now, cost="0.75"))
        account().charge(call(Purpose.SCREEN, model=HOSTILE, at=now, cost=None))
        account().charge(call(Purpose.JUDGE, model="wire:cheap", at=now, cost="0.001", end=CallEnd.TIMED_OUT))
    with tribal.memory.ledger.on(tribal.tribe_id):
        account().charge(call(Purpose.SCREEN, model=HOSTILE, at=now - timedelta(days=2), cost=None))


def evaluation(metric: str, value: float, interval: tuple[float, float] | None = None, **more: object) -> Evaluation:
    lower, upper = interval or (None, None)
    one = Evaluation(suite="classification", metric=metric, value=value, n=100, lower=lower, upper=upper, better=Better.HIGHER)
    return replace(one, **more)  # type: ignore[arg-type]  # the test's own keywords


def runs(now: datetime) -> tuple[EvaluationRun, EvaluationRun]:
    kept = (
        *(evaluation(f"confusion.same.{answer}", count) for answer, count in (("same", 71), ("unsure", 8))),
        evaluation("tier.cheap.settled", 90),
        evaluation("tier.strong.calls", 10),
        *(
            evaluation(f"generation.{n}.{kind}", 30 / n, suite="end-to-end")
            for n in (1, 2)
            for kind in ("with_memory", "without")
        ),
    )
    old = EvaluationRun(
        run_id=new_id(),
        at=now - timedelta(days=1),
        commit="0ldc0mm1t",
        tier="offline",
        models={"judge": HOSTILE},
        found=(evaluation("test_accuracy", 0.95, (0.89, 0.98)), evaluation("test_recall", 0.80, (0.71, 0.87)), *kept),
    )
    found = (
        evaluation("test_accuracy", 0.80, (0.71, 0.87)),
        evaluation("test_recall", 0.84, (0.76, 0.90)),
        evaluation(HOSTILE, 0.5),
        evaluation("cheap_usd_of_1000", 0.1234, suite="tiering", better=Better.LOWER),
    )
    new = replace(old, run_id=new_id(), at=now, commit=HOSTILE, models={"judge": "rules/6"}, found=(*found, *kept))
    return old, new


def record(tribal: Tribal, *kept: EvaluationRun) -> None:
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        for run in kept:
            operator.record_evaluation(run)


def words(response: httpx2.Response) -> str:
    return " ".join(Markup(response.text).words.split())


def said(visitor: Visitor, path: str, status: int = 200) -> str:
    response = visitor.get(path)
    assert response.status_code == status, response.text
    return words(response)


def test_costs_tell_what_is_known_and_call_the_rest_unknown(tribal: Tribal) -> None:
    with visiting(tribal) as visitor:
        page = said(visitor, "/costs")
    assert "Today's budget is used up. The strong judge is skipped" in page
    assert "Spent today (UTC)$0.7510at least, of $0.50" in page
    assert "Spent on these days$0.7510at least, by 4 calls" in page
    assert "2 calls have no known price and stand in no sum" in page
    assert "Calls that failed125.0 % of all" in page
    assert "screen202" in page
    assert "$0.00 " not in page.partition("By purpose")[2].partition("How models answered")[0]
    before = tribal.clock() - timedelta(days=2)
    assert f"{before:%Y-%m-%d}unknown" in page, "a day whose calls have no price is a gap"
    assert f"{tribal.clock() - timedelta(days=1):%Y-%m-%d}$0.00" in page, "nobody called a model on that day"


def test_costs_are_added_up_as_asked_and_a_wrong_day_comes_back_as_it_was_typed(tribal: Tribal) -> None:
    with visiting(tribal) as visitor:
        page = said(visitor, "/costs?by=agent")
        assert "night-watch3" in page
        assert "the gardener or the operator1" in page
        empty = said(visitor, "/costs?from=2020-01-01&to=2020-01-31&by=model")
        assert "No model was called from 2020-01-01 to 2020-01-31." in empty
        for query, rule in (
            ("from=yesterday", "must be a day such as 2026-03-01"),
            ("from=2026-03-02&to=2026-03-01", "must not be later than `to`"),
        ):
            refused = visitor.get(f"/costs?{query}")
            assert refused.status_code == 400
            assert rule in words(refused)
            assert Markup(refused.text).value("from") == query.partition("&")[0].removeprefix("from=")
            assert "Spent today" not in refused.text


def test_models_answers_come_with_their_latencies_for_the_hours_asked(tribal: Tribal) -> None:
    with visiting(tribal) as visitor:
        day, week = said(visitor, "/costs"), said(visitor, "/costs?hours=168")
    assert "How models answered in the last 24 hours" in day
    assert "No pair was judged, so there is no escalation rate." in day
    assert "strong judgewire:strong10" in day
    assert "1 call; half took" in day
    assert "2 calls; half took" in week


def test_a_run_is_told_beside_the_one_before_in_words(tribal: Tribal) -> None:
    with visiting(tribal, Role.READER) as visitor:
        page = said(visitor, "/quality")
        assert "1 worse 1 within noise 2 new" in page
        assert "Worse: classification test accuracy" in page
        assert "Not the same models: judge was" in page
        assert "test accuracy 80.0 % 71.0 % to 87.0 % 100 95.0 % worse" in page
        assert "71 of 79 got the answer that their label says." in page
        assert "The first judge settled 90 of 100 labelled pairs; the strong one was asked about 10 as well." in page
        assert "generationwith the memory of those beforewithout any" in page
        assert "$0.1234" in said(visitor, "/quality?suite=tiering")
        one = visitor.get("/quality?metric=recall&tier=nonsense&suite=nonsense&hours=nonsense").text
    assert "<figcaption><bdi>recall</bdi></figcaption>" in one
    assert "<figcaption><bdi>accuracy</bdi></figcaption>" not in one


def test_anybody_sees_quality_without_what_it_cost(tribal: Tribal) -> None:
    public = tribal.token("public", Role.READER)
    with visiting(tribal, None, setup=Setup(secure=False, public_token=lambda: public)) as visitor:
        page = visitor.get("/quality?suite=tiering").text
    assert "1 worse" in " ".join(Markup(page).words.split())
    assert "usd" not in page
    assert "$" not in page


def test_names_of_commits_metrics_and_models_stay_text(tribal: Tribal) -> None:
    with visiting(tribal) as visitor:
        for path in ("/quality", "/costs?by=model"):
            page = visitor.get(path)
            markup = Markup(page.text)
            assert "<script>alert(1)</script>" in markup.words
            assert "\u202e" not in page.text
            assert [one for tag, one in markup.tags if tag == "script" and "src" not in one] == []
            assert not [name for _, one in markup.tags for name in one if name.startswith("on") or name == "style"]


def test_where_nothing_is_kept_pages_say_so_and_how_to_keep_something(database_url: str) -> None:
    with open_tribal(database_url) as quiet, visiting(quiet) as visitor:
        quality, costs = said(visitor, "/quality"), said(visitor, "/costs")
    assert "No run of the evals is kept in this database." in quality
    assert RECORD in quality
    assert "Half of recalls withinunknownof 0" in quality
    assert "No model was called from" in costs
    assert "Spent today (UTC)$0.00no limit is set" in costs


def test_neither_page_asks_the_database_more_than_five_times(database_url: str) -> None:
    with overheard(database_url) as (tribal, visitor, spoken):
        record(tribal, *runs(tribal.clock()))
        visitor.get("/quality")
        for most, path in ((3, "/quality"), (4, "/costs"), (3, "/costs?by=day")):
            spoken.clear()
            assert visitor.get(path).status_code == 200
            assert spoken.round_trips <= most, path
