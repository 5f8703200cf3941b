"""`tributary verify-live` against the real gateway: it is content with what is right, and finds each thing that is not."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner, Result

from tests.conftest import new_database
from tests.contract.deployed import Deployed
from tests.falsifying import Passed, Proxy, falsifying
from tests.lambda_api import lambda_api
from tributary import __version__
from tributary.contract.routes import ROUTES
from tributary.core import ids
from tributary.core.agent import Role
from tributary.core.curation import RetireCause
from tributary.core.errors import WrongStanding
from tributary.core.lesson import Status
from tributary.edges.cli.app import app
from tributary.edges.cli.live import STEPS, Report, Stage, State, StepResult, checked
from tributary.edges.gateway import running
from tributary.service import Memory, Settings, open_memory, open_operator, settling
from tributary.service.operator import Operator

TRIBE = "verify-live"
ORIGIN = "https://app.example.org"
OPERATIONS = {route.operation for route in ROUTES}

Control = Callable[[Passed], Passed | None]
"""Falsifies an answer, or lets it pass: None."""


@dataclass(frozen=True, kw_only=True)
class Live:
    """A running system, with its operator's side and the proxy through which it is looked at."""

    database: str
    gateway: str
    proxy: Proxy
    memory: Memory
    operator: Operator
    token: str

    def run(
        self,
        *,
        wait_s: float = 20.0,
        told: Callable[[StepResult], None] = lambda _: None,
        revoke: Callable[[str], None] | None = None,
        last: str = STEPS[-1].name,
    ) -> Report:
        """Tries the steps up to the one that is named."""
        steps = STEPS[: [step.name for step in STEPS].index(last) + 1]
        with Stage(self.proxy.url, self.token, wait_s=wait_s, origin=ORIGIN) as stage:
            return checked(stage, steps, revoke=revoke or self.revoke, told=told)

    def revoke(self, name: str) -> None:
        self.operator.revoke_agent(TRIBE, name)

    def believed(self) -> int:
        """Returns how many lessons stand in a way that something still has to come of."""
        principal = self.memory.authenticate(self.token)
        counts = self.memory.stats(principal).lessons
        return sum(counts.get(status, 0) for status in (Status.ACTIVE, Status.DISPUTED, Status.PENDING, Status.QUARANTINED))

    def acting(self) -> list[str]:
        """Returns the agents that are not revoked."""
        return [one.name for one in self.operator.agents(TRIBE) if one.revoked_at is None]


