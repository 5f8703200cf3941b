"""Keeping a lease while its holder works: a thread that renews it now and then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from tributary.client.errors import Unavailable

_JOIN_S = 1.0


class Renewal:
    """Calls `renew` every `every_s` seconds until its block ends, or the lease is lost.

    A try that may be repeated is, the next time. What else goes wrong is not told: whoever holds the lease finds out when it
    ends the action, which it may even then.
    """

    def __init__(self, renew: Callable[[], object], *, every_s: float) -> None:
        self._renew = renew
        self._every_s = every_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="tributary-lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join(_JOIN_S)

    def _go_on(self) -> None:
        while not self._ended.wait(self._every_s):
            try:
                self._renew()
            except Unavailable:
                continue
            except Exception:  # the lease is lost, or the client was closed meanwhile: there is nobody to tell
                return
