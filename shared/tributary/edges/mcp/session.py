"""What a server does for one agent: says which tools it has, and carries out its calls."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tributary.client import Memory, TributaryError, Unreachable, visible
from tributary.contract.route import Role
from tributary.edges.mcp.retries import Retries, fingerprint
from tributary.edges.mcp.tool import Answer, Tool
from tributary.telemetry import Event, log

ROLE_S = 3.0
"""For so long the list of tools waits for a memory that is being opened: some clients give up on it after five seconds."""
CALL_S = 50.0
"""What a call may take over stdio, waiting for the memory included: clients wait for a minute."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A memory, and the agent that it is asked as. `moves` when another place may have it once this one does not answer."""

    memory: Memory
    agent: str
    role: Role
    moves: bool = False


@dataclass(frozen=True, kw_only=True)
class Failed:
    """Why a call failed, in words for the model that called, and by the code of the error."""

    code: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Done:
    """What came of a call. `told` is to be called once the caller has it."""

    outcome: Answer | Failed
    told: Callable[[], None]


class Session:
    """One agent at one memory. Its methods block, and may be called from several threads."""

    def __init__(
        self,
        opened: Callable[[float], Opened],
        *,
        retries: Retries,
        expected: Role = "writer",
        role_s: float = ROLE_S,
        call_s: float = CALL_S,
        lost: Callable[[Opened], None] = lambda _: None,
    ) -> None:
        """`opened` returns the memory, waiting for so many seconds at most, or raises why there is none.

        `expected` is the role whose tools are listed while nobody can be asked. `lost` is told of a memory that does not answer.
        """
        self._opened = opened
        self._retries = retries
        self._expected = expected
        self._role_s = role_s
        self._call_s = call_s
        self._lost = lost

    def role(self) -> Role:
        """Returns the agent's role, or the expected one while the memory is not there: each call says then what is amiss."""
        try:
            return self._opened(self._role_s).role
        except Exception:
            return self._expected

    def call(self, tool: Tool[Any], arguments: Mapping[str, Any]) -> Done:
        """Carries out one call; raises nothing."""
        with log.operation() as operation:
            try:
                return self._call(tool, arguments)
            except Exception as error:
                return Done(outcome=failed(error, tool.name, operation), told=_nothing)

    def _call(self, tool: Tool[Any], arguments: Mapping[str, Any]) -> Done:
        ends_at = time.monotonic() + self._call_s
        opened = self._opened(self._call_s)
        try:
            return self._ask(opened, tool, arguments)
        except Unreachable:
            if not opened.moves:
                raise
            self._lost(opened)
        # Where the memory is now, under the key that the call had: what the lost server still did is found on record.
        return self._ask(self._opened(max(0.0, ends_at - time.monotonic())), tool, arguments)

    def _ask(self, opened: Opened, tool: Tool[Any], arguments: Mapping[str, Any]) -> Done:
        call = fingerprint(opened.agent, tool.name, arguments)
        key = self._retries.key(call, meant=tool.meant)
        answer = tool.answer(opened.memory, arguments, key)
        return Done(outcome=answer, told=lambda: self._retries.answered(call, key))


def failed(error: Exception, tool: str, operation: str) -> Failed:
    """Returns what to tell of an error: its code and what to do, and nothing of the code's insides."""
    code, detail = getattr(error, "code", None), getattr(error, "detail", None)
    if not isinstance(code, str) or not isinstance(detail, str):
        log.event(Event.REQUEST_FAILED, level=logging.ERROR, error=error, route=tool, code="internal")
        said = f"Error internal: something unexpected happened; the log tells more under {operation}."
        return Failed(code="internal", text=f"{said}\n{_UNASKED}")
    lines = [f"Error {code}: {visible(detail)}"]
    if isinstance(error, TributaryError):
        if len(error.errors) > 1:
            lines += [f"- {visible(one.field)}: {visible(one.rule)}" for one in error.errors]
        if error.retry_after is not None:
            lines.append(f"Try again after {error.retry_after:g} seconds.")
    if code in _NOTHING_SEARCHED:
        lines.append(_UNASKED)
    return Failed(code=code, text="\n".join(lines))


_UNASKED = "The memory could not be asked: do not conclude that nothing is known."
_NOTHING_SEARCHED = frozenset(
    {
        *("unreachable", "unavailable", "timed_out", "overloaded", "rate_limited", "not_migrated", "code_too_old", "starting"),
        *("model_failed", "not_configured", "unauthenticated", "bad_setting", "corrupt", "bad_reply"),
        *("internal", "not_set_up", "missing_extra"),
    }
)


def _nothing() -> None:
    """There is nothing to note of a call that failed: an equal one is its retry."""
