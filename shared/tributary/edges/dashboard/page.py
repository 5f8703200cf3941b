"""What a page is: an address, who may ask for it, and the function that answers. The table of all pages is in `table.py`.

A view (a module of `views/`) holds the pages of one subject, and the words of what they did:

    PAGES = (
        Page(path="/disputes", title="Disputes", answer=_list),
        Page(path="/disputes/{id}/accept", method="POST", role=Role.CURATOR, answer=_accept, back=_one),
    )
    SAID = {"accepted": "The newer lesson is believed from now on."}

An answer takes a `Visit` and returns `Shown` (a template with its values), or `Sent` (somewhere else, after a change). It lets
the SDK's errors pass: whoever called it makes a page of them, or, after a form, shows the page that the form is on once more,
with what was wrong at its top (`back`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal

from tributary.core.agent import Role
from tributary.edges.dashboard.visit import Visit

READ_S = 6.0
"""The longest that the memory is waited for when something is only looked at."""
CHANGE_S = 28.0
"""The same when something is changed: a lesson that is released is judged first."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A template and what it is filled with; beside these it knows what `rendering.Frame` holds."""

    template: str
    values: Mapping[str, object] = field(default_factory=dict)
    status: HTTPStatus = HTTPStatus.OK
    asks_again: bool = True
    """After a refusal: the form is on it once more, with what was typed. If not, the frame shows what was typed."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """To another page, as the answer to a form. `said` is the key of what that page says of it, in some view's SAID."""

    path: str
    said: str | None = None


@dataclass(frozen=True, kw_only=True)
class Nothing:
    """Nothing new: what is on the page stays there."""


Answer = Shown | Sent | Nothing


@dataclass(frozen=True, kw_only=True)
class Page:
    """One address of the dashboard."""

    path: str
    """With `{name}` for a part that the visit then has as `visit.part("name")`."""
    answer: Callable[[Visit], Answer]
    method: Literal["GET", "POST"] = "GET"
    role: Role = Role.READER
    """The least that the visitor must be; whoever is less is told so, and the menu does not show the page."""
    public: bool = False
    """Anybody may see it where the dashboard is public."""
    title: str | None = None
    """How the menu calls it; None for what is no entry of the menu."""
    waits: bool = False
    """It waits for something to happen: such visits have threads of their own, and are answered at once when these are taken."""
    back: Callable[[Visit], Answer] | None = None
    """Of a form: shows the page that it is on, which is shown again when the memory refuses."""
