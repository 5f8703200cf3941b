"""What a run in a tribe came to is kept, for whoever asks how the memory stands."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from tributary.core.errors import CodeTooOld, NotFound, TributaryError, Unavailable
from tributary.core.garden import TribeReport
from tributary.garden.visit import Tools
from tributary.store import statement
from tributary.telemetry import Event, log

_NOWHERE_TO_WRITE = frozenset({Unavailable.code, NotFound.code, CodeTooOld.code})
"""How runs end that leave no database or tribe to write to, or a schema that this code may not touch."""


def keep(tools: Tools, report: TribeReport) -> None:
    """Keeps what a run came to, in place of the one before. When that cannot be written it is logged, and nothing fails."""
    if report.failed in _NOWHERE_TO_WRITE:
        return
    rules = {
        one.rule.value: {"done": one.done, "left": one.left, "refused": dict(one.refused), "failed": one.failed}
        for one in report.rules
    }
    parameters = {
        "tribe_id": report.tribe_id,
        "took_s": report.ms / 1000,
        "failed": report.failed,
        "rules": Jsonb(rules),
    }
    try:
        tools.database.value(statement("garden", "ended"), parameters)
    except TributaryError as error:
        log.event(Event.GARDEN_UNRECORDED, level=log.WARNING, error=error, code=error.code)
