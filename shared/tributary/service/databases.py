"""The databases that a process speaks to: the writer and, where one is set up, its read replica."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from tributary.store import Database, Reading, Replicated, Target, Watched

READER_TIMEOUT_S = 2
"""For connecting to the replica. Short, since the writer answers as well."""
READER_ATTEMPTS = 2
"""The second in case that the connection was an old one; then it is the writer's turn."""


@dataclass(frozen=True, kw_only=True)
class Databases:
    """Every write goes to the writer. Without a replica, every read does, too."""

    writer: Database
    replica: Database | None
    reading: Reading
    """For answers that are as old as the tick that they name: the replica first."""
    current: Reading
    """For what should be current: the writer first, the replica while that is away."""

    @classmethod
    def of(
        cls, writer_target: Callable[[], Target], replica_target: Target | None, *, limit: int, cell: str | None = None
    ) -> Self:
        """Opens nothing yet; each of the two takes up to `limit` connections, and goes by the name of its cell, too, in logs."""
        of_cell = "" if cell is None else f" of {cell}"
        writer = Database(writer_target, name=f"writer{of_cell}", limit=limit)
        if replica_target is None:
            return cls(writer=writer, replica=None, reading=writer, current=writer)
        replica = Database(replica_target, name=f"reader{of_cell}", limit=limit, attempts=READER_ATTEMPTS)
        w, r = Watched(writer, is_writer=True), Watched(replica, is_writer=False)
        return cls(
            writer=writer,
            replica=replica,
            reading=Replicated(writer=w, replica=r, replica_first=True),
            current=Replicated(writer=w, replica=r, replica_first=False),
        )

    def close(self) -> None:
        self.writer.close()
        if self.replica is not None:
            self.replica.close()
