"""`tributary completion`: what a shell needs to complete commands, options, their values and the names of tribes."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated

import typer

from tributary.edges.cli.doors import session

PROGRAM = "tributary"
VARIABLE = "_TRIBUTARY_COMPLETE"
"""Set by a shell that asks what may come next; the command line then answers that and does nothing else."""


class ShellName(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    context: typer.Context, shell: Annotated[ShellName, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]
) -> None:
    """Print the script by which your shell completes this command line.

    For bash (4.4 or newer), zsh and fish. Names of tribes are completed too: those that were seen on this computer.

    \b
    Examples:
      eval "$(tributary completion bash)"                                   (in ~/.bashrc)
      eval "$(tributary completion zsh)"                                    (in ~/.zshrc, below compinit)
      tributary completion fish > ~/.config/fish/completions/tributary.fish
    """
    from typer._completion_shared import get_completion_script  # what typer's own option prints, which the root has not

    _, output = session(context, as_json=False)
    output.lines([get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell.value)])


def prepare() -> None:
    """Makes ready to answer a shell, when one asks."""
    if VARIABLE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
