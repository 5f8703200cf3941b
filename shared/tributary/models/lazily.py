"""What is made at its first use, once, however many threads want it then."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from tributary.models.bounded import Lane

Made = TypeVar("Made")


class Lazily(Generic[Made]):
    """Holds what `make` returns, and closes it when nobody needs it any more. When it raises, the next caller tries again."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: tuple[Made] | None = None
        self._lane = Lane()

    def get(self, *, timeout_s: float) -> Made:
        """Returns the one thing; raises what making it raises, and ModelTimedOut when that takes longer.

        Making a client imports its library and may look for credentials over the network, or run a program for them.
        """
        made = self._made
        return made[0] if made is not None else self._lane.within(timeout_s, self._once)

    def _once(self) -> Made:
        with self._lock:
            if self._made is None:
                made = self._make()
                if callable(close := getattr(made, "close", None)):
                    weakref.finalize(self, close)  # else its connections would be left to the collector
                self._made = (made,)
            return self._made[0]
