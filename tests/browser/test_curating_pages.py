"""The pages of curators in a browser: legible in both themes and widths, and two curators on one dispute."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.axe import audit
from tests.browser.hostile import assert_inert, hostile_draft
from tests.browser.keyboard import assert_reachable
from tests.browser.layout import assert_fits, assert_no_shift
from tests.browser.site import Site, open_site
from tests.browser.tabs import Tabs
from tests.browser.watching import Kind, watch_of
from tests.browser.weight import assert_light
from tests.doubles import RuledJudge, WordScreen, same_text_same_else_conflict
from tests.tribes import SEEN
from tributary.core.agent import Role
from tributary.core.lesson import Draft

LISTS = ("/disputes", "/quarantine", "/decisions", "/reviews")
TELLING = ("attribute_end", "htmx", "right_to_left", "long_word")
"""Those of the hostile texts that differ in what they would do to a page."""


@pytest.fixture
def contested(database_url: str, browser: Browser) -> Iterator[Site]:
    """The dashboard of a tribe in which whoever says something else than another contradicts it."""
    with open_site(
        database_url, Tabs(browser), judge=RuledJudge(same_text_same_else_conflict), screen=WordScreen(word="pwned")
    ) as site:
        yield site


def test_curating_is_legible_in_both_themes_fits_every_window_and_needs_no_pointer(lived_in: Site) -> None:
    page = lived_in.visit("curator", path="/disputes")
    one = str(page.locator(".case-head a").first.get_attribute("href"))
    page.goto("/decisions")
    decision = str(page.locator(".decisions a").first.get_attribute("href"))
    for path in (*LISTS, one, decision):
        page.goto(path)
        assert_no_shift(page)
        _open_all(page)
        audit(page)
        assert_fits(page)
    page.goto(one)
    _open_all(page)
    assert_reachable(page)
    assert_light(page)
    dark = lived_in.visit("curator", theme="dark", path="/quarantine")
    for path in ("/quarantine", one):
        dark.goto(path)
        _open_all(dark)
        audit(dark)


def test_the_second_of_two_curators_on_one_dispute_is_told_and_nothing_doubles(lived_in: Site) -> None:
    lived_in.hire("second", Role.CURATOR)
    first = lived_in.visit("curator", path="/disputes")
    first.locator(".case-head a").first.click()
    second = lived_in.visit("second", path=first.url)
    _end(first, "Accept: the contender is right", "Accept it", "read again")
    assert first.get_by_role("status").inner_text().startswith("It ended as accepted")
    stands = lived_in.tribal.status_counts()
    watch_of(second).expect(Kind.CONSOLE, "409")
    _end(second, "Reject: the contender is wrong", "Reject it", "the older one was measured")
    alert = second.get_by_role("alert")
    assert "As things stand, this cannot be done" in alert.inner_text()
    shown = second.locator("main").inner_text()
    assert "Accepted by curator, " in shown
    assert "What you wrote was not kept: the older one was measured" in shown
    assert lived_in.tribal.status_counts() == stands


def test_hostile_text_is_inert_on_every_page_of_curators(contested: Site) -> None:
    tribal = contested.tribal
    author = tribal.agent("author")
    for name in TELLING:
        tribal.memory.learn(author, hostile_draft(name))
    tribal.memory.learn(tribal.curator, Draft(text="plain", situation="plain", source=SEEN))
    page = contested.visit("curator", path="/quarantine")
    assert page.locator(".case").count() == len(TELLING)
    assert_inert(page)
    page.goto("/decisions")
    assert_inert(page)
    page.locator(".decisions a").nth(1).click()
    assert_inert(page)
    page.goto("/quarantine")
    for _ in TELLING:
        page.locator("details", has_text="Release it").first.locator("summary").click()
        page.get_by_role("button", name="Release it").first.click()
        page.goto("/quarantine")
    for path in ("/disputes", "/reviews"):
        page.goto(path)
        assert page.locator(".case").count() == len(TELLING)
        assert_inert(page)
        assert_fits(page)
    for place in range(len(TELLING)):
        page.goto("/disputes")
        page.locator(".case-head a").nth(place).click()
        assert_inert(page)
        assert_fits(page)


def _open_all(page: Page) -> None:
    for details in page.locator("main details").all():
        details.locator("summary").click()


def _end(page: Page, title: str, button: str, why: str) -> None:
    ending = page.locator("details.ending", has_text=title)
    ending.locator("summary").click()
    ending.locator("textarea").fill(why)
    ending.get_by_role("button", name=button).click()
    page.wait_for_load_state()
