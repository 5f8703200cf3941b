"""Runs the checks in their order. One that hangs or breaks is unknown, and hides no other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tributary.edges.cli.doctor.finding import Finding, unknown

if TYPE_CHECKING:
    from tributary.edges.cli.doors import Doors


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What the checks stand on. `patience_s` bounds each of them; `tribe` is the one in which a recall is tried."""

    doors: Doors
    tribe: str
    patience_s: float


Look = Callable[[Ground], Sequence[Finding]]
"""Returns what was found; may raise anything."""


@dataclass(frozen=True, kw_only=True)
class Check:
    name: str
    look: Look


def examine(ground: Ground, checks: Sequence[Check] | None = None) -> Iterator[Finding]:
    """Yields findings as they come."""
    for one in checks if checks is not None else all_checks():
        yield from _bounded(one, ground)


def all_checks() -> tuple[Check, ...]:
    """Returns every check, in the order in which the one helps to understand the next."""
    from tributary.edges.cli.doctor import asking, here, operating

    looks: tuple[tuple[str, Look], ...] = (
        ("python", here.python),
        ("packages", here.packages),
        ("home", here.home_folder),
        ("disk", here.disk),
        ("connection file", here.connection_file),
        ("server", asking.server),
        ("token", asking.token),
        ("clock", asking.clock),
        ("port", here.port),
        ("settings", operating.settings),
        ("models", operating.models),
        ("AWS credentials", operating.aws_credentials),
        ("pooler", operating.pooler),
        ("database", operating.database),
    )
    return tuple(Check(name=name, look=look) for name, look in looks)


def _bounded(check: Check, ground: Ground) -> Sequence[Finding]:
    """Returns what the check finds in time. Its thread is left behind when it hangs: it ends with the process."""
    found: list[Sequence[Finding]] = []

    def run() -> None:
        try:
            found.append(check.look(ground))
        except Exception as error:
            found.append([_broken(check.name, error)])

    thread = threading.Thread(target=run, name=f"doctor-{check.name}", daemon=True)
    thread.start()
    thread.join(ground.patience_s)
    if found:
        return found[0]
    advice = "try again with more --patience; when it stays so, whatever it asks hangs"
    return [unknown(check.name, f"no answer within {ground.patience_s:g} seconds", advice)]


def _broken(name: str, error: Exception) -> Finding:
    """Returns the finding for an error that the check did not expect; ours say what to do, others may quote secrets."""
    from tributary.edges.cli.failures import foreseen

    failure = foreseen(error)
    if failure is None:
        return unknown(name, f"the check itself failed ({type(error).__name__})", "please report this")
    return unknown(name, failure.code, failure.detail)
