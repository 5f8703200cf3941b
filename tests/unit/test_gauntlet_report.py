"""The tables and the plot show the demo's own figures, at any width, and no lesson is read as markup."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from evals.gauntlet.__main__ import tell
from evals.gauntlet.demos.two_agents import DEMO
from evals.gauntlet.report import print_report, short_id, write_plot
from evals.gauntlet.results import AgentReport, CitationReport, ClaimReport, DemoReport, LessonReport, SpentReport

LESSON = "les_0199c0ffee0011223344556677889900"
TEXT = "The build fails [bold] until the cache /a/b is cleared: run `cache clear /a/b` before `build x`."


def agent(name: str, steps: int, traps: int) -> AgentReport:
    return AgentReport(
        agent=name,
        steps=steps,
        memory_calls=8,
        traps_hit=["linker", "quota"][:traps],
        done=True,
        recalled=[],
        citations=[],
        learned=[],
        seconds=1.25,
    )


def demo(*, cited: bool = True, kept: bool = True) -> DemoReport:
    citation = CitationReport(lesson=LESSON, text=TEXT, ran="cache clear /a/b", worked=True, before=0.7, after=0.8)
    lesson = LessonReport(lesson=LESSON if kept else None, outcome="learned" if kept else "quarantined", text=TEXT)
    return DemoReport(
        seed=7,
        stranger_seed=9,
        first=agent("agent-a", 41, 2).model_copy(update={"learned": [lesson]}),
        second=agent("agent-b", 8, 0).model_copy(update={"citations": [citation] if cited else [], "recalled": [LESSON]}),
        without_recall=agent("control: no recall", 42, 2),
        with_strange_memory=agent("control: strange memory", 46, 2),
        in_prompt=agent("agent-c", 8, 0),
        late=agent("agent-d", 13, 2).model_copy(update={"shown": 16, "characters": 3768}),
        strange_prompt=agent("control: strange prompt", 47, 2),
        claims=[
            ClaimReport(claim="it rains", holds=True, figures="1 of 1"),
            ClaimReport(claim="it pours", holds=False, figures="0 of 1"),
        ],
        passed=False,
    )


def printed(report: DemoReport, *, width: int = 140) -> str:
    stream = io.StringIO()
    print_report(Console(file=stream, width=width, color_system=None), report)
    return stream.getvalue()


def test_the_first_table_shows_each_agents_figures() -> None:
    rows = [re.findall(r"[^\s│]+(?: [^\s│]+)*", line) for line in printed(demo()).splitlines()]
    assert ["agent-a", "41", "2", "0", "0", "1", "8", "1.25"] in rows
    assert ["agent-b", "8", "0", "1", "1", "0", "8", "1.25"] in rows
    assert ["control: no recall", "42", "2", "0", "0", "0", "8", "1.25"] in rows
    assert ["control: strange memory", "46", "2", "0", "0", "0", "8", "1.25"] in rows


def test_the_last_table_shows_each_way_to_hold_the_memory_with_what_it_gave_to_read() -> None:
    rows = [re.findall(r"[^\s│]+(?: [^\s│]+)*", line) for line in printed(demo()).splitlines()]
    assert ["as a tool, asked after a failure", "agent-d", "13", "2", "8", "16", "3,768", "0"] in rows
    assert ["in the prompt, of another world", "control: strange prompt", "47", "2", "8", "0", "0", "0"] in rows


def test_what_a_language_model_came_to_is_told_and_nothing_of_it_where_none_was_asked() -> None:
    spent = SpentReport(calls=3, failed=0, input_tokens=1200, output_tokens=90, cost_usd="0.0021")
    driven = demo().model_copy(update={"late": demo().late.model_copy(update={"spent": spent})})
    assert "The language model: 3 calls, 1,200 tokens in, 90 out, 0.0021 US dollars" in printed(driven)
    assert "The language model" not in printed(demo())


def test_the_second_table_shows_what_a_lesson_says_and_how_its_confidence_rose() -> None:
    text = printed(demo())
    assert short_id(LESSON) in text
    assert "0.70 -> 0.80" in text
    assert "yes, worked" in text
    assert "[bold]" in text


def test_a_lesson_that_was_not_cited_or_not_kept_is_shown_as_such() -> None:
    text = printed(demo(cited=False, kept=False))
    assert "none (quarantined)" in text
    assert re.search(r"│ +- │ no ", text)


def test_each_claim_says_whether_it_holds() -> None:
    text = printed(demo())
    assert "holds  it rains: 1 of 1" in text
    assert "FAILS  it pours: 0 of 1" in text


@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 1)])
def test_the_exit_code_says_whether_every_claim_holds(passed: bool, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    report = demo().model_copy(update={"passed": passed})
    assert tell(DEMO, report, as_json=True) == code
    assert DemoReport.model_validate_json(capsys.readouterr().out) == report
    assert tell(DEMO, report, as_json=False) == code


def test_a_narrow_terminal_loses_no_figure() -> None:
    text = printed(demo(), width=60)
    for figure in ("41", "42", "46", "1.25"):
        assert figure in text


def test_a_short_id_keeps_the_digits_that_differ() -> None:
    assert short_id(LESSON) == "les_…77889900"


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_plot_is_written_in_the_format_of_its_ending(tmp_path: Path, ending: str, magic: bytes) -> None:
    path = tmp_path / f"steps.{ending}"
    write_plot(demo(), path)
    assert path.read_bytes().startswith(magic)
