"""The test's network: free ports, and a relay to a local server that can be cut or made to hang, also for those on the way."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class Network:
    """Listens on a port of loopback and passes everything on to `url`'s; while it is cut nobody gets through or back.

    Instead of a URL it takes the path of a server's socket.
    """

    def __init__(self, url: str) -> None:
        self._to = url
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._whole = threading.Event()
        self._whole.set()
        self._flows = threading.Event()
        self._flows.set()
        self.connections = 0
        """How many were made so far."""
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Resets every connection, and each that is made from now on."""
        self._whole.clear()
        with self._lock:
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def hang(self) -> None:
        """Passes nothing on any more, in silence: connections stay open, and new ones are accepted."""
        self._flows.clear()

    def mend(self) -> None:
        self._whole.set()
        self._flows.set()

    def __enter__(self) -> Self:
        self._accepting.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.cut()
        self._flows.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join(10)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            if not self._whole.is_set():
                client.close()
                continue
            server = _connected(self._to)
            with self._lock:
                self._open += [client, server]
            threading.Thread(target=_pass_on, args=(client, server, self._flows), daemon=True).start()


def _connected(to: str) -> socket.socket:
    if not to.startswith("/"):
        return socket.create_connection((urlsplit(to).hostname or "127.0.0.1", urlsplit(to).port or 80))
    server = socket.socket(socket.AF_UNIX)
    server.connect(to)
    return server


def free_port() -> int:
    """Returns a port of loopback on which nothing listens yet."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _pass_on(client: socket.socket, server: socket.socket, flows: threading.Event) -> None:
    with client, server, contextlib.suppress(OSError, ValueError):
        while True:
            ready, _, _ = select.select([client, server], [], [], 60)
            for one in ready:
                data = one.recv(65536)
                if not data:
                    return
                flows.wait()
                (server if one is client else client).sendall(data)
