"""Asking again about what a missing model left: in whose turn, and how often at most."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from tributary.garden.visit import Visit
from tributary.store import rows, statement

USELESS_REPLIES = 5
"""How often a model may refuse, or answer what nobody can use, before the question is left to the curators: each try costs."""
TIME_OUTS = 20
"""How often it may not reply in time. More often, since a model that is slow for a day looks the same, and recovers."""

_FIRST = UUID(int=0)


@dataclass(frozen=True, kw_only=True)
class Place:
    """How far a run came among the decisions that are open, those first that were tried longest ago."""

    tried_at: str = "-infinity"
    decision_id: UUID = _FIRST

    @classmethod
    def of(cls, row: rows.Document) -> Place:
        return cls(tried_at=row["tried_at"], decision_id=UUID(row["decision_id"]))

    def parameters(self, visit: Visit) -> dict[str, object]:
        """Returns where the next page begins; what was tried since the tribe was looked at had its turn."""
        return {
            "tribe_id": visit.tribe_id,
            "before": visit.survey.at,
            "after_tried": self.tried_at,
            "after": self.decision_id,
        }


def takes_turn(visit: Visit, decision_id: UUID) -> bool:
    """Puts a decision behind all others before a model is asked, so that one that ends the process is not the first again.

    Returns False when there is nothing to ask any more, or another gardener does. A dry run changes nothing.
    """
    if visit.dry_run:
        return True
    parameters = {"tribe_id": visit.tribe_id, "decision_id": decision_id, "before": visit.survey.at}
    return visit.tools.database.value(statement("garden", "try"), parameters) is True


def too_often(visit: Visit, decision_id: UUID, *, late: bool, close: bool = False) -> bool:
    """Counts a try in vain (`late`: nothing came in time) and tells whether it was one too many; `close` ends the asking then.

    A dry run counts nothing, and nor does a question that the end of the run's own time broke off.
    """
    if visit.dry_run or (late and visit.budget.spent):
        return False
    parameters = {
        "tribe_id": visit.tribe_id,
        "decision_id": decision_id,
        "late": late,
        "most": TIME_OUTS if late else USELESS_REPLIES,
        "close": close,
    }
    return visit.tools.database.value(statement("garden", "useless"), parameters) is True
