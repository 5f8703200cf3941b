"""The dashboard as people meet it: the real app on loopback, over a real database, with a tribe and people who may sign in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from playwright.sync_api import Page, StorageState

from tests.browser.serving import served
from tests.browser.tabs import ZONE, Tabs, Theme, Width
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Role
from tributary.edges.dashboard.app import make_app
from tributary.edges.dashboard.port import Asgi, Setup
from tributary.service import open_prober

SIGN_IN = "/sign-in"


@dataclass(frozen=True, kw_only=True)
class Company:
    """A tribe by its name, and the secrets of the agents as whom people sign in, by their names."""

    tribe: str
    tokens: Mapping[str, str]


def company_of(tribal: Tribal) -> Company:
    """Makes a reader and a writer beside the curator, and returns the three, each named after the role."""
    others = {role.value: tribal.token(role.value, role) for role in (Role.READER, Role.WRITER)}
    return Company(tribe=tribal.name, tokens={**others, Role.CURATOR.value: tribal.curator_token})


@dataclass(kw_only=True)
class Site:
    """A running dashboard. `tribal` is the memory behind it, to teach it something or to see what became of an action."""

    url: str
    tribal: Tribal
    tabs: Tabs
    tokens: dict[str, str]
    _sessions: dict[str, StorageState] = field(default_factory=dict)

    def visit(
        self,
        who: str | None = None,
        *,
        theme: Theme = "light",
        width: Width = 1440,
        zone: str = ZONE,
        at: datetime | None = None,
        path: str = "/",
    ) -> Page:
        """Returns a page at `path`, signed in as the agent of that name (`reader`, `writer`, `curator`), or as nobody.

        All visits of one agent share one session, begun at the first one, as tabs of one browser do. To the page's scripts it is
        always `at`, if given.
        """
        session = None if who is None else self._sessions.get(who)
        page = self.tabs.open(self.url, theme=theme, width=width, zone=zone, session=session)
        if at is not None:
            page.clock.set_fixed_time(at)
        if who is not None and session is None:
            sign_in(page, self.tokens[who])
            self._sessions[who] = page.context.storage_state()
        page.goto(path)
        return page

    def hire(self, name: str, role: Role) -> None:
        """Makes one more agent as whom to visit, such as a second curator."""
        self.tokens[name] = self.tribal.token(name, role)


def sign_in(page: Page, token: str) -> None:
    """Signs in by the form, as a person does; fails when that leads nowhere."""
    page.goto(f"{SIGN_IN}?next=/status")
    page.locator("input[name=token]").fill(token)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: SIGN_IN not in url)


@contextmanager
def open_site(url: str, tabs: Tabs, *, company: Company | None = None, live_s: float = 2.0, **adapters: Any) -> Iterator[Site]:
    """Serves the dashboard over the migrated database at `url`; of the company's tribe, or of a new one with its three agents.

    A question of the feed is held for `live_s` seconds at most. `adapters` are those of `open_tribal`. Pages that are open are
    closed before the server ends.
    """
    if company is not None:
        adapters = {**adapters, "name": company.tribe, "curator_token": company.tokens[Role.CURATOR.value]}
    with open_tribal(url, **adapters) as tribal:
        present = company or company_of(tribal)
        with dashboard(tribal, live_s=live_s) as app, served(app) as address, tabs:
            yield Site(url=address, tribal=tribal, tabs=tabs, tokens=dict(present.tokens))


@contextmanager
def dashboard(tribal: Tribal, *, live_s: float = 2.0) -> Iterator[Asgi]:
    """Gives the app as it is wired everywhere, over the tribe's own settings and adapters."""
    with ExitStack() as opened:
        yield make_app(
            lambda: opened.enter_context(open_prober(tribal.settings)),
            lambda: tribal.memory,
            Setup(secure=False, live_s=live_s),
            now=tribal.clock,
        )
