"""The feed of a tribe's changes, followed as long as its reader likes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tributary.client.curation import Run
from tributary.client.driver import Sleep
from tributary.client.errors import BadReply, TributaryError
from tributary.client.history import changes
from tributary.client.replies import may_pass
from tributary.contract import limits
from tributary.contract.history import ChangesReply

_PAUSE_S = 1.0
"""Between two questions of somebody who follows, where the server lets nobody wait."""
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 30.0


class Feed:
    """Asks for changes page by page. Whoever follows is held by the server until there are some, `longest_s` at most."""

    def __init__(
        self,
        run: Run,
        *,
        clock: Callable[[], float],
        sleep: Sleep,
        jitter: Callable[[], float],
        longest_s: float,
    ) -> None:
        self._run = run
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._wait_s = int(min(limits.CHANGES_WAIT_S, longest_s))

    def pages(self, after: int, *, follow: bool, page_size: int) -> Iterator[ChangesReply]:
        """Yields pages that hold something, for ever or up to the present."""
        failures = 0
        while True:
            asked_at = self._clock()
            try:
                page = self._run(changes(after=after, page_size=page_size, wait_s=self._wait_s if follow else 0))
            except TributaryError as error:
                if not (follow and may_pass(error)):
                    raise
                failures += 1
                self._back_off(failures, error)
                continue
            failures = 0
            if page.tick < after or (page.more and page.tick == after):
                raise BadReply(f"the server's page after tick {after} ends at {page.tick}")
            if page.changes:
                yield page
            after = page.tick
            if page.more:
                continue
            if not follow:
                return
            if not page.changes and (left_s := asked_at + _PAUSE_S - self._clock()) > 0:
                self._sleep(left_s * (0.5 + 0.5 * self._jitter()))

    def _back_off(self, failures: int, error: TributaryError) -> None:
        wait_s = min(_FIRST_WAIT_S * 2 ** min(failures - 1, 10), _LONGEST_WAIT_S)
        self._sleep((error.retry_after or 0.0) + wait_s * (0.5 + 0.5 * self._jitter()))
