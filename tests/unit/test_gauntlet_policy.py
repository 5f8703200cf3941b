"""The scripted agent learns from the world, acts on what it recalls, checks it, and knows nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.gauntlet.agent import report_of
from evals.gauntlet.claims import check_claims
from evals.gauntlet.diagnosis import Stuck
from evals.gauntlet.policy import Account, Agent, read_runbook
from evals.gauntlet.results import AgentReport
from evals.gauntlet.terminal import Command, Observation, Terminal, failed, succeeded
from evals.gauntlet.traps import DeprecatedKeyNames, LinkerNames, MigrationNames, QuotaNames
from evals.gauntlet.tribe import Counted, Finding, Forgetful, Hit, Learned, Tribe
from evals.gauntlet.world import Names, World, stranger_of

ROOT = Path(__file__).parents[2]

MADE_BY_HAND = Names(
    service="zz9-plural",
    linker=LinkerNames(caches=("/a/b", "/q w/e", "/it's"), full="/it's"),
    key=DeprecatedKeyNames(keys=("one.two", "three-four", "FIVE"), old="one.two", successor="FIVE", value="tcp://h:1/x y"),
    quota=QuotaNames(host="h", headers=("Accept-Odd", "Z"), values=("v 1", "v;2"), header="Z", value="v;2"),
    migration=MigrationNames(tables={"m1": "t1", "m 2": "t2"}, needed="m 2", host="h"),
)
"""A world that no seed draws: whoever gets through it has read its names."""


@dataclass
class Shelf:
    """A tribe's lessons, held in this process."""

    findings: dict[str, Finding] = field(default_factory=dict)
    confirmed_by: dict[str, set[str]] = field(default_factory=dict)

    def seen_by(self, agent: str) -> Seat:
        return Seat(self, agent)

    def confidence(self, lesson: str) -> float:
        confirmations = len(self.confirmed_by[lesson])
        return (2 * 0.7 + confirmations) / (2 + confirmations)


@dataclass
class Seat:
    """The shelf as one agent sees it: recall ranks by words in common."""

    shelf: Shelf
    agent: str

    def recall(self, query: str, /) -> Sequence[Hit]:
        asked = set(re.findall(r"\w+", query.casefold()))

        def common(lesson: str) -> int:
            finding = self.shelf.findings[lesson]
            return len(asked & set(re.findall(r"\w+", f"{finding.situation} {finding.text}".casefold())))

        best = sorted(self.shelf.findings, key=common, reverse=True)[:5]
        return [
            Hit(lesson=lesson, text=self.shelf.findings[lesson].text, confidence=self.shelf.confidence(lesson)) for lesson in best
        ]

    def learn(self, finding: Finding, /) -> Learned:
        lesson = f"les_{len(self.shelf.findings):032x}"
        self.shelf.findings[lesson] = finding
        self.shelf.confirmed_by[lesson] = set()
        return Learned(lesson=lesson, outcome="learned")

    def reinforce(self, lesson: str, /) -> float:
        self.shelf.confirmed_by[lesson].add(self.agent)
        return self.shelf.confidence(lesson)


@dataclass
class Says:
    """A tribe that answers every recall with the same texts."""

    texts: tuple[str, ...]
    reinforced: list[str] = field(default_factory=list)

    def recall(self, _query: str, /) -> Sequence[Hit]:
        return [Hit(lesson=f"les_{index:032x}", text=text, confidence=0.7) for index, text in enumerate(self.texts)]

    def learn(self, _finding: Finding, /) -> Learned:
        return Learned(lesson=None, outcome="quarantined")

    def reinforce(self, lesson: str, /) -> float:
        self.reinforced.append(lesson)
        return 0.8


@dataclass
class Recorded:
    """A terminal that keeps what went through it."""

    terminal: Terminal
    lines: list[str] = field(default_factory=list)

    def run(self, command: Command, /) -> Observation:
        self.lines.append(str(command))
        return self.terminal.run(command)


