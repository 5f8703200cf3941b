"""Migration as a function: every cell is brought up to this code, or the deployment fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tributary.core.cells import shown_cell
from tributary.telemetry import Event, log

if TYPE_CHECKING:
    from tributary.service import Settings


def migrated(settings: Settings) -> dict[str, Any]:
    """Migrates the own database, and each further cell's; returns the revision that all are at.

    A cell that fails keeps no other from it. Raises the first error, once each cell had its turn.
    """
    from tributary.service import open_operator

    revision: str | None = None
    failures: list[Exception] = []
    for cell in settings.cell_names:
        try:
            with open_operator(settings.in_cell(cell)) as operator:
                revision = operator.migrate()
        except Exception as error:
            log.event(Event.MIGRATION_FAILED, level=log.ERROR, error=error, cell=shown_cell(cell))
            failures.append(error)
    if failures:
        raise failures[0]
    return {"revision": revision}
