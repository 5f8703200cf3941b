"""Commands and what they answer: the one way in which an agent acts on the world."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Protocol

_QUOTED = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Command:
    """A command line as its words; its text is quoted as a POSIX shell would need it."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, *words: str) -> Command:
        return cls(words)

    @classmethod
    def parse(cls, line: str) -> Command | None:
        """Returns the command that `line` spells, or None when it is empty or its quotes are not closed."""
        try:
            words = shlex.split(line)
        except ValueError:
            return None
        return cls(tuple(words)) if words else None

    @property
    def tool(self) -> str:
        return self.words[0]

    def __str__(self) -> str:
        return shlex.join(self.words)


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What a command came to: an exit code, 0 when all is well, and what it printed."""

    command: Command
    exit_code: int
    output: str

    @property
    def ok(self) -> bool:
        return self.exit_code == 0


class Terminal(Protocol):
    """All that an agent may do to the world."""

    def run(self, command: Command, /) -> Observation: ...


def succeeded(command: Command, output: str) -> Observation:
    return Observation(command=command, exit_code=0, output=output)


def failed(command: Command, output: str, *, exit_code: int = 1) -> Observation:
    return Observation(command=command, exit_code=exit_code, output=output)


def quoted(text: str) -> tuple[str, ...]:
    """Returns what stands in backticks in `text`, in order."""
    return tuple(_QUOTED.findall(text))


def quoted_commands(text: str) -> tuple[Command, ...]:
    """Returns the commands that stand in backticks in `text`, in order."""
    parsed = (Command.parse(line) for line in quoted(text))
    return tuple(command for command in parsed if command is not None)