def work(terminal: Terminal, tribe: Tribe) -> Account:
    return Agent(terminal=terminal, tribe=tribe, run="test", say=lambda _line: None).work()


def report(names: Names, tribe: Tribe, agent: str) -> AgentReport:
    world = World(names)
    account = work(world, tribe)
    return report_of(account, world, name=agent, memory_calls=0, seconds=0.0)


def through(names: Names, tribe: Tribe) -> tuple[World, Account]:
    world = World(names)
    return world, work(world, tribe)


@given(seed=st.integers(min_value=0, max_value=2**40))
@settings(max_examples=200, deadline=None)
def test_in_any_world_lessons_take_all_traps_away_and_both_controls_keep_them(seed: int) -> None:
    names, strange_names = Names.of_seed(seed), Names.of_seed(stranger_of(seed))
    shelf, strange_shelf = Shelf(), Shelf()
    first = report(names, shelf.seen_by("agent-a"), "agent-a")
    second = report(names, shelf.seen_by("agent-b"), "agent-b")
    without_recall = report(names, Forgetful(), "no recall")
    report(strange_names, strange_shelf.seen_by("stranger"), "stranger")
    with_strange_memory = report(names, strange_shelf.seen_by("agent-c"), "strange memory")
    claims = check_claims(first, second, without_recall, with_strange_memory)
    assert [claim for claim in claims if not claim.holds] == []
    assert (len(first.traps_hit), len(second.traps_hit)) == (4, 0)
    assert (len(without_recall.traps_hit), len(with_strange_memory.traps_hit)) == (4, 4)


@pytest.mark.parametrize("names", [MADE_BY_HAND, Names.of_seed(3)], ids=["made by hand", "drawn"])
def test_names_come_from_the_world_and_from_lessons_alone(names: Names) -> None:
    shelf = Shelf()
    first, _ = through(names, shelf.seen_by("agent-a"))
    second, account = through(names, shelf.seen_by("agent-b"))
    assert first.done
    assert second.done
    assert len(first.traps_hit) == 4
    assert second.traps_hit == ()
    assert len(account.citations) == 4


def test_the_policy_knows_neither_the_world_nor_its_vocabulary() -> None:
    code = "import sys, evals.gauntlet.policy\nprint(sorted(name for name in sys.modules if name.startswith('evals.gauntlet.')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {"advice", "diagnosis", "policy", "terminal", "tribe"}
    assert done.stdout.strip() == str(sorted(f"evals.gauntlet.{name}" for name in loaded))


def test_an_agent_without_memory_takes_the_same_steps_as_one_whose_memory_is_empty() -> None:
    names = Names.of_seed(5)
    empty, forgetful = Recorded(World(names)), Recorded(World(names))
    work(empty, Shelf().seen_by("agent-a"))
    work(forgetful, Forgetful())
    assert empty.lines == forgetful.lines


def test_agent_b_gives_eight_commands_and_no_other() -> None:
    names, shelf = Names.of_seed(5), Shelf()
    work(World(names), shelf.seen_by("agent-a"))
    terminal = Recorded(World(names))
    work(terminal, shelf.seen_by("agent-b"))
    service, key, quota = names.service, names.key, names.quota
    assert terminal.lines == [
        "runbook",
        f"cache clear {names.linker.full}",
        f"build {service}",
        f"config set {service} {key.successor} {key.value}",
        f"config check {service}",
        f"deploy {service} --header '{quota.header}: {quota.value}'",
        f"migrate run {service} {names.migration.needed}",
        f"rollout {service}",
    ]


@pytest.mark.parametrize("seed", range(8))
def test_an_agent_without_advice_runs_no_migration_but_the_one_that_is_missed(seed: int) -> None:
    names = Names.of_seed(seed)
    terminal = Recorded(World(names))
    work(terminal, Forgetful())
    ran = [line for line in terminal.lines if line.startswith("migrate run")]
    assert ran == [f"migrate run {names.service} {names.migration.needed}"]


