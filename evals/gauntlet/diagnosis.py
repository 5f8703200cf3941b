"""Working out a cure from what the world says: each failure names a command to look with, and that decides the method."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from evals.gauntlet.advice import Advice
from evals.gauntlet.terminal import Command, Observation, Terminal, quoted, quoted_commands


class Stuck(Exception):
    """The agent tried all that it could think of."""


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One step of the runbook: a goal in words, the move that should reach it, and a command that checks it, if any."""

    goal: str
    service: str
    move: Command
    check: Command | None


@dataclass(frozen=True, kw_only=True)
class Cure:
    """What made the phase pass: the advice to give, the symptom that it is for, and how it was found."""

    advice: Advice
    subject: str
    symptom: str
    rationale: str

    @property
    def text(self) -> str:
        return f"{self.symptom}: {self.advice}."


def attempt(terminal: Terminal, move: Command, check: Command | None) -> Observation | None:
    """Makes the move, and checks it; returns the first failure, or None when there is none."""
    for command in (move, check):
        if command is not None:
            observation = terminal.run(command)
            if not observation.ok:
                return observation
    return None


def diagnose(terminal: Terminal, phase: Phase, failure: Observation) -> Cure | None:
    """Tries until the phase passes and returns what did it, None when it passed by itself; raises Stuck when nothing helps."""
    for look in quoted_commands(failure.output):
        method = _METHODS.get(look.tool)
        if method is not None:
            return method(terminal, phase, failure, look)
    raise Stuck(f"`{failure.command}` says nothing to go by: {failure.output}")


def _clear_caches(terminal: Terminal, phase: Phase, failure: Observation, look: Command) -> Cure:
    """Clears one cache after another and makes the move again: other builds are slow without theirs, so never all at once."""
    paths = [path for path in quoted(terminal.run(look).output) if "/" in path]
    for tried, path in enumerate(paths, start=1):
        remedy = Command.of("cache", "clear", path)
        terminal.run(remedy)
        if attempt(terminal, phase.move, phase.check) is None:
            return Cure(
                advice=Advice(remedy=remedy, move=phase.move, instead=False),
                subject=f"{phase.service} build",
                symptom=f'The build of {phase.service} fails with "{_headline(failure)}" until the cache {path} is cleared',
                rationale=f"Cleared {tried} of {len(paths)} caches, one at a time, and built after each; this one helped.",
            )
    raise Stuck(f"cleared all {len(paths)} caches, and `{phase.move}` still fails")


def _try_keys(terminal: Terminal, phase: Phase, _failure: Observation, look: Command) -> Cure:
    """Sets the value under one key after another until the check is content, and takes back what did not help."""
    _, _, service, dead, value = phase.move.words
    keys = [key for key in quoted(terminal.run(look).output) if key != dead]
    wrong = dead
    for tried, key in enumerate(keys, start=1):
        terminal.run(Command.of("config", "unset", service, wrong))
        remedy = Command.of("config", "set", service, key, value)
        if attempt(terminal, remedy, phase.check) is None:
            return Cure(
                advice=Advice(remedy=remedy, move=phase.move, instead=True),
                subject=f"{service} config",
                symptom=(
                    f"The config key {dead} of {service} is deprecated without a word: it can be set and its effective value "
                    f"stays empty, while {key} works"
                ),
                rationale=f"Checked the effective value after each of {tried} other keys; it arrived under this one.",
            )
        wrong = key
    raise Stuck(f"set the value under all {len(keys)} keys, and `{phase.check}` still fails")


def _find_header(terminal: Terminal, phase: Phase, failure: Observation, look: Command) -> Cure | None:
    """Waits out the quota once, then finds the header by its other answer, then the value that it needs."""
    if attempt(terminal, phase.move, phase.check) is None:
        return None
    page = terminal.run(look).output
    headers = _listed(page, "Headers:")
    values = _listed(page, "Values:")
    tries = 0
    plain = _headline(failure)
    for header in headers:
        for value in values:
            remedy = Command((*phase.move.words, "--header", f"{header}: {value}"))
            tries += 1
            refusal = attempt(terminal, remedy, phase.check)
            if refusal is None:
                return Cure(
                    advice=Advice(remedy=remedy, move=phase.move, instead=True),
                    subject=f"{phase.service} deploy",
                    symptom=(
                        f"The deploy API answers {phase.service} with HTTP 429 Too Many Requests until the header {header} "
                        f"comes with the value {value}"
                    ),
                    rationale=f"Waiting did not help; of {tries} headers and values tried, this pair was let through.",
                )
            if _headline(refusal) == plain:
                break  # the same answer as without it: this header is not read, whatever its value
    raise Stuck(f"tried {tries} headers and values, and `{phase.move}` is still refused")


def _find_migration(terminal: Terminal, phase: Phase, failure: Observation, look: Command) -> Cure:
    """Reads the waiting migrations until one adds what the health check misses, and runs that one only."""
    missing = quoted(_headline(failure))
    waiting = quoted(terminal.run(look).output)
    for read, migration in enumerate(waiting, start=1):
        shown = terminal.run(Command.of("migrate", "show", phase.service, migration)).output
        if not set(quoted(shown)) & set(missing):
            continue
        remedy = Command.of("migrate", "run", phase.service, migration)
        terminal.run(remedy)
        if attempt(terminal, phase.move, phase.check) is None:
            return Cure(
                advice=Advice(remedy=remedy, move=phase.move, instead=False),
                subject=f"{phase.service} rollout",
                symptom=f"The rollout of {phase.service} fails its health check until the migration {migration} has run",
                rationale=f"The health check misses the table {missing[0]}; read {read} of {len(waiting)} waiting migrations.",
            )
    raise Stuck(f"read all {len(waiting)} migrations, and `{phase.move}` still fails")


Method = Callable[[Terminal, Phase, Observation, Command], Cure | None]

_METHODS: dict[str, Method] = {
    "cache": _clear_caches,
    "config": _try_keys,
    "docs": _find_header,
    "migrate": _find_migration,
}


def _headline(observation: Observation) -> str:
    """Returns the first line, without an "error:" before it."""
    return re.sub(r"^error:\s*", "", observation.output.partition("\n")[0])


def _listed(page: str, label: str) -> tuple[str, ...]:
    lines = (line for line in page.splitlines() if line.startswith(label))
    return quoted(next(lines, ""))
