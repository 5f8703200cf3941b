"""One browser for all tests of this folder, closed pages and a fresh copy of the database for each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from playwright.sync_api import Browser, Page
from psycopg import sql

from tests.browser.chromium import Running
from tests.browser.populate import populated_company
from tests.browser.serving import served
from tests.browser.site import Company, Site, open_site
from tests.browser.tabs import Tabs
from tests.conftest import database_at, new_database
from tributary.edges.dashboard.port import Asgi

POPULATED = "tributary_populated"
HERE = Path(__file__).parent
RUNNING = Running()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test of this folder: each needs the browser, hence a package of the system."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.system)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Ends the browser before a test of another folder runs: the thread that drives it can run no event loop meanwhile."""
    if nextitem is None or not nextitem.path.is_relative_to(HERE):
        RUNNING.close()


@pytest.fixture
def browser() -> Browser:
    """The browser, which all tests share."""
    return RUNNING.browser()


@pytest.fixture
def tabs(browser: Browser) -> Iterator[Tabs]:
    """Pages; the test fails at its end if anything went wrong in one that it did not expect."""
    with Tabs(browser) as tabs:
        yield tabs


@pytest.fixture
def show(browser: Browser) -> Iterator[Callable[[Asgi], Page]]:
    """Serves an app and returns a page at its root; watched as those of `tabs` are."""
    with ExitStack() as servers, Tabs(browser) as tabs:

        def shown(app: Asgi) -> Page:
            page = tabs.open(servers.enter_context(served(app)))
            page.goto("/")
            return page

        yield shown


@pytest.fixture
def site(database_url: str, browser: Browser) -> Iterator[Site]:
    """The dashboard of a tribe that knows nothing yet."""
    with open_site(database_url, Tabs(browser)) as site:
        yield site


@pytest.fixture(scope="session")
def populated(server_url: str, template: str) -> tuple[str, Company]:
    """The name of a database with a tribe that has lived for a while, for tests to copy, and who may sign in there."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(POPULATED)))
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(POPULATED), sql.Identifier(template)))
    return POPULATED, populated_company(database_at(server_url, POPULATED))


@pytest.fixture
def lived_in(server_url: str, populated: tuple[str, Company], browser: Browser) -> Iterator[Site]:
    """The dashboard of a tribe of its own that has lived for a while (`populate.py`)."""
    name, company = populated
    with new_database(server_url, name) as url, open_site(url, Tabs(browser), company=company) as site:
        yield site
