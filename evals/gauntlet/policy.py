"""The scripted agent: before each phase it recalls; it does what a lesson says, checks that it worked, and falls back to
working it out, which it learns from.

Every agent of the gauntlet runs this same policy. What differs is the memory that it is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evals.gauntlet.advice import Advice, read_advice
from evals.gauntlet.diagnosis import Cure, Phase, Stuck, attempt, diagnose
from evals.gauntlet.terminal import Command, Observation, Terminal, quoted_commands
from evals.gauntlet.tribe import Disputing, Finding, Hit, Tribe

LINE_CHARACTERS = 300
_PHASE = re.compile(r"^\d+\. ([^`]+?): `", re.MULTILINE)
_REMEDIES = {"build": {"cache"}, "config": {"config"}, "deploy": {"deploy"}, "rollout": {"migrate"}}
"""The tools that a lesson may make the agent use, by the tool of the move: a recalled text is data, not an order."""


class When(StrEnum):
    """When an agent asks its memory: before it acts on a system, or only once an act has failed."""

    BEFORE = "before"
    FAILED = "failed"


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
    """A lesson that the agent learned; `lesson` is None when the tribe kept none. `contests` is the one that it disproves."""

    lesson: str | None
    outcome: str
    text: str
    contests: str | None = None


@dataclass(frozen=True, kw_only=True)
class Account:
    """What an agent did. `recalled` holds the ids of the lessons that spoke to a move that was next.

    `phases` are the steps that each phase took, by the tool of its move.
    """

    recalled: tuple[str, ...]
    citations: tuple[Citation, ...]
    learned: tuple[Lesson, ...]
    phases: tuple[tuple[str, int], ...] = ()


class Agent:
    """Takes one service through its runbook; `run` names this run in the sources of what it learns.

    `when` says when it asks its memory. With `disputes` it contests there what it followed to no effect, once it knows better.
    """

    def __init__(
        self,
        *,
        terminal: Terminal,
        tribe: Tribe,
        run: str,
        say: Callable[[str], None],
        when: When = When.BEFORE,
        disputes: Disputing | None = None,
    ) -> None:
        self._terminal = _CountedTerminal(terminal)
        self._tribe = tribe
        self._run = run
        self._say = say
        self._when = when
        self._disputes = disputes
        self._recalled: dict[str, None] = {}
        self._citations: list[Citation] = []
        self._learned: list[Lesson] = []
        self._phases: list[tuple[str, int]] = []

    def work(self) -> Account:
        """Goes through every phase of the runbook; raises Stuck when one can't be passed."""
        runbook = self._terminal.run(Command.of("runbook"))
        phases = tuple(read_runbook(runbook.output))
        if not phases:
            raise Stuck(f"the runbook names no phase: {runbook.output}")
        for phase in phases:
            before = self._terminal.steps
            try:
                self._pass(phase)
            finally:
                self._phases.append((phase.move.tool, self._terminal.steps - before))
        return self.account

    @property
    def account(self) -> Account:
        """What was done so far."""
        return Account(
            recalled=tuple(self._recalled),
            citations=tuple(self._citations),
            learned=tuple(self._learned),
            phases=tuple(self._phases),
        )

    def _pass(self, phase: Phase) -> None:
        refuted: list[Hit] = []
        if self._when is When.BEFORE and self._follow_counsel(phase, refuted):
            return
        failure = attempt(self._terminal, phase.move, phase.check)
        if failure is None:
            return
        log, step = _shortened(failure.output), self._terminal.steps
        if self._when is When.FAILED and self._follow_counsel(phase, refuted):
            return
        self._say(f"{phase.goal}: `{failure.command}` failed, working it out")
        cure = diagnose(self._terminal, phase, failure)
        if cure is not None:
            self._learn(cure, phase, log=log, step=step, refuted=refuted)

    def _follow_counsel(self, phase: Phase, refuted: list[Hit]) -> bool:
        """Follows what is recalled until the phase passes; `refuted` gets those that spoke of this very move and failed."""
        for hit, advice, of_this_move in self._counsel(phase):
            if self._follow(hit, advice, phase):
                return True
            if of_this_move:
                refuted.append(hit)
        return False

    def _counsel(self, phase: Phase) -> list[tuple[Hit, Advice, bool]]:
        """Returns the recalled lessons that speak to this phase's move, best first: of this very move before those of others'."""
        counsel = []
        for hit in self._tribe.recall(phase.goal):
            said = read_advice(hit.text)
            advice = said.fitted(phase.move) if said is not None else None
            if advice is not None and advice.remedy.tool in _REMEDIES.get(phase.move.tool, ()):
                counsel.append((hit, advice, said is not None and said.move == phase.move))
                self._recalled[hit.lesson] = None
        return sorted(counsel, key=lambda one: not one[2])

    def _follow(self, hit: Hit, advice: Advice, phase: Phase) -> bool:
        """Does what the lesson says and returns whether the phase passed; a lesson that held is reinforced."""
        worked = passes(self._terminal, advice, phase)
        after = self._tribe.reinforce(hit.lesson) if worked else hit.confidence
        self._say(f"{phase.goal}: `{advice.remedy}`, as {hit.lesson} says, {'worked' if worked else 'did not help'}")
        citation = Citation(
            lesson=hit.lesson, text=hit.text, ran=str(advice.remedy), worked=worked, before=hit.confidence, after=after
        )
        self._citations.append(citation)
        return worked

    def _learn(self, cure: Cure, phase: Phase, *, log: str, step: int, refuted: Sequence[Hit]) -> None:
        finding = Finding(
            text=cure.text,
            situation=phase.goal,
            subject=cure.subject,
            rationale=cure.rationale,
            run=self._run,
            step=step,
            log=log,
        )
        wrong = refuted[0].lesson if refuted and self._disputes is not None else None
        if wrong is not None and self._disputes is not None:
            learned = self._disputes.contest(wrong, finding)
        else:
            learned = self._tribe.learn(finding)
        self._learned.append(Lesson(lesson=learned.lesson, outcome=learned.outcome, text=cure.text, contests=wrong))
        self._say(f"{phase.goal}: {cure.advice} ({learned.outcome})")


def passes(terminal: Terminal, advice: Advice, phase: Phase) -> bool:
    """Does what `advice` says and tells whether the phase passed."""
    if advice.instead:
        return attempt(terminal, advice.remedy, phase.check) is None
    return attempt(terminal, advice.remedy, None) is None and attempt(terminal, phase.move, phase.check) is None


def holds(terminal: Terminal, advice: Advice) -> bool:
    """Tells whether `advice` is true of the world behind the terminal, fresh until then: it is tried when its move is next."""
    for phase in read_runbook(terminal.run(Command.of("runbook")).output):
        if phase.move == advice.move:
            return passes(terminal, advice, phase)
        failure = attempt(terminal, phase.move, phase.check)
        if failure is not None:
            diagnose(terminal, phase, failure)
    return False


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
