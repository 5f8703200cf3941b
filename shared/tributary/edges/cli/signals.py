"""Being told to stop: whatever the signal, a command ends as it does on Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stopping_on_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP what Ctrl-C is, so that everything is ended and closed on the way out."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    def terminate(_: int, __: FrameType | None) -> None:
        # The gateway has a handler of its own for SIGTERM, which lets running requests end; for SIGHUP it has none.
        signal.raise_signal(signal.SIGTERM)

    handlers: dict[int, Callable[[int, FrameType | None], None]] = {signal.SIGTERM: interrupt}
    if sys.platform != "win32":
        handlers[signal.SIGHUP] = terminate
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
