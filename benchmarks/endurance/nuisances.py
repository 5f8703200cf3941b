"""Callers as no server wishes them: drop by drop, half a request and gone, a whole one whose reply nobody reads."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

DROP_EVERY_S = 0.5
LONGEST_S = 8.0
"""After which one hangs up and comes again: before the server says that it waited for too long, which would be a 503."""
RUDE_EVERY = 40
"""One in so many sends all of its request and leaves without the reply."""


@dataclass(kw_only=True)
class _Caller:
    link: socket.socket
    left: bytes
    until: float


class Nuisances:
    """Keeps so many connections of such callers open, from one thread, while the block runs."""

    def __init__(self, url: str, token: str, count: int, *, seed: int) -> None:
        found = urlsplit(url)
        self._place = (found.hostname or "", found.port or 80)
        body = json.dumps({"query": "what to do when nobody reads the answer"}).encode()
        self._request = (
            b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s" % (token.encode(), len(body), body)
        )
        self._body = len(body)
        self._count = count
        self._rng = random.Random(seed)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nuisances")

    def __enter__(self) -> Nuisances:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        callers: list[_Caller] = []
        while not self._over.wait(DROP_EVERY_S):
            callers = [one for one in callers if self._goes_on(one)]
            while len(callers) < self._count:
                with contextlib.suppress(OSError):
                    callers.append(self._new())
                    continue
                break
        for one in callers:
            one.link.close()

    def _new(self) -> _Caller:
        link = socket.create_connection(self._place, timeout=5)
        link.setblocking(False)
        chance = self._rng.random()
        if chance < 1 / RUDE_EVERY:
            at_once = len(self._request)
        elif chance < 0.5:
            at_once = self._rng.randrange(20)  # the head comes drop by drop
        else:
            at_once = len(self._request) - self._body + 3
        link.send(self._request[:at_once])
        # never the last byte: that would be a request
        drops = self._request[at_once:-1]
        return _Caller(link=link, left=drops, until=time.monotonic() + self._rng.uniform(1, LONGEST_S))

    def _goes_on(self, one: _Caller) -> bool:
        try:
            if one.left and time.monotonic() < one.until:
                one.left = one.left[one.link.send(one.left[:1]) :]
                return True
        except BlockingIOError:
            return True
        except OSError:
            pass  # cut by the server
        one.link.close()
        return False
