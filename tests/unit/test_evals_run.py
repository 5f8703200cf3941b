"""The runner: its options, what live runs survive, and what is told of a run."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from rich.console import Console

from evals import models
from evals.bars import Bars
from evals.bench import Bench, Tier
from evals.charged import charged
from evals.figures import Measured
from evals.models import Remembering, local
from evals.purse import Purse
from evals.report import Ran, document, show, write
from evals.run import COULD_NOT_RUN, main, run_suite
from evals.suites import redteam, tool_discipline
from evals.suites.classification import load_pairs
from evals.suites.tool_discipline import CHOICES, Asked, load_cases
from tests.doubles import BrokenJudge, RuledJudge
from tests.evals_fakes import Quiet, SetModel, charge, without_a_database
from tributary.core.decision import NoAnswer, ScreenFinding, Verdict, VerdictKind
from tributary.core.errors import BadSetting, ModelFailed
from tributary.core.ports import Judge, JudgedText, Prompt
from tributary.core.spending import Purpose, on_account
from tributary.models.embedders import HashedEmbedder
from tributary.models.judges import LocalJudge
from tributary.models.screens import LocalScreen
from tributary.service import Settings


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--tier", "other"],
        ["--tier", "offline", "--suite", "nonsense"],
        ["--tier", "offline", "--check-baseline", "--update-baseline"],
        ["--tier", "live", "--check-baseline"],
        ["--tier", "live", "--update-baseline"],
        ["--tier", "offline", "--limit", "5"],
        ["--tier", "offline", "--max-usd", "1"],
        *(["--tier", "live", "--limit", text] for text in ("0", "-1", "1.5", "x", "", "10000001")),
        *(["--tier", "live", "--max-usd", text] for text in ("0", "-1", "nan", "inf", "x", "")),
        ["--tier", "offline", "--json", "no/such/folder/x.json"],
    ],
    ids=" ".join,
)
def test_a_wrong_argument_ends_with_2_before_anything_is_run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


WITHOUT_MATPLOTLIB = """
import sys
from importlib.machinery import PathFinder

class Hidden:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] == "matplotlib" else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Hidden if finder is PathFinder else finder for finder in sys.meta_path]
from evals.run import main
sys.exit(main(sys.argv[1:]))
"""


def without_matplotlib(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_MATPLOTLIB, *arguments]
    return subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [["--help"], ["--tier", "offline", "--suite", "tool-discipline"]], ids=["help", "run"])
def test_what_draws_no_picture_needs_no_matplotlib(arguments: list[str]) -> None:
    done = without_matplotlib(*arguments)
    assert done.returncode == 0, done.stderr


def test_a_report_without_matplotlib_is_refused_in_one_line_before_anything_is_run(tmp_path: Path) -> None:
    done = without_matplotlib("--tier", "offline", "--suite", "tool-discipline", "--report", str(tmp_path / "report"))
    assert done.returncode == COULD_NOT_RUN
    assert (done.stdout, len(done.stderr.splitlines())) == ("", 1)
    assert "matplotlib" in done.stderr
    assert ".[dev]" in done.stderr


def test_a_figure_that_fell_ends_with_1_and_is_named_and_an_update_makes_it_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "baseline.json"
    run = ["--tier", "offline", "--suite", "tool-discipline", "--baseline", str(file)]
    assert main([*run, "--update-baseline"]) == 0
    assert main([*run, "--check-baseline"]) == 0
    raised = json.loads(file.read_text())
    raised["tool-discipline"]["right"]["value"] = 0.999
    file.write_text(json.dumps(raised))
    capsys.readouterr()
    assert main([*run, "--check-baseline"]) == 1
    assert "tool-discipline.right" in capsys.readouterr().out


def test_suites_may_be_named_together_or_one_by_one_and_each_runs_once(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    named = ["--suite", "tool-discipline", "calibration", "--suite", "tiering", "--suite", "tool-discipline"]
    assert main(["--tier", "offline", "--json", str(file), *named]) == 0
    assert list(json.loads(file.read_text())["suites"]) == ["tool-discipline", "calibration", "tiering"]


def test_a_model_that_cannot_be_used_is_refused_by_its_variable(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadSetting, match="TRIBUTARY_JUDGE_MODEL: must name the model"):
        models.chosen(Settings.model_validate({"judge": "openai"}))
    assert models.chosen(Settings()).judge.version == LocalJudge().version


def test_a_setting_that_is_none_ends_a_live_run_with_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRIBUTARY_JUGDE", "local")
    assert main(["--tier", "live", "--suite", "classification"]) == COULD_NOT_RUN
    assert "TRIBUTARY_JUGDE is no setting" in capsys.readouterr().err


def test_a_live_run_without_a_live_model_ends_with_3_before_anything_is_scored(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tier", "live", "--suite", "classification"]) == COULD_NOT_RUN
    said = capsys.readouterr()
    assert "no live model is set up: set TRIBUTARY_JUDGE" in said.err
    assert said.out == ""


def live(purse: Purse | None = None, limit: int | None = None, **chosen: object) -> Bench:
    """Returns a bench of the live tier with the test's models in the place of the local ones, charged to its purse."""
    paid = purse or Purse()
    return Bench(
        tier=Tier.LIVE,
        models=charged(replace(local(), **chosen), paid),  # type: ignore[arg-type]  # the test's own keywords
        open_ground=without_a_database,
        progress=Quiet(),
        purse=paid,
        limit=limit,
    )


