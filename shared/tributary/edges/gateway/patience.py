"""How long the gateway waits for a caller: for the head of a request, for all of it, and for its reply to be taken.

The web server itself has a limit for the time between two requests alone. Who sends a byte now and then, or never reads what he
is sent, would keep a connection, and as many of them would keep everybody else out.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from tributary.contract.limits import TIMEOUT_S

_MOST_CONNECTIONS = 4096
_SPARE_S = 5
"""So much later than the app, which says in words that it waited for too long, is a connection cut."""


def _most_connections() -> int:
    """Returns half of the files that the process may have open: the rest is for databases, models and logs."""
    if os.name != "posix":
        return _MOST_CONNECTIONS // 8
    import resource

    return min(_MOST_CONNECTIONS, max(16, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2))


@dataclass(frozen=True, kw_only=True)
class Patience:
    """What a connection may take; one that takes longer is cut."""

    head_s: float = 10.0
    """From the connection, or the first byte of a further request, until its head is here."""
    request_s: float = TIMEOUT_S + _SPARE_S
    """From there until the whole request is here."""
    reply_s: float = TIMEOUT_S
    """For which a reply may wait for its reader, who takes nothing of it."""
    connections: int = field(default_factory=_most_connections)
    """Most at once. One more is let in, and that one cut which has been waited for the longest, to send or to take."""


class _Stage(StrEnum):
    HEAD = "its head is awaited"
    REQUEST = "the rest of the request is awaited"
    BETWEEN = "no request is under way"
    SERVED = "the request is here, and being served"


def protocol_of(patience: Patience) -> type[H11Protocol]:
    return type("Patient", (_Patient,), {"patience": patience})


class _Patient(H11Protocol):
    """HTTP/1.1 with an end to each wait for a caller."""

    patience: ClassVar[Patience]
    _stage: tuple[_Stage, object] | None = None
    _since = 0.0
    _sending: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None
    _taking_since = 0.0
    _is_cut = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own is
        super().connection_made(transport)
        self._look()
        self._cut_one_too_many()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.is_closing():  # what was sent was no HTTP
            self._await_reader()
        self._look()

    def eof_received(self) -> None:
        super().eof_received()
        self._await_reader()  # the loop closes the connection now, once all that was written is taken

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._await_reader()
        self._look()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._await_reader()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._taking is not None and not self.transport.is_closing():
            self._taking.cancel()
            self._taking = None

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._sending, self._taking):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Starts the clock of a wait that has begun, and stops that of one that is over. A further byte alone is neither."""
        stage = (self._now(), self.cycle)
        if stage == self._stage:
            return
        self._stage, self._since = stage, self.loop.time()
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        limits = {_Stage.HEAD: self.patience.head_s, _Stage.REQUEST: self.patience.request_s}
        if stage[0] in limits:
            self._sending = self.loop.call_later(limits[stage[0]], self.transport.abort)

    def _now(self) -> _Stage:
        if self.conn.their_state is h11.IDLE:
            begun = self._stage is None or self._stage[0] is _Stage.HEAD or bool(self.conn.trailing_data[0])
            return _Stage.HEAD if begun else _Stage.BETWEEN
        return _Stage.REQUEST if self.conn.their_state is h11.SEND_BODY else _Stage.SERVED

    def _await_reader(self) -> None:
        if self._taking is None:
            self._taking_since = self.loop.time()
            self._taking = self.loop.call_later(self.patience.reply_s, self.transport.abort)

    def _waited_for_since(self) -> float | None:
        """Returns since when the caller is waited for, None when he is not."""
        if self._taking is not None:
            return self._taking_since
        return None if self._stage is None or self._stage[0] is _Stage.SERVED else self._since

    def _cut_one_too_many(self) -> None:
        # Many may come in one turn of the loop, at whose end alone those that were cut are gone: each cuts another.
        there = [one for one in self.connections if isinstance(one, _Patient) and not one._is_cut]
        if len(there) > self.patience.connections:
            waited_for = [(since, one) for one in there if (since := one._waited_for_since()) is not None]
            _, longest = min(waited_for, key=lambda each: each[0])
            longest._is_cut = True
            longest.transport.abort()
