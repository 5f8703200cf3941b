"""How long a caller is willing to wait."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from tributary.core.errors import InvalidRequest

LEAST_FOR_EMBEDDING_S = 2.0


@dataclass(frozen=True)
class Deadline:
    """A moment of the monotonic clock, in seconds; infinite when the caller gave none."""

    moment_s: float

    @classmethod
    def never(cls) -> Deadline:
        """Never passes."""
        return cls(math.inf)

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Starts now; raises InvalidRequest unless `seconds` is None or a positive number."""
        if seconds is None:
            return cls.never()
        if not (math.isfinite(seconds) and seconds > 0):
            raise InvalidRequest("deadline_s", "must be a positive number of seconds")
        return cls(time.monotonic() + seconds)

    def remaining_s(self) -> float | None:
        """Returns the seconds left, not below zero; None when there is no deadline."""
        return None if math.isinf(self.moment_s) else max(0.0, self.moment_s - time.monotonic())

    def embedding_s(self) -> float | None:
        """Returns the seconds that an embedding may take. What was not embedded cannot be kept, so there are always some."""
        remaining = self.remaining_s()
        return None if remaining is None else max(LEAST_FOR_EMBEDDING_S, remaining)

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.moment_s