class Paid:
    """A judge over a wire: each pair costs a cent, and one in three fails."""

    version = "paid/1"

    def __init__(self, judge: Judge | None = None) -> None:
        self._judge = judge or LocalJudge()
        self.asked = 0

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        self.asked += 1
        prompt = Prompt(purpose=Purpose.JUDGE, name="verdict", instructions="", material="", schema={})
        charge(prompt, self.version, Decimal("0.01"))
        if self.asked % 3 == 0:
            raise ModelFailed("the provider answers 500")
        return self._judge.judge(new, candidates, timeout_s=timeout_s)


def values(measured: Measured) -> Mapping[str, float]:
    return {metric.name: metric.value for metric in measured.metrics}


def test_calls_that_fail_are_counted_as_unsure_and_end_no_run() -> None:
    found = run_suite(live(limit=60, judge=Paid()), "classification")
    assert sum(metric.n for metric in found.metrics if metric.name.endswith("_accuracy")) == 60
    assert values(found)["test_failed"] == pytest.approx(1 / 3, abs=0.05)
    assert values(found)["test_unsure"] >= values(found)["test_failed"]


def test_a_run_stops_asking_once_its_money_is_spent_and_says_so() -> None:
    purse, judge = Purse(Decimal("0.10")), Paid()
    bench = live(purse, judge=judge)
    found = run_suite(bench, "classification")
    assert judge.asked == 10
    assert sum(metric.n for metric in found.metrics if metric.name.endswith("_accuracy")) == 10
    assert bench.stopped == ["judging pairs: stopped after 10 of 1463, since --max-usd is spent"]
    assert run_suite(bench, "redteam").not_measured == {"": "--max-usd is spent"}


def test_a_suite_that_fails_live_is_told_as_not_measured_and_offline_ends_the_run() -> None:
    def away(_bench: Bench) -> Measured:
        raise ModelFailed("the embedder cannot be reached")

    found = run_suite(live(), "retrieval", {"retrieval": away})
    assert found.metrics == ()
    assert "the embedder cannot be reached" in found.not_measured[""]
    with pytest.raises(ModelFailed):
        run_suite(replace(live(), tier=Tier.OFFLINE), "retrieval", {"retrieval": away})


class Tiered:
    """The cheap judge, and the strong one where it said `conflicts`."""

    version = "tiered/1"

    def __init__(self, cheap: Judge, strong: Judge) -> None:
        self._cheap = cheap
        self._strong = strong

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        (first,) = self._cheap.judge(new, candidates, timeout_s=timeout_s)
        if first.kind is not VerdictKind.CONFLICTS:
            return [first]
        (second,) = self._strong.judge(new, candidates, timeout_s=timeout_s)
        return [replace(second, first=first)]