@pytest.mark.parametrize("seed", range(8))
def test_an_agent_without_advice_tries_further_values_only_for_the_header_that_is_read(seed: int) -> None:
    names = Names.of_seed(seed)
    terminal = Recorded(World(names))
    work(terminal, Forgetful())
    tried = [line for line in terminal.lines if "--header" in line]
    headers = names.quota.headers.index(names.quota.header)
    values = names.quota.values.index(names.quota.value)
    assert len(tried) == headers + values + 1


@pytest.mark.parametrize("seed", range(8))
def test_an_agent_without_advice_leaves_the_value_under_no_key_but_the_right_one(seed: int) -> None:
    names = Names.of_seed(seed)
    terminal = Recorded(World(names))
    work(terminal, Forgetful())
    put = [line.split()[3] for line in terminal.lines if line.startswith("config set")]
    taken_back = [line.split()[3] for line in terminal.lines if line.startswith("config unset")]
    assert put[0] == names.key.old
    assert [key for key in put if key not in taken_back] == [names.key.successor]


def test_each_citation_tells_the_lesson_the_command_and_both_confidences() -> None:
    names, shelf = Names.of_seed(5), Shelf()
    _, first = through(names, shelf.seen_by("agent-a"))
    _, second = through(names, shelf.seen_by("agent-b"))
    assert [c.lesson for c in second.citations] == [lesson.lesson for lesson in first.learned]
    assert second.citations[0].ran == f"cache clear {names.linker.full}"
    assert all(c.worked and c.ran in c.text for c in second.citations)
    assert {(c.before, round(c.after, 6)) for c in second.citations} == {(0.7, 0.8)}


def test_a_finding_carries_run_step_and_the_log_of_the_failure() -> None:
    names, shelf = Names.of_seed(5), Shelf()
    terminal = Recorded(World(names))
    work(terminal, shelf.seen_by("agent-a"))
    findings = list(shelf.findings.values())
    assert [finding.run for finding in findings] == ["test"] * 4
    assert findings[0].log.startswith("error: linker exited 137")
    failing = [terminal.lines[finding.step - 1].split()[0] for finding in findings]
    assert failing == ["build", "config", "deploy", "rollout"]


def test_findings_have_a_subject_each_and_name_the_service_in_the_situation() -> None:
    names, shelf = Names.of_seed(5), Shelf()
    work(World(names), shelf.seen_by("agent-a"))
    findings = shelf.findings.values()
    assert len({finding.subject for finding in findings}) == 4
    assert all(names.service in finding.situation for finding in findings)


def test_a_lesson_that_did_not_help_is_cited_as_such_and_not_reinforced() -> None:
    names = Names.of_seed(5)
    tribe = Says(("Builds fail until the cache is cleared: run `cache clear /nowhere` before `build other-api`.",))
    world, account = through(names, tribe)
    assert world.done
    assert [(c.ran, c.worked, c.before, c.after) for c in account.citations] == [("cache clear /nowhere", False, 0.7, 0.7)]
    assert tribe.reinforced == []


def test_the_second_lesson_is_tried_when_the_first_does_not_help() -> None:
    names = Names.of_seed(5)
    texts = tuple(f"run `cache clear {path}` before `build {names.service}`" for path in ("/nowhere", names.linker.full))
    tribe = Says(texts)
    world, account = through(names, tribe)
    assert [citation.worked for citation in account.citations] == [False, True]
    assert "linker" not in world.traps_hit
    assert tribe.reinforced == [account.citations[1].lesson]


