"""Bytes of evidence that lie on another server than the memory's: it is told nothing of who asks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import httpx
import pytest

from tests.iam_gateway import REGION, Caller
from tests.unit.client_fakes import TOKEN
from tributary.client import Aws, Memory, TributaryError

API = f"https://abc123.execute-api.{REGION}.amazonaws.com"
BUCKET = "https://evidence.example.org"
CALLER = Caller(key_id="AKIDEXAMPLE", secret="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", arn="arn", session="session/token")
LOG = b"ERROR 429"
SHA256 = hashlib.sha256(LOG).hexdigest()


class Servers(httpx.BaseTransport):
    """The memory, which sends callers on, and another server, which has the bytes."""

    def __init__(self) -> None:
        self.kept = False
        self.seen: dict[str, list[httpx.Request]] = {API: [], BUCKET: []}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        host = f"https://{request.url.host}"
        self.seen[host].append(request)
        if host == BUCKET:
            self.kept = True
            return httpx.Response(200, content=LOG)
        if request.method == "POST":
            upload = {"method": "PUT", "url": f"{BUCKET}/o?X-Amz-Signature=1", "headers": {"x-amz-checksum-sha256": "c="}}
            announced = {"id": f"sha256:{SHA256}", "bytes": len(LOG), "content_type": "text/plain", "name": None}
            return httpx.Response(200, json={**announced, "upload": None if self.kept else upload})
        return httpx.Response(307, headers={"location": f"{BUCKET}/o?X-Amz-Signature=2"})


@pytest.fixture
def servers() -> Servers:
    return Servers()


@pytest.fixture(params=["token", "signature"])
def memory(request: pytest.FixtureRequest, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    for name, value in CALLER.environment.items():
        monkeypatch.setenv(name, value)
    token, aws = (TOKEN, None) if request.param == "token" else (None, Aws())
    with Memory(API, token, aws=aws, transport=servers, environment={}) as memory:
        yield memory


def test_bytes_go_to_and_come_from_another_server_without_token_and_signature(memory: Memory, servers: Servers) -> None:
    assert memory.attach(LOG).ref == f"sha256:{SHA256}"
    assert memory.evidence(f"sha256:{SHA256}") == LOG
    assert [one.method for one in servers.seen[BUCKET]] == ["PUT", "GET"]
    for request in servers.seen[BUCKET]:
        assert not {"authorization", "x-amz-security-token", "x-amz-date", "idempotency-key", "cookie"} & set(request.headers)
        assert TOKEN not in str(request.headers.raw)
    assert servers.seen[BUCKET][0].headers["x-amz-checksum-sha256"] == "c="
    assert all("authorization" in one.headers for one in servers.seen[API])


def test_no_other_call_goes_where_the_memory_points(memory: Memory, servers: Servers) -> None:
    with pytest.raises(TributaryError):
        memory.stats()
    assert servers.seen[BUCKET] == []
