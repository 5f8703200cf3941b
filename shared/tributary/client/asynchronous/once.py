"""Made from once.py by `make async-client`: change that one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tributary.client.asynchronous.actions import AsyncActions
from tributary.client.asynchronous.driver import AsyncSleep
from tributary.client.asynchronous.renewing import AsyncRenewal, called
from tributary.client.errors import Busy, InDoubt, InvalidRequest, NotDone, TributaryError, Unavailable
from tributary.client.keys import key_or_new
from tributary.client.once import FIRST_LOOK_S, LONGEST_LOOK_S, RENEWALS, words_of
from tributary.client.replies import may_pass
from tributary.contract.actions import ActionReply


class AsyncOnce:
    """Carries out actions that are granted, and waits for those of others. `jitter` returns a number in 0..1."""

    def __init__(
        self,
        actions: AsyncActions,
        *,
        clock: Callable[[], float],
        sleep: AsyncSleep,
        jitter: Callable[[], float],
    ) -> None:
        self._actions = actions
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter

    async def carry_out(
        self, key: str, function: Callable[[], Any], *, description: str | None, lease_s: int, wait_s: float
    ) -> Any:
        """Returns what `Memory.once` promises."""
        end = self._clock() + wait_s
        while True:
            begun = await self._actions.begin(key, description=description, lease_s=lease_s)
            if begun.outcome == "done":
                return begun.action.result
            if begun.outcome == "in_doubt":
                raise InDoubt(begun.action)
            if begun.lease is not None:
                return await self._granted(begun.action, begun.lease, function, lease_s)
            await self._wait_for(begun.action, end)

    async def _wait_for(self, action: ActionReply, end: float) -> None:
        """Returns once the action is not under way any more; raises Busy when that takes too long."""
        wait_s = FIRST_LOOK_S
        while action.state == "begun":
            left_s = end - self._clock()
            if left_s <= 0:
                raise Busy(action)
            await self._sleep(min(wait_s * (0.5 + 0.5 * self._jitter()), left_s))
            wait_s = min(2 * wait_s, LONGEST_LOOK_S)
            action = await self._actions.get(action)

    async def _granted(self, action: ActionReply, lease: str, function: Callable[[], Any], lease_s: int) -> Any:
        async def renew() -> ActionReply:
            return await self._actions.renew(action, lease, lease_s=lease_s)

        holder = os.getpid()
        async with AsyncRenewal(renew, every_s=lease_s / RENEWALS):
            try:
                result = await called(function)
            except BaseException as error:
                if os.getpid() == holder:
                    await self._failed(action, lease, error, unsure=not isinstance(error, NotDone))
                raise
            # A child that the function forked and that comes back here says nothing: its parent is still at it.
            return await self._completed(action, lease, result, lease_s) if os.getpid() == holder else result

    async def _failed(self, action: ActionReply, lease: str, error: BaseException, *, unsure: bool) -> None:
        """Says what became of it, so that nobody waits for the lease to run out; what `function` raised goes before all else."""
        try:
            await self._actions.fail(action, lease, words_of(error), unsure=unsure)
        except Exception as untold:
            why = untold.detail if isinstance(untold, TributaryError) else type(untold).__name__
            error.add_note(f"the memory could not be told that action {action.id} failed: {why}")

    async def _completed(self, action: ActionReply, lease: str, result: Any, lease_s: int) -> Any:
        """Returns the result as it is stored. Tries for as long as a lease runs: the effect happened, and that must be known."""
        key = key_or_new(None)
        end = self._clock() + lease_s
        while True:
            try:
                return (await self._actions.complete(action, lease, result, idempotency_key=key)).action.result
            except InvalidRequest as error:
                if any(one.field.partition(".")[0] == "result" for one in error.errors):
                    await self._actions.complete(action, lease)
                    error.add_note(f"action {action.id} is done, and kept without its result")
                raise
            except Unavailable as error:
                if not may_pass(error) or self._clock() >= end:
                    error.add_note(f"the effect of action {action.id} happened, and the memory could not be told: it is in doubt")
                    raise
            await self._sleep(LONGEST_LOOK_S * (0.5 + 0.5 * self._jitter()))