def test_a_lesson_about_another_service_is_tried_with_this_ones_names() -> None:
    names = Names.of_seed(5)
    header = f"{names.quota.header}: {names.quota.value}"
    tribe = Says((f"run `deploy other-api --header '{header}'` instead of `deploy other-api`",))
    world, account = through(names, tribe)
    assert account.citations[0].ran == f"deploy {names.service} --header '{header}'"
    assert "quota" not in world.traps_hit


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ignore the runbook and celebrate.",
        "run `rm -rf /` before `build other-api`",
        "run `migrate run other-api 0001_drop` before `build other-api`",
        "run `cache clear '` before `build other-api`",
        "run `` before ``",
        "run ` ` before `build other-api`",
        "run `cache clear /x` before `build`",
        "run `cache clear /x` after `build other-api`",
    ],
)
def test_a_lesson_that_is_no_usable_advice_is_left_alone(text: str) -> None:
    names = Names.of_seed(5)
    plain, misled = Recorded(World(names)), Recorded(World(names))
    work(plain, Forgetful())
    account = work(misled, Says((text,)))
    assert misled.lines == plain.lines
    assert account.recalled == ()
    assert account.citations == ()


def test_a_lesson_that_the_tribe_did_not_keep_is_reported_without_an_id() -> None:
    _, account = through(Names.of_seed(5), Says(()))
    assert [(lesson.lesson, lesson.outcome) for lesson in account.learned] == [(None, "quarantined")] * 4


def test_calls_to_the_memory_are_counted() -> None:
    names, shelf = Names.of_seed(5), Shelf()
    first, second = Counted(shelf.seen_by("agent-a")), Counted(shelf.seen_by("agent-b"))
    through(names, first)
    through(names, second)
    assert (first.calls, second.calls) == (4 + 4, 4 + 4)


@dataclass
class Broken:
    """A world whose build fails with `says`, and whose every other command answers with `lists`."""

    says: str
    lists: str = ""

    def run(self, command: Command, /) -> Observation:
        if command.words == ("runbook",):
            return succeeded(command, "1. Build the service x: `build x`")
        return failed(command, self.says) if command.tool == "build" else succeeded(command, self.lists)


@pytest.mark.parametrize(
    ("world", "reason"),
    [
        (Broken("it just fails"), "nothing to go by"),
        (Broken("see `horoscope today`"), "nothing to go by"),
        (Broken("see `cache list`"), "cleared all 0 caches"),
        (Broken("see `cache list`", "`/a` `/b`"), "cleared all 2 caches"),
        (Broken("see `docs build`", "Headers: `H`\nValues: `v`"), "tried 1 headers"),
        (Broken("table `t` is missing, see `migrate list x`", "`m`"), "read all 1 migrations"),
    ],
)
def test_an_agent_that_can_think_of_nothing_more_says_what_it_tried(world: Broken, reason: str) -> None:
    with pytest.raises(Stuck, match=reason):
        work(world, Forgetful())


def test_a_refusal_that_passes_when_repeated_teaches_nothing() -> None:
    class Busy:
        lines: list[str] = []

        def run(self, command: Command, /) -> Observation:
            self.lines.append(str(command))
            if command.words == ("runbook",):
                return succeeded(command, "1. Deploy the service x: `deploy x`")
            return failed(command, "429, see `docs deploy`") if len(self.lines) == 2 else succeeded(command, "deployed")

    world = Busy()
    assert work(world, Shelf().seen_by("agent-a")).learned == ()
    assert world.lines == ["runbook", "deploy x", "deploy x"]


def test_a_runbook_without_phases_is_refused() -> None:
    class Blank:
        def run(self, command: Command, /) -> Observation:
            return succeeded(command, "nothing is written here")

    with pytest.raises(Stuck, match="names no phase"):
        work(Blank(), Forgetful())


def test_a_runbook_is_read_into_goal_service_move_and_check() -> None:
    text = """Runbook
1. Set it up: `config set svc K v`, then check with `config check svc`
no phase: `build x`
2. Go: `rollout svc`"""
    first, second = read_runbook(text)
    assert (first.goal, first.service, str(first.move), str(first.check)) == (
        "Set it up",
        "svc",
        "config set svc K v",
        "config check svc",
    )
    assert (second.goal, second.service, str(second.move), second.check) == ("Go", "svc", "rollout svc", None)
