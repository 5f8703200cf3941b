"""The first page in a browser: the feed lives, moves nothing that is being read, and outlives a memory that is away."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.axe import audit
from tests.browser.hostile import assert_inert, hostile_draft
from tests.browser.keyboard import assert_reachable
from tests.browser.layout import assert_fits, assert_no_shift
from tests.browser.site import Site, open_site
from tests.browser.tabs import Tabs
from tests.browser.watching import Kind, watch_of
from tests.browser.weight import assert_light

ENTRIES = "[data-feed-list] > .entry"


@pytest.fixture
def waiting(database_url: str, browser: Browser) -> Iterator[Site]:
    """The dashboard of a new tribe, where one may wait for what happens."""
    with open_site(database_url, Tabs(browser), changes_wait_s=20) as site:
        yield site


@pytest.fixture
def patient(database_url: str, browser: Browser) -> Iterator[Site]:
    """The same where a question is held for longer than the feed leaves between two of them."""
    with open_site(database_url, Tabs(browser), live_s=20.0, changes_wait_s=20) as site:
        yield site


def learn(site: Site, *texts: str) -> None:
    for text in texts:
        site.tribal.learn(site.tribal.curator, text, subject=text)


def live(page: Page) -> None:
    """Waits until the feed has asked."""
    expect(page.locator("[data-feed-state]")).to_have_text("live")


def test_first_page_is_sound_in_both_themes_and_widths(lived_in: Site) -> None:
    page = lived_in.visit("curator")
    live(page)
    for check in (audit, assert_no_shift, assert_fits, assert_reachable, assert_light):
        check(page)
    audit(lived_in.visit("reader", theme="dark", width=375))


def test_what_happens_comes_by_itself_once_and_in_order(waiting: Site) -> None:
    learn(waiting, "first")
    page = waiting.visit("reader")
    live(page)
    learn(waiting, "second", "third")
    expect(page.locator(ENTRIES)).to_have_count(3)
    learn(waiting, "fourth")
    expect(page.locator(ENTRIES)).to_have_count(4)
    assert [int(one) for one in re.findall(r"tick (\d+)", page.locator("[data-feed-list]").inner_text())] == [4, 3, 2, 1]
    expect(page.locator("[data-feed-said]")).to_have_text("1 learned")
    expect(page.locator(f"{ENTRIES}.new")).to_have_count(1)
    assert page.locator(ENTRIES).first.locator("time").inner_text() != page.locator(ENTRIES).first.locator("time").get_attribute(
        "title"
    )


def test_a_feed_whose_question_was_held_for_long_goes_on_after_the_answer(patient: Site) -> None:
    page = patient.visit("reader")
    live(page)
    for number in range(1, 3):
        page.wait_for_timeout(2_500)  # longer than LEAST_MS of the script: the next question is due at once
        with page.expect_request(f"**/feed?after={number}"):
            learn(patient, f"lesson {number}")
        expect(page.locator(ENTRIES)).to_have_count(number)
    live(page)


def test_nothing_moves_what_somebody_reads_until_they_ask_for_it(waiting: Site) -> None:
    learn(waiting, *(f"lesson {number}" for number in range(30)))
    page = waiting.visit("reader")
    live(page)
    page.locator(ENTRIES).nth(25).get_by_role("link").first.focus()
    before = page.locator(ENTRIES).nth(25).bounding_box()
    learn(waiting, "news", "more news")
    fresh = page.get_by_role("button", name="2 new")
    expect(fresh).to_be_visible()
    assert page.locator(ENTRIES).count() == 30
    assert page.locator(ENTRIES).nth(25).bounding_box() == before
    fresh.press("Enter")
    expect(page.locator(ENTRIES)).to_have_count(32)
    expect(page.locator(ENTRIES).first).to_be_focused()
    expect(page.locator(ENTRIES).first).to_contain_text("more news")
    expect(page.locator(ENTRIES).first).to_be_in_viewport()
    expect(fresh).to_be_hidden()


def test_a_paused_feed_and_a_hidden_tab_ask_nothing_and_catch_up(waiting: Site) -> None:
    page = waiting.visit("reader", path="/status")
    page.clock.install()
    page.goto("/")
    live(page)
    page.get_by_role("button", name="Pause").click()
    learn(waiting, "while paused")  # answers the question that is held already
    expect(page.locator(ENTRIES)).to_have_count(1)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/feed" in request.url else None)
    learn(waiting, *(f"lesson {number}" for number in range(34)))
    other = waiting.visit("reader")
    expect(other.locator(ENTRIES)).to_have_count(30)
    page.clock.fast_forward(MUCH_LATER_MS)
    assert asked == []
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(ENTRIES)).to_have_count(31)
    expect(page.locator(".gap")).to_contain_text("… and 4 more ticks before them.")
    with page.expect_request("**/feed?*"):
        page.clock.fast_forward(MUCH_LATER_MS)
    page.evaluate(HIDE, True)
    asked.clear()
    learn(waiting, "going out of sight")  # answers the question that is held already
    expect(page.locator(ENTRIES)).to_have_count(32)
    page.clock.fast_forward(MUCH_LATER_MS)
    learn(waiting, "nobody looks")
    assert asked == []
    page.evaluate(HIDE, False)
    expect(page.locator(ENTRIES)).to_have_count(33)
    assert asked


MUCH_LATER_MS = 300_000
HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.mark.parametrize("status", [503, 200])
def test_feed_keeps_what_it_has_while_the_memory_is_away_and_goes_on_by_itself(waiting: Site, status: int) -> None:
    learn(waiting, "before")
    page = waiting.visit("reader", path="/lessons")
    if status == 503:
        watch_of(page).expect(Kind.RESPONSE, "503")
        watch_of(page).expect(Kind.CONSOLE, "503")
    away = [True]

    def answer(route: Route) -> None:
        route.fulfill(status=status, body="<p>away</p>") if away else route.continue_()

    page.route("**/feed?*", answer)
    page.goto("/")
    expect(page.locator("[data-feed-state]")).to_contain_text("The memory cannot be asked: this is what was known.")
    expect(page.locator(ENTRIES)).to_have_count(1)
    learn(waiting, "meanwhile")
    away.clear()
    expect(page.locator(ENTRIES)).to_have_count(2, timeout=20_000)
    live(page)


def test_feed_leads_to_sign_in_when_the_session_ended_and_hostile_words_stay_words(waiting: Site) -> None:
    waiting.hire("leaver", waiting.tribal.curator.role)
    page = waiting.visit("leaver")
    live(page)
    watch_of(page).expect(Kind.CONSOLE, "401")
    waiting.tribal.memory.learn(waiting.tribal.curator, hostile_draft("handler"))
    expect(page.locator(ENTRIES)).to_have_count(1)
    assert_inert(page)
    agent = waiting.tribal.memory.authenticate(waiting.tokens["leaver"])
    waiting.tribal.memory.agents.revoke(waiting.tribal.curator, agent.agent_id)
    learn(waiting, "afterwards")
    page.wait_for_url("**/sign-in?said=ended")
