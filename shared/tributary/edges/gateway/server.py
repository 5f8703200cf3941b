"""Runs the local gateway on uvicorn: in this thread until a signal comes, or in another one for a block of code."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType

import uvicorn

from tributary.contract.limits import TIMEOUT_S
from tributary.core.errors import BadSetting
from tributary.edges.dashboard.port import Asgi
from tributary.edges.gateway.app import Gateway
from tributary.edges.gateway.patience import Patience, protocol_of
from tributary.edges.lambda_http.port import Door
from tributary.telemetry import Event as LogEvent
from tributary.telemetry import log

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8377
_BACKLOG = 512
_LAST_PORT = 65535
_KEEP_ALIVE_S = 20
"""Longer than clients keep an unused connection (httpx 5 s), so that none sends a request into one that is just being closed."""


@dataclass(frozen=True, kw_only=True)
class Started:
    """A gateway that accepts connections. With no `cors_origins`, no page from another origin can read its replies."""

    url: str
    host: str
    port: int
    cors_origins: tuple[str, ...]


def serve(
    memory: Door,
    *,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    cors_origins: Sequence[str] = (),
    dashboard: Callable[[threading.Event], Asgi] | None = None,
    started: Callable[[Started], None] = lambda _: None,
) -> None:
    """Serves until SIGINT or SIGTERM, then finishes what runs and returns; a second SIGINT does not wait for it.

    `dashboard` makes the pages under /dashboard; without it there are none (see `Gateway`).
    Port 0 takes any free one. `started` is called once, when connections are accepted. The memory stays open. Raises
    BadSetting when nothing can be bound to `host` and `port`. Call it from the main thread, where signals arrive.
    """
    with _bound(memory, host, port, cors_origins, dashboard) as (server, listener, about), _stopped_by_signals(server):
        started(about)
        server.run(sockets=[listener])


@contextlib.contextmanager
def running(
    memory: Door,
    *,
    host: str = DEFAULT_HOST,
    port: int = 0,
    cors_origins: Sequence[str] = (),
    dashboard: Callable[[threading.Event], Asgi] | None = None,
    patience: Patience | None = None,
) -> Iterator[Started]:
    """Serves from a thread of its own while the block runs."""
    with _bound(memory, host, port, cors_origins, dashboard, patience) as (server, listener, about):
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="tributary-gateway")
        thread.start()
        try:
            yield about
        finally:
            server.should_exit = True
            thread.join()


class _Server(uvicorn.Server):
    """A server that lets nobody wait any more once it is to end: it ends when all are answered."""

    def __init__(self, config: uvicorn.Config, gateway: Gateway) -> None:
        super().__init__(config)
        self._gateway = gateway

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._gateway.end_waits()
        await super().shutdown(sockets)


@contextlib.contextmanager
def _bound(
    memory: Door,
    host: str,
    port: int,
    cors_origins: Sequence[str],
    dashboard: Callable[[threading.Event], Asgi] | None,
    patience: Patience | None = None,
) -> Iterator[tuple[uvicorn.Server, socket.socket, Started]]:
    listener = bind(host, port)
    gateway = Gateway(memory, cors_origins=cors_origins, dashboard=dashboard)
    config = uvicorn.Config(
        gateway,
        http=protocol_of(patience or Patience()),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=TIMEOUT_S,
    )
    about = _about(listener, host, cors_origins)
    log.event(LogEvent.SERVICE_STARTED, url=about.url, cors=", ".join(about.cors_origins) or "off")
    try:
        yield _Server(config, gateway), listener, about
    finally:
        listener.close()
        gateway.close()
        log.event(LogEvent.SERVICE_STOPPED, url=about.url)


def bind(host: str, port: int) -> socket.socket:
    """Returns a socket that listens there; raises BadSetting saying what is in the way."""
    if not 0 <= port <= _LAST_PORT:
        raise BadSetting(f"port {port} for {host} must be from 0 to {_LAST_PORT}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise BadSetting(f"host '{host}' with port {port} is no address that can be listened on") from error
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise BadSetting(_why_not(error, host, port)) from error
    return listener


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is taken by another program; choose another port, or 0 for any free one"
    if error.errno == errno.EACCES:
        return f"port {port} on {host} may not be used by this user; choose one above 1023"
    return f"nothing can be bound to port {port} on {host}"


def _about(listener: socket.socket, host: str, cors_origins: Sequence[str]) -> Started:
    port = int(listener.getsockname()[1])
    shown = f"[{host}]" if ":" in host else host
    return Started(url=f"http://{shown}:{port}", host=host, port=port, cors_origins=tuple(cors_origins))


@contextlib.contextmanager
def _stopped_by_signals(server: uvicorn.Server) -> Iterator[None]:
    # While it runs, uvicorn listens for signals itself, and when it has ended it raises them again: they end here, since
    # whoever called us still has a memory to close.
    def stop(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
