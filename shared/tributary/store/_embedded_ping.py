"""Asks a PostgreSQL server for a session and ends it at once: the only proof that it serves us.

Speaks the few messages of the start-up handshake itself (PostgreSQL protocol 3.0), since drivers give no SQLSTATE for a
refused connection.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROTOCOL_3_0 = 196608
TIMEOUT_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Pong:
    """What the server said: its version when it serves, else the SQLSTATE of its refusal; neither when nobody answered."""

    server_version: str | None = None
    refusal: str | None = None


def ping(path: Path) -> Pong:
    """Asks the server at the socket `path` for a session of user postgres in database postgres."""
    words = b"user\0postgres\0database\0postgres\0application_name\0tributary\0\0"
    version = None
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(TIMEOUT_S)
            connection.connect(os.fspath(path))
            connection.sendall(struct.pack("!ii", len(words) + 8, PROTOCOL_3_0) + words)
            for kind, body in _messages(connection):
                if kind == b"S" and body.startswith(b"server_version\0"):
                    version = body.split(b"\0")[1].decode()
                elif kind == b"E":
                    return Pong(refusal=_sqlstate(body))
                elif kind == b"Z":
                    connection.sendall(b"X" + struct.pack("!i", 4))
                    return Pong(server_version=version)
    except OSError:
        pass
    return Pong()


def _messages(connection: socket.socket) -> Iterator[tuple[bytes, bytes]]:
    with connection.makefile("rb") as stream:
        while len(head := stream.read(5)) == 5:
            kind, size = struct.unpack("!ci", head)
            yield kind, stream.read(size - 4)


def _sqlstate(body: bytes) -> str | None:
    fields = {field[:1]: field[1:].decode(errors="replace") for field in body.split(b"\0") if field}
    return fields.get(b"C")
