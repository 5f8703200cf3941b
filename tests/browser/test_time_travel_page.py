"""Going back in time in a browser: the slider by keyboard, moments of the viewer's clock, and two moments compared."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.axe import audit
from tests.browser.hostile import assert_inert, hostile_draft
from tests.browser.keyboard import assert_reachable
from tests.browser.layout import assert_fits
from tests.browser.site import Site
from tests.browser.watching import Kind, watch_of
from tests.browser.weight import assert_light
from tests.tribes import SEEN
from tributary.core.lesson import CounterClaim

OLD, NEW = "Backups of the orders database are kept for 14 days.", "Backups of the orders database are kept for 35 days."


def test_slider_moved_by_keyboard_over_a_superseded_pair_shows_one_of_the_two_at_each_tick(lived_in: Site) -> None:
    tick = _superseded_at(lived_in)
    page = lived_in.visit("reader", width=375, path=f"/time-travel?at={tick - 2}")
    slider = page.get_by_role("slider", name="Tick, from 0 to")
    believed = page.get_by_role("list", name="Believed then")
    slider.focus()
    for key, at, there in (("ArrowRight", tick - 1, OLD), ("ArrowRight", tick, NEW), ("ArrowLeft", tick - 1, OLD)):
        slider.press(key)
        expect(page.locator("#moment")).to_have_attribute("data-tick", str(at))
        expect(slider).to_have_attribute("aria-valuetext", re.compile(rf"^tick {at}, \d{{4}}-"))
        expect(believed.get_by_text(there, exact=True)).to_have_count(1)
        expect(believed.get_by_text(NEW if there == OLD else OLD, exact=True)).to_have_count(0)
        assert page.url.endswith(f"/time-travel?at={at}")
    expect(slider).to_be_focused()
    _sound(page)
    page.get_by_role("link", name=OLD).first.click()
    expect(page.get_by_text(f"As it stood at tick {tick - 1}")).to_be_visible()


def test_question_is_kept_while_moments_change_and_the_address_can_be_sent(lived_in: Site) -> None:
    tick = _superseded_at(lived_in)
    page = lived_in.visit("reader", path="/time-travel")
    page.get_by_label("Tick", exact=True).fill(str(tick - 1))
    page.get_by_label("Tick", exact=True).press("Enter")
    expect(page.locator("#moment")).to_have_attribute("data-tick", str(tick - 1))
    page.get_by_role("searchbox").press_sequentially("how long are backups of the orders database kept", delay=5)
    expect(page.get_by_text("Searched as of")).to_be_visible()
    hits = page.get_by_role("region", name="as of then, best first")
    expect(hits.get_by_text(OLD)).to_be_visible()
    page.get_by_role("link", name="A tick later").click()
    expect(hits.get_by_text(NEW)).to_be_visible()
    expect(hits.get_by_text(OLD)).to_have_count(0)
    expect(page.get_by_role("slider", name="Tick, from 0 to")).to_have_value(str(tick))
    other = lived_in.visit("curator", path=page.url)
    expect(other.get_by_role("searchbox")).to_have_value("how long are backups of the orders database kept")
    expect(other.get_by_role("region", name="as of then, best first").get_by_text(NEW)).to_be_visible()


def test_instant_is_one_of_the_viewers_clock_and_goes_out_as_one_that_all_understand(lived_in: Site) -> None:
    tick = _superseded_at(lived_in)
    page = lived_in.visit("reader", zone="Asia/Kolkata", path=f"/time-travel?at={tick}")
    expect(page.get_by_text("Instant, in Asia/")).to_be_visible()
    instant = page.locator("#instant")
    shown = page.locator("#moment time").first
    expect(instant).to_have_value(shown.inner_text().replace(" ", "T"))
    instant.fill(instant.input_value())
    page.get_by_role("button", name="Go to the instant").click()
    # the second in which the tick fell, from its beginning on: just before it
    expect(page.locator("#moment")).to_have_attribute("data-tick", str(tick - 1))
    assert re.search(r"at=\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d\.000Z$", page.url)
    page.locator("#jump-now").click()
    expect(page.get_by_text("(the last one)")).to_be_visible()


def test_two_moments_are_compared_and_what_was_superseded_is_a_pair_with_its_words_marked(lived_in: Site) -> None:
    tick = _superseded_at(lived_in)
    page = lived_in.visit("reader", theme="dark", path=f"/time-travel?at={tick}")
    page.get_by_text("What changed between two moments").click()
    page.locator("#from").fill(str(tick - 1))
    page.locator("#from").press("Enter")
    expect(page.locator("del")).to_have_text("14")
    expect(page.locator("ins")).to_have_text("35")
    earlier = page.get_by_role("slider", name="The earlier moment")
    expect(earlier).to_have_value(str(tick - 1))
    _sound(page)
    earlier.press("End")
    expect(page.get_by_text("That goes backwards.")).to_be_visible()
    page.get_by_role("link", name="Change the two over").click()
    expect(page.locator("#moment")).to_have_attribute("data-since", str(tick))
    audit(page)
    watch_of(page).expect(Kind.CONSOLE, "400")


def test_rules_for_its_bars_leave_the_charts_of_other_pages_alone(lived_in: Site) -> None:
    page = lived_in.visit("reader", path="/time-travel")
    bars = page.locator(".travel-strip svg").first
    expect(bars).to_have_css("cursor", "pointer")
    page.goto("/")
    chart = page.locator(".chart.strip svg").first
    expect(chart).to_be_visible()
    expect(chart).to_have_css("cursor", "auto")


def test_instant_is_wide_enough_for_its_time_and_the_two_moments_are_level(lived_in: Site) -> None:
    for width in (1440, 375):
        page = lived_in.visit("reader", width=width, path="/time-travel?from=1")
        instant = page.locator("#instant").bounding_box()
        assert instant is not None
        assert instant["width"] >= 240
        heights = {page.locator(f"label[for={field}]").evaluate("it => it.offsetHeight") for field in ("from", "to")}
        assert len(heights) == 1
        assert_fits(page)


def test_hostile_words_of_a_superseded_pair_stay_text(site: Site) -> None:
    curator = site.tribal.memory.authenticate(site.tokens["curator"])
    for name in ("script", "long_word"):
        learned = site.tribal.memory.learn(curator, hostile_draft(name))
        assert learned.lesson is not None
        claim = CounterClaim(text=f"not so: {hostile_draft(name).text}"[:8000], source=SEEN)
        site.tribal.memory.contest(curator, learned.lesson.lesson_id, claim)
    page = site.visit("curator", width=375, path="/time-travel?from=1&at=2")
    for path in ("/time-travel?from=1&at=2", "/time-travel?from=3", "/time-travel?at=4"):
        page.goto(path)
        expect(page.get_by_text("pwned").first).to_be_visible()
        assert_inert(page)
        assert_fits(page)


def _superseded_at(site: Site) -> int:
    """The tick at which NEW took the place of OLD."""
    found = site.tribal.rows("SELECT deactivated_tick FROM tributary.lesson WHERE status = 'superseded' AND text = %s", OLD)
    tick = found[0]["deactivated_tick"]
    assert isinstance(tick, int)
    return tick


def _sound(page: Page) -> None:
    audit(page)
    assert_inert(page)
    assert_fits(page)
    assert_reachable(page)
    assert_light(page)
