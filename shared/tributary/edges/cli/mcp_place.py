"""Where the memory of an MCP server is: at the address of the settings, at the local server, or in this very process."""

from __future__ import annotations

import re
import threading
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tributary.client import Memory, TributaryError
from tributary.contract.home import Connection, read_connection, write_connection
from tributary.contract.route import Role
from tributary.edges.cli.connection import address, made_home, set_aside
from tributary.edges.cli.failures import CommandFailed, foreseen
from tributary.edges.cli.own_agent import own_agent
from tributary.edges.cli.preparing import kept_by, make_ready
from tributary.edges.lambda_http.in_process import URL, Functions, InProcess
from tributary.edges.mcp.session import CALL_S, Opened

if TYPE_CHECKING:
    import httpx

    from tributary.edges.cli.doors import Doors
    from tributary.edges.cli.faces import OperatorFace, ServedMemory

FIRST_TRIBE = "default"
_LOOK_S = 2.0
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._@/-]+")
_NAME_CHARACTERS = 60


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who asks a local memory: the agent of that name, made with that role where it is not there yet."""

    name: str
    role: Role


def name_of_folder(folder: Path) -> str:
    """Returns the name of the agent that works in a folder: one a project, unless it is given another."""
    word = _NOT_IN_NAMES.sub("-", folder.name)[:_NAME_CHARACTERS].strip("-")
    return f"mcp:{word or 'agent'}"


def open_place(doors: Doors, asker: Asker | None, stack: ExitStack) -> Opened:
    """Opens the memory and returns it with the agent that asks. What is to be closed is put on the stack.

    It is at TRIBUTARY_URL; else at the server that `tributary serve` left word of, if that answers; else here, on the embedded
    database or the one that DATABASE_URL names. `asker` is None where a token says who asks. Raises what says why not.
    """
    try:
        return _open(doors, asker, stack)
    except (OSError, ModuleNotFoundError) as error:
        failure = foreseen(error)
        if failure is None:
            raise
        raise CommandFailed(failure.code, failure.detail) from error


def _open(doors: Doors, asker: Asker | None, stack: ExitStack) -> Opened:
    environment = doors.environment
    if environment.get("TRIBUTARY_URL"):
        memory = stack.enter_context(Memory(environment=environment, timeout_s=CALL_S))
        return _as_told(memory)
    folder = made_home(environment)
    if (stored := read_connection(folder)) is not None and (served := _served(stored, asker, doors, folder, stack)) is not None:
        return served
    return _here(doors, asker, folder, stack)


def _served(stored: Connection, asker: Asker | None, doors: Doors, folder: Path, stack: ExitStack) -> Opened | None:
    """Returns the memory of the local server, None when none answers there, or one that is not ours."""
    try:
        with Memory(stored.url, stored.token, timeout_s=_LOOK_S, environment={}) as look:
            look.whoami()
    except TributaryError:
        return None
    return _asked_by(asker, stored.url, stored.token, doors, folder, stack, transport=None, moves=True)


def _here(doors: Doors, asker: Asker | None, folder: Path, stack: ExitStack) -> Opened:
    from tributary.edges.lambda_http.authorizer import authorize
    from tributary.edges.lambda_http.port import Event

    settings = doors.load_settings(False)
    with doors.open_operator(settings) as operator:
        tribe = _tribe(operator, folder)
        # Joined before the operator leaves, so that an embedded database does not stop in between.
        memory = stack.enter_context(doors.open_memory(settings))
        token = _keeper(operator, memory, folder, tribe)
    stopping = threading.Event()
    stack.callback(stopping.set)

    def identify(event: Event) -> dict[str, str]:
        context: dict[str, str] = authorize(event, lambda: memory)["context"]
        return context

    transport = InProcess(Functions(lambda: memory, stopping=stopping), identify)
    opened = _asked_by(asker, URL, token, doors, folder, stack, transport=transport)
    # Beside: whoever asks for nothing that needs the model does not wait for it.
    threading.Thread(target=_warm, args=(memory,), name="tributary-warm", daemon=True).start()
    return opened


def _warm(memory: ServedMemory) -> None:
    with suppress(Exception):  # whoever needs the model is told what is amiss
        memory.warm()


def _tribe(operator: OperatorFace, folder: Path) -> str | None:
    """Returns the name of the tribe of those who have no token yet, None when the database has others only."""
    try:
        return make_ready(operator, folder, FIRST_TRIBE, keep=True).tribe.name
    except CommandFailed:
        return None


def _keeper(operator: OperatorFace, memory: ServedMemory, folder: Path, tribe: str | None) -> str:
    """Returns the token that the connection file keeps; a new curator's where this database knows none such."""
    kept = kept_by(memory, folder)
    if kept is not None:
        return kept.token
    curators = [] if tribe is None else [one for one in operator.agents(tribe) if one.role == "curator" and not one.revoked_at]
    if tribe is None or not curators:
        rule = "this database has tribes, and no token is kept here for any: set TRIBUTARY_TOKEN to an agent's"
        raise CommandFailed("not_configured", rule)
    made = operator.rotate(tribe, curators[0].name, keep_others=True)
    url = address(folder)
    set_aside(folder, unless=made.secret)
    write_connection(folder, Connection(url=url, token=made.secret))
    return made.secret


def _asked_by(
    asker: Asker | None,
    url: str,
    keeper: str,
    doors: Doors,
    folder: Path,
    stack: ExitStack,
    *,
    transport: httpx.BaseTransport | None,
    moves: bool = False,
) -> Opened:
    if asker is None:
        token = doors.environment["TRIBUTARY_TOKEN"]
    else:
        token = own_agent(url, keeper, name=asker.name, role=asker.role, folder=folder, transport=transport).token
    memory = stack.enter_context(Memory(url, token, timeout_s=CALL_S, transport=transport, environment={}))
    return _as_told(memory, moves=moves)


def _as_told(memory: Memory, *, moves: bool = False) -> Opened:
    me = memory.whoami()
    return Opened(memory=memory, agent=me.agent, role=me.role, moves=moves)
