"""Made from feed.py by `make async-client`: change that one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from tributary.client.asynchronous.curation import AsyncRun
from tributary.client.asynchronous.driver import AsyncSleep
from tributary.client.errors import BadReply, TributaryError
from tributary.client.feed import _FIRST_WAIT_S, _LONGEST_WAIT_S, _PAUSE_S
from tributary.client.history import changes
from tributary.client.replies import may_pass
from tributary.contract import limits
from tributary.contract.history import ChangesReply


class AsyncFeed:
    """Asks for changes page by page. Whoever follows is held by the server until there are some, `longest_s` at most."""

    def __init__(
        self,
        run: AsyncRun,
        *,
        clock: Callable[[], float],
        sleep: AsyncSleep,
        jitter: Callable[[], float],
        longest_s: float,
    ) -> None:
        self._run = run
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._wait_s = int(min(limits.CHANGES_WAIT_S, longest_s))

    async def pages(self, after: int, *, follow: bool, page_size: int) -> AsyncIterator[ChangesReply]:
        """Yields pages that hold something, for ever or up to the present."""
        failures = 0
        while True:
            asked_at = self._clock()
            try:
                page = await self._run(changes(after=after, page_size=page_size, wait_s=self._wait_s if follow else 0))
            except TributaryError as error:
                if not (follow and may_pass(error)):
                    raise
                failures += 1
                await self._back_off(failures, error)
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
                await self._sleep(left_s * (0.5 + 0.5 * self._jitter()))

    async def _back_off(self, failures: int, error: TributaryError) -> None:
        wait_s = min(_FIRST_WAIT_S * 2 ** min(failures - 1, 10), _LONGEST_WAIT_S)
        await self._sleep((error.retry_after or 0.0) + wait_s * (0.5 + 0.5 * self._jitter()))
