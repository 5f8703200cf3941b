"""Charts of the dashboard: what is not known is a gap, every figure stands in a table, nothing is told by colour alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from jinja2 import ChoiceLoader, DictLoader

from tests.dashboards import Markup
from tributary.edges.dashboard.charts import Chart, Series, Unit, bars, figure, histogram, lines, matrix, sparkline, strip
from tributary.edges.dashboard.rendering import Frame, Rendering

HOURS = [datetime(2026, 3, 1, 22, tzinfo=UTC) + timedelta(hours=hour) for hour in range(4)]
BOUNDS = (1.0, 10.0, 100.0)
HOSTILE = '<script>alert(1)</script>"\u202e'


def html(chart: Chart) -> str:
    rendering = Rendering()
    environment = rendering._environment
    environment.loader = ChoiceLoader(
        [DictLoader({"one": '{% import "charts.html" as charts with context %}{{ charts.chart(chart) }}'}), environment.loader]  # type: ignore[list-item]
    )
    return rendering.page("one", {"chart": chart}, Frame(at=HOURS[0], path="/"))


def cells(chart: Chart) -> Sequence[Sequence[object]]:
    return [list(row) for row in chart.table.rows]


def test_a_line_is_lifted_where_nothing_is_known_and_touches_the_ground_at_nought() -> None:
    chart = sparkline([3, None, 0], label="ticks")
    line = next(shape for shape in chart.shapes if shape.ink == "line")
    assert line.d.count("M") == 2
    assert cells(chart) == [["1", "3"], ["2", None], ["3", "0"]]
    assert "unknown" in Markup(html(chart)).words


def test_an_hour_of_which_a_part_is_unknown_has_no_bar_but_a_mark() -> None:
    learned, disputed = Series(name="learned", values=[4, 2, 0, 1]), Series(name="disputed", values=[1, None, 0, 0])
    chart = bars(HOURS, [learned, disputed], label="what happened")
    first = next(shape for shape in chart.shapes if shape.ink == "fill" and shape.colour == 1)
    assert first.d.count("M") == 2  # not that of the unknown hour, not that of nothing
    assert sum(shape.ink == "gap" for shape in chart.shapes) == 1
    assert [entry.name for entry in chart.legend] == ["learned", "disputed", "not known"]
    assert cells(chart)[:3] == [[HOURS[0], "4", "1", "5"], [HOURS[1], "2", None, None], [HOURS[2], "0", "0", "0"]]
    assert [word.text for word in chart.words if ":" in word.text or word.text.startswith("Mar")] == [
        "22:00", "23:00", "Mar 2", "01:00",
    ]  # fmt: skip


def test_days_are_those_of_utc_for_whoever_reads() -> None:
    chart = bars([datetime(2026, 3, day, tzinfo=UTC) for day in (1, 2)], [Series(name="usd", values=[0.5, 0])],
                 label="spend", unit=Unit.USD, every="day")  # fmt: skip
    assert cells(chart) == [["2026-03-01", "$0.5000"], ["2026-03-02", "$0.00"]]


def test_no_two_series_differ_by_colour_alone() -> None:
    many = [Series(name=str(number), values=[1, 1, 1, 1]) for number in range(6)]
    stacked = {
        tuple((shape.ink, shape.dash, shape.opacity, shape.d) for shape in entry.shapes)
        for entry in bars(HOURS, many, label="x").legend
    }
    crossing = {tuple((shape.ink, shape.dash) for shape in entry.shapes) for entry in lines(list("abcd"), many, label="x").legend}
    assert (len(stacked), len(crossing)) == (6, 6)


def test_intervals_stand_in_the_picture_and_in_the_table() -> None:
    one = Series(name="accuracy", values=[0.9, None], lower=[0.85, None], upper=[0.94, None])
    chart = lines(["abc", "def"], [one], label="accuracy", unit=Unit.SHARE, of="commit", fit=True)
    assert [shape.d.count("V") for shape in chart.shapes if shape.opacity] == [1]
    assert chart.table.heads == ["commit", "accuracy", "from", "to"]
    assert cells(chart) == [["abc", "90.0 %", "85.0 %", "94.0 %"], ["def", None, None, None]]


def test_a_histogram_marks_its_quantiles_on_a_logarithmic_axis() -> None:
    chart = histogram(BOUNDS, [0, 2, 2, 0], label="recall", p50_ms=10.0, p95_ms=100.0)
    half, most = (float(shape.d[1:].split()[0]) for shape in chart.shapes if shape.ink == "mark")
    ticks = {word.text: word.x for word in chart.words}
    assert half == pytest.approx(ticks["10 ms"], abs=0.1)
    assert most == pytest.approx(ticks["100 ms"], abs=0.1)
    assert most - half == pytest.approx(ticks["10 ms"] - ticks["1 ms"], abs=0.2)
    assert cells(chart) == [["under 10 ms", "2", "50.0 %"], ["under 100 ms", "2", "100.0 %"]]
    with pytest.raises(ValueError, match="make 4 bins, not 3"):
        histogram(BOUNDS, [0, 0, 0], label="recall", p50_ms=None, p95_ms=None)


def test_a_matrix_shows_counts_with_their_share_of_the_row() -> None:
    chart = matrix(["same", "unrelated"], ["same", "unsure"], [[3, 1], [0, 0]], label="the judge")
    assert cells(chart) == [["same", "3 (75.0 %)", "1 (25.0 %)", "4"], ["unrelated", "0 (no case)", "0 (no case)", "0"]]
    assert sum(shape.ink == "mark" for shape in chart.shapes) == 1


@pytest.mark.parametrize(
    "chart",
    [
        sparkline([], label="a"),
        sparkline([None], label="a"),
        lines([], [Series(name="a", values=[])], label="a"),
        lines(["a"], [Series(name="a", values=[None])], label="a"),
        bars([], [Series(name="a", values=[])], label="a"),
        histogram(BOUNDS, [0, 0, 0, 0], label="a", p50_ms=None, p95_ms=None),
        matrix([], [], [], label="a"),
    ],
    ids=lambda chart: chart.kind,
)
def test_of_nothing_there_is_no_picture_but_a_sentence(chart: Chart) -> None:
    page = Markup(html(chart))
    assert chart.is_empty
    assert "Nothing is known of it yet." in page.words
    assert not any(tag == "svg" for tag, _ in page.tags)


@pytest.mark.parametrize(
    "chart",
    [
        lines([HOSTILE], [Series(name=HOSTILE, values=[1]), Series(name="b", values=[2])], label=HOSTILE, of=HOSTILE),
        bars(HOURS, [Series(name=HOSTILE, values=[1, 1, 1, 1]), Series(name="b", values=[2, 0, 0, 0])], label=HOSTILE),
        matrix([HOSTILE], [HOSTILE], [[1]], label=HOSTILE),
    ],
    ids=lambda chart: chart.kind,
)
def test_names_are_text_and_a_picture_has_a_name_and_no_style(chart: Chart) -> None:
    page = Markup(html(chart))
    names = {tag for tag, _ in page.tags}
    assert "script" not in names
    assert {"svg", "title", "desc", "details", "table"} <= names
    assert not any("style" in attributes for _, attributes in page.tags)
    assert HOSTILE[:25] in page.words
    assert "\u202e" not in page.words


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (None, Unit.USD, "unknown"),
        (12345, Unit.COUNT, "12,345"),
        (0.00001, Unit.USD, "under $0.0001"),
        (0, Unit.USD, "$0.00"),
        (0.0375, Unit.USD, "$0.0375"),
        (0.4, Unit.MS, "0.4 ms"),
        (1500, Unit.MS, "1.5 s"),
        (90_000, Unit.MS, "1.5 min"),
        (0.945, Unit.SHARE, "94.5 %"),
        (0.94012, Unit.NUMBER, "0.9401"),
    ],
)
def test_figures_are_said_with_their_unit(value: float | None, unit: Unit, said: str) -> None:
    assert figure(value, unit) == said


def test_a_strip_shows_the_least_part_and_adds_up_and_nothing_is_drawn_of_none() -> None:
    chart = strip([("complete", 9_999), ("partial", 1), ("unknown", 0)], label="coverage")
    widths = [float(shape.d.split("h")[1].split("v")[0]) for shape in chart.shapes if shape.ink == "fill"]
    assert widths == [317.0, 3.0]
    assert [entry.name for entry in chart.legend] == ["complete 9,999", "partial 1", "unknown 0"]
    assert cells(chart)[1] == ["partial", "1", "0.0 %"]
    assert strip([("complete", 0)], label="coverage").is_empty
