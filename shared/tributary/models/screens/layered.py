"""Two screens, one behind the other: what the rules catch is caught, and a model is asked about the rest."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from tributary.core.decision import ScreenFinding
from tributary.core.ports import Screen


class LayeredScreen:
    """Asks `model` only about what `local` lets pass, so that no plain attack costs anything or reaches a model."""

    def __init__(self, *, local: Screen, model: Screen) -> None:
        self._local = local
        self._model = model

    @property
    def version(self) -> str:
        return f"{self._local.version} + {self._model.version}"

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        """Returns the finding of the first that has a reason, under the version of both; raises ModelFailed."""
        began = time.monotonic()
        finding = self._local.screen(fields, timeout_s=timeout_s)
        if not finding.quarantined:
            left_s = None if timeout_s is None else max(0.0, timeout_s - (time.monotonic() - began))
            finding = self._model.screen(fields, timeout_s=left_s)
        return replace(finding, screen=self.version)
