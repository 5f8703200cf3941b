"""How one call is carried out: what to send, when to wait, when to give up. It does no I/O and reads no clock of its own.

`converse` is a generator that a driver runs: it yields `Send` and is given the `Answer` or `NoAnswer`, or yields `Wait` and
is given None; what it returns is the call's result. A blocking driver and a non-blocking one differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import quote, urlencode

from tributary import __version__
from tributary.client.calls import Call, Method
from tributary.client.errors import BadReply, TributaryError, Unreachable
from tributary.client.place import Place
from tributary.client.replies import Answer, NoAnswer, error_of, may_pass

Result = TypeVar("Result")

TRIES = 5
FIRST_WAIT_S = 0.1
LONGEST_WAIT_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Send:
    """Send this, and give up on it after `timeout_s`."""

    method: Method
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    timeout_s: float
    elsewhere: bool = False
    """Whether it goes to another server than the memory's, which is told nothing of who asks."""


@dataclass(frozen=True, kw_only=True)
class Wait:
    seconds: float


Steps = Generator[Send | Wait, Answer | NoAnswer | None, Result]


def converse(
    call: Call[Result], place: Place, *, budget_s: float, clock: Callable[[], float], jitter: Callable[[], float]
) -> Steps[Result]:
    """Carries out `call`, trying again what may pass, within `budget_s` seconds by `clock` in all.

    Tried again are lost connections and replies that say "later", each time with the same idempotency key, so a write whose
    reply was lost is answered from the record. A wait is at least what the server asks for in Retry-After; when that does
    not fit into the budget, the error is raised at once. `jitter` returns a number in 0..1.
    """
    end = clock() + budget_s
    tried = 0
    while True:
        tried += 1
        answer = yield Send(
            method=call.method,
            url=call.elsewhere or _url(call, place),
            headers=_headers(call, place),
            body=call.body,
            timeout_s=max(end - clock(), 0.001),
            elsewhere=call.elsewhere is not None,
        )
        if call.follows and isinstance(answer, Answer) and answer.status == HTTPStatus.TEMPORARY_REDIRECT:
            where = answer.headers.get("location", "")
            if not where.startswith(("https://", "http://")):
                raise BadReply("the server's redirection leads nowhere")
            left_s = max(end - clock(), 0.001)
            answer = yield Send(method=call.method, url=where, headers={}, body=None, timeout_s=left_s, elsewhere=True)
        if isinstance(answer, Answer) and 200 <= answer.status < 300:
            return call.read(answer.body)
        error, passing = _went_wrong(answer, place)
        wait_s = _wait_s(tried, error, jitter())
        if not (call.again and passing) or tried == TRIES or clock() + wait_s >= end:
            raise error
        yield Wait(seconds=wait_s)


def _url(call: Call[Result], place: Place) -> str:
    # Written in the one form that a signature over it has too: nothing is left to what is in between.
    query = urlencode(call.query, doseq=True, quote_via=quote, safe="-_.~")
    return place.url + call.path + (f"?{query}" if query else "")


def _headers(call: Call[Result], place: Place) -> dict[str, str]:
    headers = {"accept": "application/json, application/problem+json", "user-agent": f"tributary-python/{__version__}"}
    if call.elsewhere is not None:
        return dict(call.headers)  # what is signed there is these and no others
    if place.token is not None:
        headers["authorization"] = f"Bearer {place.token}"
    if call.body is not None:
        headers["content-type"] = "application/json"
    headers |= {name.lower(): value for name, value in call.headers.items()}
    if call.idempotency_key is not None:
        headers["idempotency-key"] = call.idempotency_key
    return headers


def _went_wrong(answer: Answer | NoAnswer | None, place: Place) -> tuple[TributaryError, bool]:
    if isinstance(answer, Answer):
        error = error_of(answer, signed=place.signing is not None)
        return error, may_pass(error)
    reason, lasting = (answer.reason, answer.lasting) if answer else ("nothing was sent", True)
    return Unreachable(f"no answer from {place.url}: {reason}; {place.hint}"), not lasting


def _wait_s(tried: int, error: TributaryError, jitter: float) -> float:
    """Returns an exponential wait, at least half of it and the rest by chance, after what the server asked for."""
    wait: float = min(FIRST_WAIT_S * 2 ** (tried - 1), LONGEST_WAIT_S)
    return (error.retry_after or 0.0) + wait * (0.5 + 0.5 * jitter)
