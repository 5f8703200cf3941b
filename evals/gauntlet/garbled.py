"""Tools whose results arrive corrupted, and how an agent reads them."""

from __future__ import annotations

import random

from evals.gauntlet.terminal import Command, Observation, Terminal, failed, succeeded

NOISE = 0.10
"""Share of results that arrive as bytes that nobody can read, with an exit code that means nothing."""
FALSE_SUCCESS = 0.20
"""Share of failures that arrive as a plain success: nothing about them looks wrong."""
PROOFS = 7
"""How often a success must come again: a failure looks like one that often in a row once in tens of thousands."""
TRIES = 6
_UNREADABLE = "\ufffd"


class Garbled:
    """Hands commands on and corrupts what comes back; the world itself did what it was told. The same seed corrupts alike."""

    def __init__(self, terminal: Terminal, *, seed: int) -> None:
        self._terminal = terminal
        self._random = random.Random(f"garbled {seed}")
        self.corrupted = 0

    def run(self, command: Command, /) -> Observation:
        observation = self._terminal.run(command)
        drawn = self._random.random()
        if drawn < NOISE:
            self.corrupted += 1
            noise = "".join(self._random.choice("�\x00\x1bÿ~^") for _ in observation.output)
            return failed(command, _UNREADABLE + noise, exit_code=self._random.choice((0, 1)))
        if not observation.ok and drawn < NOISE + FALSE_SUCCESS:
            self.corrupted += 1
            return succeeded(command, "done")
        return observation


class Reading:
    """Asks again for what can't be read, and believes a success only once it came `proofs` more times; 0 believes it at once."""

    def __init__(self, terminal: Terminal, *, proofs: int = PROOFS) -> None:
        self._terminal = terminal
        self._proofs = proofs

    def run(self, command: Command, /) -> Observation:
        observation = self._read(command)
        for _ in range(self._proofs):
            if not observation.ok:
                break
            observation = self._read(command)
        return observation

    def _read(self, command: Command) -> Observation:
        for _ in range(TRIES):
            observation = self._terminal.run(command)
            if _UNREADABLE not in observation.output:
                return observation
        return failed(command, "the tool answers nothing that can be read")
