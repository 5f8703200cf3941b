"""The pages about lessons in a browser: searching as one types, one lesson, both themes, every width, and no pointer."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.axe import audit
from tests.browser.hostile import assert_inert, hostile_draft
from tests.browser.keyboard import assert_reachable
from tests.browser.layout import assert_fits
from tests.browser.site import Site
from tests.browser.weight import assert_light
from tributary.core.ids import Prefix, show


def test_hits_come_as_one_types_and_lead_to_the_lesson_and_back(lived_in: Site) -> None:
    page = lived_in.visit("curator", theme="dark", path="/lessons")
    page.get_by_role("searchbox").press_sequentially("connection pool of checkout", delay=15)
    expect(page.get_by_role("status").filter(has_text="best first")).to_be_visible()
    expect(page.get_by_text("Every lesson in scope was looked at.")).to_be_visible()
    page.get_by_text("Filters").click()
    page.get_by_label("entity fact").check()
    expect(page.get_by_text("Narrowed by")).to_be_visible()
    _sound(page)
    page.get_by_role("link", name="Why this score").first.click()
    expect(page.get_by_role("heading", name="Its score for a question")).to_be_visible()
    _sound(page)
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("connection pool of checkout")
    expect(page.get_by_label("entity fact")).to_be_checked()
    expect(page.get_by_role("status").filter(has_text="best first")).to_be_visible()


def test_chain_of_a_lesson_is_a_picture_whose_boxes_lead_on(lived_in: Site) -> None:
    old = lived_in.tribal.rows("SELECT lesson_id FROM tributary.lesson WHERE status = 'superseded' ORDER BY learned_tick")[0][
        "lesson_id"
    ]
    page = lived_in.visit("curator", width=375, path=f"/lessons/{show(Prefix.LESSON, old)}")  # type: ignore[arg-type]  # a UUID
    picture = page.get_by_role("group", name="The chain as a picture")
    assert picture.get_by_role("link").count() == 2
    _sound(page)
    picture.get_by_role("link").last.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("active")


def test_a_lesson_is_contested_from_its_page_by_keyboard_and_the_past_stays_to_be_seen(lived_in: Site) -> None:
    page = lived_in.visit("writer", path="/lessons?query=connection+pool+of+checkout")
    page.get_by_role("link", name="The connection pool of checkout holds 20").click()
    page.get_by_text("Contest it").press("Enter")
    page.get_by_label("What holds instead").fill("The connection pool of checkout holds 40 connections.")
    page.get_by_role("button", name="Contest").press("Enter")
    expect(page.get_by_text("a curator decides").first).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("disputed")


def test_hostile_lessons_stay_text_in_the_list_and_on_their_pages(site: Site) -> None:
    writer = site.tribal.memory.authenticate(site.tokens["writer"])
    paths = ["/lessons", "/lessons?query=pwned"]
    for name in ("script", "long_word", "right_to_left", "braces"):
        learned = site.tribal.memory.learn(writer, hostile_draft(name))
        assert learned.lesson is not None
        paths.append(f"/lessons/{show(Prefix.LESSON, learned.lesson.lesson_id)}?query=pwned")
    page = site.visit("curator", width=375, path="/status")
    for path in paths:
        page.goto(path)
        expect(page.get_by_text("pwned").first).to_be_visible()
        assert_inert(page)
        assert_fits(page)


def _sound(page: Page) -> None:
    audit(page)
    assert_inert(page)
    assert_fits(page)
    assert_reachable(page)
    assert_light(page)
