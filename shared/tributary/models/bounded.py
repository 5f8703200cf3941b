"""Calls of foreign models end in time, and are tried again only where that may help.

Clients bound each read, not the whole call: a server that drips a byte a second would hold its caller for ever. So a call runs
in a thread of its own, and whoever waits for it stops waiting. What is left behind ends itself where it can: the wires of our
clients (`http_wire`, `aws_wire`) read no longer than `left_s` allows. A look-up of a name, a handshake that drips, and whatever
a library asks by clients of its own, such as credentials, may hang longer; the lane that a call runs in contains that.
"""

from __future__ import annotations

import math
import queue
import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from tributary.core.errors import ModelFailed, ModelThrottled, ModelTimedOut, ModelUnreachable

Answer = TypeVar("Answer")

ATTEMPTS = 3
MOST_ABANDONED = 64
"""Calls of one lane that nobody waits for any more and that still run; beyond it the lane begins none."""
MOST_REPLY_BYTES = 4 * 1024 * 1024
"""Of all that a provider sends about one answer."""
_FIRST_WAIT_S = 0.25
_this_thread = threading.local()


def bounded(
    call: Callable[[float], Answer],
    *,
    timeout_s: float,
    attempts: int = ATTEMPTS,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Answer:
    """Calls `call(remaining_s)`, and again when the provider was throttling or away, until it answers or the time is over.

    A throttling provider's own reset decides how long is waited; without one, and when it was away, it is 0.25 s, doubled each
    time, with jitter. A wait that would outlast the time is not begun. Raises what the last attempt raised.
    """
    until = clock() + timeout_s
    attempt = 1
    while True:
        if (remaining := until - clock()) <= 0:
            raise ModelTimedOut(f"no answer within {timeout_s:.3g} s")
        try:
            return call(remaining)
        except (ModelThrottled, ModelUnreachable) as error:
            wait = _wait_s(error, attempt)
            if attempt >= attempts or clock() + wait >= until:
                raise
            sleep(wait)
            attempt += 1


class Lane:
    """What one adapter's calls run in: each in a thread of its own, for as long as somebody waits. Safe to share.

    Calls that are waited for are not counted, since whoever waits bounds them. Those that hang on after that are, so that a
    provider that hangs costs a bounded number of threads, and keeps nobody from another provider.
    """

    def __init__(self) -> None:
        self._abandoned = 0
        self._lock = threading.Lock()

    def within(self, timeout_s: float, call: Callable[[], Answer]) -> Answer:
        """Returns what `call` returns, or raises what it raises; raises ModelTimedOut when that takes longer than `timeout_s`.

        Raises ModelUnreachable, and calls nothing, while as many earlier calls hang as may.
        """
        if not math.isfinite(timeout_s) or timeout_s <= 0:
            raise ModelTimedOut("no time was left for the call")
        if self._abandoned >= MOST_ABANDONED:
            raise ModelUnreachable(f"{MOST_ABANDONED} earlier calls of this model were given up and still hang")
        result: queue.SimpleQueue[tuple[bool, object]] = queue.SimpleQueue()
        until = time.monotonic() + timeout_s
        ended = given_up = False

        def run() -> None:
            nonlocal ended
            _this_thread.until = until
            try:
                result.put((True, call()))
            except BaseException as error:  # raised again where it is waited for
                result.put((False, error))
            finally:
                with self._lock:
                    ended = True
                    self._abandoned -= given_up

        threading.Thread(target=run, name="model-call", daemon=True).start()
        try:
            done, found = result.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            with self._lock:
                given_up = not ended
                self._abandoned += given_up
            raise ModelTimedOut(f"no answer within {timeout_s:.3g} s") from None
        if not done:
            raise found  # type: ignore[misc]  # what a thread raised is an exception
        return found  # type: ignore[return-value]  # it is what `call` returned


def left_s() -> float:
    """Returns how long the call that this thread runs is still waited for, not above 0 when it is not; infinite outside one."""
    until: float = getattr(_this_thread, "until", math.inf)
    return until - time.monotonic()


def _wait_s(error: ModelFailed, attempt: int) -> float:
    if isinstance(error, ModelThrottled) and error.retry_after_s is not None:
        return max(0.0, error.retry_after_s)
    return _FIRST_WAIT_S * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.0)  # noqa: S311  (spreads load, keeps no secret)
