"""A relay between the code and PostgreSQL that writes down what a client says: the frontend messages of the protocol."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

STARTUP_CODES = {80877103, 80877104}  # SSLRequest, GSSENCRequest


@dataclass
class Spoken:
    """What one side said: how often each message type, the names of prepared statements and portals, and the texts parsed."""

    messages: Counter[str] = field(default_factory=Counter)
    statement_names: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)

    @property
    def round_trips(self) -> int:
        """Each simple query and each Sync is answered once."""
        return self.messages["Q"] + self.messages["S"]

    def clear(self) -> None:
        self.messages.clear()
        self.statement_names.clear()
        self.texts.clear()


class Relay:
    """Listens on a Unix socket in `folder` and passes everything on to the server's socket at `target`."""

    def __init__(self, folder: Path, target: str) -> None:
        self.spoken = Spoken()
        self._target = target
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def cut(self) -> None:
        """Cuts every connection, as a dying network would."""
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join(10)
        self.cut()
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            self._open += [client, server]
            thread = threading.Thread(target=self._pass_on, args=(client, server), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        reader = _Reader(self.spoken)
        with client, server:
            while True:
                try:
                    ready, _, _ = select.select([client, server], [], [], 1)
                    for one in ready:
                        data = one.recv(65536)
                        if not data:
                            return
                        if one is client:
                            reader.feed(data)
                            server.sendall(data)
                        else:
                            client.sendall(data)
                except (OSError, ValueError):
                    return


class _Reader:
    """Splits a frontend's byte stream into messages."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        self._buffer = b""
        self._started = False

    def feed(self, data: bytes) -> None:
        self._buffer += data
        while self._take():
            pass

    def _take(self) -> bool:
        head = 0 if not self._started else 1
        if len(self._buffer) < head + 4:
            return False
        (length,) = struct.unpack("!I", self._buffer[head : head + 4])
        if len(self._buffer) < head + length:
            return False
        body = self._buffer[head + 4 : head + length]
        if self._started:
            self._note(chr(self._buffer[0]), body)
        else:
            (code,) = struct.unpack("!I", body[:4])
            self._started = code not in STARTUP_CODES
        self._buffer = self._buffer[head + length :]
        return True

    def _note(self, kind: str, body: bytes) -> None:
        self._spoken.messages[kind] += 1
        if kind == "P":
            name, text, _ = body.split(b"\0", 2)
            self._spoken.statement_names.add(name.decode())
            self._spoken.texts.append(text.decode())
        elif kind == "Q":
            self._spoken.texts.append(body.rstrip(b"\0").decode())
