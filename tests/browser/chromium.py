"""The browser that the tests drive: Debian's Chromium, headless, with nothing of its own to ask of any network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from playwright.sync_api import Browser, sync_playwright

NAME = "chromium"
_FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # whatever a page asks of elsewhere ends here, before the name is looked up
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)


class NoBrowserError(Exception):
    """There is no Chromium to drive; run: make system-deps"""


def found(name: str = NAME) -> str:
    """Returns the path of the program; raises NoBrowserError, which says how to install it."""
    path = shutil.which(name)
    if path is None:
        raise NoBrowserError(f"'{name}' is not installed; run: make system-deps")
    return path


@contextmanager
def launched() -> Iterator[Browser]:
    """Runs the browser with a profile of its own. Raises NoBrowserError.

    While it runs, this thread can run no event loop but Playwright's: whoever needs one takes another thread.
    """
    path = found()
    with sync_playwright() as playwright:
        # the sandbox of Chromium does not work for root, as whom CI runs; all that is shown to it is ours
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS, chromium_sandbox=False)
        try:
            yield browser
        finally:
            browser.close()


class Running:
    """One browser for whoever asks, launched at the first asking and again after it was closed."""

    def __init__(self) -> None:
        self._opened = ExitStack()
        self._browser: Browser | None = None

    def browser(self) -> Browser:
        """Returns the browser; raises NoBrowserError."""
        if self._browser is None:
            self._browser = self._opened.enter_context(launched())
        return self._browser

    def close(self) -> None:
        self._browser = None
        self._opened.close()