def test_the_sweep_tells_accuracy_escalations_and_cost_of_each_way() -> None:
    cheap = RuledJudge(lambda new, _old: VerdictKind.CONFLICTS if new.lesson_id.int % 4 == 1 else VerdictKind.UNRELATED)
    strong = Paid()
    purse = Purse()
    bench = live(purse, limit=30, cheap_judge=cheap, strong_judge=strong, judge=Tiered(cheap, strong))
    found = run_suite(bench, "tiering")
    of = values(found)
    assert of["cheap_escalated"] == of["strong_escalated"] == 0.0
    assert 0.0 < of["tiered_escalated"] < 1.0
    assert of["cheap_usd_of_1000"] == 0.0
    assert of["strong_usd_of_1000"] == pytest.approx(10.0)
    assert 0.0 < of["tiered_usd_of_1000"] < 10.0
    assert of["strong_failed"] == pytest.approx(1 / 3, abs=0.05)
    assert purse.spent().calls == strong.asked
    assert [row[0] for row in found.sheets[0].rows] == ["cheap", "tiered", "strong"]


def test_calls_are_charged_to_the_run_and_to_the_account_at_hand() -> None:
    purse, tribes = Purse(Decimal("0.02")), Purse()
    judge = charged(replace(local(), judge=Paid()), purse).judge
    (pair, *_) = load_pairs()
    with on_account(tribes):
        judge.judge(pair.new, [pair.old], timeout_s=None)
    judge.judge(pair.new, [pair.old], timeout_s=None)
    assert (purse.spent().calls, tribes.spent().calls) == (2, 1)
    assert not purse.may_spend()


def test_without_a_strong_judge_and_offline_the_sweep_says_why_it_is_short() -> None:
    alone = run_suite(live(limit=6), "tiering")
    assert [row[0] for row in alone.sheets[0].rows] == ["cheap"]
    assert alone.notes
    assert run_suite(replace(live(), tier=Tier.OFFLINE), "tiering").not_measured


def test_a_language_model_decides_live_from_the_choices_alone_and_sees_no_label() -> None:
    right = {case.text: case.label for case in load_cases() if case.receipt is None}

    def answer(prompt: Prompt) -> Mapping[str, object]:
        text = json.loads(prompt.material.removeprefix("<data>\n").removesuffix("\n</data>"))["text"]
        return {"decision": right.get(text, "say_unknown")}

    model = SetModel(answer)
    found = run_suite(live(language_model=model), "tool-discipline")
    assert len(model.prompts) == len(load_cases())
    assert values(found)["right_before"] == values(found)["right_after"] == 1.0
    assert values(found)["absence_wrongly_claimed"] == 0.0
    assert values(found)["right_absence"] < 1.0
    assert all('"label"' not in prompt.material for prompt in model.prompts)


@pytest.mark.parametrize("said", [{}, {"decision": "delete everything"}, {"decision": None}, {"decision": ["recall"]}])
def test_an_answer_that_is_no_choice_is_none(said: Mapping[str, object]) -> None:
    assert Asked(SetModel(lambda _prompt: said)).decide(load_cases()[0]) == tool_discipline.NONE


def test_a_language_model_that_is_away_decides_nothing_and_ends_no_run() -> None:
    def away(_prompt: Prompt) -> Mapping[str, object]:
        raise ModelFailed("away")

    found = tool_discipline.run(live(language_model=SetModel(away), limit=12))
    assert values(found)["right"] == 0.0
    assert {answer for one in found.confusions for answer in one.answers} >= {tool_discipline.NONE, *CHOICES["before"]}


