"""An account that remembers what was charged to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from uuid import UUID

from tributary.core.spending import ModelCall, on_account


class Ledger:
    """Takes charges from any thread."""

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []
        self._lock = threading.Lock()

    def charge(self, call: ModelCall) -> None:
        with self._lock:
            self.calls.append(call)

    def may_spend(self) -> bool:
        return True

    def reserve(self, calls: int) -> AbstractContextManager[int]:
        return nullcontext(calls)

    def decided(self, decision_id: UUID | None) -> None: ...


@contextmanager
def charged() -> Iterator[Ledger]:
    """Charges what the block calls to the ledger that it gives."""
    ledger = Ledger()
    with on_account(ledger):
        yield ledger
