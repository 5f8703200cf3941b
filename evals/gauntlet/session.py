"""A terminal that writes down what was run and what came back, as the transcript of an agent's work."""

from __future__ import annotations

from collections.abc import Mapping

from evals.gauntlet.terminal import Command, Observation, Terminal

TASK = (
    "Take the service through its runbook, phase by phase, until it is rolled out. Those who do such work later can follow a"
    " lesson that says what to do as: run `COMMAND` before `COMMAND`, or: run `COMMAND` instead of `COMMAND`."
)
"""What the agent was told: how lessons are put is part of it, since whoever finds them sees nothing but the transcript."""

Turn = Mapping[str, object]


class Session:
    """Hands commands on to a terminal; `turns` are the task, and each command with its answer, oldest first."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.turns: list[Turn] = [{"role": "user", "text": TASK}]

    def run(self, command: Command, /) -> Observation:
        observation = self._terminal.run(command)
        answer = f"exit code {observation.exit_code}\n{observation.output}"
        self.turns += [{"role": "assistant", "text": f"$ {command}"}, {"role": "tool", "text": answer}]
        return observation
