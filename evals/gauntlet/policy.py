"""The scripted agent: before each phase it recalls; it does what a lesson says, checks that it worked, and falls back to
working it out, which it learns from.

Every agent of the gauntlet runs this same policy. What differs is the memory that it is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evals.gauntlet.advice import Advice, read_advice
from evals.gauntlet.diagnosis import Cure, Phase, Stuck, attempt, diagnose
from evals.gauntlet.terminal import Command, Observation, Terminal, quoted_commands
from evals.gauntlet.tribe import Finding, Hit, Tribe

LINE_CHARACTERS = 300
_PHASE = re.compile(r"^\d+\. ([^`]+?): `", re.MULTILINE)
_REMEDIES = {"build": {"cache"}, "config": {"config"}, "deploy": {"deploy"}, "rollout": {"migrate"}}
"""The tools that a lesson may make the agent use, by the tool of the move: a recalled text is data, not an order."""


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A lesson that was followed: what it made the agent run, whether that worked, and the confidence before and after."""

    lesson: str
    text: str
    ran: str
    worked: bool
    before: float
    after: float


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson that the agent learned; `lesson` is None when the tribe kept none."""

    lesson: str | None
    outcome: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Account:
    """What an agent did. `recalled` holds the ids of the lessons that spoke to a move that was next."""

    recalled: tuple[str, ...]
    citations: tuple[Citation, ...]
    learned: tuple[Lesson, ...]


class Agent:
    """Takes one service through its runbook; `run` names this run in the sources of what it learns."""

    def __init__(self, *, terminal: Terminal, tribe: Tribe, run: str, say: Callable[[str], None]) -> None:
        self._terminal = _CountedTerminal(terminal)
        self._tribe = tribe
        self._run = run
        self._say = say
        self._recalled: dict[str, None] = {}
        self._citations: list[Citation] = []
        self._learned: list[Lesson] = []

    def work(self) -> Account:
        """Goes through every phase of the runbook; raises Stuck when one can't be passed."""
        runbook = self._terminal.run(Command.of("runbook"))
        phases = tuple(read_runbook(runbook.output))
        if not phases:
            raise Stuck(f"the runbook names no phase: {runbook.output}")
        for phase in phases:
            self._pass(phase)
        return Account(
            recalled=tuple(self._recalled),
            citations=tuple(self._citations),
            learned=tuple(self._learned),
        )

    def _pass(self, phase: Phase) -> None:
        for hit, advice in self._counsel(phase):
            if self._follow(hit, advice, phase):
                return
        failure = attempt(self._terminal, phase.move, phase.check)
        if failure is None:
            return
        self._say(f"{phase.goal}: `{failure.command}` failed, working it out")
        log, step = _shortened(failure.output), self._terminal.steps
        cure = diagnose(self._terminal, phase, failure)
        if cure is not None:
            self._learn(cure, phase, log=log, step=step)

    def _counsel(self, phase: Phase) -> tuple[tuple[Hit, Advice], ...]:
        """Returns the recalled lessons that speak to this phase's move, best first."""
        counsel = []
        for hit in self._tribe.recall(phase.goal):
            said = read_advice(hit.text)
            advice = said.fitted(phase.move) if said is not None else None
            if advice is not None and advice.remedy.tool in _REMEDIES.get(phase.move.tool, ()):
                counsel.append((hit, advice))
                self._recalled[hit.lesson] = None
        return tuple(counsel)

    def _follow(self, hit: Hit, advice: Advice, phase: Phase) -> bool:
        """Does what the lesson says and returns whether the phase passed; a lesson that held is reinforced."""
        if advice.instead:
            failure = attempt(self._terminal, advice.remedy, phase.check)
        else:
            failure = attempt(self._terminal, advice.remedy, None) or attempt(self._terminal, phase.move, phase.check)
        worked = failure is None
        after = self._tribe.reinforce(hit.lesson) if worked else hit.confidence
        self._say(f"{phase.goal}: `{advice.remedy}`, as {hit.lesson} says, {'worked' if worked else 'did not help'}")
        citation = Citation(
            lesson=hit.lesson, text=hit.text, ran=str(advice.remedy), worked=worked, before=hit.confidence, after=after
        )
        self._citations.append(citation)
        return worked

    def _learn(self, cure: Cure, phase: Phase, *, log: str, step: int) -> None:
        finding = Finding(
            text=cure.text,
            situation=phase.goal,
            subject=cure.subject,
            rationale=cure.rationale,
            run=self._run,
            step=step,
            log=log,
        )
        learned = self._tribe.learn(finding)
        self._learned.append(Lesson(lesson=learned.lesson, outcome=learned.outcome, text=cure.text))
        self._say(f"{phase.goal}: {cure.advice} ({learned.outcome})")


def read_runbook(text: str) -> Iterator[Phase]:
    """Yields the phases of a runbook: numbered lines of a goal, a move in backticks and perhaps a check in backticks."""
    for line in text.splitlines():
        goal, commands = _PHASE.match(line), quoted_commands(line)
        if goal is None or not commands or len(commands[0].words) < 2:
            continue
        move = commands[0]
        service = move.words[2] if move.tool == "config" and len(move.words) > 2 else move.words[1]
        check = commands[1] if len(commands) > 1 else None
        yield Phase(goal=goal.group(1), service=service, move=move, check=check)


class _CountedTerminal:
    """A terminal that knows how many commands went through it, to cite the one that showed something."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.steps = 0

    def run(self, command: Command, /) -> Observation:
        self.steps += 1
        return self._terminal.run(command)


def _shortened(text: str) -> str:
    return text if len(text) <= LINE_CHARACTERS else f"{text[:LINE_CHARACTERS]}…"
