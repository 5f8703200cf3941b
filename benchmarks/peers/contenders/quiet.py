"""Keeps a process from calling out: each attempt is refused and counted, so that the bench can say that there was none.

PostgreSQL is reached by libpq in C and a Unix socket, which Python's audit events do not see; nothing else has leave.
"""

from __future__ import annotations

import sys

OUTWARD = (
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
    "socket.sendto",
    "socket.sendmsg",
)

attempts: list[str] = []
"""What was refused, as `event target`."""


class CalledOut(RuntimeError):
    """A contender tried to reach the network."""


def refuse_network() -> None:
    """From now on, and for good, refuses every connection that Python code opens."""
    sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event in OUTWARD:
        target = arguments[1] if event.startswith("socket.s") or event == "socket.connect" else arguments[0]
        attempts.append(f"{event} {target!r}")
        raise CalledOut(attempts[-1])
