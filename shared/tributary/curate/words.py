"""Words that are no lesson, and that later readers see all the same: rationales and notes."""

from __future__ import annotations

from tributary.core.errors import InvalidRequest, ModelFailed
from tributary.core.limits import RATIONALE_BYTES, check_text
from tributary.core.ports import Screen
from tributary.telemetry import Event, log


def check_words(screen: Screen, field: str, text: str) -> None:
    """Raises InvalidRequest for words that break a rule, or that the screen finds harmful; ModelFailed when it cannot run.

    They are refused rather than quarantined: nothing depends on them, and nobody would ever release them.
    """
    check_text(field, text, max_bytes=RATIONALE_BYTES)
    try:
        finding = screen.screen({field: text})
    except Exception as error:
        level = log.WARNING if isinstance(error, ModelFailed) else log.ERROR
        log.event(Event.SCREEN_UNAVAILABLE, level=level, error=error, screen=screen.version)
        raise ModelFailed("the screen cannot run now, and nothing is taken unscreened") from error
    if finding.quarantined:
        raise InvalidRequest(field, f"is held back by the screen ({', '.join(finding.reasons)}); word it otherwise")
