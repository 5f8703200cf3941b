"""`python -m evals.run --tier live` as its user runs it: models from the environment alone, over wires that fakes answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.providers import bedrock, bedrock_embeddings, bedrock_guardrails, claude, openai, typesafe
from tests.providers.brain import Routes
from tests.providers.mind import answering, jev
from tests.providers.server import Asked, ProviderServer, Reply, Route

ROOT = Path(__file__).parents[2]
SUITES = ("classification", "redteam", "tiering", "calibration", "tool-discipline", "retrieval", "end-to-end")
HAIKU, GPT = f"bedrock:{bedrock.PROFILE}", f"openai:{openai.MODEL}"
TITAN = f"bedrock:{bedrock_embeddings.TITAN}"
JEV, CLAUDE = f"typesafe:{typesafe.MODEL}", f"claude:{claude.MODEL}"
GUARDRAIL = f"bedrock:guardrail/{bedrock_guardrails.GUARDRAIL}:{bedrock_guardrails.VERSION}"
USD_OF_GPT = (120 * 0.40 + 30 * 1.60) / 1e6
"""One answer of the fake's, by the shipped price."""


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a run ended, what it said, and its figures."""

    code: int
    printed: str
    said: str
    figures: Mapping[str, Any]
    page: Path

    def values(self, suite: str) -> Mapping[str, float]:
        return {name: one["value"] for name, one in self.figures["suites"][suite]["metrics"].items()}

    def counted(self, suite: str, metric: str) -> int:
        """Returns how many cases a share is of, over all splits: value times n."""
        found: Mapping[str, Mapping[str, float]] = self.figures["suites"][suite]["metrics"]
        return sum(round(one["value"] * one["n"]) for name, one in found.items() if name.endswith(metric))

    def bills(self) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        return {(one["purpose"], one["model"]): one for one in self.figures["bills"]}


@dataclass
class Wires:
    """One server for everything with routes of its own, one for TypeSafe, and a program that stands for Claude Code."""

    server: ProviderServer
    typesafe: typesafe.TypeSafe
    claude: Path
    folder: Path

    def run(self, *arguments: str, **settings: str) -> Ran:
        figures = self.folder / "figures.json"
        figures.unlink(missing_ok=True)
        command = [sys.executable, "-m", "evals.run", "--tier", "live", "--json", str(figures), *arguments]
        report = ["--report", str(self.folder / "report")]
        chosen = {f"TRIBUTARY_{name.upper()}": value for name, value in settings.items()}
        done = subprocess.run(
            [*command, *report],
            cwd=ROOT,
            env={**os.environ, **bedrock_embeddings.credentials(), **self.where, **chosen},
            capture_output=True,
            text=True,
            check=False,
        )
        assert figures.exists(), done.stderr
        return Ran(
            code=done.returncode,
            printed=done.stdout,
            said=done.stderr,
            figures=json.loads(figures.read_text()),
            page=self.folder / "report" / "live.md",
        )

    @property
    def where(self) -> Mapping[str, str]:
        return {
            "TRIBUTARY_AWS_REGION": "us-east-1",
            "TRIBUTARY_BEDROCK_URL": self.server.url,
            "TRIBUTARY_OPENAI_URL": f"{self.server.url}/v1",
            "TRIBUTARY_OPENAI_API_KEY": openai.KEY,
            "TRIBUTARY_JEV_URL": self.typesafe.url,
            "TRIBUTARY_JEV_API_KEY": typesafe.KEY,
            "TRIBUTARY_CLAUDE_COMMAND": str(self.claude),
            "TRIBUTARY_MODEL_ATTEMPTS": "1",
        }


ROUTES: Routes = [
    *bedrock.converse_routes(answering),
    *bedrock_embeddings.ROUTES,
    *bedrock_guardrails.ROUTES,
    *openai.chat_routes(answering),
    *claude.claude_routes(answering),
]


@pytest.fixture
def wires(tmp_path: Path) -> Iterator[Wires]:
    with ExitStack() as stack:
        server = stack.enter_context(ProviderServer(ROUTES))
        typed = stack.enter_context(typesafe.TypeSafe(jev))
        program = claude.write_program(tmp_path, server.url)
        yield Wires(server=server, typesafe=typed, claude=program, folder=tmp_path)


class Failing:
    """Answers all requests but those from the `first` to the `last`, which get `reply`."""

    def __init__(self, route: Route, *, first: int, last: int, reply: Reply) -> None:
        self._route = route
        self._failing = range(first, last + 1)
        self._reply = reply
        self.asked = 0

    def __call__(self, asked: Asked) -> Reply:
        self.asked += 1
        return self._reply if self.asked in self._failing else self._route(asked)


TIERED_BY_JEV = {
    "judge": "jev",
    "judge_model": typesafe.MODEL,
    "strong_judge": "bedrock",
    "strong_judge_model": bedrock.PROFILE,
    "screen": "openai",
    "screen_model": openai.MODEL,
    "embedder": "bedrock",
}
TIERED_BY_GPT = {
    "judge": "openai",
    "judge_model": openai.MODEL,
    "strong_judge": "claude",
    "strong_judge_model": claude.MODEL,
    "screen": "guardrails",
    "guardrail_id": bedrock_guardrails.GUARDRAIL,
    "guardrail_version": bedrock_guardrails.VERSION,
}


@pytest.mark.parametrize(
    ("settings", "charged"),
    [
        (
            TIERED_BY_JEV,
            {("judge", JEV), ("strong_judge", HAIKU), ("grade", HAIKU), ("screen", GPT), ("embed", TITAN)},
        ),
        (TIERED_BY_GPT, {("judge", GPT), ("strong_judge", CLAUDE), ("grade", CLAUDE), ("screen", GUARDRAIL)}),
    ],
    ids=["jev then bedrock, openai screens, titan embeds", "openai then claude, guardrails screen"],
)
def test_every_live_suite_runs_over_the_wire_from_settings_alone(
    wires: Wires, database_url: str, settings: dict[str, str], charged: set[tuple[str, str]]
) -> None:
    ran = wires.run("--limit", "6", "--database", database_url, "--suite", *SUITES, **settings)
    assert ran.code == 0, ran.said
    _check_figures(ran)
    _check_tiers(ran)
    assert set(ran.bills()) == charged
    assert all(one["calls"] > 0 and one["failed"] == 0 for one in ran.bills().values())
    _check_report(ran)
    _check_kept(ran, database_url, charged)


def _check_figures(ran: Ran) -> None:
    assert set(ran.figures["suites"]) == set(SUITES)
    for name, suite in ran.figures["suites"].items():
        assert suite["metrics"], (name, suite["not_measured"])
        failed = {metric: one["value"] for metric, one in suite["metrics"].items() if metric.endswith("failed")}
        assert set(failed.values()) <= {0.0}, (name, failed)
    assert {"live_only_caught", "test_caught"} <= set(ran.values("redteam"))
    assert ran.values("tool-discipline")["right"] >= 0.8
    assert ran.values("end-to-end")["gauntlet_done"] == 1.0


def _check_tiers(ran: Ran) -> None:
    (tiers,) = ran.figures["suites"]["tiering"]["tables"].values()
    assert [row[0] for row in tiers["rows"]] == ["cheap", "tiered", "strong"]
    found = ran.values("tiering")
    assert (found["cheap_escalated"], found["strong_escalated"]) == (0.0, 0.0)
    assert 0.0 < found["tiered_escalated"] < 1.0
    assert all(found[f"{way}_usd_of_1000"] > 0 for way in ("cheap", "tiered", "strong"))
    assert found["cheap_usd_of_1000"] < found["tiered_usd_of_1000"]


def _check_report(ran: Ran) -> None:
    page = ran.page.read_text()
    assert all(f"## {suite}" in page for suite in SUITES)
    assert all(f"`{model}`" in page for _, model in ran.bills())
    assert ran.page.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert not {openai.KEY, typesafe.KEY} & set(page.split())


def _check_kept(ran: Ran, url: str, charged: set[tuple[str, str]]) -> None:
    """Looks at what the database has of the run: its figures, and the calls that its tribes were charged with."""
    with psycopg.connect(url) as connection:
        kept = connection.execute(
            "SELECT suite, metric, value FROM tributary.evaluation"
            " WHERE tier = 'live' AND metric !~ '^(confusion|tier|generation)[.]'"
        ).fetchall()
        calls = connection.execute("SELECT DISTINCT purpose, model FROM tributary.model_call").fetchall()
    assert {(suite, metric): value for suite, metric, value in kept} == {
        (suite, metric): value for suite in SUITES for metric, value in ran.values(suite).items()
    }
    assert {(str(purpose), str(model)) for purpose, model in calls} == {one for one in charged if one[0] != "grade"}


def failing_chat(**how: Any) -> ProviderServer:
    """Returns OpenAI's chat where the calls that `how` names fail."""
    ((method, pattern, route),) = openai.chat_routes(answering)
    return ProviderServer([(method, pattern, Failing(route, **how))])