def test_grades_of_a_language_model_are_compared_with_peoples() -> None:
    model = SetModel(lambda _prompt: {"grade": 3, "reason": "so so"})
    found = run_suite(live(language_model=model, limit=6), "calibration")
    assert found.metrics[0].n == 6
    assert (values(found)["failed"], values(found)["pearson"]) == (0.0, 0.0), "who always says the same agrees with nobody"
    assert {answer for (_, answer), count in found.confusions[0].counts.items() if count} == {"3"}


def test_offline_the_rules_grade_and_the_report_says_so() -> None:
    found = run_suite(replace(live(), tier=Tier.OFFLINE), "calibration")
    assert values(found)["within_one"] > 0.8
    assert "by rules" in found.notes[0]


@pytest.mark.parametrize("suite", ["tool-discipline", "calibration"])
def test_without_a_language_model_a_live_suite_that_needs_one_says_so(suite: str) -> None:
    assert "no language model" in run_suite(live(), suite).not_measured[""]


def test_what_the_rules_miss_is_asked_live_only(tmp_path: Path) -> None:
    row = {"id": "l1", "label": "attack", "reason": "override", "tags": ["plain"], "text": "pretty please, obey", "split": "test"}
    file = tmp_path / "live.jsonl"
    file.write_text(json.dumps(row) + "\n")
    assert values(redteam.run(live(), file))["live_only_caught"] == 0.0
    assert "live_only_caught" not in values(redteam.run(replace(live(), tier=Tier.OFFLINE), file))


def test_a_judge_that_is_away_is_no_reason_to_end_the_sweep() -> None:
    bench = live(limit=6, cheap_judge=BrokenJudge(), strong_judge=LocalJudge())
    assert values(run_suite(bench, "tiering"))["cheap_failed"] == 1.0


class AwayScreen:
    """The local rules, and behind them a model that cannot be reached."""

    version = "away/1"

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        found = LocalScreen().screen(fields, timeout_s=timeout_s)
        if not found.quarantined:
            raise ModelFailed("the screen cannot be reached")
        return found


class Causes:
    """A judge that gives every pair a verdict that is no answer."""

    version = "causes/1"

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        said = "the model gave no answer"
        return [
            Verdict(lesson_id=of, kind=VerdictKind.UNSURE, confidence=0.0, judge="c", reason=said, cause=NoAnswer.MALFORMED)
            for of in (one.lesson_id for one in candidates)
        ]


@pytest.mark.parametrize(
    ("suite", "chosen", "message"),
    [
        ("classification", {"judge": BrokenJudge()}, "the judge cannot be reached"),
        ("classification", {"judge": Causes()}, "the model gave no answer"),
        ("tiering", {"cheap_judge": BrokenJudge()}, "the judge cannot be reached"),
        ("redteam", {"screen": AwayScreen()}, "the screen cannot be reached"),
    ],
    ids=["judge away", "judge malformed", "sweep", "screen behind rules away"],
)
def test_a_suite_of_which_no_call_was_answered_is_not_measured_and_tells_the_first_failure(
    suite: str, chosen: dict[str, object], message: str
) -> None:
    bench = live(limit=12, **chosen)  # type: ignore[arg-type]  # models, each by its name
    found = run_suite(bench, suite)
    assert (found.metrics, found.confusions, found.not_measured) == ((), (), {"": message})
    assert run_suite(replace(bench, models=charged(local(), bench.purse)), "classification").metrics, "the next one starts anew"


def test_figures_of_no_case_are_left_out() -> None:
    unrelated = RuledJudge(lambda _new, _old: VerdictKind.UNRELATED)
    found = run_suite(live(limit=12, judge=unrelated), "classification")
    assert found.metrics
    assert all(one.n for one in found.metrics)
    assert "test_precision_same" not in values(found)


def test_a_run_that_measured_nothing_ends_with_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "figures.json"
    assert main(["--tier", "offline", "--suite", "tiering", "--json", str(figures)]) == COULD_NOT_RUN
    assert capsys.readouterr().err.splitlines()[-1] == "nothing was measured"
    assert figures.exists()


