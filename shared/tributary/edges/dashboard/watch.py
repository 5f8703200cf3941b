"""Looks at the databases, one look at a time however many ask, and lets nobody wait long for one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tributary.core.errors import TributaryError
from tributary.core.status import State
from tributary.edges.dashboard.panel import Panel, blind, panel_of
from tributary.edges.dashboard.port import OpenProber, ProberFace
from tributary.telemetry import Event, log

KEPT_S = 5.0
"""For so long a look is good enough for whoever asks: the page is open to all, the database need not be."""
PATIENCE_S = 3.0
"""Whoever asks waits so long for a look; a health check gives up soon after."""


class Watch:
    """Says how the databases stand. Safe to call from several threads; opens the prober at the first look."""

    def __init__(
        self, prober: OpenProber, *, patience_s: float = PATIENCE_S, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._open = prober
        self._prober: ProberFace | None = None
        self._patience_s = patience_s
        self._seconds = seconds
        self._lock = threading.Lock()
        self._look: _Look | None = None

    def panel(self) -> Panel:
        """Returns what was seen within the last KEPT_S, or is seen now; `timed_out` when that takes too long. Raises nothing."""
        with self._lock:
            look = self._look
            if look is None or (look.done.is_set() and self._seconds() - look.began >= KEPT_S):
                look = self._look = _Look(self._seconds())
                # a daemon: a database that hangs must not keep the process from ending
                threading.Thread(target=self._see, args=(look,), name="tributary-look", daemon=True).start()
        look.done.wait(self._patience_s)
        return look.panel or blind("timed_out", state=State.UNKNOWN)

    def _see(self, look: _Look) -> None:
        try:
            if self._prober is None:
                self._prober = self._open()
            look.panel = panel_of(self._prober.databases())
        except TributaryError as error:
            log.event(Event.LOOK_FAILED, level=log.WARNING, code=error.code, reason=error.detail)
            look.panel = blind(error.code)
        except Exception as error:
            log.event(Event.LOOK_FAILED, level=log.ERROR, error=error, code="internal", reason=None)
            look.panel = blind("internal")
        finally:
            look.done.set()


class _Look:
    def __init__(self, began: float) -> None:
        self.began = began
        self.panel: Panel | None = None
        self.done = threading.Event()
