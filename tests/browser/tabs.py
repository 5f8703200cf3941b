"""Pages of the browser, each in a context of its own and watched from its first request to the end of its test."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Literal, Self

from playwright.sync_api import Browser, Page, StorageState

from tests.browser.watching import Watch, watch_of

Theme = Literal["light", "dark"]
Width = Literal[375, 1440]
HEIGHTS: Mapping[Width, int] = {375: 812, 1440: 900}
ZONE = "America/New_York"
"""The viewer's: not UTC, so that a time which is shown in the wrong one is seen to be."""


class Tabs:
    """Opens pages, and closes them when the block ends; then fails if anything went wrong in one that its test did not expect."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.pages: list[Page] = []

    def open(
        self,
        home: str,
        *,
        theme: Theme = "light",
        width: Width = 1440,
        zone: str = ZONE,
        session: StorageState | None = None,
    ) -> Page:
        """Returns an empty page, with the cookies of `session`; paths are those of `home`, and any other host is elsewhere."""
        context = self.browser.new_context(
            base_url=home,
            color_scheme=theme,
            viewport={"width": width, "height": HEIGHTS[width]},
            timezone_id=zone,
            locale="en-GB",
            reduced_motion="reduce",
            service_workers="block",
            storage_state=session,
        )
        context.set_default_timeout(15_000)
        page = context.new_page()
        self.pages.append(page)
        Watch(page, home)
        return page

    def close(self) -> list[str]:
        """Closes all pages and returns what went wrong unexpectedly."""
        pages, self.pages = self.pages, []
        wrong: list[str] = []
        for page in pages:
            if not page.is_closed():
                # a round trip: events come in order, so that all which came before it are recorded after it
                page.evaluate("0")
            wrong += watch_of(page).unexpected()
            page.context.close()
        return wrong

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        wrong = self.close()
        if wrong and error is None:
            raise AssertionError("went wrong in the browser, and the test did not expect it:\n  " + "\n  ".join(wrong))
        if wrong and error is not None:
            error.add_note("went wrong in the browser besides:\n  " + "\n  ".join(wrong))
