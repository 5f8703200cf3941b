"""What is made at its first use, once, however many threads want it then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Lazily(Generic[Made]):
    """Holds what `make` returns. When it raises, the next caller tries again."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: tuple[Made] | None = None

    def get(self) -> Made:
        """Returns the one thing; raises what making it raises."""
        with self._lock:
            if self._made is None:
                self._made = (self._make(),)
            return self._made[0]