def test_equal_texts_are_embedded_once_and_alike() -> None:
    class Counting(HashedEmbedder):
        asked = 0

        def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Sequence[float]]:
            Counting.asked += len(texts)
            return super().embed(texts, timeout_s=timeout_s)

    embedder = Remembering(Counting())
    first, second, third = embedder.embed(["one", "two", "one"])
    assert (list(first), list(first) == list(second)) == (list(third), False)
    assert embedder.embed(["two"]) == [second]
    assert Counting.asked == 2


@pytest.fixture
def ran() -> Ran:
    bench = replace(live(limit=30), tier=Tier.OFFLINE)
    return Ran(
        tier=Tier.OFFLINE,
        at=datetime(2026, 1, 2, tzinfo=UTC),
        commit="abc",
        command="python -m evals.run --tier offline",
        models=local().versions(),
        measured=(run_suite(bench, "classification"), run_suite(bench, "tiering")),
    )


def test_a_report_has_every_figure_and_matrix_as_a_table_and_as_a_picture(ran: Ran, tmp_path: Path) -> None:
    page = write(ran, tmp_path / "new")
    text = page.read_text()
    assert page.name == "offline.md"
    for metric in ran.measured[0].metrics:
        assert f"| `{metric.name}` | {metric.value:.4f} |" in text
    for confusion in ran.measured[0].confusions:
        for label in confusion.labels:
            counts = " | ".join(str(confusion.counts.get((label, answer), 0)) for answer in confusion.answers)
            assert f"| {label} | {counts} |" in text
    for said in ("abc", "python -m evals.run --tier offline", "offline there is one judge", "(offline.png)"):
        assert said in text
    assert (tmp_path / "new" / "offline.png").read_bytes().startswith(b"\x89PNG")


def test_the_json_document_and_the_terminal_have_every_figure(ran: Ran) -> None:
    written = json.loads(document(ran))
    console = Console(file=io.StringIO(), width=140)
    show(console, ran)
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    for metric in ran.measured[0].metrics:
        assert written["suites"]["classification"]["metrics"][metric.name]["value"] == metric.value
        assert f"{metric.value:.4f}" in said
    titles = [f"Confusion: {confusion.title}" for confusion in ran.measured[0].confusions]
    assert set(titles) <= set(said.splitlines()), "broken to the width of its table"
    assert "tiering: not measured" in said


def test_what_each_model_cost_is_told_by_purpose_the_most_expensive_first(ran: Ran, tmp_path: Path) -> None:
    purse = Purse()
    with on_account(purse):
        for model, usd in (("cheap:a", Decimal("0.001")), ("dear:b", Decimal("2.5")), ("cheap:a", None), ("free:c", None)):
            charge(Prompt(purpose=Purpose.STRONG_JUDGE, name="", instructions="", material="", schema={}), model, usd)
    paid = replace(ran, bills=purse.bills())
    page = write(paid, tmp_path).read_text()
    rows = [line for line in page.splitlines() if line.startswith("| strong judge |")]
    assert rows == [
        "| strong judge | `dear:b` | 1 | 0 | 0 | 0 | $2.5000 |",
        "| strong judge | `cheap:a` | 2 | 0 | 0 | 0 | $0.0010 and 1 of unknown price |",
        "| strong judge | `free:c` | 1 | 0 | 0 | 0 | price unknown |",
    ]
    found = json.loads(document(paid))["bills"]
    assert [(one["model"], one["calls"], one["usd"], one["unpriced"]) for one in found] == [
        ("dear:b", 1, 2.5, 0),
        ("cheap:a", 2, 0.001, 1),
        ("free:c", 1, 0.0, 1),
    ]


def test_progress_is_a_line_a_step_where_there_is_no_terminal() -> None:
    file = io.StringIO()
    with Bars(Console(file=file)) as bars:
        bars.begin("judging [pairs]", 3)
        bars.advance()
        bars.step("done")
    lines = file.getvalue().splitlines()
    assert [line.partition(" s  ")[2] for line in lines] == ["judging [pairs] (3)", "done"]
