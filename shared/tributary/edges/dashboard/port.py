"""What the dashboard asks of the service, and of whoever serves it, as types."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tributary.edges.lambda_http.port import Door

if TYPE_CHECKING:
    from tributary.core.agent import Principal, SignedIn
    from tributary.core.status import Observation


class FrontDoor(Door, Protocol):
    """The door to the memory, which also knows who is signed in: `service.Memory`, or `service.Cells`."""

    def sign_in(self, token: str, *, source: str) -> SignedIn: ...

    def session(self, secret: str) -> Principal: ...

    def sign_out(self, secret: str) -> None: ...


OpenDoor = Callable[[], FrontDoor]
"""Gives the door, opening it at the first call. May raise any error of the tree."""


class ProberFace(Protocol):
    """The part of `service.probing.Probes` that the dashboard uses."""

    def databases(self) -> Sequence[Observation]: ...


OpenProber = Callable[[], ProberFace]
"""Gives what looks at the databases. May raise any error of the tree."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """How a dashboard is served."""

    secure: bool
    """Pages come over TLS, here or at whatever stands in front."""
    live_s: float = 20.0
    """So long a page may wait for news; 0 where every second of waiting is paid for."""
    public_token: Callable[[], str | None] = lambda: None
    """Gives a reader's token: as that agent, anybody sees the pages that are fit for it. May raise BadSetting."""
    root: str = ""
    """Where the dashboard stands on its host, such as `/dashboard`; empty for the whole host."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the server is to end: nobody waits any more."""


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Asgi(Protocol):
    """An ASGI app."""

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Coroutine[Any, Any, None]: ...
