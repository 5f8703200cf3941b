"""Calls of foreign models end in time, and are tried again only where that may help.

Clients bound each read, not the whole call: a server that drips a byte a second would hold its caller for ever. So a call runs
in a thread of its own, and whoever waits for it stops waiting. What is left behind ends with the client's own time-out.
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
MOST_RUNNING = 128
"""Calls that may run in one process, those among them that nobody waits for any more; beyond it none is begun."""
_FIRST_WAIT_S = 0.25
_running = threading.BoundedSemaphore(MOST_RUNNING)


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


def within(timeout_s: float, call: Callable[[], Answer]) -> Answer:
    """Returns what `call` returns, or raises what it raises; raises ModelTimedOut when that takes longer than `timeout_s`."""
    if not math.isfinite(timeout_s) or timeout_s <= 0:
        raise ModelTimedOut("no time was left for the call")
    if not _running.acquire(blocking=False):
        raise ModelFailed("too many earlier calls of models still hang")
    result: queue.SimpleQueue[tuple[bool, object]] = queue.SimpleQueue()

    def run() -> None:
        try:
            result.put((True, call()))
        except BaseException as error:  # raised again where it is waited for
            result.put((False, error))
        finally:
            _running.release()

    threading.Thread(target=run, name="model-call", daemon=True).start()
    try:
        done, found = result.get(timeout=timeout_s)
    except queue.Empty:
        raise ModelTimedOut(f"no answer within {timeout_s:.3g} s") from None
    if not done:
        raise found  # type: ignore[misc]  # what a thread raised is an exception
    return found  # type: ignore[return-value]  # it is what `call` returned


def _wait_s(error: ModelFailed, attempt: int) -> float:
    if isinstance(error, ModelThrottled) and error.retry_after_s is not None:
        return max(0.0, error.retry_after_s)
    return _FIRST_WAIT_S * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.0)  # noqa: S311  (spreads load, keeps no secret)
