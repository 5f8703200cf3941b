"""The pictures in the docs: all that the table names and no other, small, and of pages that were as they should be."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from tests.browser.screenshots import COLOURS, IMAGES, MOST_BYTES, SHOTS, Shot, take
from tests.browser.site import Site
from tests.browser.watching import Kind, watch_of


def test_docs_have_the_pictures_of_the_table_and_no_other() -> None:
    kept = {path.name: path.stat().st_size for path in IMAGES.glob("dashboard-*.png")}
    assert kept.keys() == {shot.file for shot in SHOTS}, "run: make screenshots"
    assert max(kept.values()) <= MOST_BYTES


def test_picture_is_of_the_whole_window_with_a_palette_and_none_is_kept_of_a_page_that_went_wrong(
    site: Site, tmp_path: Path
) -> None:
    size = take(site, Shot(name="small", path="/status", width=375), tmp_path)
    with Image.open(tmp_path / "dashboard-small.png") as picture:
        assert (picture.size, picture.mode) == ((375, 812), "P")
        assert len(picture.getcolors() or ()) <= COLOURS
    assert 1000 < size <= MOST_BYTES
    with pytest.raises(AssertionError, match=r"/nowhere is not as it should be: console: .* 404"):
        take(site, Shot(name="none", path="/nowhere"), tmp_path)
    watch_of(site.tabs.pages[-1]).expect(Kind.CONSOLE, "nowhere")
    assert not (tmp_path / "dashboard-none.png").exists()
