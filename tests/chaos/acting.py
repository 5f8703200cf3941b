"""A process that carries out one action, to be killed while it does, run by path: `python acting.py`.

It takes one order as a line of JSON on stdin, and says on stdout, as JSON, what it came to. Its effect is one line more in a
file, which nothing else counts.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import httpx

from tributary.client import Memory, TributaryError


class Point(StrEnum):
    """Where the process is killed, in the order in which it comes by."""

    BEFORE_BEGIN = "before_begin"
    BEGUN = "begun"
    """The reply to its begin has arrived, and was not looked at yet."""
    BEFORE_EFFECT = "before_effect"
    AFTER_EFFECT = "after_effect"
    BEFORE_COMPLETE = "before_complete"
    COMPLETED = "completed"
    """As with `BEGUN`, of the completion."""
    AT_THE_END = "at_the_end"


@dataclass(frozen=True, kw_only=True)
class Order:
    """One action. `once` False has the effect without asking anybody, as the control does."""

    url: str
    token: str
    key: str
    counter: str
    point: Point | None
    once: bool = True


def have_effect(counter: Path) -> str:
    """Adds a line to the file, whole."""
    descriptor = os.open(counter, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, b"happened\n")
    finally:
        os.close(descriptor)
    return "happened"


class Mortal(httpx.HTTPTransport):
    """Sends over HTTP, and dies around the requests that the order's point names."""

    def __init__(self, order: Order) -> None:
        super().__init__()
        self._order = order

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        begins, completes = request.url.path == "/v1/actions", request.url.path.endswith("/complete")
        die_at(self._order, Point.BEFORE_BEGIN, when=begins)
        die_at(self._order, Point.BEFORE_COMPLETE, when=completes)
        response = super().handle_request(request)
        response.read()
        die_at(self._order, Point.BEGUN, when=begins)
        die_at(self._order, Point.COMPLETED, when=completes)
        return response


def die_at(order: Order, point: Point, *, when: bool = True) -> None:
    if when and order.point is point:
        os.kill(os.getpid(), signal.SIGKILL)


def act(order: Order) -> object:
    """Returns what came of it."""

    def effect() -> str:
        die_at(order, Point.BEFORE_EFFECT)
        result = have_effect(Path(order.counter))
        die_at(order, Point.AFTER_EFFECT)
        return result

    if not order.once:
        return effect()
    with Memory(order.url, order.token, environment={}, transport=Mortal(order)) as memory:
        try:
            result = memory.once(order.key, effect, wait_s=0)
        except TributaryError as error:
            return {"error": error.code}
        die_at(order, Point.AT_THE_END)
        return result


def main() -> None:
    given = json.loads(sys.stdin.readline())
    order = Order(**{**given, "point": given["point"] and Point(given["point"])})
    sys.stdout.write(json.dumps(act(order)) + "\n")


if __name__ == "__main__":
    main()
