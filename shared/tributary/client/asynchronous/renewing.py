"""Keeping a lease while its holder works: a task that renews it now and then. Written by hand, where the other has a thread."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from tributary.client.renewing import LOST


async def called(function: Callable[[], Any]) -> Any:
    """Returns what the function comes to: a coroutine function is awaited, another one runs in a thread meanwhile."""
    if inspect.iscoroutinefunction(function):
        return await function()
    found = await asyncio.to_thread(function)
    return await found if inspect.isawaitable(found) else found


class AsyncRenewal:
    """Awaits `renew` every `every_s` seconds until its block ends, or the lease is lost.

    What goes wrong is not told, and tried again the next time, unless the lease is lost: whoever holds it finds out when it
    ends the action, which it may even then.
    """

    def __init__(self, renew: Callable[[], Awaitable[object]], *, every_s: float) -> None:
        self._renew = renew
        self._every_s = every_s

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._go_on(), name="tributary-lease")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _go_on(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            try:
                await self._renew()
            except LOST:
                return
            except Exception:  # noqa: S112  (what it is may pass; a lease that runs out makes others think its holder dead)
                continue
