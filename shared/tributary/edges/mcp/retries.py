"""Idempotency keys for tool calls, since the protocol has none: a call that is sent again must not act again.

A client that hears nothing for too long gives up and calls once more, with a new request id and the same arguments. So the key
is made of who calls, the tool, the arguments, and what tells a retry from a second call that is meant:

- Over stdio, one process serves one client and sees what became of each call. Until a call was answered, an equal one is its
  retry and gets its key; after that, an equal one is meant, and gets another.
- Over HTTP nothing is kept between calls. Equal calls within the same two minutes share a key, but for those of which each
  counts or that give what nobody else may have, as beginning an action does: there every call gets a key of its own, since two
  that are equal may be two callers'.

Where this errs, the rules of the memory still hold: an agent counts once for a lesson, and the same words learned twice by one
agent are `unchanged`.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Protocol

WINDOW_S = 120
"""Longer than a call may take over HTTP and a client waits for it; shorter than the second thought of somebody."""
_REMEMBERED = 4096


class Retries(Protocol):
    """Gives keys to calls, by their fingerprints."""

    def key(self, call: str, *, meant: bool) -> str: ...

    def answered(self, call: str, key: str) -> None: ...


def fingerprint(agent: str, tool: str, arguments: Mapping[str, object]) -> str:
    """Returns what equal calls of one agent have in common."""
    said = json.dumps([agent, tool, arguments], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


class Seen:
    """Keys for one client whose calls are seen to their end. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: OrderedDict[str, str] = OrderedDict()

    def key(self, call: str, *, meant: bool = False) -> str:  # noqa: ARG002  (here it is seen which call is a retry)
        """Returns the key of a call that was not answered yet, a new one for any other."""
        with self._lock:
            key = self._keys.setdefault(call, f"mcp-{secrets.token_hex(16)}")
            self._keys.move_to_end(call)
            if len(self._keys) > _REMEMBERED:
                self._keys.popitem(last=False)
            return key

    def answered(self, call: str, key: str) -> None:
        """Notes that the caller was told what came of the call: the next equal one is no retry."""
        with self._lock:
            if self._keys.get(call) == key:
                del self._keys[call]


class Windowed:
    """Keys for calls of which nothing is kept; `now_s` is the time of this call."""

    def __init__(self, now_s: float) -> None:
        self._window = int(now_s // WINDOW_S)

    def key(self, call: str, *, meant: bool = False) -> str:
        """Returns the key that equal calls share for a while; a new one for a call that is `meant` each time."""
        if meant:
            return f"mcp-{secrets.token_hex(16)}"
        return f"mcp-{hashlib.sha256(f'{call}:{self._window}'.encode()).hexdigest()[:48]}"

    def answered(self, call: str, key: str) -> None:
        """Nothing is kept, so there is nothing to note."""
