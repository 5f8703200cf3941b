"""The status page in a browser: both themes, both widths, no pointer, and a database that is away."""

from __future__ import annotations

import pytest

from tests.browser.axe import audit
from tests.browser.hostile import assert_inert
from tests.browser.keyboard import assert_reachable
from tests.browser.layout import assert_fits, assert_no_shift
from tests.browser.site import Site
from tests.browser.tabs import Theme
from tests.browser.weight import assert_light


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_status_is_legible_in_both_themes_fits_every_window_and_needs_no_pointer(site: Site, theme: Theme) -> None:
    page = site.visit("reader", theme=theme, path="/status")
    assert page.get_by_role("heading", level=1).inner_text() == "All is well"
    assert_no_shift(page)
    audit(page)
    assert_inert(page)
    assert_fits(page)
    assert_reachable(page)
    assert_light(page)
