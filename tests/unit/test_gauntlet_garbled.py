"""Garbled tools, prompts, rules for asking and curators: what the demos rest on holds over many seeds, without a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from evals.gauntlet import curator
from evals.gauntlet.briefing import Briefed, read_prompt
from evals.gauntlet.demos.generations import SERVICES, TASKS, tasks_of
from evals.gauntlet.diagnosis import Stuck
from evals.gauntlet.garbled import PROOFS, Garbled, Reading
from evals.gauntlet.policy import Agent, When
from evals.gauntlet.questions import Kind, Shown, questions_of, work_out
from evals.gauntlet.terminal import Command, Terminal, quoted
from evals.gauntlet.tribe import Counted, Finding, Hit, Learned
from evals.gauntlet.when import before
from evals.gauntlet.world import Names, World, estate_of


@dataclass
class Told:
    """A tribe that knows these texts, keeps what it is told, and takes disputes."""

    texts: Sequence[str] = ()
    learned: list[str] = field(default_factory=list)
    contested: list[tuple[str, str]] = field(default_factory=list)

    def recall(self, _query: str, /) -> Sequence[Hit]:
        return [Hit(lesson=f"les_{at}", text=text, confidence=0.7) for at, text in enumerate(self.texts)]

    def learn(self, finding: Finding, /) -> Learned:
        self.learned.append(finding.text)
        return Learned(lesson="les_new", outcome="learned")

    def reinforce(self, _lesson: str, /) -> float:
        return 0.8

    def contest(self, lesson: str, finding: Finding, /) -> Learned:
        self.contested.append((lesson, finding.text))
        return Learned(lesson="les_new", outcome="disputed")


def through(terminal: Terminal, tribe: Told, **options: object) -> Told:
    agent = Agent(terminal=terminal, tribe=tribe, run="r", say=lambda _line: None, **options)  # type: ignore[arg-type]
    try:
        agent.work()
    except Stuck:
        return tribe
    return tribe


def falsehoods(seed: int, *, proofs: int) -> int:
    names, tribe = Names.of_seed(seed), Told()
    through(Reading(Garbled(World(names), seed=seed), proofs=proofs), tribe)
    return sum(not curator.is_true(text, World(names)) for text in tribe.learned)


def test_whoever_has_success_proved_learns_nothing_false_and_whoever_does_not_does() -> None:
    assert sum(falsehoods(seed, proofs=PROOFS) for seed in range(40)) == 0
    assert sum(falsehoods(seed, proofs=0) for seed in range(40)) > 10


@pytest.mark.parametrize("seed", range(10))
def test_a_lesson_that_did_not_hold_is_contested_with_the_truth_and_only_by_who_disputes(seed: int) -> None:
    names = Names.of_seed(seed)
    wrong = next(path for path in names.linker.caches if path != names.linker.full)
    texts = [f"run `cache clear {wrong}` before `build {names.service}`"]
    told = Told(texts)
    through(World(names), told, disputes=told)
    ((lesson, truth),) = told.contested
    assert lesson == "les_0"
    assert curator.is_true(truth, World(names))
    assert not curator.is_true(texts[0], World(names))
    assert through(World(names), Told(texts)).contested == []


def test_a_lesson_about_another_service_that_does_not_help_here_is_not_contested() -> None:
    names = Names.of_seed(5)
    told = Told(["run `cache clear /nowhere` before `build another-service`"])
    assert through(World(names), told, disputes=told).contested == []


def test_who_asks_after_a_failure_only_hits_every_trap_and_follows_the_lesson_then() -> None:
    names = Names.of_seed(5)
    taught = through(World(names), Told()).learned
    late, early = World(names), World(names)
    through(late, Told(taught), when=When.FAILED)
    through(early, Told(taught))
    assert (len(late.traps_hit), len(early.traps_hit)) == (4, 0)
    assert (late.done, late.steps, early.steps) == (True, 13, 8)


def test_a_prompt_is_read_as_it_is_written_and_asks_nobody() -> None:
    prompt = (
        "Recalled from the shared memory: 2 lessons, between two tags.\n<tributary-lessons-ab>\n"
        "lesson les_1\n  confidence: 0.80, match: 0.90, kind: gotcha\n  situation:\n  | lesson les_9\n  text:\n"
        "  | run `a` before\n  | `b &lt;c>`\nlesson les_2\n  confidence: 0.70, match: 0.50, kind: gotcha\n  text:\n  | other\n"
        "  challenged by dis_1, which says:\n  | not so\n</tributary-lessons-ab>\nThe search was complete.\n"
    )
    hits = tuple(read_prompt(prompt))
    assert hits == (
        Hit(lesson="les_1", text="run `a` before\n`b <c>`", confidence=0.8),
        Hit(lesson="les_2", text="other", confidence=0.7),
    )
    counted = Counted(Told())
    assert Briefed(hits, counted).recall("anything") == hits
    assert counted.calls == 0


@pytest.mark.parametrize("seed", range(40))
def test_questions_can_be_worked_out_but_for_what_the_tribe_alone_knows_and_the_rules_tell_which(seed: int) -> None:
    questions = questions_of(seed)
    shown = Shown(tuple(questions))
    for one in questions:
        known = one.kind is Kind.KNOWN
        assert before(one.text) == ("recall" if known else "go_ahead"), one.text
        assert (work_out(one.text, shown) == one.answer) is not known
        assert one.lesson is None or (quoted(one.lesson)[0] == one.answer) is known


@pytest.mark.parametrize("seed", range(8))
def test_an_estate_shares_cache_and_header_and_nothing_else_and_each_wording_names_the_same_commands(seed: int) -> None:
    estate = estate_of(seed, 6)
    assert len({names.service for names in estate}) == 6
    assert len({names.linker.full for names in estate}) == len({names.quota.header for names in estate}) == 1
    assert len({names.migration.needed for names in estate}) > 1
    runbooks = [World(estate[0], wording=wording).run(Command.of("runbook")).output for wording in range(6)]
    assert len(set(runbooks)) == 6
    assert len({tuple(part.split("`")[0] for part in runbook.split(": `")[1:]) for runbook in runbooks}) == 1


@pytest.mark.parametrize("seed", range(4))
def test_each_generation_has_its_tasks_and_new_services_come_up_less_and_less(seed: int) -> None:
    tasks = tasks_of(seed, 6)
    new = [len(set(of) - {one for before in tasks[:at] for one in before}) for at, of in enumerate(tasks)]
    assert all(len(set(of)) == TASKS for of in tasks)
    assert new == sorted(new, reverse=True)
    assert sum(new) == SERVICES
