"""One agent as a process of its own: `python -m evals.gauntlet.agent --seed 7 --name agent-a`.

It reaches the memory as any outsider would: through tributary.client, at TRIBUTARY_URL with TRIBUTARY_TOKEN. Its report is
one line of JSON on standard output; what it is doing goes to standard error. Exit code 0: the service is rolled out;
1: it is not; 130: interrupted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace

from evals.gauntlet.diagnosis import Stuck
from evals.gauntlet.policy import Account, Agent, Lesson
from evals.gauntlet.remote import RemoteTribe, open_tribe
from evals.gauntlet.results import AgentReport, CitationReport, LessonReport
from evals.gauntlet.session import Session
from evals.gauntlet.tribe import Counted, Forgetful, Tribe, Unspoken
from evals.gauntlet.world import Names, World
from tributary.client import TributaryError, visible

CALLS_TO_DISTIL = 2
"""The transcript is distilled, and what comes of it is learned as one batch."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        report = _work(options.seed, name=options.name, run=options.run, recall=options.recall, distil=options.distil)
    except KeyboardInterrupt:
        return 130
    except Stuck as stuck:
        _say(f"stuck: {stuck}")
        return 1
    except TributaryError as error:
        _say(f"the memory failed: {error}")
        return 1
    print(report.model_dump_json())
    return 0 if report.done else 1


def report_of(account: Account, world: World, *, name: str, memory_calls: int, seconds: float) -> AgentReport:
    """Returns what the agent says that it did, with what the world counted."""
    return AgentReport(
        agent=name,
        steps=world.steps,
        memory_calls=memory_calls,
        traps_hit=list(world.traps_hit),
        done=world.done,
        recalled=list(account.recalled),
        citations=[CitationReport(**asdict(citation)) for citation in account.citations],
        learned=[LessonReport(**asdict(lesson)) for lesson in account.learned],
        seconds=seconds,
    )


def _work(seed: int, *, name: str, run: str, recall: bool, distil: bool) -> AgentReport:
    if not recall:
        report = _cross(Forgetful(), seed, name=name, run=run)
        return report.model_copy(update={"memory_calls": 0})  # it asked nobody
    with open_tribe() as tribe:
        return (_cross_and_distil if distil else _cross)(tribe, seed, name=name, run=run)


def _cross(tribe: Tribe, seed: int, *, name: str, run: str) -> AgentReport:
    world, counted = World(Names.of_seed(seed)), Counted(tribe)
    started = time.perf_counter()
    account = Agent(terminal=world, tribe=counted, run=run, say=_say).work()
    seconds = time.perf_counter() - started
    return report_of(account, world, name=name, memory_calls=counted.calls, seconds=seconds)


def _cross_and_distil(tribe: RemoteTribe, seed: int, *, name: str, run: str) -> AgentReport:
    """Crosses the world without a word to the tribe, then has lessons found in the transcript of it, and learns those."""
    world, counted = World(Names.of_seed(seed)), Counted(tribe)
    session = Session(world)
    started = time.perf_counter()
    account = Agent(terminal=session, tribe=Unspoken(counted), run=run, say=_say).work()
    _say(f"distilling the transcript of {len(session.turns)} turns")
    proposed = tribe.learn_from(session.turns, run=run)
    seconds = time.perf_counter() - started
    for one in proposed:
        _say(f"{one.text} ({one.learned.outcome})")
    learned = tuple(Lesson(lesson=one.learned.lesson, outcome=one.learned.outcome, text=one.text) for one in proposed)
    told = replace(account, learned=learned)
    return report_of(told, world, name=name, memory_calls=counted.calls + CALLS_TO_DISTIL, seconds=seconds)


def _say(line: str) -> None:
    print(visible(line), file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.gauntlet.agent", description="Runs one agent through the gauntlet.")
    parser.add_argument("--seed", type=int, required=True, help="the world to work in; the agent itself never sees it")
    parser.add_argument("--name", required=True, help="how the report calls this agent")
    parser.add_argument("--run", default="gauntlet", help="names this run in the sources of what is learned")
    parser.add_argument("--no-recall", dest="recall", action="store_false", help="work without any memory")
    parser.add_argument("--distil", action="store_true", help="learn what the server's model finds in the transcript instead")
    return parser


if __name__ == "__main__":
    sys.exit(main())
