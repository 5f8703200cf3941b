"""What a demo is: it runs on a server, claims something of what came out, and shows it as tables and as one picture."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.gauntlet.crew import Say
from evals.gauntlet.results import Claimed, ClaimReport
from evals.gauntlet.server import Server

Result = TypeVar("Result", bound=Claimed)


def no_options(_parser: argparse.ArgumentParser) -> None:
    """Adds nothing: the demo takes what all take."""


@dataclass(frozen=True, kw_only=True)
class Demo(Generic[Result]):
    """One demo. `run` raises ProcessFailed where it could not be run; `options` adds those that only this one takes."""

    name: str
    summary: str
    run: Callable[[argparse.Namespace, Server, Say], Result]
    show: Callable[[Console, Result], None]
    draw: Callable[[Result, Path], None]
    options: Callable[[argparse.ArgumentParser], None] = no_options


def claim(what: str, holds: bool, figures: str) -> ClaimReport:
    return ClaimReport(claim=what, holds=holds, figures=figures)


def table_of(title: str, *columns: str, text: int = 1) -> Table:
    """Returns an empty table whose first `text` columns hold words, and the others figures."""
    table = Table(title=title)
    for at, column in enumerate(columns):
        table.add_column(column, justify="left" if at < text else "right")
    return table


def show_claims(console: Console, claims: Sequence[ClaimReport]) -> None:
    """Prints a line for each claim: whether it holds, and its figures."""
    for one in claims:
        mark = Text("holds", style="green") if one.holds else Text("FAILS", style="bold red")
        console.print(Text.assemble(mark, f"  {one.claim}: {one.figures}"), soft_wrap=True)
    held = sum(one.holds for one in claims)
    told = f"All {held} claims hold." if held == len(claims) else f"{len(claims) - held} of {len(claims)} claims do not hold."
    console.print(Text(told, style="bold green" if held == len(claims) else "bold red"), soft_wrap=True)
