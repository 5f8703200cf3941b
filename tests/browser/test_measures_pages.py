"""The pages Quality and Cost in a browser: charts and their tables, both themes, every width, and no pointer."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.axe import audit
from tests.browser.hostile import assert_inert
from tests.browser.keyboard import assert_reachable
from tests.browser.layout import assert_fits, assert_no_shift
from tests.browser.site import Site
from tests.browser.tabs import Theme
from tests.browser.weight import assert_light


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/quality", "/costs"])
def test_charts_are_legible_in_both_themes_fit_every_window_and_need_no_pointer(lived_in: Site, path: str, theme: Theme) -> None:
    page = lived_in.visit("curator", theme=theme, path=path)
    assert_no_shift(page)
    tables = page.locator("figure summary")
    assert page.locator("figure svg[role=img]").count() == tables.count() > 2
    for table in tables.all():
        table.press("Enter")
    audit(page)
    assert_inert(page)
    assert_fits(page)
    assert_reachable(page)
    assert_light(page)


def test_a_metric_that_fell_leads_to_its_history_and_the_form_to_another_suite(lived_in: Site) -> None:
    page = lived_in.visit("reader", path="/quality")
    page.get_by_role("link", name="retrieval paraphrases recall@5").click()
    expect(page.locator("#history")).to_be_in_viewport()
    expect(page.get_by_role("img", name="paraphrases recall@5")).to_be_visible()
    page.get_by_label("Suite").select_option("redteam")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="redteam: each metric beside the run before")).to_be_visible()