def test_a_run_stops_asking_once_its_money_is_spent_and_tells_what_was_left_off(wires: Wires) -> None:
    most = 4.5 * USD_OF_GPT
    ran = wires.run(
        *("--limit", "12", "--max-usd", f"{most:.8f}", "--suite", "classification", "tool-discipline"),
        judge="openai",
        judge_model=openai.MODEL,
    )
    assert ran.code == 0
    assert len(wires.server.asked) == 5
    assert "judging pairs: stopped after 5 of 12, since --max-usd is spent" in ran.printed
    assert "tool-discipline: not measured, --max-usd is spent" in ran.printed
    assert "stopped after 5 of 12" in ran.page.read_text()
    assert ran.bills()[("judge", GPT)]["usd"] == pytest.approx(5 * USD_OF_GPT)


LIMITED = openai.OpenAiWire().throttled(60.0)
OVERLOADED = openai.OpenAiWire().away()
DEAD = Reply(cut=True)


@pytest.mark.parametrize("reply", [LIMITED, OVERLOADED, DEAD], ids=["throttles", "is overloaded", "is dead"])
def test_a_judge_that_fails_in_mid_run_has_its_cases_counted_and_ends_nothing(wires: Wires, reply: Reply) -> None:
    with failing_chat(first=4, last=6, reply=reply) as server:
        ran = wires.run(
            *("--limit", "12", "--suite", "classification"),
            judge="openai",
            judge_model=openai.MODEL,
            openai_url=f"{server.url}/v1",
        )
    assert ran.code == 0, ran.said
    assert ran.counted("classification", "_failed") == 3
    assert ran.counted("classification", "_unsure") >= 3
    bill = ran.bills()[("judge", GPT)]
    assert (bill["calls"], bill["failed"]) == (12, 3)
    assert "12 calls of models, 3 of which failed" in ran.printed


