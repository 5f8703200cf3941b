"""Pages, made from templates. Whatever is put into one is escaped, and what would not be seen in it is made visible."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

from tributary.client.visible import visible
from tributary.core.status import State
from tributary.edges.dashboard.charts import Unit, figure
from tributary.edges.dashboard.problems import Problem
from tributary.edges.dashboard.visit import Visitor

if TYPE_CHECKING:
    from jinja2 import Environment

WORDS = {State.OK: "ok", State.NOT_OK: "failing", State.UNKNOWN: "unknown"}
"""How a state is called in front of people."""
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A line of the menu."""

    title: str
    path: str
    current: bool


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What every template knows beside its own values."""

    at: datetime
    path: str
    visitor: Visitor | None = None
    menu: Sequence[tuple[str, Sequence[Entry]]] = ()
    said: str | None = None
    """What the form did that the visitor comes from."""
    refusal: Problem | None = None
    """Why the form that is shown again was refused."""
    sent: bool = False
    """It answers a form, so no link leads to it."""
    unsent: Sequence[str] = ()
    """What was typed into a form that was refused, and stands in no field of the page."""


class Rendering:
    """Renders templates. An asset's address changes with its content, so that it may be kept for ever."""

    def __init__(self, root: str = "") -> None:
        """`root` is where the dashboard stands on its host, such as `/dashboard`; empty for the whole host."""
        folder = files(__package__) / "assets"
        self.assets = {
            "dashboard.css": _joined(folder / "style", ".css"),
            "dashboard.js": _joined(folder / "script", ".js"),
            "icon.svg": (folder / "icon.svg").read_bytes(),
        }
        digest = hashlib.sha256(b"".join(self.assets.values())).hexdigest()[:16]
        self.assets_at = f"/assets/{digest}"
        self._environment = _environment()
        self._environment.globals.update(
            assets=root + self.assets_at,
            words={state.value: word for state, word in WORDS.items()},
            url=lambda path: root + path,
            new_key=lambda: uuid.uuid4().hex,
        )

    def page(self, name: str, values: Mapping[str, object], frame: Frame) -> str:
        """Returns a template as HTML; a value that it wants and that is missing raises."""
        known = vars(frame)
        if taken := known.keys() & values.keys():
            raise ValueError(f"{name}: {', '.join(sorted(taken))} is the frame's to say")
        return self._environment.get_template(name).render({**known, **values})


def media_type(name: str) -> str:
    """Returns the content type of an asset."""
    return _TYPES[name.rpartition(".")[2]]


def _joined(folder: Traversable, ending: str) -> bytes:
    """Returns the files of a folder as one, in the order of their names: one request fetches them all."""
    parts = sorted((one for one in folder.iterdir() if one.name.endswith(ending)), key=lambda one: one.name)
    return b"\n".join(one.read_bytes() for one in parts)


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tributary.edges.dashboard", "templates"),
        autoescape=True,  # by every name, not only by those that end in .html
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters["utc"] = utc
    environment.filters["figure"] = lambda value, unit: figure(value, Unit(unit))
    return environment


def _shown(value: object) -> object:
    """Makes what a text hides visible, wherever a template shows one: control, bidirectional and zero-width characters."""
    return visible(value, keep="\n\t", joiners=True) if type(value) is str else value


def utc(at: datetime, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """Returns an instant as the clocks of UTC show it."""
    return at.astimezone(UTC).strftime(form)
