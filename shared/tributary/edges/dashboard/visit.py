"""One request of one visitor: what a page asks, and whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tributary.core.agent import Role

if TYPE_CHECKING:
    from tributary.client import Memory
    from tributary.client.errors import TributaryError
    from tributary.edges.dashboard.panel import Panel


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """Who looks at the pages: an agent of the tribe that signed in, or, where the dashboard is public, anybody."""

    agent: str
    """The agent's id, `agt_...`."""
    name: str
    role: Role
    public: bool = False
    """Nobody signed in: agents, tokens, evidence and costs are not to be seen."""
    form_token: str = ""
    """What each of the visitor's forms must carry."""

    def may(self, role: str) -> bool:
        """Tells whether the visitor is a 'reader', 'writer' or 'curator' at least."""
        return not (self.public and role != Role.READER) and self.role.may_act_as(Role(role))


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What is asked. Everything in it that came from outside is as it came: whatever is shown, the templates escape."""

    visitor: Visitor
    memory: Memory
    """The SDK, as the visitor: each rule of the API holds for it, and it raises the SDK's errors only."""
    path: str
    parts: Mapping[str, str]
    query: Mapping[str, tuple[str, ...]]
    form: Mapping[str, tuple[str, ...]]
    at: datetime
    fragment: bool
    """A part of a page is asked for, by a script: its template alone is to be shown, without the frame."""
    live_s: float
    """So long a page that waits may be held back; 0 where every second of waiting is paid for."""
    look: Callable[[], Panel]
    """Says how the databases stand, whether or not any answers."""
    began: datetime
    """When this process did."""
    refusal: TributaryError | None = None
    """Why the form that is shown again was refused."""

    def part(self, name: str) -> str:
        """Returns a variable part of the path."""
        return self.parts[name]

    def asked(self, name: str, default: str = "") -> str:
        """Returns the first value of a query parameter, without the blanks around it."""
        return self.query.get(name, (default,))[0].strip()

    def given(self, name: str, default: str = "") -> str:
        """Returns the first value of a form's field, with its line ends as `\\n` and without the blanks around it."""
        return self.form.get(name, (default,))[0].replace("\r\n", "\n").strip()

    def broken_rules(self, *names: str) -> dict[str, str]:
        """Returns the rule that each of these fields of the refused form breaks; an empty one for a field that breaks none."""
        rules = {one.field: one.rule for one in self.refusal.errors} if self.refusal else {}
        return {name: rules.get(name, "") for name in names}

    @property
    def key(self) -> str | None:
        """The idempotency key of the form: sent twice, it acts once."""
        return self.given("key") or None
