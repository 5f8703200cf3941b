"""An agent of one's own at the local memory: made once by name, its token kept in the home folder.

Confirmations count by agent, so whoever works by himself needs a name of his own.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import httpx

from tributary.client import Memory, NotConfigured, Unauthenticated
from tributary.contract.route import Role
from tributary.contract.status import MeReply
from tributary.edges.cli.connection import setting_up

AGENTS_FILE = "agents.json"
_PATIENCE_S = 20.0
_PAGE = 100


@dataclass(frozen=True, kw_only=True)
class OwnAgent:
    """Who asks from now on, and with which token."""

    me: MeReply
    token: str


def own_agent(
    url: str, token: str, *, name: str, role: Role, folder: Path, transport: httpx.BaseTransport | None = None
) -> OwnAgent:
    """Returns the agent called `name` of the tribe that `token` is of; makes it, with `role`, where it is not there yet.

    Where `token` is no curator's, nobody can be made: then its own agent it is. Raises the SDK's errors.
    """
    with _memory(url, token, transport) as keeping:
        keeper = keeping.whoami()
        if keeper.name == name or keeper.role != "curator":
            return OwnAgent(me=keeper, token=token)
        with setting_up(folder):
            kept = _kept(folder)
            found = _known(url, kept.get(keeper.tribe, {}).get(name), name, transport)
            if found is None:
                made = _made(keeping, name, role)
                kept.setdefault(keeper.tribe, {})[name] = made
                _keep(folder, kept)
                with _memory(url, made, transport) as own:
                    found = OwnAgent(me=own.whoami(), token=made)
        return found


def _memory(url: str, token: str, transport: httpx.BaseTransport | None) -> Memory:
    return Memory(url, token, timeout_s=_PATIENCE_S, transport=transport, environment={})


def _known(url: str, token: str | None, name: str, transport: httpx.BaseTransport | None) -> OwnAgent | None:
    """Returns the agent of a token that was kept; None for none, for one that ended, and for another agent's."""
    if token is None:
        return None
    try:
        with _memory(url, token, transport) as own:
            me = own.whoami()
    except (Unauthenticated, NotConfigured):  # it ended, is of a database that is no more, or the file is damaged
        return None
    return OwnAgent(me=me, token=token) if me.name == name else None


def _made(keeping: Memory, name: str, role: Role) -> str:
    """Returns the token of a new agent, or another one of an agent that has the name already."""
    agents = keeping.curation.agents(page_size=_PAGE)
    there = next((one for one in agents if one.name == name and one.revoked_at is None), None)
    made = keeping.curation.create_agent(name, role) if there is None else keeping.curation.new_token(there)
    return made.token


def _kept(folder: Path) -> dict[str, dict[str, str]]:
    """Returns the tokens of the file, by tribe and name; none of a file that is not there or damaged."""
    try:
        stored = json.loads((folder / AGENTS_FILE).read_text(encoding="utf-8"))
        return {str(tribe): {str(name): str(token) for name, token in named.items()} for tribe, named in stored.items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _keep(folder: Path, tokens: dict[str, dict[str, str]]) -> None:
    """Writes the file, which its owner alone can read."""
    descriptor, fresh = tempfile.mkstemp(prefix=f"{AGENTS_FILE}.", dir=folder)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(tokens, stream, indent=2)
        Path(fresh).replace(folder / AGENTS_FILE)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