@pytest.fixture(scope="module")
def system(server_url: str, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with ExitStack() as stack:
        url = stack.enter_context(new_database(server_url, template))
        folder = tmp_path_factory.mktemp("evidence")
        settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": url, "evidence_folder": folder})
        operator = stack.enter_context(open_operator(settings))
        token = operator.create_tribe(TRIBE).token.secret
        memory = stack.enter_context(open_memory(settings))
        stack.enter_context(settling(memory, every_s=0.2))
        gateway = stack.enter_context(running(memory, cors_origins=[ORIGIN])).url
        proxy = stack.enter_context(falsifying(gateway))
        yield Live(database=url, gateway=gateway, proxy=proxy, memory=memory, operator=operator, token=token)


@pytest.fixture
def live(system: Live) -> Live:
    system.proxy.forget()
    return system


def failed(report: Report) -> set[str]:
    return {one.name for one in report.steps if one.state is State.FAILED}


def test_every_route_is_covered_by_a_step() -> None:
    assert {operation for step in STEPS for operation in step.covers} == OPERATIONS
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(names)
    for at, step in enumerate(STEPS):
        assert set(step.needs) <= set(names[:at]), f"{step.name} needs a step that comes after it"


def test_all_holds_on_a_sound_system_and_nothing_is_left_behind(live: Live) -> None:
    asked_by: dict[str, set[str | None]] = {}

    def told(step: StepResult) -> None:
        asked_by[step.name] = set(live.proxy.asked)
        live.proxy.asked.clear()

    report = live.run(told=told)
    assert (report.held, report.left, report.warnings, report.version) == (True, (), (), __version__)
    assert {one.name for one in report.steps if one.state is not State.OK} == {"distill", "respond"}  # no model is set up here
    assert [one.reason for one in report.steps if one.state is State.SKIPPED] == [
        "the server has no model for distilling",
        "the server has no model for the incident agent",
    ]
    for step in STEPS:
        assert asked_by[step.name] >= set(step.covers), f"{step.name} asks for less than it says"
    assert (live.believed(), live.acting()) == (0, ["curator"])


def on(operation: str | None, change: Control) -> Control:
    """Returns what changes the first answer of an operation that `change` does not let pass."""
    done = False

    def falsify(passed: Passed) -> Passed | None:
        nonlocal done
        changed = None if done or passed.operation != operation else change(passed)
        done = done or changed is not None
        return changed

    return falsify


def says(*path: str | int, value: object, when: Callable[[Passed], bool] = lambda _: True) -> Control:
    """Returns what puts a value into an answer."""

    def change(passed: Passed) -> Passed | None:
        if not when(passed):
            return None
        inner = passed.answer
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = value
        return passed

    return change


def status_is(status: int, *, instead_of: int) -> Control:
    return lambda passed: replace(passed, status=status) if passed.status == instead_of else None


def without_hits(passed: Passed) -> Passed | None:
    if passed.status != 200:
        return None
    passed.answer["hits"].clear()
    return passed


def without_a_tick(passed: Passed) -> Passed | None:
    ticks = sorted({one["tick"] for one in passed.answer["changes"]})
    passed.answer["changes"] = [one for one in passed.answer["changes"] if one["tick"] != ticks[1]]
    return passed


def of_api_gateway(passed: Passed) -> Passed | None:
    if passed.status != 404:
        return None
    return replace(passed, answer={"message": "Not Found"}, headers={"content-type": "application/json"})


def any_origin(passed: Passed) -> Passed | None:
    return replace(passed, headers={**passed.headers, "access-control-allow-origin": "*"}) if passed.status == 204 else None


def once_more() -> Control:
    """Gives the answer to the first recall to every later one of the same words."""
    first: list[Any] = []

    def stale(passed: Passed) -> Passed | None:
        if passed.operation != "recall" or passed.status != 200 or passed.asked.get("as_of") is not None:
            return None
        first.append(passed.answer)
        return None if len(first) == 1 else replace(passed, answer=first[0])

    return stale


CONTROLS: tuple[dict[str, Control], ...] = (
    {
        "unknown-route": on(None, of_api_gateway),
        "wrong-token": on("stats", status_is(200, instead_of=401)),
        "openapi": on("openapi", says("paths", value={})),
        "preflight": on(None, any_origin),
        "recall": on("recall", without_hits),
        "refused": on("learn", status_is(200, instead_of=403)),
        # two opposites are believed
        "contradict": on("learn", says("outcome", value="learned", when=lambda one: one.answer.get("outcome") == "disputed")),
        "quarantine": on("quarantine", says("held", value=[])),
        "changes": on("changes", without_a_tick),
        # an action that was done is granted again
        "action-complete": on("begin_action", says("outcome", value="granted", when=lambda one: one.answer["outcome"] == "done")),
        "actions": on("actions", says("actions", value=[])),
    },
    {
        "replay": on("learn", says("lesson", "id", value="les_" + "0" * 32, when=lambda one: one.answer.get("replayed") is True)),
        "verify": on("verify", says("verdict", value="diverges", when=lambda one: one.answer["verdict"] == "agrees")),
        # a receipt that was changed agrees
        "verify-tampered": on("verify", says("verdict", value="agrees", when=lambda one: one.answer["verdict"] == "diverges")),
        "audit": on("audit", says("entries", value=[])),
        "recall-after": once_more(),
        # the past changes
        "as-of": on("lesson", says("lesson", "status", value="superseded", when=lambda one: "as_of" in one.path)),
        "erase": on("erase", says("lesson", "status", value="active")),
    },
    {
        # a recall is behind the tick that it must have come to
        "recall": on("recall", says("receipt", "searched", 0, "tick", value=0, when=lambda one: one.status == 200)),
        "accept": on("accept_dispute", says("replaced", value=[])),
    },
)
"""By the step that is to fail; what one of them keeps another step from being tried stands in another round."""


@pytest.mark.parametrize("controls", CONTROLS, ids=",".join)
def test_each_false_answer_makes_exactly_its_step_fail(live: Live, controls: dict[str, Control]) -> None:
    fired: set[str] = set()

    def falsify(passed: Passed) -> Passed | None:
        for step, control in controls.items():
            changed = control(replace(passed, answer=deepcopy(passed.answer)))
            if changed is not None:
                fired.add(step)
                return changed
        return None

    live.proxy.after = falsify
    report = live.run()
    assert fired == set(controls)
    assert failed(report) == set(controls)
    assert not report.held
    assert all(one.expected and one.found for one in report.steps if one.state is State.FAILED)
    assert (report.left, live.believed(), live.acting()) == ((), 0, ["curator"])


def test_another_version_is_warned_of_and_its_description_not_compared(live: Live) -> None:
    live.proxy.after = on("health", says("version", value="9.9.9"))
    report = live.run(last="preflight")
    assert report.held
    assert report.warnings == (f"the server is version 9.9.9, this command is version {__version__}",)
    assert {one.name for one in report.steps if one.state is State.SKIPPED} == {"openapi"}


def kept_waiting(operation: str | None, body: Any) -> Any:
    return {**body, "wait": False} if operation in ("learn", "learn_batch") else body


def test_what_is_pending_is_waited_for(live: Live) -> None:
    live.proxy.before = kept_waiting
    report = live.run(last="batch")
    assert failed(report) == set()
    assert (report.held, report.left, live.believed()) == (True, (), 0)


def test_what_stays_pending_for_too_long_fails_its_step(live: Live) -> None:
    live.proxy.before = kept_waiting
    report = live.run(wait_s=0, last="learn")
    assert failed(report) == {"learn"}
    assert report.steps[-1].found == "it is pending still"
    assert (report.left, live.acting()) == ((), ["curator"])


def behind(passed: Passed) -> Passed:
    passed.answer["receipt"]["searched"][0]["tick"] = 0
    return passed


def test_a_replica_that_is_behind_for_a_moment_is_asked_again(live: Live) -> None:
    live.proxy.after = on("lesson", lambda one: None if "as_of" in one.path else behind(one))
    assert failed(live.run(last="reject")) == set()
    assert live.proxy.falsified == 1


def test_a_replica_that_stays_behind_fails_what_reads_it(live: Live) -> None:
    live.proxy.after = lambda one: behind(one) if one.operation == "lesson" and "as_of" not in one.path else None
    report = live.run(wait_s=0, last="reject")
    assert failed(report) == {"as-of", "reject"}
    assert report.steps[-1].found == "tick 0"


def test_ctrl_c_ends_the_trying_and_not_the_cleaning(live: Live) -> None:
    def told(step: StepResult) -> None:
        if step.name == "contest":
            raise KeyboardInterrupt

    report = live.run(told=told)
    assert (report.interrupted, report.held, report.left) == (True, False, ())
    assert report.steps[-1].name == "contest"
    assert (live.believed(), live.acting()) == (0, ["curator"])


@pytest.mark.parametrize("operation", ["learn", "learn_batch", "contest"])
def test_what_was_committed_while_its_reply_was_lost_is_ended_too(live: Live, operation: str) -> None:
    def nothing(passed: Passed) -> Passed | None:
        return replace(passed, status=404, answer="gone") if passed.status == 200 else None

    live.proxy.after = on(operation, nothing)
    report = live.run()
    assert live.proxy.falsified == 1
    assert not report.held
    assert (report.left, live.believed(), live.acting()) == ((), 0, ["curator"])


def test_ctrl_c_between_a_commit_and_its_reply_leaves_nothing_behind(live: Live) -> None:
    def interrupt(passed: Passed) -> Passed | None:
        if passed.status == 200:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        return passed if passed.status == 200 else None

    live.proxy.after = on("learn", interrupt)
    report = live.run()
    assert live.proxy.falsified == 1
    assert (report.interrupted, report.left) == (True, ())
    assert (live.believed(), live.acting()) == (0, ["curator"])


def test_agents_are_ended_before_it_is_looked_for_what_they_made(live: Live) -> None:
    def told(step: StepResult) -> None:
        if step.name == "learn":
            live.proxy.asked.clear()

    def revoke(name: str) -> None:
        live.proxy.asked.append("revoke")
        live.revoke(name)

    live.run(told=told, revoke=revoke, last="learn")
    ended = [one for one in live.proxy.asked if one in ("revoke", "retire", "lessons", "quarantine")]
    assert ended == ["revoke"] * ended.count("revoke") + ["retire", "quarantine", *["lessons"] * 3]


def test_what_cannot_be_cleaned_up_is_named(live: Live) -> None:
    live.proxy.after = lambda one: replace(one, status=404, answer="gone") if one.operation == "retire" else None

    def revoke(name: str) -> None:
        if name.endswith("-other"):
            raise OSError
        live.revoke(name)

    report = live.run(revoke=revoke, last="learn")
    (other,) = [name for name in live.acting() if name != "curator"]
    lessons = [one for one in report.left if one.startswith("lesson les_")]
    assert f"agent {other} (OSError)" in report.left
    assert len(lessons) == len(report.left) - 1 > 0
    live.revoke(other)
    live.proxy.forget()
    for one in lessons:
        lesson_id = ids.parse(ids.Prefix.LESSON, one.split()[1], field="lesson")
        with suppress(WrongStanding):
            live.memory.curate.retire(live.memory.authenticate(live.token), lesson_id, RetireCause.OUTDATED)


# the command


def command(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=stdin)


UNMODELLED = {"distill", "respond"}
"""Steps that a server without language models does not take."""


@pytest.fixture
def directly(live: Live, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Live:
    monkeypatch.setenv("TRIBUTARY_DATABASE_URL", live.database)
    monkeypatch.setenv("TRIBUTARY_HOME", str(tmp_path))
    return live


def test_the_command_makes_its_tribe_and_uses_it_again(directly: Live) -> None:
    for _ in range(2):
        done = command("verify-live", directly.gateway, "--tribe", "checked", "--origin", ORIGIN)
        assert done.exit_code == 0, done.output
        lines = done.stdout.splitlines()
        assert len(lines) == len(STEPS) + 1
        assert lines[0].startswith("ok      health ")
        assert (
            lines[-1]
            == f"All held: {len(STEPS) - len(UNMODELLED)} ok, 0 failed, {len(UNMODELLED)} skipped, of {len(STEPS)} steps."
        )
        assert "trb_" not in done.output
    assert [one.name for one in directly.operator.agents("checked") if one.revoked_at is None] == []


def test_a_failed_step_says_what_was_expected_and_what_was_found(directly: Live) -> None:
    directly.proxy.after = on("accept_dispute", says("replaced", value=[]))
    done = command("verify-live", directly.proxy.url)
    assert done.exit_code == 10
    (line,) = [one for one in done.stdout.splitlines() if one.startswith("FAILED")]
    assert line.split()[:2] == ["FAILED", "accept"]
    assert "among what it replaced, found nothing" in line
    assert "NOT all held" in done.stdout
    assert "no --origin is given" in done.stdout


def test_a_curators_token_is_enough(directly: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRIBUTARY_DATABASE_URL")
    directly.operator.create_tribe("other")
    token = directly.operator.create_agent("other", "mine", Role.CURATOR).secret
    done = command("verify-live", directly.gateway, "--token", "-", "--json", stdin=f"{token}\n")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert (document["held"], document["left"], document["tribe"]) == (True, [], None)
    left_out = {one["step"] for one in document["steps"] if one["state"] != "ok"}
    assert left_out > UNMODELLED
    assert len(left_out) == len(UNMODELLED) + 1, "what takes a second tribe as well"
    acting = [one.name for one in directly.operator.agents("other") if one.revoked_at is None]
    assert acting == ["curator", "mine"]


def test_nothing_is_said_of_what_was_never_made(directly: Live) -> None:
    directly.operator.create_tribe("readers")
    token = directly.operator.create_agent("readers", "mine", Role.READER).secret
    done = command("verify-live", directly.gateway, "--token", token, "--json")
    assert done.exit_code == 10
    assert json.loads(done.stdout)["left"] == []
    assert "Not cleaned up" not in done.output


def test_sigterm_cleans_up_as_ctrl_c_does(directly: Live) -> None:
    program = [sys.executable, "-c", "from tributary.edges.cli import main; main()"]
    with subprocess.Popen(
        [*program, "verify-live", directly.gateway, "--tribe", "stopped"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.split()[1:2] == ["contradict"]:
                process.terminate()
                break
        said = process.stdout.read()
    assert (process.returncode, "NOT all held" in said, "Not cleaned up" in said) == (130, True, False)
    assert [one.name for one in directly.operator.agents("stopped") if one.revoked_at is None] == []
    (tribe,) = [one for one in directly.operator.tribes() if one.name == "stopped"]
    with psycopg.connect(directly.database) as connection:
        standing = connection.execute(
            "SELECT count(*) FROM tributary.lesson"
            " WHERE tribe_id = %s AND status IN ('active', 'pending', 'disputed', 'quarantined')",
            (tribe.tribe_id,),
        ).fetchone()
    assert standing == (0,)


def test_a_token_of_another_system_is_told_of_once(directly: Live) -> None:
    done = command("verify-live", directly.gateway, "--token", "trb_nobody", "--json")
    assert done.exit_code == 10
    document = json.loads(done.stdout)
    states = {one["step"]: one["state"] for one in document["steps"]}
    assert (states["health"], states["admitted"], states["create-agents"], states["learn"]) == (
        "ok",
        "failed",
        "skipped",
        "skipped",
    )
    (said,) = [one for one in document["steps"] if one["step"] == "admitted"]
    assert "--via" in said["expected"]
    assert said["found"].startswith("HTTP 401, unauthenticated")


def test_a_server_that_is_away_fails_and_says_so(directly: Live) -> None:
    done = command("verify-live", "http://127.0.0.1:1", "--json")
    assert done.exit_code == 10
    first = json.loads(done.stdout)["steps"][0]
    assert (first["state"], first["found"]) == ("failed", "no answer (ConnectError)")


def test_the_tribe_may_come_from_the_operators_function(live: Live, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with Deployed("operator", {"TRIBUTARY_DATABASE_URL": live.database}) as function, lambda_api({"op": function}) as server:
        environment = {
            "AWS_ENDPOINT_URL_LAMBDA": server.url,
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "hunter2",
            "AWS_REGION": "eu-central-1",
            "TRIBUTARY_OPERATOR_FUNCTION": "op",
            "TRIBUTARY_HOME": str(tmp_path),
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        done = command("--via", "lambda", "verify-live", live.gateway, "--tribe", "by-function", "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert (document["held"], document["left"]) == (True, [])
    asked = [one.body["operation"] for one in server.asked]
    assert asked[0] == "create_tribe"
    assert set(asked[1:]) == {"revoke_agent"}
    assert [one.name for one in live.operator.agents("by-function") if one.revoked_at is None] == []
