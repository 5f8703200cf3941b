"""Pages and what belongs to them, made from the templates beside this module. Whatever is put into one is escaped."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING

from tributary.core.status import State

if TYPE_CHECKING:
    from jinja2 import Environment

ASSETS = {"dashboard.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}
WORDS = {State.OK: "ok", State.NOT_OK: "failing", State.UNKNOWN: "unknown"}
"""How a state is called in front of people."""


class Pages:
    """Renders pages. An asset's address changes with its content, so that it may be kept for ever."""

    def __init__(self) -> None:
        self.assets = {name: (files(__package__) / "pages" / name).read_bytes() for name in ASSETS}
        digest = hashlib.sha256(b"".join(self.assets.values())).hexdigest()[:16]
        self.assets_at = f"/assets/{digest}"
        self._environment = _environment()
        self._environment.globals["assets"] = self.assets_at
        self._environment.globals["words"] = {state.value: word for state, word in WORDS.items()}

    def page(self, name: str, values: Mapping[str, object]) -> str:
        """Returns a page as HTML; a value that its template wants and that is missing raises."""
        return self._environment.get_template(name).render(values)


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("tributary.edges.dashboard", "pages"),
        autoescape=True,  # by every name, not only by those that end in .html
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def lasted(time: timedelta) -> str:
    """Returns a time span for people, in its two largest units: '3 days 4 hours'."""
    left = max(0, int(time.total_seconds()))
    parts: list[str] = []
    for unit, seconds in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count} {unit}" + ("" if count == 1 else "s"))
    return " ".join(parts[:2]) or "0 seconds"
