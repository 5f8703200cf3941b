"""The HTTP client that other libraries' clients of models are given: it ends in time, reads so much, and goes nowhere else.

Imported only where such a library is, which brings httpx2.
"""

from __future__ import annotations

import math
import ssl
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpcore2
import httpx2

from tributary.core.errors import ModelMalformed
from tributary.models.bounded import MOST_REPLY_BYTES, left_s
from tributary.models.loopback import is_here

_LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100, keepalive_expiry=30.0)


def http_client(url: str, *, timeout_s: float) -> httpx2.Client:
    """Makes a client for one base URL, safe to share between threads; raises ValueError and what httpx2 raises for its settings.

    It follows no redirect, since a question is for whom the operator named. Proxies are those of the environment, and none when
    the URL is on this computer. Every read and write ends when the call of its thread does (`left_s`), and a reply, refusals
    included, holds up to MOST_REPLY_BYTES: it is asked for as it is, and one that is compressed all the same is not unpacked.
    """
    client = httpx2.Client(
        timeout=timeout_s,
        limits=_LIMITS,
        follow_redirects=False,
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [_capped]},
        mounts={f"all://{urlsplit(url).netloc.rpartition('@')[2]}": None} if is_here(url) else None,
    )
    # There is no public way to both the proxies of the environment and a network of one's own.
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx2.HTTPTransport):
            transport._pool._network_backend = _Network()
    return client


def _capped(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.SyncByteStream):
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        response.stream = _Capped(response.stream, plain=encoding in ("", "identity"))


class _Capped(httpx2.SyncByteStream):
    """Raises when it is read, not before: there the libraries let it through as it is."""

    def __init__(self, stream: httpx2.SyncByteStream, *, plain: bool) -> None:
        self._stream = stream
        self._plain = plain

    def __iter__(self) -> Iterator[bytes]:
        if not self._plain:
            raise ModelMalformed("the provider's answer is compressed, which was not asked for")
        size = 0
        for chunk in self._stream:
            size += len(chunk)
            if size > MOST_REPLY_BYTES:
                raise ModelMalformed(f"the provider's answer is larger than {MOST_REPLY_BYTES} bytes")
            yield chunk

    def close(self) -> None:
        self._stream.close()


class _Network(httpcore2.NetworkBackend):
    def __init__(self) -> None:
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        return _Stream(
            self._sockets.connect_tcp(
                host, port, timeout=_at_most(timeout), local_address=local_address, socket_options=socket_options
            )
        )

    def sleep(self, seconds: float) -> None:
        self._sockets.sleep(seconds)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, timeout=_at_most(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout=_at_most(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, timeout=_at_most(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _at_most(timeout: float | None) -> float | None:
    left = left_s()
    if left <= 0:
        raise httpcore2.ReadTimeout("nobody waits for the call any more")
    if timeout is not None:
        return min(left, timeout)
    return left if math.isfinite(left) else None
