"""What the dashboard asks of the service, and of whoever serves it, as types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tributary.core.status import Observation


class ProberFace(Protocol):
    """The part of `service.probing.Probes` that the dashboard uses."""

    def databases(self) -> Sequence[Observation]: ...


OpenProber = Callable[[], ProberFace]
"""Gives what looks at the databases. May raise any error of the tree."""

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Asgi(Protocol):
    """An ASGI app."""

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Coroutine[Any, Any, None]: ...
