"""Keeping a lease while its holder works: a thread that renews it now and then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from tributary.client.errors import Forbidden, NotFound, WrongStanding

LOST = (Forbidden, NotFound, WrongStanding)
"""Errors by which a lease is known to be nobody's any more, or another's."""
_JOIN_S = 1.0


def called(function: Callable[[], Any]) -> Any:
    """Returns what the function returns."""
    return function()


class Renewal:
    """Calls `renew` every `every_s` seconds until its block ends, or the lease is lost.

    What goes wrong is not told, and tried again the next time, unless the lease is lost: whoever holds it finds out when it
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
            except LOST:
                return
            except Exception:  # noqa: S112  (what it is may pass; a lease that runs out makes others think its holder dead)
                continue
