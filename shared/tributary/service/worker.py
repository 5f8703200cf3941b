"""The worker beside a running server: settles pending lessons soon after they were kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tributary.core.errors import TributaryError
from tributary.service.memory import Memory
from tributary.telemetry import Event, log


@contextmanager
def settling(memory: Memory, *, every_s: float = 1.0) -> Iterator[None]:
    """Runs a thread that settles pending lessons every `every_s` seconds until the block ends.

    A failing round is logged and tried again with the next one: nothing pending is ever given up.
    """
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(every_s):
            with log.operation():
                try:
                    memory.settle_pending()
                except TributaryError as error:
                    log.event(Event.SETTLE_FAILED, level=log.WARNING, error=error, code=error.code)
                except Exception as error:  # a worker that died in silence would leave lessons pending for good
                    log.event(Event.SETTLE_FAILED, level=log.ERROR, error=error, code="internal")

    thread = threading.Thread(target=work, name="tributary-settling", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
