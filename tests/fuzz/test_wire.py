"""Bytes that are no request, or a strange one, on the gateway's own socket: an answer of ours, or the end of the connection.

Never a 500, never a word of our insides, never a connection that neither answers nor ends, always a server for the next.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
from collections.abc import Iterator

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.contract.stand_in import StandIn
from tributary.contract.routes import ROUTES
from tributary.edges.gateway import running

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
HARD = settings(
    max_examples=10 * EXAMPLES or 80,
    deadline=None,
    derandomize=not EXAMPLES,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
_PATIENCE_S = 20.0
_SILENCE_S = 0.02
"""After so long without an answer, more is sent: that there is no more."""
_MOST_BYTES = 4_000_000
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")

SOUND = b'POST /v1/recall HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer reader\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"query": "q"}'  # noqa: E501
GET = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with running(StandIn()) as gateway:
        yield gateway.host, gateway.port


def exchanged(address: tuple[str, int], raw: bytes, *, awaits: bool) -> bytes:
    """Sends bytes and returns all that comes back until the server ends the connection.

    Whether or not it `awaits` an answer, it then says that there is no more to come: a server that waited for more has to end.
    """
    with socket.create_connection(address, timeout=_PATIENCE_S if awaits else _SILENCE_S) as connection:
        taken = bytearray()
        try:
            connection.sendall(raw)
            with contextlib.suppress(TimeoutError):
                taken += connection.recv(65_536)
            connection.settimeout(_PATIENCE_S)
            connection.shutdown(socket.SHUT_WR)
            while len(taken) < _MOST_BYTES and (piece := connection.recv(65_536)):
                taken += piece
        except (ConnectionResetError, BrokenPipeError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise  # it neither answers nor ends
        return bytes(taken)


def in_order(answered: bytes) -> list[int]:
    """Returns the statuses of the replies, having looked for what no reply may have."""
    statuses = [int(found) for found in _STATUS.findall(answered)]
    assert not [one for one in statuses if one >= 500], answered[:2_000]
    assert b"Traceback" not in answered
    assert b"tributary/edges" not in answered
    assert answered == b"" or answered.startswith(b"HTTP/1.1 "), answered[:200]
    return statuses


PIECES = (
    SOUND,
    GET,
    b"\r\n",
    b"\x00",
    b"\xff" * 9,
    b" ",
    b"HTTP/1.1",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Length: -1\r\n",
    b"0\r\n\r\n",
    b"%00",
    b"../",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00",
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A sound request, or several, with bytes taken out, put in, doubled and turned over."""
    raw = bytearray(b"".join(draw(st.lists(st.sampled_from((SOUND, GET)), min_size=1, max_size=3))))
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(raw)))
        kind = draw(st.sampled_from(("out", "in", "twice", "turned")))
        length = draw(st.integers(1, 30))
        if kind == "out":
            del raw[place : place + length]
        elif kind == "in":
            raw[place:place] = draw(st.sampled_from(PIECES) | st.binary(max_size=20))
        elif kind == "twice":
            raw[place:place] = raw[place : place + length]
        elif place < len(raw):
            raw[place] ^= 1 << draw(st.integers(0, 7))
    return bytes(raw)


@HARD
@example(raw=b"").via("nothing at all")
@example(raw=SOUND * 20).via("pipelined")
@given(raw=mutated())
def test_bytes_on_the_socket_are_answered_in_order_or_the_connection_ends(address: tuple[str, int], raw: bytes) -> None:
    in_order(exchanged(address, raw, awaits=False))


