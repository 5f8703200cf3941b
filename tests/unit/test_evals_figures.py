"""What suites hand back: intervals, confusion matrices, even samples, and what calls of models cost."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from evals.bench import evenly
from evals.figures import Confusion, share, shares_by_tag, wilson
from evals.purse import Purse
from tributary.core.evaluation import Better
from tributary.core.spending import CallEnd, ModelCall, Purpose


@pytest.mark.parametrize(
    ("hits", "n", "lower", "upper"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (95, 101, 0.8764, 0.9725), (0, 0, 0.0, 1.0)],
)
def test_the_interval_is_wilsons(hits: int, n: int, lower: float, upper: float) -> None:
    assert wilson(hits, n) == pytest.approx((lower, upper), abs=1e-4)


def test_a_share_of_nothing_is_nothing_with_the_widest_interval() -> None:
    one = share("x", 0, 0)
    assert (one.value, one.n, one.lower, one.upper) == (0.0, 0, 0.0, 1.0)


def test_precision_is_over_answers_and_recall_over_labels() -> None:
    pairs = [("same", "same"), ("same", "unrelated"), ("unrelated", "same"), ("unrelated", "unrelated"), ("unrelated", "unsure")]
    confusion = Confusion.of("pairs", ("same", "unrelated"), ("same", "unrelated", "unsure"), pairs)
    assert (confusion.precision("same").value, confusion.precision("same").n) == (0.5, 2)
    assert (confusion.recall("same").value, confusion.recall("same").n) == (0.5, 2)
    assert confusion.recall("unrelated").value == pytest.approx(1 / 3)
    assert confusion.recall("unrelated").n == 3


def test_shares_by_tag_count_each_tag_for_itself() -> None:
    sheet = shares_by_tag("By tag", [("b", True), ("a", True), ("a", False)])
    assert [(row[0], row[1], row[3]) for row in sheet.rows] == [("a", "0.500", "1 of 2"), ("b", "1.000", "1 of 1")]


def test_a_sample_takes_as_many_of_each_key_as_there_are_and_keeps_the_order() -> None:
    cases = ["a1", "a2", "a3", "a4", "b1", "c1", "c2"]
    some = evenly(cases, lambda case: case[0], 5)
    assert some == ["a1", "a2", "b1", "c1", "c2"]
    assert Counter(case[0] for case in evenly(cases, lambda case: case[0], 100)) == Counter(case[0] for case in cases)


def call(usd: str | None, end: CallEnd = CallEnd.ANSWERED) -> ModelCall:
    cost = None if usd is None else Decimal(usd)
    return ModelCall(purpose=Purpose.JUDGE, model="m", at=datetime.now(UTC), ms=2.0, end=end, cost_usd=cost)


def test_a_purse_adds_up_what_is_charged_and_is_empty_once_that_is_spent() -> None:
    purse = Purse(Decimal("0.05"))
    for one in (call("0.02"), call(None, CallEnd.FAILED), call("0.02")):
        purse.charge(one)
        assert purse.may_spend()
    purse.charge(call("0.01"))
    assert not purse.may_spend()
    spent = purse.spent()
    assert (spent.calls, spent.failed, spent.unpriced, spent.cost_usd) == (4, 1, 1, Decimal("0.05"))


def test_a_purse_without_a_bound_is_never_empty() -> None:
    purse = Purse()
    purse.charge(call("1000000"))
    assert purse.may_spend()


def test_a_direction_is_part_of_a_metric() -> None:
    assert share("x", 1, 2).better is Better.HIGHER
    assert share("x", 1, 2, better=Better.LOWER).better is Better.LOWER
