"""A notice that writes down what it is told, or fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID


@dataclass
class Noted:
    """Keeps the tribes that it was told of, in order; `fails` is raised instead."""

    told: list[UUID] = field(default_factory=list)
    fails: Exception | None = None

    def tell(self, tribe_id: UUID) -> None:
        if self.fails is not None:
            raise self.fails
        self.told.append(tribe_id)

    def taken(self) -> int:
        """Returns how often it was told since it was last asked."""
        count = len(self.told)
        self.told.clear()
        return count
