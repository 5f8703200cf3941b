"""Callers whom API Gateway knows by their AWS signature, as agents; each is remembered for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tributary.core.agent import Principal
from tributary.edges.lambda_http.port import OpenMemory

REMEMBERED_S = 60.0
"""For so long a process does not ask again who a caller is: as long as API Gateway keeps what the authorizer says of a token."""
MOST = 1000
"""Callers that a process remembers."""


class IamCallers:
    """Says which agent an AWS caller acts as. Safe to call from several threads."""

    def __init__(self, memory: OpenMemory, *, seconds: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._seconds = seconds
        self._known: dict[str, tuple[float, Principal]] = {}
        self._lock = threading.Lock()

    def of(self, user_arn: str) -> Principal:
        """Returns the agent; raises Unauthenticated when none is bound to the caller, which is not remembered."""
        now = self._seconds()
        with self._lock:
            until, principal = self._known.get(user_arn, (now, None))
        if principal is not None and now < until:
            return principal
        found = self._memory().authenticate_principal(user_arn)
        with self._lock:
            self._known.pop(user_arn, None)
            while len(self._known) >= MOST:
                del self._known[next(iter(self._known))]  # the oldest: they stand in the order in which they were asked about
            self._known[user_arn] = (now + REMEMBERED_S, found)
        return found