def test_a_judge_of_which_no_call_was_answered_measured_nothing_and_says_why(wires: Wires) -> None:
    with failing_chat(first=1, last=10_000, reply=OVERLOADED) as server:
        ran = wires.run(
            *("--limit", "6", "--suite", "classification"),
            judge="openai",
            judge_model=openai.MODEL,
            openai_url=f"{server.url}/v1",
        )
    assert ran.code == 3
    suite = ran.figures["suites"]["classification"]
    assert suite["metrics"] == {}
    assert f"classification: not measured, {suite['not_measured']['']}" in " ".join(ran.printed.split())
    assert "nothing was measured" in ran.said


def test_a_screen_that_dies_for_good_fails_its_cases_and_the_suites_after_it_still_run(wires: Wires) -> None:
    with failing_chat(first=2, last=10_000, reply=DEAD) as server:
        ran = wires.run(
            *("--limit", "12", "--suite", "redteam", "calibration", "tool-discipline", "tiering"),
            judge="openai",
            judge_model=openai.MODEL,
            screen="openai",
            screen_model=openai.MODEL,
            screen_url=f"{server.url}/v1",
            screen_api_key=openai.KEY,
        )
    assert ran.code == 0, ran.said
    screened = ran.figures["suites"]["redteam"]["metrics"]
    asked = ran.bills()[("screen", GPT)]
    assert asked["calls"] - asked["failed"] == 1
    assert ran.counted("redteam", "_failed") == asked["failed"] >= 3
    assert sum(one["n"] for name, one in screened.items() if name.endswith("_failed")) == 12
    assert all(ran.figures["suites"][name]["metrics"] for name in ("calibration", "tool-discipline", "tiering"))


def test_a_strong_judge_that_dies_costs_the_pairs_that_needed_it_and_no_others(wires: Wires) -> None:
    ((method, pattern, route),) = bedrock.converse_routes(answering)
    dying = Failing(route, first=2, last=10_000, reply=DEAD)
    with ProviderServer([(method, pattern, dying)]) as server:
        settings = {**TIERED_BY_JEV, "screen": "local", "embedder": "minilm", "bedrock_url": server.url}
        del settings["screen_model"]
        ran = wires.run("--limit", "6", "--suite", "tiering", **settings)
    assert ran.code == 0, ran.said
    found = ran.values("tiering")
    assert found["cheap_failed"] == 0.0
    assert 0.0 < found["tiered_failed"] < found["tiered_escalated"]
    assert found["strong_failed"] == 1.0


def test_an_embedder_that_dies_fails_what_needs_it_and_the_suites_after_it_still_run(wires: Wires, database_url: str) -> None:
    ((method, pattern, route),) = bedrock_embeddings.ROUTES
    dying = Failing(route, first=12, last=10_000, reply=bedrock_embeddings.AWAY)
    with ProviderServer([(method, pattern, dying)]) as server:
        ran = wires.run(
            *("--limit", "6", "--database", database_url, "--suite", "end-to-end", "retrieval", "classification"),
            embedder="bedrock",
            bedrock_url=server.url,
        )
    assert ran.code == 0, ran.said
    assert 0.0 < ran.values("end-to-end")["failed"] < 1.0
    assert ran.figures["suites"]["retrieval"]["not_measured"][""].startswith("it failed: ")
    assert ran.values("classification")["test_failed"] == 0.0
    assert ran.bills()[("embed", TITAN)]["failed"] > 0
