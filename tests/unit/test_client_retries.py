"""When the SDK tries again, when it gives up, and that trying again is harmless."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest

import tributary.client as sdk
from tests.unit.client_fakes import ONE, TOKEN, URL, Hands, Tribe, opened, problem
from tests.unit.client_methods import FACES, METHODS, Wire, required
from tributary.client import Memory, told
from tributary.client.conversation import FIRST_WAIT_S, LONGEST_WAIT_S, TRIES
from tributary.contract.route import Route
from tributary.contract.routes import ROUTES


@pytest.fixture
def tribe() -> Tribe:
    return Tribe()


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def memory(tribe: Tribe, hands: Hands) -> Iterator[Memory]:
    with opened(tribe, hands) as memory:
        yield memory


def failing(tribe: Tribe, *endings: httpx.Response | Exception) -> None:
    """Makes the first requests end so, and the ones after them go through."""
    left = list(endings)

    def before(_: httpx.Request) -> httpx.Response | None:
        if not left:
            return None
        first = left.pop(0)
        if isinstance(first, Exception):
            raise first
        return first

    tribe.before = before


def refused() -> httpx.ConnectError:
    return httpx.ConnectError("connection refused")


def test_a_learn_whose_reply_was_lost_is_sent_again_under_the_same_key_and_learned_once(memory: Memory, tribe: Tribe) -> None:
    tribe.losing = 2
    assert memory.learn("t", situation="s", source=told()).replayed
    assert len(tribe.requests) == 3
    assert len(tribe.kept) == 1


def test_a_reinforce_whose_reply_was_lost_is_sent_again_under_the_same_key(memory: Memory, tribe: Tribe) -> None:
    tribe.losing = 1
    assert memory.reinforce(ONE).replayed
    assert len(tribe.kept) == 1


@pytest.mark.parametrize(("face", "method"), METHODS, ids=str)
def test_every_write_has_one_key_for_all_its_tries_and_another_for_the_next_call(face: str, method: str) -> None:
    keys = []
    for _ in range(2):
        wire = Wire(["lost", "refused", "lost"])
        with opened(wire, Hands()) as memory, suppress(sdk.Unavailable):  # health and distill ask once
            found = getattr(FACES[face](memory), method)(**required(face, method))
            if isinstance(found, Iterator):
                next(found)
        keyed = [one for one in wire.tribe.requests if _route(one).keyed]
        found_keys = {(one.url.path, one.headers["idempotency-key"]) for one in keyed}
        assert len(found_keys) == len({path for path, _ in found_keys})
        assert not keyed or len(keyed) >= 4
        keys += [key for _, key in found_keys]
    assert len(set(keys)) == len(keys)


def test_every_operation_that_takes_a_key_is_a_method() -> None:
    reached = set()
    for face, method in METHODS:
        wire = Wire([])
        with opened(wire, Hands()) as memory, suppress(sdk.TributaryError):
            getattr(FACES[face](memory), method)(**required(face, method))
        reached |= {_route(one).operation for one in wire.tribe.requests}
    assert {route.operation for route in ROUTES if route.keyed} <= reached


def _route(request: httpx.Request) -> Route:
    path = re.sub(r"/[a-z]{3}_[0-9a-f]{32}", "/{id}", request.url.path)
    path = re.sub(r"/[0-9a-f]{64}", "/{sha256}", path)
    return next(route for route in ROUTES if (route.method, route.path) == (request.method, path))


@pytest.mark.parametrize(
    "ending",
    [
        refused(),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("server disconnected"),
        problem("unavailable"),
        problem("overloaded"),
        problem("model_failed"),
        problem("timed_out"),
        httpx.Response(502, text="bad gateway"),
        httpx.Response(504, json={"message": "Endpoint request timed out"}),
        httpx.Response(429, json={"message": "Too Many Requests"}),
    ],
)
def test_what_may_pass_is_tried_again(memory: Memory, tribe: Tribe, ending: httpx.Response | Exception) -> None:
    failing(tribe, ending, ending)
    assert len(memory.recall("q")) == 1
    assert len(tribe.requests) == 3


@pytest.mark.parametrize(
    "code",
    [
        "invalid_request",
        "unauthenticated",
        "forbidden",
        "not_found",
        "idempotency_conflict",
        "wrong_standing",
        "too_large",
        "internal",
        "not_migrated",
        "code_too_old",
    ],
)
def test_what_would_not_pass_is_told_at_once(memory: Memory, tribe: Tribe, hands: Hands, code: str) -> None:
    failing(tribe, problem(code))
    with pytest.raises(sdk.TributaryError) as caught:
        memory.learn("t", situation="s", source=told())
    assert caught.value.code == code
    assert len(tribe.requests) == 1
    assert not hands.waits


def test_a_certificate_that_does_not_fit_is_told_at_once(memory: Memory, tribe: Tribe) -> None:
    failure = refused()
    failure.__cause__ = ssl.SSLCertVerificationError("certificate verify failed")
    failing(tribe, failure)
    with pytest.raises(sdk.Unreachable):
        memory.recall("q")
    assert len(tribe.requests) == 1


def test_tries_are_bounded_and_the_last_error_says_what_to_do(memory: Memory, tribe: Tribe) -> None:
    failing(tribe, *[refused()] * 50)
    with pytest.raises(sdk.Unreachable, match=f"{URL}.*connection refused") as caught:
        memory.recall("q")
    assert len(tribe.requests) == TRIES
    assert caught.value.code == "unreachable"


def test_waits_grow_are_bounded_and_jittered(tribe: Tribe) -> None:
    for jitter, share in ((0.0, 0.5), (1.0, 1.0)):
        hands = Hands()
        failing(tribe, *[refused()] * 50)
        memory = Memory(
            URL,
            TOKEN,
            transport=httpx.MockTransport(tribe),
            environment={},
            clock=hands.clock,
            sleep=hands.sleep,
            jitter=lambda jitter=jitter: jitter,  # type: ignore[misc]  # a lambda's default has no annotation
        )
        with memory, pytest.raises(sdk.Unreachable):
            memory.recall("q")
        expected = [min(FIRST_WAIT_S * 2**n, LONGEST_WAIT_S) * share for n in range(TRIES - 1)]
        assert hands.waits == pytest.approx(expected)


def test_a_wait_is_at_least_what_the_server_asks_for(memory: Memory, tribe: Tribe, hands: Hands) -> None:
    failing(tribe, httpx.Response(429, headers={"Retry-After": "7"}))
    memory.recall("q")
    assert 7 <= hands.waits[0] <= 7 + LONGEST_WAIT_S


def test_a_date_in_retry_after_is_measured_by_the_servers_own_clock(memory: Memory, tribe: Tribe, hands: Hands) -> None:
    dates = {"Date": "Sun, 01 Mar 2026 12:00:00 GMT", "Retry-After": "Sun, 01 Mar 2026 12:00:09 GMT"}
    failing(tribe, httpx.Response(503, headers=dates))
    memory.recall("q")
    assert 9 <= hands.waits[0] <= 9 + LONGEST_WAIT_S


@pytest.mark.parametrize("asked", ["soon", "-5", "nan", "1e9", "", "Sun, 01 Mar 2026 12:00:09 GMT"])
def test_a_retry_after_that_says_nothing_is_passed_over(memory: Memory, tribe: Tribe, hands: Hands, asked: str) -> None:
    failing(tribe, httpx.Response(503, headers={"Retry-After": asked}))
    memory.recall("q")
    assert hands.waits == pytest.approx([FIRST_WAIT_S])


def test_a_wait_that_does_not_fit_into_the_budget_is_not_begun(tribe: Tribe, hands: Hands) -> None:
    failing(tribe, httpx.Response(429, headers={"Retry-After": "30"}))
    with opened(tribe, hands, timeout_s=20.0) as memory, pytest.raises(sdk.Overloaded) as caught:
        memory.recall("q")
    assert caught.value.retry_after == 30
    assert not hands.waits


def test_the_budget_bounds_all_tries_together(tribe: Tribe, hands: Hands) -> None:
    allowed: list[float] = []

    def slow(request: httpx.Request) -> httpx.Response:
        allowed.append(request.extensions["timeout"]["read"])
        hands.now += 4.0
        raise httpx.ReadTimeout("slow", request=request)

    tribe.before = slow
    with opened(tribe, hands, timeout_s=10.0) as memory, pytest.raises(sdk.Unreachable):
        memory.recall("q")
    assert hands.now - 1000.0 <= 10.0 + 4.0
    assert allowed[0] == 10.0
    assert allowed[1] < 10.0 - 4.0
    assert allowed[2] < 10.0 - 8.0
    assert len(allowed) == 3


def test_a_body_that_drips_past_the_budget_is_given_up(tribe: Tribe, hands: Hands) -> None:
    def drip() -> Iterator[bytes]:
        while True:
            hands.now += 1.0
            yield b" "

    tribe.before = lambda _: httpx.Response(200, content=drip())
    with opened(tribe, hands, timeout_s=10.0) as memory, pytest.raises(sdk.Unreachable, match="too long"):
        memory.recall("q")
    assert hands.now - 1000.0 <= 12.0


def test_threads_may_share_a_memory(memory: Memory, tribe: Tribe) -> None:
    tribe.losing = 3
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(len(memory.recall("q")))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 8
