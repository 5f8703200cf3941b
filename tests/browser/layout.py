"""How a page lies in its window: nothing wider than it, and nothing that moves once it is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from playwright.sync_api import Page

from tests.browser.tabs import HEIGHTS, Width

WIDTHS: Sequence[Width] = get_args(Width)

_SELECTOR = """
const named = element => {
  if (element.nodeType !== 1) element = element.parentElement;
  if (!element) return '(gone)';
  const classes = [...element.classList].map(name => '.' + CSS.escape(name)).join('');
  return element.localName + (element.id ? '#' + CSS.escape(element.id) : '') + classes;
};
"""

# Two frames: what the first one shows is only known to have been laid out in the second.
_SETTLED = """async () => {
  await document.fonts.ready;
  await Promise.all([...document.images].map(image => image.decode().catch(() => null)));
  for (let n = 0; n < 2; n++) await new Promise(requestAnimationFrame);
}"""

_SHIFTS = f"""() => {{ {_SELECTOR}
  const observer = new PerformanceObserver(() => null);
  observer.observe({{type: 'layout-shift', buffered: true}});
  const shifts = observer.takeRecords().filter(shift => !shift.hadRecentInput && shift.value > 0);
  observer.disconnect();
  return shifts.map(shift => [shift.value, shift.sources.map(one => one.node ? named(one.node) : '(gone)')]);
}}"""

# What is cut off by a box of its own that scrolls, or is meant for screen readers alone, is no part of the page's width.
_WIDE = f"""() => {{ {_SELECTOR}
  const width = document.documentElement.clientWidth;
  const held = element => {{
    for (let box = element.parentElement; box && box !== document.body; box = box.parentElement)
      if (getComputedStyle(box).overflowX !== 'visible') return true;
    return false;
  }};
  const wide = [...document.body.querySelectorAll('*')].filter(element => {{
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && (box.right > width + 1 || box.left < -1) && box.right > 0 && !held(element);
  }});
  return {{scrolls: document.documentElement.scrollWidth - width, wide: wide.slice(0, 5).map(named)}};
}}"""


def settled(page: Page) -> None:
    """Waits until a page with its pictures and fonts is shown as it is to be."""
    page.wait_for_load_state("load")
    page.evaluate(_SETTLED)


def assert_no_shift(page: Page) -> None:
    """Fails when anything moved by itself since the page began to show: its cumulative layout shift is to be 0."""
    settled(page)
    shifts: list[Any] = page.evaluate(_SHIFTS)
    told = [f"by {value:.4f}: {', '.join(moved)}" for value, moved in shifts]
    assert not told, f"parts of {page.url} moved:\n  " + "\n  ".join(told)


def assert_fits(page: Page, widths: Sequence[Width] = WIDTHS) -> None:
    """Fails when the page must be scrolled sideways at any of `widths` (px), or shows anything outside its window there."""
    before = page.viewport_size
    for width in widths:
        page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
        settled(page)
        found = page.evaluate(_WIDE)
        wide = ", ".join(found["wide"])
        assert found["scrolls"] <= 0, f"{page.url} is {found['scrolls']} px too wide at {width} px, by: {wide}"
        assert not found["wide"], f"{page.url} at {width} px shows only a part of: {wide}"
    if before is not None:
        page.set_viewport_size(before)
