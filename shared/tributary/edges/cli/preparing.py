"""A database made ready for somebody who starts on it: the schema, the first tribe, and whose token this computer keeps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tributary.edges.cli.failures import CommandFailed

if TYPE_CHECKING:
    from tributary.edges.cli.faces import OperatorFace
    from tributary.edges.lambda_http.port import Door
    from tributary.service.operator import NewTribe, Tribe


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A database that is ready to serve. `made` when this is its first start."""

    tribe: Tribe
    made: NewTribe | None
    curator: str | None
    set_aside: Path | None


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A token in the connection file that this database knows, and whose it is."""

    agent: str
    token: str


def make_ready(operator: OperatorFace, folder: Path, name: str, *, keep: bool) -> Ready:
    """Migrates, and makes the tribe where there is none at all. Two first starts at once make one.

    With `keep` the connection file gets the new curator's token. Raises CommandFailed when there are tribes, but not this one.
    """
    from tributary.client import DEFAULT_URL
    from tributary.contract.home import Connection, write_connection
    from tributary.edges.cli.connection import set_aside, setting_up

    with setting_up(folder):
        operator.migrate()
        tribes = {one.name: one for one in operator.tribes()}
        if not tribes:
            made = operator.create_tribe(name)
            aside = None
            if keep:
                # At once, and with the address still to come: a token that nobody kept could never be had again.
                aside = set_aside(folder, unless=made.token.secret)
                write_connection(folder, Connection(url=DEFAULT_URL, token=made.token.secret))
            return Ready(tribe=made.tribe, made=made, curator=made.token.agent.name, set_aside=aside)
    if name not in tribes:
        there = ", ".join(f"'{one}'" for one in tribes)
        detail = f"there is no tribe '{name}' in this database, but {there}; make it with: tributary tribe create NAME"
        raise CommandFailed("not_found", detail)
    curators = [one.name for one in operator.agents(name) if one.role == "curator"]
    return Ready(tribe=tribes[name], made=None, curator=curators[0] if curators else None, set_aside=None)


def kept_by(memory: Door, folder: Path) -> Kept | None:
    """Returns what the connection file keeps, None when this database knows no such token, or the cell that it names is away."""
    from tributary.contract.home import read_connection
    from tributary.core.errors import Unauthenticated, Unavailable

    stored = read_connection(folder)
    if stored is None:
        return None
    try:
        return Kept(agent=memory.authenticate(stored.token).name, token=stored.token)
    except (Unauthenticated, Unavailable):
        return None
