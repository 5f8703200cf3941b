"""Starts the agents of a demo, each as a process of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from evals.gauntlet.processes import ProcessFailed, python, run_json
from evals.gauntlet.results import AgentReport
from evals.gauntlet.server import Seat, Server

Say = Callable[[str], None]
Reported = TypeVar("Reported", bound=BaseModel)


def silent(_line: str) -> None:
    """Says nothing: the controls stumble as the first agent does, and their figures say so."""


def run_agent(
    name: str, seed: int, server: Server, seat: Seat | None, *, say: Say = silent, options: Sequence[str] = ()
) -> AgentReport:
    """Runs one agent to its end; without a seat at a tribe it works without memory. Raises ProcessFailed when it fails."""
    return run_process("evals.gauntlet.agent", AgentReport, name, seed, server, seat, say=say, options=options)


def run_process(
    module: str,
    report: type[Reported],
    name: str,
    seed: int,
    server: Server,
    seat: Seat | None,
    *,
    say: Say = silent,
    options: Sequence[str] = (),
) -> Reported:
    """Runs any kind of agent to its end and returns its report; raises ProcessFailed when it fails."""
    command, environment = agent_command(module, name, seed, server, seat, options=options)
    printed = run_json(command, environment, say=lambda line: say(f"  {line}"))
    try:
        return report.model_validate(printed)
    except ValidationError as error:
        raise ProcessFailed(f"the report of {name} is not what it should be: {error}") from error


def agent_command(
    module: str, name: str, seed: int, server: Server, seat: Seat | None, *, options: Sequence[str] = ()
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Returns the command line of an agent and its environment: what its seat says, and its model where it has one."""
    run = f"gauntlet-{seed}-{re.sub(r'[^a-z0-9]+', '-', name.casefold())}"
    arguments = ["--seed", str(seed), "--name", name, "--run", run, *options]
    environment = dict(server.environment)
    if "--model" in options:
        environment.update(server.model)
    if seat is None:
        arguments.append("--no-recall")
    else:
        environment.update(TRIBUTARY_URL=seat.url, TRIBUTARY_TOKEN=seat.token)
    return python(module, *arguments), environment
