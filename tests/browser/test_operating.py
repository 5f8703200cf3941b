"""The pages of actions, agents and the audit in a browser: legible, reachable, and a secret that is shown, copied and gone."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from playwright.sync_api import Page

from tests.browser.axe import audit
from tests.browser.hostile import HOSTILE, assert_inert
from tests.browser.keyboard import assert_reachable
from tests.browser.layout import assert_fits, assert_no_shift
from tests.browser.site import Site
from tests.browser.tabs import Theme
from tests.browser.watching import Kind, watch_of
from tests.browser.weight import assert_light
from tributary.core import ids


def doubtful(site: Site, key: str = "reboot:db-7", words: str = "Reboot the host db-7.") -> str:
    """Puts an action in doubt; returns its page."""
    tribal = site.tribal
    begun = tribal.memory.actions.begin(tribal.curator, key, words)
    assert begun.lease is not None
    tribal.memory.actions.fail(tribal.curator, begun.action.action_id, begun.lease, words, unsure=True)
    return f"/actions/{ids.show(ids.Prefix.ACTION, begun.action.action_id)}"


def agents_of(site: Site) -> dict[str, UUID]:
    return {one.name: one.agent_id for one in site.tribal.memory.desk.agents(site.tribal.curator).items}


def pages_of(site: Site) -> Sequence[str]:
    doubt = doubtful(site, "reboot:" + "x" * 190, HOSTILE["script"])
    curator = ids.show(ids.Prefix.AGENT, site.tribal.curator.agent_id)
    return ("/actions", doubt, "/agents", f"/agents/{curator}", "/audit")


def opened(site: Site, path: str, theme: Theme = "light") -> Page:
    """Returns a page with all that can be opened in it open."""
    page = site.visit("curator", theme=theme, path=path)
    assert_no_shift(page)
    for summary in page.locator("main details > summary").all():
        summary.click()
    audit(page)
    return page


def test_pages_of_operators_are_legible_fit_every_window_and_need_no_pointer(site: Site) -> None:
    for path in pages_of(site):
        page = opened(site, path)
        assert_inert(page)
        assert_fits(page)
        assert_reachable(page)
        assert_light(page)


def test_pages_of_operators_are_legible_in_the_dark(site: Site) -> None:
    for path in pages_of(site):
        opened(site, path, "dark")


def test_a_secret_is_shown_once_copied_by_its_button_and_not_made_anew_by_loading_the_page_again(site: Site) -> None:
    page = site.visit("curator", path="/agents")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_text("Make an agent").click()
    page.get_by_label("Name").fill("crawler")
    page.get_by_role("button", name="Make it, and show its token").click()
    secret = page.get_by_label("Token").input_value()
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("It is copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    assert secret not in page.url
    audit(page)
    assert_fits(page)
    watch_of(page).expect(Kind.CONSOLE, "409")
    page.reload()
    assert page.get_by_role("alert").get_by_text("has an agent named 'crawler' already").is_visible()
    assert secret not in page.content()
    assert site.tribal.memory.authenticate(secret).agent_id == agents_of(site)["crawler"]


def test_a_doubt_is_ended_by_keyboard_after_what_was_wrong_is_put_right(site: Site) -> None:
    page = site.visit("curator", path=doubtful(site))
    page.locator("summary", has_text="It happened").focus()
    page.keyboard.press("Enter")
    form = page.locator("form[action$='/happened']")
    form.get_by_label("How you found out").fill("The console shows a reboot.")
    form.get_by_label("What it came to").fill("{rebooted}")
    watch_of(page).expect(Kind.CONSOLE, "400")
    form.get_by_role("button").press("Enter")
    page.get_by_role("alert").wait_for()
    assert form.get_by_label("How you found out").input_value() == "The console shows a reboot."
    assert form.get_by_label("What it came to").get_attribute("aria-invalid") == "true"
    form.get_by_label("What it came to").fill('{"rebooted": true}')
    form.get_by_role("button").press("Enter")
    page.get_by_role("status").wait_for()
    assert '"rebooted": true' in page.get_by_role("region", name="What it came to").inner_text()
