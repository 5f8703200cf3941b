"""The same work on Tributary, on other memories that run on PostgreSQL, and in plain SQL (docs/benchmarks/peers.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.figures import Measured
    from benchmarks.progress import Progress


def measure(progress: Progress) -> Measured:
    """Measures all four in turn, on one server."""
    # The peers' interpreter imports this package too, and has nothing of what the bench needs.
    from benchmarks.peers.bench import run
    from benchmarks.peers.figures import measured

    return measured(run(progress))
