"""Pages of other origins: an exact allow list, and silence without one."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.contract.samples import bearer
from tests.contract.stand_in import StandIn
from tributary.contract.limits import REQUEST_BYTES
from tributary.edges.gateway import running

LISTED = "https://app.example.org"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


@pytest.fixture(scope="module")
def open_api() -> Iterator[httpx.Client]:
    """A gateway that lets LISTED in."""
    with (
        running(StandIn(), cors_origins=[LISTED, "http://localhost:3000"]) as started,
        httpx.Client(base_url=started.url, trust_env=False) as client,
    ):
        yield client


def granted(response: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name.startswith("access-control-")}


def test_listed_origin_may_read_replies(open_api: httpx.Client) -> None:
    response = open_api.get("/v1/lessons", headers={**bearer("reader"), "Origin": LISTED})
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == LISTED
    assert response.headers["access-control-expose-headers"] == "retry-after, x-operation-id"
    assert response.headers["vary"] == "Origin"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [("/v1/lessons", b"", 401), ("/nowhere", b"", 404), ("/v1/lessons", b" " * (REQUEST_BYTES + 1), 413)],
    ids=["unauthenticated", "unknown", "too-large"],
)
def test_listed_origin_may_read_problems_too(open_api: httpx.Client, path: str, body: bytes, status: int) -> None:
    response = open_api.post(path, content=body, headers={"Origin": LISTED})
    assert response.status_code == status
    assert response.headers["access-control-allow-origin"] == LISTED


def test_preflight_of_a_listed_origin_is_granted_without_a_token(open_api: httpx.Client) -> None:
    response = open_api.options("/v1/lessons", headers={"Origin": LISTED, **PREFLIGHT})
    assert response.status_code == 204
    assert response.content == b""
    assert granted(response) == {
        "access-control-allow-origin": LISTED,
        "access-control-allow-methods": "GET, POST, PUT",
        "access-control-allow-headers": "authorization, content-type, idempotency-key",
        "access-control-expose-headers": "retry-after, x-operation-id",
        "access-control-max-age": "600",
    }


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example.org",
        "https://app.example.org.evil.org",
        "https://app.example.org:8443",
        "http://app.example.org",
        "HTTPS://APP.EXAMPLE.ORG",
        "https://app.example.org/",
        "null",
        "*",
    ],
)
def test_any_other_origin_is_granted_nothing(open_api: httpx.Client, origin: str) -> None:
    for response in (
        open_api.get("/v1/lessons", headers={**bearer("reader"), "Origin": origin}),
        open_api.options("/v1/lessons", headers={"Origin": origin, **PREFLIGHT}),
    ):
        assert granted(response) == {}
        assert response.headers["vary"] == "Origin"


def test_options_that_is_no_preflight_is_405(open_api: httpx.Client) -> None:
    assert open_api.options("/v1/lessons", headers={"Origin": LISTED}).status_code == 405


def test_without_a_list_no_reply_speaks_of_origins(api: httpx.Client) -> None:
    for response in (
        api.get("/health", headers={"Origin": LISTED}),
        api.options("/v1/lessons", headers={"Origin": LISTED, **PREFLIGHT}),
    ):
        assert granted(response) == {}
        assert "vary" not in response.headers
    assert response.status_code == 405
