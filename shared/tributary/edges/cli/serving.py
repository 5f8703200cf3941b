"""`tributary serve`: the memory behind HTTP on this computer. The first start makes a tribe and its curator."""

from __future__ import annotations

import contextlib
import errno
import socket
from contextlib import ExitStack
from dataclasses import asdict
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import Doors, session
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.signals import stopping_on_signals

if TYPE_CHECKING:
    from tributary.contract.home import Connection
    from tributary.edges.cli.connection import Lease
    from tributary.edges.cli.faces import ServedMemory
    from tributary.edges.cli.greeting import Greeting
    from tributary.edges.cli.output import Output
    from tributary.edges.cli.preparing import Kept, Ready
    from tributary.edges.gateway import Started
    from tributary.service import Settings
    from tributary.service.memory import ModelsUsed


def serve(
    context: typer.Context,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on; one that other computers reach is not encrypted.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8377,
    tribe: Annotated[str, typer.Option(metavar="NAME", help="The tribe that the very first start makes.")] = "default",
    as_json: AsJson = False,
) -> None:
    """Serve the memory over HTTP, with a PostgreSQL of its own unless a URL names one.

    The very first start makes a tribe and its curator and shows the curator's token, this once.

    \b
    Example: tributary serve --port 9000
    """
    doors, output = session(context, as_json=as_json)
    with stopping_on_signals():
        with contextlib.suppress(KeyboardInterrupt):
            _serve(doors, output, host=host, port=port, tribe=tribe)
        output.remark("Stopped.")


def _serve(doors: Doors, output: Output, *, host: str, port: int, tribe: str) -> None:
    from tributary.edges.cli.connection import Lease, made_home
    from tributary.edges.cli.preparing import kept_by, make_ready

    _check_free(host, port)
    settings = doors.load_settings(True)
    folder = made_home(doors.environment)
    with ExitStack() as stack:
        lease = Lease(folder)
        stack.callback(lease.close)
        with doors.open_operator(settings) as operator:
            prepared = make_ready(operator, folder, tribe, keep=lease.held)
            # Joined before the operator leaves, so that an embedded database does not stop in between.
            memory = stack.enter_context(doors.open_memory(settings))
            kept = kept_by(memory, folder)
        memory.warm()
        models = _told(memory.models_used())

        def started(about: Started) -> None:
            local = _local(about.url)
            lease.serves_at(local)
            if kept is not None:
                lease.follow(lambda: _connection(memory, folder, local, kept))
            greeting = _greeting(settings, prepared, folder, local, host=host, kept=kept, lease=lease, models=models)
            warning = greeting.warning()
            if warning:
                output.remark(warning)
            output.result(greeting.document(), greeting.lines())

        doors.serve(memory, settings=settings, host=host, port=port, started=started)


def _told(models: ModelsUsed) -> ModelsUsed:
    """Notes in the log which models the server works with, and returns them."""
    from tributary.telemetry import log
    from tributary.telemetry.events import Event

    log.event(
        Event.SERVICE_MODELS,
        judge=models.judge,
        strong_judge=models.strong_judge,
        screen=models.screen,
        embedder=models.embedder,
        distiller=models.distiller,
    )
    return models


def _connection(memory: ServedMemory, folder: Path, url: str, known: Kept) -> Connection:
    """Returns what the file is to say: our address, and the token that it keeps by now, if it is good, else the known one."""
    from tributary.contract.home import Connection
    from tributary.core.errors import TributaryError
    from tributary.edges.cli.preparing import kept_by

    try:
        kept = kept_by(memory, folder)
    except TributaryError:  # the database is away just now
        kept = None
    return Connection(url=url, token=(kept or known).token)


def _greeting(
    settings: Settings,
    prepared: Ready,
    folder: Path,
    url: str,
    *,
    host: str,
    kept: Kept | None,
    lease: Lease,
    models: ModelsUsed,
) -> Greeting:
    from tributary.contract.home import CONNECTION_FILE, read_connection
    from tributary.core.cells import shown_cell
    from tributary.edges.cli.greeting import Greeting

    stored = read_connection(folder)
    made = prepared.made
    return Greeting(
        url=url,
        exposed=not _is_loopback(host),
        public=settings.dashboard_public is not None,
        tribe=prepared.tribe.name,
        made_at=prepared.tribe.created_at,
        curator=prepared.curator,
        token=made.token.secret if made else None,
        token_good_until=made.token.expires_at if made else None,
        connection_file=folder / CONNECTION_FILE,
        kept_for=kept.agent if kept else None,
        named=stored.url if stored and not lease.held else None,
        set_aside=prepared.set_aside,
        data="the database that DATABASE_URL names" if settings.database_url else str(folder),
        origins=tuple(settings.cors_origins),
        models=asdict(models),
        cells=tuple(map(shown_cell, settings.cell_names)),
    )


def _check_free(host: str, port: int) -> None:
    """Raises CommandFailed when nothing can listen there, before anything else is started."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError):
        raise CommandFailed("bad_setting", f"--host '{host}' is no address of this computer") from None
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise _cannot_listen(error, host, port) from None


def _cannot_listen(error: OSError, host: str, port: int) -> CommandFailed:
    if error.errno == errno.EADDRINUSE:
        return CommandFailed(
            "port_taken",
            f"port {port} is taken, perhaps by another 'tributary serve'; take another with --port, or a free one with --port 0",
        )
    return CommandFailed("bad_setting", f"cannot listen on {host} port {port}: {error.strerror}")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _local(url: str) -> str:
    """Returns the address as this computer reaches it: one cannot connect to 'every address'."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:").rstrip("/")
