"""A server on loopback that writes what it is told to, again and again, until whoever asked hangs up."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Self

from tests.providers.server import wait_for


def head(status: int = 200, *lines: str) -> bytes:
    """Returns the head of a reply with JSON in it, and with these lines."""
    return "\r\n".join((f"HTTP/1.1 {status} X", "content-type: application/json", *lines, "", "")).encode()


class RawServer:
    """Writes `first` to each connection that asks something, then `again` each `every_s` without end; both may be nothing."""

    def __init__(self, *, first: bytes = b"", again: bytes = b"", every_s: float = 0.05) -> None:
        self.first = first
        self.again = again
        self.every_s = every_s
        self.sent = 0
        self.connections = 0
        self.hung_up = 0
        self._stopped = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._threads: list[threading.Thread] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def all_hung_up(self) -> bool:
        """Waits until nobody is connected any more, and tells whether that came to be."""
        return wait_for(lambda: self.connections > 0 and self.hung_up == self.connections)

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            self._run(partial(self._write, connection))

    def _write(self, connection: socket.socket) -> None:
        with connection:
            with contextlib.suppress(OSError):
                connection.recv(1_000_000)
                connection.sendall(self.first)
                connection.settimeout(self.every_s or 0.001)
                while not self._stopped.is_set():
                    with contextlib.suppress(TimeoutError):
                        if not connection.recv(1_000_000):
                            break
                    connection.settimeout(5)
                    connection.sendall(self.again)
                    self.sent += len(self.again)
                    connection.settimeout(self.every_s or 0.001)
            self.hung_up += 1

    def _run(self, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, daemon=True)
        self._threads.append(thread)
        thread.start()

    def __enter__(self) -> Self:
        self._run(self._listen)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stopped.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join()
