"""One agent as a process of its own: `python -m evals.gauntlet.agent --seed 7 --name agent-a`.

It reaches the memory as any outsider would: through tributary.client, at TRIBUTARY_URL with TRIBUTARY_TOKEN. Its report is
one line of JSON on standard output; what it is doing goes to standard error. Exit code 0: every service is rolled out, or
`--even-if-stuck` asks for the report all the same; 1: one is not; 130: interrupted.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace

from evals.gauntlet.briefing import Briefed, read_prompt
from evals.gauntlet.diagnosis import Stuck
from evals.gauntlet.garbled import PROOFS, Garbled, Reading
from evals.gauntlet.policy import Account, Agent, Lesson, When
from evals.gauntlet.remote import RemoteTribe, open_tribe
from evals.gauntlet.results import AgentReport, CitationReport, LessonReport, SpentReport
from evals.gauntlet.session import Session
from evals.gauntlet.terminal import Terminal
from evals.gauntlet.tribe import Counted, Forgetful, Holding, Tribe, Unspoken
from evals.gauntlet.world import Names, World, estate_of
from tributary.client import TributaryError, visible

CALLS_TO_DISTIL = 2
"""The transcript is distilled, and what comes of it is learned as one batch."""
HOLDS = "holding still"
"""What an agent says when it stands at the point where it is to be killed."""


@dataclass
class Work:
    """What one agent did in all of its tasks so far."""

    worlds: list[World] = field(default_factory=list)
    accounts: list[Account] = field(default_factory=list)
    garbled: int = 0
    stuck: str | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        report = _report(options)
    except KeyboardInterrupt:
        return 130
    except TributaryError as error:
        _say(f"the memory failed: {error}")
        return 1
    if report.stuck is not None:
        _say(f"stuck: {report.stuck}")
        if not options.even_if_stuck:
            return 1
    print(report.model_dump_json())
    return 0 if report.done or options.even_if_stuck else 1


def report_of(account: Account, world: World, *, name: str, memory_calls: int, seconds: float) -> AgentReport:
    """Returns what the agent says that it did in one task, with what the world counted."""
    work = Work(worlds=[world], accounts=[account])
    return _told(work, Counted(Forgetful()), name=name, memory_calls=memory_calls, seconds=seconds)


def _told(
    work: Work, counted: Counted, *, name: str, memory_calls: int, seconds: float, spent: SpentReport | None = None
) -> AgentReport:
    phases: Counter[str] = Counter()
    for account in work.accounts:
        for tool, steps in account.phases:
            phases[tool] += steps
    return AgentReport(
        agent=name,
        steps=sum(world.steps for world in work.worlds),
        memory_calls=memory_calls,
        traps_hit=[trap for world in work.worlds for trap in world.traps_hit],
        done=work.stuck is None and all(world.done for world in work.worlds),
        recalled=list(dict.fromkeys(lesson for account in work.accounts for lesson in account.recalled)),
        citations=[CitationReport(**asdict(citation)) for account in work.accounts for citation in account.citations],
        learned=[LessonReport(**asdict(lesson)) for account in work.accounts for lesson in account.learned],
        seconds=seconds,
        tasks=[world.steps for world in work.worlds],
        phases=dict(phases),
        shown=counted.shown,
        characters=counted.characters,
        garbled=work.garbled,
        stuck=work.stuck,
        spent=spent,
    )


def _report(options: argparse.Namespace) -> AgentReport:
    with ExitStack() as stack:
        remote = stack.enter_context(open_tribe()) if options.recall else None
        counted = Counted(Forgetful() if remote is None else remote)
        started = time.perf_counter()
        if options.distil and remote is not None:
            return _cross_and_distil(remote, counted, options, started)
        if options.model:
            from evals.gauntlet.minded import work_with_model  # noqa: PLC0415  (the product's adapters, where a model is asked)

            work, spent = work_with_model(_worlds(options), remote, counted, options, say=_say)
        else:
            work, spent = _cross_all(remote, counted, options), None
        seconds = time.perf_counter() - started
        calls = 0 if remote is None else counted.calls  # without memory it asked nobody
        return _told(work, counted, name=options.name, memory_calls=calls, seconds=seconds, spent=spent)


def _worlds(options: argparse.Namespace) -> list[World]:
    if not options.services:
        return [World(Names.of_seed(options.seed), wording=options.wording)]
    estate = estate_of(options.seed, options.estate)
    return [World(estate[at], wording=options.wording) for at in options.services]


def _cross_all(remote: RemoteTribe | None, counted: Counted, options: argparse.Namespace) -> Work:
    work = Work()
    for world in _worlds(options):
        work.worlds.append(world)
        tribe = _tribe(remote, counted, world, options)
        garbled = None if options.garbled is None else Garbled(world, seed=options.garbled)
        agent = Agent(
            terminal=_terminal(world, garbled, careful=options.careful),
            tribe=tribe,
            run=options.run,
            say=_say,
            when=When.FAILED if options.memory == "late" else When.BEFORE,
            disputes=remote if options.contest else None,
        )
        try:
            agent.work()
        except Stuck as stuck:
            work.stuck = str(stuck)
        work.accounts.append(agent.account)
        work.garbled += 0 if garbled is None else garbled.corrupted
        if work.stuck is not None:
            break
    return work


def _tribe(remote: RemoteTribe | None, counted: Counted, world: World, options: argparse.Namespace) -> Tribe:
    """Returns the memory as this agent holds it: at hand, or read once out of its prompt; with what keeps it from learning."""
    tribe: Tribe = counted
    if options.memory == "prompt" and remote is not None:
        counted.calls += 1
        tribe = Briefed(counted.read(tuple(read_prompt(remote.prompt(world.task)))), counted)
    if options.silent:
        tribe = Unspoken(tribe)
    return Holding(tribe, after=options.hold_after, hold=hold) if options.hold_after else tribe


def _terminal(world: World, garbled: Garbled | None, *, careful: bool) -> Terminal:
    return world if garbled is None else Reading(garbled, proofs=PROOFS if careful else 0)


def _cross_and_distil(remote: RemoteTribe, counted: Counted, options: argparse.Namespace, started: float) -> AgentReport:
    """Crosses the world without a word to the tribe, then has lessons found in the transcript of it, and learns those."""
    (world,) = _worlds(options)
    session = Session(world)
    account = Agent(terminal=session, tribe=Unspoken(counted), run=options.run, say=_say).work()
    _say(f"distilling the transcript of {len(session.turns)} turns")
    proposed = remote.learn_from(session.turns, run=options.run)
    seconds = time.perf_counter() - started
    for one in proposed:
        _say(f"{one.text} ({one.learned.outcome})")
    learned = tuple(Lesson(lesson=one.learned.lesson, outcome=one.learned.outcome, text=one.text) for one in proposed)
    work = Work(worlds=[world], accounts=[replace(account, learned=learned)])
    return _told(work, counted, name=options.name, memory_calls=counted.calls + CALLS_TO_DISTIL, seconds=seconds)


def hold() -> None:
    """Stays at this point until the process is ended."""
    _say(HOLDS)
    while True:
        signal.pause()


def _say(line: str) -> None:
    print(visible(line), file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.gauntlet.agent", description="Runs one agent through the gauntlet.")
    add = parser.add_argument
    add("--seed", type=int, required=True, help="the world to work in; the agent itself never sees it")
    add("--name", required=True, help="how the report calls this agent")
    add("--run", default="gauntlet", help="names this run in the sources of what is learned")
    add(
        "--memory",
        choices=("tool", "late", "prompt"),
        default="tool",
        help="asked before each act, after a failure, or read once",
    )
    add("--no-recall", dest="recall", action="store_false", help="work without any memory")
    add("--contest", action="store_true", help="say of lessons that were followed to no effect that they do not hold")
    add("--silent", action="store_true", help="recall and confirm, and tell the tribe of nothing new")
    add("--distil", action="store_true", help="learn what the server's model finds in the transcript instead")
    add("--model", action="store_true", help="have the model of TRIBUTARY_DISTILLER make every move")
    add("--estate", type=int, default=1, help="how many services the platform of --service has")
    add("--service", dest="services", type=int, action="append", help="one of the estate's services, as a task; may be repeated")
    add("--wording", type=int, default=0, help="in whose words the runbook puts its goals")
    add("--garbled", type=int, metavar="SEED", help="have the results of tools arrive corrupted")
    add("--careful", action="store_true", help="believe a garbled tool's success only when it comes again, and again")
    add("--hold-after", type=int, default=0, metavar="N", help="stand still for ever once N lessons are learned")
    add("--even-if-stuck", action="store_true", help="report, and end with 0, even where a service is not rolled out")
    return parser


if __name__ == "__main__":
    sys.exit(main())
