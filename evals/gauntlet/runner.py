"""The demo: agent-a meets the traps and learns; agent-b, another process, recalls; two controls show what made the difference."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ValidationError

from evals.gauntlet.claims import check_claims
from evals.gauntlet.processes import ProcessFailed, python, run_json
from evals.gauntlet.results import AgentReport, DemoReport
from evals.gauntlet.server import Seat, Server
from evals.gauntlet.world import stranger_of

Say = Callable[[str], None]


def run_demo(seed: int, server: Server, *, say: Say, distil: bool = False) -> DemoReport:
    """Runs all agents, one after another, each in a process of its own, and returns what they did and whether it held.

    With `distil` the tribe learns what the server's model finds in the transcripts of those that meet the traps first.
    """
    stranger_seed = stranger_of(seed)
    say("making two tribes, with two writers each")
    tribe, strangers = server.make_tribe("gauntlet"), server.make_tribe("gauntlet-strangers")
    writers = [server.seat(tribe, name) for name in ("agent-a", "agent-b")]
    strange_writers = [server.seat(strangers, name) for name in ("agent-a", "agent-b")]
    say("agent-a starts, with an empty memory")
    first = run_agent("agent-a", seed, server, writers[0], say=say, distil=distil)
    say("agent-b starts, with what agent-a taught the tribe")
    second = run_agent("agent-b", seed, server, writers[1], say=say)
    say("control: the same agent with recall switched off")
    without_recall = run_agent("control: no recall", seed, server, None, say=_silent)
    say(f"control: the same agent with the memory of another world, that of seed {stranger_seed}")
    run_agent("stranger", stranger_seed, server, strange_writers[0], say=_silent, distil=distil)
    with_strange_memory = run_agent("control: strange memory", seed, server, strange_writers[1], say=_silent)
    claims = check_claims(first, second, without_recall, with_strange_memory)
    return DemoReport(
        seed=seed,
        stranger_seed=stranger_seed,
        distilled=distil,
        first=first,
        second=second,
        without_recall=without_recall,
        with_strange_memory=with_strange_memory,
        claims=claims,
        passed=all(claim.holds for claim in claims),
    )


def run_agent(name: str, seed: int, server: Server, seat: Seat | None, *, say: Say, distil: bool = False) -> AgentReport:
    """Runs one agent to its end; without a seat at a tribe it works without memory. Raises ProcessFailed when it fails."""
    arguments = [
        "--seed",
        str(seed),
        "--name",
        name,
        "--run",
        f"gauntlet-{seed}-{name.replace(': ', '-').replace(' ', '-')}",
    ]
    if distil:
        arguments.append("--distil")
    environment = dict(server.environment)
    if seat is None:
        arguments.append("--no-recall")
    else:
        environment.update(TRIBUTARY_URL=seat.url, TRIBUTARY_TOKEN=seat.token)
    printed = run_json(python("evals.gauntlet.agent", *arguments), environment, say=lambda line: say(f"  {line}"))
    try:
        return AgentReport.model_validate(printed)
    except ValidationError as error:
        raise ProcessFailed(f"the report of {name} is not what it should be: {error}") from error


def _silent(_line: str) -> None:
    """Says nothing: the controls stumble as agent-a does, and their figures say so."""
