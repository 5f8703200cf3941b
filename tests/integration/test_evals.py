"""Suites that work in a real memory: what they score, what turns them red, and where their figures are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from benchmarks.ground import Ground
from evals.baseline import Standing, compare, updated
from evals.bench import Bench, Tier
from evals.curve import generations
from evals.figures import Measured
from evals.ground import lazy_ground
from evals.models import Models, local
from evals.run import main, run_suite
from evals.suites import end_to_end, retrieval
from evals.suites.classification import ANSWERS, LABELS
from tests.doubles import BrokenJudge, RuledJudge, WordScreen
from tests.evals_fakes import Quiet
from tests.tribes import Tribal
from tributary.core.decision import VerdictKind
from tributary.core.errors import WrongStanding
from tributary.core.evaluation import Better, Evaluation, EvaluationRun
from tributary.core.ids import new_id
from tributary.core.ports import Vector
from tributary.models.embedders import HashedEmbedder
from tributary.service import open_operator
from tributary.store import RUNTIME, Target, connect


@pytest.fixture(scope="module")
def models() -> Models:
    return local()


@pytest.fixture
def ground(database_url: str, models: Models) -> Iterator[Ground]:
    opened = Ground(database_url, embedder=models.embedder)
    yield opened
    opened.close()


@pytest.fixture
def again(database_url: str, models: Models) -> Iterator[Ground]:
    """Another run in the same database."""
    opened = Ground(database_url, embedder=models.embedder, prefix="again-")
    yield opened
    opened.close()


@pytest.fixture
def blurred(database_url: str, models: Models) -> Iterator[tuple[Ground, Models]]:
    """A run whose embedder tells nothing apart."""
    chosen = replace(models, embedder=Blurred())
    opened = Ground(database_url, embedder=chosen.embedder, prefix="blurred-")
    yield opened, chosen
    opened.close()


class Blurred(HashedEmbedder):
    """Gives every text one and the same vector."""

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        return super().embed(["one"] * len(texts), timeout_s=timeout_s)


def bench(ground: Ground, models: Models, limit: int | None = None) -> Bench:
    return Bench(tier=Tier.OFFLINE, models=models, open_ground=lambda: ground, progress=Quiet(), limit=limit)


def values(measured: Measured) -> Mapping[str, float]:
    return {metric.name: metric.value for metric in measured.metrics}


def test_pairs_come_out_as_their_labels_demand_and_the_gauntlet_is_crossed(ground: Ground, models: Models) -> None:
    measured = end_to_end.run(bench(ground, models, 9))
    assert measured.kept == (), "generations are played only where a run is kept"
    found = values(measured)
    assert found["outcome"] >= 0.8
    assert (found["stale_shown"], found["failed"], found["gauntlet_traps_hit"]) == (0.0, 0.0, 0.0)
    assert found["gauntlet_steps_kept"] < 0.5


def test_a_judge_that_calls_all_unrelated_turns_the_outcomes_red(ground: Ground, again: Ground, models: Models) -> None:
    right = end_to_end.run(bench(ground, models, 9))
    lazy = replace(models, judge=RuledJudge(lambda _new, _old: VerdictKind.UNRELATED))
    wrong = end_to_end.run(bench(again, lazy, 9))
    fell = {one.name for one in compare(updated({}, [right]), [wrong]) if one.standing is Standing.FELL}
    assert {"end-to-end.outcome", "end-to-end.outcome_superseded", "end-to-end.outcome_disputed"} <= fell


def test_a_judge_that_is_away_and_a_screen_that_holds_all_back_end_no_run(ground: Ground, again: Ground, models: Models) -> None:
    away = values(end_to_end.run(bench(ground, replace(models, judge=BrokenJudge()), 6)))
    assert away["failed"] == 0.0
    assert away["outcome_superseded"] == 0.0
    held = values(end_to_end.run(bench(again, replace(models, screen=WordScreen(word="")), 3)))
    assert (held["outcome"], held["found"]) == (0.0, 0.0)


def test_an_embedder_that_tells_nothing_apart_turns_retrieval_red(
    ground: Ground, blurred: tuple[Ground, Models], models: Models, tmp_path: Path
) -> None:
    absent = tmp_path / "nowhere"
    right = retrieval.run(bench(ground, models, 40), absent)
    wrong = retrieval.run(bench(*blurred, 40), absent)
    assert "the Prometheus runbooks are not in data" in right.not_measured["runbooks"]
    fell = {one.name for one in compare(updated({}, [right]), [wrong]) if one.standing is Standing.FELL}
    assert "retrieval.paraphrases_mrr" in fell


def test_receipts_say_what_they_must_in_every_situation(ground: Ground, models: Models) -> None:
    found = run_suite(bench(ground, models), "coverage")
    assert found.wrong == ()
    assert values(found) == {"coverage": 1.0, "absence_wrongly_claimable": 0.0, "absence_claimable": 1.0}


def test_a_database_with_a_tribe_of_somebody_is_refused_and_left_as_it_was(tribal: Tribal, models: Models) -> None:
    with (
        lazy_ground(tribal.url, embedder=models.embedder, run_id=new_id()) as opened,
        pytest.raises(WrongStanding, match="holds the tribe 'tribe'"),
    ):
        opened()
    assert [row["name"] for row in tribal.rows("SELECT name FROM tributary.tribe")] == ["tribe"]


def test_no_database_is_opened_for_a_suite_that_needs_none() -> None:
    with lazy_ground("postgresql://nobody@127.0.0.1:1/none", embedder=HashedEmbedder(), run_id=new_id()):
        pass


RUN = EvaluationRun(
    run_id=new_id(),
    at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    commit="abc",
    tier="offline",
    models={"judge": "local/1", "strong_judge": None},
    found=(
        Evaluation(suite="classification", metric="accuracy", value=0.9, n=100, lower=0.83, upper=0.94, better=Better.HIGHER),
        Evaluation(suite="classification", metric="ms", value=1.5, n=100, lower=None, upper=None),
    ),
)


def test_runs_are_kept_once_and_read_newest_first(tribal: Tribal) -> None:
    later = replace(RUN, run_id=new_id(), at=datetime(2026, 1, 3, tzinfo=UTC), found=RUN.found[:1])
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        assert operator.evaluations() == ()
        for run in (later, RUN, RUN):
            operator.record_evaluation(run)
        assert operator.evaluations() == (later, RUN)
        assert operator.evaluations(limit=1) == (later,)


def test_the_runtime_role_reads_runs_and_writes_none(tribal: Tribal) -> None:
    with connect(Target(url=tribal.url, assume=RUNTIME)) as connection:
        assert connection.execute("SELECT tributary.evaluations_v1(5)").fetchone() == ([],)
        for forbidden in (
            "SELECT tributary.record_evaluation_v1(gen_random_uuid(), now(), 'x', 'offline', '{}', '[]')",
            "INSERT INTO tributary.evaluation DEFAULT VALUES",
            "SELECT * FROM tributary.evaluation",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(forbidden.encode())


def test_a_run_is_recorded_beside_tribes_with_the_judges_matrix_and_its_tiers(
    tribal: Tribal, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["--tier", "offline", "--suite", "classification", f"--record={tribal.url}", "--json", str(tmp_path / "run.json")]
    assert main(run) == 0
    (kept,) = tribal.memory.evaluations(tribal.curator)
    assert kept.confusion is not None
    assert (kept.confusion.labels, kept.confusion.answers) == (LABELS, ANSWERS)
    shown = json.loads((tmp_path / "run.json").read_text())["suites"]["classification"]
    matrix = shown["confusions"]["pairs of the split test"]
    assert kept.confusion.counts == tuple(tuple(matrix[label][answer] for answer in ANSWERS) for label in LABELS)
    assert kept.tiers is not None
    assert (kept.tiers.pairs, kept.tiers.strong_calls) == (sum(map(sum, kept.confusion.counts)), 0)
    assert {one.metric for one in kept.metrics} == set(shown["metrics"]), "what is kept for the history is in no report"
    assert tribal.rows("SELECT name FROM tributary.tribe") == [{"name": "tribe"}]
    assert tribal.url not in capsys.readouterr().out + (tmp_path / "run.json").read_text()


def test_generations_of_agents_take_fewer_steps_with_memory_and_no_fewer_without(ground: Ground, models: Models) -> None:
    with ground.memory(models.embedder, connections=4, judge=models.judge, screen=models.screen) as memory:
        kept = {one.name: one.value for one in generations(bench(ground, models), memory)}
    curve = [(kept[f"generation.{number}.with_memory"], kept[f"generation.{number}.without"]) for number in range(1, 7)]
    assert len(kept) == 12
    assert curve[-1][0] < curve[0][0] / 2
    assert all(0.9 < without / curve[0][1] < 1.1 for _, without in curve), "the control stays as long"


def test_the_history_of_runs_is_kept_in_the_database_that_is_given(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["--tier", "offline", "--suite", "tool-discipline", "--database", database_url]
    assert main(run) == 0
    assert main([*run, "--report", str(tmp_path)]) == 0
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(
            "SELECT run_id, count(*), min(tier), bool_and(models ? 'judge') FROM tributary.evaluation GROUP BY run_id"
        ).fetchall()
    assert len(rows) == 2
    assert all((count >= 7, tier, known) == (True, "offline", True) for _, count, tier, known in rows)
    assert database_url not in (tmp_path / "offline.md").read_text()
    assert database_url not in capsys.readouterr().out