HEAD = b" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer reader\r\n"
STRANGE: dict[str, tuple[bytes, set[int]]] = {
    "another protocol": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", {400}),
    "HTTP/2 without asking": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 404, 405}),
    "no host": (b"GET /health HTTP/1.1\r\n\r\n", {400}),
    "a header of 100 KB": (b"GET /health" + HEAD + b"X: " + b"a" * 100_000 + b"\r\n\r\n", {200, 400, 431}),
    "10,000 headers": (b"GET /health" + HEAD + b"".join(b"X%d: a\r\n" % one for one in range(10_000)) + b"\r\n", {200, 400, 431}),
    "an address of 100 KB": (b"GET /" + b"a" * 100_000 + HEAD + b"\r\n", {400, 404, 414}),
    "a length that is no number": (b"POST /v1/recall" + HEAD + b"Content-Length: x\r\n\r\n", {400}),
    "a negative length": (b"POST /v1/recall" + HEAD + b"Content-Length: -5\r\n\r\n", {400}),
    "two lengths": (b"POST /v1/recall" + HEAD + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde", {400}),
    "a length and chunks": (b"POST /v1/recall" + HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400, 415}),  # noqa: E501
    "a length that is never reached": (b"POST /v1/recall" + HEAD + b"Content-Length: 500\r\n\r\n{}", set()),
    "a length beyond all limits": (b"POST /v1/recall" + HEAD + b"Content-Length: 99999999999999999999\r\n\r\n", {400, 413}),
    "chunks": (b"POST /v1/recall" + HEAD + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\ne\r\n{\"query\": \"q\"}\r\n0\r\n\r\n", {200}),  # noqa: E501
    "a chunk's size that is none": (b"POST /v1/recall" + HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", {400}),
    "a chunk of gigabytes": (b"POST /v1/recall" + HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\nabc", set()),
    "an unknown coding": (b"POST /v1/recall" + HEAD + b"Transfer-Encoding: gzip\r\n\r\n", {400, 501}),
    "a zipped body": (b"POST /v1/recall" + HEAD + b"Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b", {415}),  # noqa: E501
    "a continued header": (b"GET /health" + HEAD + b"X: a\r\n b\r\n\r\n", {200, 400}),
    "a header without a name": (b"GET /health" + HEAD + b": a\r\n\r\n", {400}),
    "a NUL in a header": (b"GET /health" + HEAD + b"X: a\x00b\r\n\r\n", {200, 400}),
    "bytes above ASCII in a token": (b"GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xfe\r\n\r\n", {401, 403}),
    "another scheme": (b"GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Basic cmVhZGVyOg==\r\n\r\n", {401}),
    "the way up": (b"GET /v1/../../etc/passwd" + HEAD + b"\r\n", {404}),
    "the way up, written out": (b"GET /v1/lessons/%2e%2e%2f%2e%2e%2fetc%2fpasswd" + HEAD + b"\r\n", {400, 404}),
    "an id that is written out": (b"GET /v1/lessons/%6c%65%73_0" + HEAD + b"\r\n", {400}),
    "half an escape": (b"GET /v1/lessons/%" + HEAD + b"\r\n", {400, 404}),
    "an escape that is no UTF-8": (b"GET /v1/lessons/%ff%fe" + HEAD + b"\r\n", {400, 404}),
    "a NUL in the path": (b"GET /v1/lessons/%00" + HEAD + b"\r\n", {400, 404}),
    "a NUL in the query": (b"GET /v1/lessons?subject=%00" + HEAD + b"\r\n", {400}),
    "a query that is no UTF-8": (b"GET /v1/lessons?subject=%ff" + HEAD + b"\r\n", {400}),
    "bytes above ASCII in the query": (b"GET /v1/lessons?subject=\xff\xfe" + HEAD + b"\r\n", {400}),
    "bytes above ASCII in the path": (b"GET /v1/lessons/\xc3\xa9" + HEAD + b"\r\n", {400, 404}),
    "a whole address": (b"GET http://elsewhere/v1/me" + HEAD + b"\r\n", {200, 400, 404}),
    "an asterisk": (b"OPTIONS *" + HEAD + b"\r\n", {400, 404, 405}),
    "a tunnel": (b"CONNECT elsewhere:443" + HEAD + b"\r\n", {400, 404, 405}),
    "a trace": (b"TRACE /v1/me" + HEAD + b"\r\n", {405}),
    "an unheard-of method": (b"BREW /v1/me" + HEAD + b"\r\n", {405}),
    "a method in small letters": (b"get /v1/me" + HEAD + b"\r\n", {200, 405}),
    "a HEAD": (b"HEAD /v1/me" + HEAD + b"\r\n", {200, 405}),
    "a look ahead": (b"POST /v1/recall" + HEAD + b"Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"query\": \"q\"}", {100, 200}),  # noqa: E501
    "another protocol asked for": (b"GET /health" + HEAD + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n", {200}),  # noqa: E501
    "a request after a broken one": (b"POST /v1/recall" + HEAD + b"Content-Length: x\r\n\r\n" + GET, {400}),
    "lines that end in LF alone": (b"GET /health HTTP/1.1\nHost: x\n\n", {200, 400}),
    "HTTP/1.0": (b"GET /health HTTP/1.0\r\n\r\n", {200}),
    "HTTP/9.9": (b"GET /health HTTP/9.9\r\nHost: x\r\n\r\n", {200, 400, 505}),
}  # fmt: skip


@pytest.mark.parametrize("name", STRANGE)
def test_strange_request_gets_the_status_that_it_deserves(address: tuple[str, int], name: str) -> None:
    raw, deserved = STRANGE[name]
    statuses = in_order(exchanged(address, raw, awaits=bool(deserved)))
    assert set(statuses) <= deserved, statuses
    assert statuses or not deserved
    with httpx.Client(base_url=f"http://{address[0]}:{address[1]}", trust_env=False) as next_one:
        assert next_one.get("/health").status_code == 200


@HARD
@given(
    method=st.sampled_from(("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")),
    path=st.sampled_from([route.path for route in ROUTES]),
    segment=st.binary(max_size=12),
    query=st.binary(max_size=20),
)
def test_any_bytes_in_an_address_are_answered_by_a_problem_of_ours(
    address: tuple[str, int], method: str, path: str, segment: bytes, query: bytes
) -> None:
    """Whatever an address holds is written in escapes, as any client may write it."""
    written = re.sub(r"\{\w+\}", "".join(f"%{one:02X}" for one in segment), path)
    asked = "".join(f"%{one:02X}" for one in query)
    answered = exchanged(address, f"{method} {written}?a={asked}".encode() + HEAD + b"Content-Length: 0\r\n\r\n", awaits=True)
    (status,) = in_order(answered)
    head, _, body = answered.partition(b"\r\n\r\n")
    if status >= 400 and method != "HEAD":
        assert b"application/problem+json" in head.lower()
        assert json.loads(body)["status"] == status
