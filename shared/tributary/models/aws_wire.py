"""How the AWS SDK's client reads: no longer than its call is waited for, so much, and from nowhere else.

Imported only where botocore is. It does not bind the clients that the library makes for itself to fetch credentials. Of a call's
connection, the handshake of TLS and the sending are bounded by the client's own time-outs alone.
"""

from __future__ import annotations

import http.client
import io
import math
import socket
from typing import Any

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)
from urllib3 import BaseHTTPResponse, HTTPConnectionPool

from tributary.core.errors import ModelMalformed
from tributary.models.bounded import left_s

MOST_BYTES = 16 * 1024 * 1024
"""Of one reply, its headers included; 96 vectors of 1,536 numbers are about 3 MB."""


def bind(client: Any) -> None:
    """Makes a client that has sent nothing yet read like this. It asks for no compression, and unpacks none.

    The library lets one choose no kind of connection: this is where it keeps them, for direct and for proxied ones.
    """
    client._endpoint.http_session._pool_classes_by_scheme.update(http=_Pool, https=_TlsPool)


class _Bytes(io.RawIOBase):
    """The bytes of one reply."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._most_left = MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        left = left_s()
        if left <= 0:
            raise TimeoutError("nobody waits for the call any more")
        if left != math.inf:
            self._sock.settimeout(left)
        read = self._raw.readinto(buffer)
        self._most_left -= read or 0
        if self._most_left < 0:
            raise ModelMalformed(f"Bedrock's answer is larger than {MOST_BYTES} bytes")
        return read

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Reply(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        bytes_of_it = io.BufferedReader(_Bytes(sock))
        self.fp.close()
        self.fp = bytes_of_it  # type: ignore[assignment]  # the stubs know one kind of raw stream


class _Connection(AWSHTTPConnection):
    response_class = _Reply  # type: ignore[assignment]  # the stubs name what it is for `100-continue` alone


class _TlsConnection(AWSHTTPSConnection):
    response_class = _Reply  # type: ignore[assignment]  # the stubs name what it is for `100-continue` alone


class _NoRedirects(HTTPConnectionPool):
    """The library asks for none by a number of retries, which urllib3 looks at too late: it fails in making the next request."""

    def urlopen(self, *args: Any, **kwargs: Any) -> BaseHTTPResponse:
        return super().urlopen(*args, **{**kwargs, "redirect": False})


class _Pool(_NoRedirects, AWSHTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(_NoRedirects, AWSHTTPSConnectionPool):
    ConnectionCls = _TlsConnection
