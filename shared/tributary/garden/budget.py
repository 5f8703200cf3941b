"""How long a run may take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from tributary.core.errors import InvalidRequest


def never() -> bool:
    """Goes on until the time is over."""
    return False


class Budget:
    """Seconds of the monotonic clock, from now on. Asked before each model call and each gate; what is begun is finished."""

    def __init__(self, seconds: float | None, *, stopped: Callable[[], bool] = never) -> None:
        """`seconds` None is no limit; `stopped` tells that the process is about to end."""
        if seconds is not None and math.isnan(seconds):  # which no moment comes after
            raise InvalidRequest("budget_s", "must be a number of seconds")
        self._until = math.inf if seconds is None else time.monotonic() + seconds
        self._stopped = stopped

    @property
    def spent(self) -> bool:
        return self._stopped() or time.monotonic() >= self._until

    def remaining_s(self) -> float | None:
        """Returns the seconds left, None when there is no limit; never quite zero, which would be no deadline to work with."""
        return None if math.isinf(self._until) else max(0.001, self._until - time.monotonic())

    def share(self, parties: int) -> Budget:
        """Returns the part of one of `parties` that have what is left between them; what it does not use goes to the others."""
        remaining = self.remaining_s()
        return Budget(None if remaining is None else remaining / parties, stopped=self._stopped)
