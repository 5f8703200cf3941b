"""A memory that is opened beside the conversation, so that nobody waits for it who does not need it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

from tributary.edges.mcp.session import Opened

CLOSE_S = 1.0
"""So long an opening that is under way keeps a session from ending; after that it ends with the process."""


class Starting(Exception):
    """The memory is still being opened."""

    code = "starting"

    def __init__(self, waited_s: float) -> None:
        self.detail = f"the memory is still being opened after {waited_s:g} seconds; ask again"
        super().__init__(self.detail)


class Late:
    """Opens a memory in a thread of its own. Thread-safe.

    An opening that failed is tried again by the next who asks; a memory that was lost is closed and opened anew.
    """

    def __init__(self, open_it: Callable[[ExitStack], Opened]) -> None:
        """`open_it` puts what is to be closed on the stack."""
        self._open_it = open_it
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._opened: Opened | None = None
        self._failure: Exception | None = None
        self._stack: ExitStack | None = None
        self._closed = False

    def start(self) -> None:
        """Begins to open, unless that is done or under way."""
        with self._changed:
            if self._opened is None and self._thread is None and not self._closed:
                self._failure = None
                self._thread = threading.Thread(target=self._open, name="tributary-open", daemon=True)
                self._thread.start()

    def get(self, wait_s: float) -> Opened:
        """Returns the memory; raises why it could not be opened, and Starting when that takes longer than `wait_s`."""
        self.start()
        until = time.monotonic() + wait_s
        with self._changed:
            while self._opened is None:
                if self._failure is not None:
                    raise self._failure
                left = until - time.monotonic()
                if left <= 0 or self._closed:
                    raise Starting(wait_s)
                self._changed.wait(left)
            return self._opened

    def lost(self, opened: Opened) -> None:
        """Lets go of a memory that does not answer any more."""
        with self._changed:
            if self._opened is not opened:
                return
            stack, self._stack, self._opened = self._stack, None, None
        if stack is not None:
            stack.close()

    def close(self) -> None:
        """Closes the memory, and waits a while for one that is being opened; none is opened after that."""
        with self._changed:
            self._closed = True
            thread = self._thread
            self._changed.notify_all()
        if thread is not None:
            thread.join(CLOSE_S)
        with self._changed:
            stack, self._stack, self._opened = self._stack, None, None
        if stack is not None:
            stack.close()

    def _open(self) -> None:
        stack = ExitStack()
        try:
            opened = self._open_it(stack)
        except Exception as error:
            stack.close()
            with self._changed:
                self._failure, self._thread = error, None
                self._changed.notify_all()
            return
        with self._changed:
            self._opened, self._stack, self._thread = opened, stack, None
            self._changed.notify_all()
