"""What stands in front of a database on RDS: it takes a token of IAM as the password, checks it, and passes the rest on.

The signature is worked out here from the description of version 4, not by the library that made it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import select
import socket
import struct
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import parse_qsl, quote, urlsplit

from tests.sigv4 import signature

REGION = "eu-central-1"
KEY_ID, SECRET, SESSION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "session/token+of=Lambda"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": SESSION, "AWS_REGION": REGION}

_ENCRYPTION_ASKED = {80877103, 80877104}  # SSLRequest, GSSENCRequest
_ASK_FOR_PASSWORD = b"R" + struct.pack("!II", 8, 3)
_REFUSAL = b"SFATAL\0VFATAL\0C28000\0MPAM authentication failed for user\0\0"


@dataclass(frozen=True, kw_only=True)
class Login:
    """How one connection asked to be let in."""

    parameters: dict[str, str]
    """Of the startup packet: user, database, options and others."""
    password: str
    fault: str | None
    """What is wrong with the token; None when nothing is."""


def fault_of(token: str, *, user: str, host: str, port: int, now: datetime) -> str | None:
    """Returns what keeps `token` from being a login of `user` at `host` and `port`; None when it is one."""
    place, _, query = token.partition("/?")
    given = dict(parse_qsl(query, strict_parsing=True, keep_blank_values=True))
    shown = given.pop("X-Amz-Signature", "")
    at = datetime.strptime(given["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    scope = f"{at:%Y%m%d}/{REGION}/rds-db/aws4_request"
    wanted = {
        "Action": "connect",
        "DBUser": user,
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
        "X-Amz-Credential": f"{KEY_ID}/{scope}",
        "X-Amz-Date": given["X-Amz-Date"],
        "X-Amz-Expires": "900",
        "X-Amz-SignedHeaders": "host",
        "X-Amz-Security-Token": SESSION,
    }
    if place != f"{host}:{port}" or urlsplit(f"https://{token}").path != "/":
        return f"it is for {place}"
    if given != wanted:
        return f"it says {sorted(given.items() ^ wanted.items())}"
    if not timedelta(minutes=-1) < now - at < timedelta(minutes=15):
        return f"it is of {at}"
    if not hmac.compare_digest(shown, _signature(given, place, scope)):
        return "its signature is another's"
    return None


def _signature(given: dict[str, str], place: str, scope: str) -> str:
    """Returns Signature Version 4 of a presigned GET of `/` without a body (IAM User Guide)."""
    query = "&".join(f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in sorted(given.items()))
    canonical = f"GET\n/\n{query}\nhost:{place}\n\nhost\n{hashlib.sha256(b'').hexdigest()}"
    return signature(canonical, date=given["X-Amz-Date"], scope=scope, secret=SECRET)


@dataclass
class TokenFront:
    """Listens on a port of loopback; whom it lets in talks to the server at the socket `target` from then on."""

    target: Path
    refuses: bool = False
    """Whether nobody is let in, whatever the token."""
    logins: list[Login] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    def url(self, user: str, database: str) -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def __enter__(self) -> Self:
        self._accepting.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
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
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError, EOFError):
            startup = self._startup(client)
            words = startup[8:].split(b"\0")
            parameters = {name.decode(): value.decode() for name, value in zip(words[::2], words[1::2], strict=False) if name}
            client.sendall(_ASK_FOR_PASSWORD)
            exactly(client, 1)
            password = exactly(client, struct.unpack("!I", exactly(client, 4))[0] - 4).rstrip(b"\0").decode()
            fault = fault_of(password, user=parameters["user"], host="127.0.0.1", port=self.port, now=datetime.now(UTC))
            self.logins.append(Login(parameters=parameters, password=password, fault=fault))
            if self.refuses or fault is not None:
                client.sendall(b"E" + struct.pack("!I", len(_REFUSAL) + 4) + _REFUSAL)
                return
            with socket.socket(socket.AF_UNIX) as server:
                server.connect(str(self.target))
                server.sendall(startup)
                pass_on(client, server)

    @staticmethod
    def _startup(client: socket.socket) -> bytes:
        while True:
            length = exactly(client, 4)
            packet = length + exactly(client, struct.unpack("!I", length)[0] - 4)
            if struct.unpack("!I", packet[4:8])[0] not in _ENCRYPTION_ASKED:
                return packet
            client.sendall(b"N")


def exactly(one: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        more = one.recv(size - len(received))
        if not more:
            raise EOFError
        received += more
    return received


def pass_on(client: socket.socket, server: socket.socket) -> None:
    while True:
        ready, _, _ = select.select([client, server], [], [], 60)
        for one in ready:
            data = one.recv(65536)
            if not data:
                return
            (server if one is client else client).sendall(data)
