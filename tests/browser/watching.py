"""What goes wrong in a page while a test looks elsewhere: recorded as it comes, and held against the test at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from playwright.sync_api import ConsoleMessage, Dialog, Page, Request, Response

_INLINE = frozenset({"about", "blob", "data"})
_TELL = "__tributary_tell"
# Runs before anything of the page, and is no script of the page for its Content-Security-Policy.
_ON_VIOLATION = f"""
document.addEventListener('securitypolicyviolation', event => window.{_TELL}(
  `${{event.effectiveDirective}} keeps out ${{event.blockedURI}}` + (event.sample && `: ${{event.sample}}`)));
"""


class Kind(StrEnum):
    """What can go wrong in a page that no test would otherwise see."""

    CONSOLE = "console"
    ERROR = "error"
    CSP = "csp"
    REQUEST = "request"
    RESPONSE = "response"
    DIALOG = "dialog"
    ELSEWHERE = "elsewhere"


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """One thing that went wrong, on which page, and in what words."""

    kind: Kind
    page: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text} (on {self.page})"


@dataclass(frozen=True, kw_only=True)
class _Expected:
    kind: Kind
    words: str

    def covers(self, trouble: Trouble) -> bool:
        return trouble.kind is self.kind and self.words in trouble.text


class Watch:
    """Records what goes wrong in one page: errors of scripts and of the console, violations of its Content-Security-Policy,
    requests that fail or go elsewhere, responses from 500 on, dialogs."""

    def __init__(self, page: Page, home: str) -> None:
        self.troubles: list[Trouble] = []
        self._page = page
        self._home = urlsplit(home).netloc
        self._expected: list[_Expected] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._add(Kind.ERROR, str(error)))
        page.on("request", self._request)
        page.on("requestfailed", self._failed)
        page.on("response", self._response)
        page.on("dialog", self._dialog)
        page.expose_function(_TELL, lambda text: self._add(Kind.CSP, text))
        page.add_init_script(_ON_VIOLATION)
        _WATCHES[page] = self

    def expect(self, kind: Kind, words: str = "") -> None:
        """Says that the test brings this about: troubles of this kind whose text has `words` in it count for nothing.

        One at least must come, or the test fails at its end all the same.
        """
        self._expected.append(_Expected(kind=kind, words=words))

    def of(self, kind: Kind) -> list[str]:
        """Returns the texts of one kind, in order."""
        return [one.text for one in self.troubles if one.kind is kind]

    def unexpected(self) -> Sequence[str]:
        """Returns what went wrong and was not expected, and what was expected and did not come."""
        came = [str(one) for one in self.troubles if not any(expected.covers(one) for expected in self._expected)]
        missing = [one for one in self._expected if not any(one.covers(trouble) for trouble in self.troubles)]
        return [*came, *(f"{one.kind}: '{one.words}' was expected, and did not come" for one in missing)]

    def _add(self, kind: Kind, text: str) -> None:
        self.troubles.append(Trouble(kind=kind, page=self._page.url, text=text))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._add(Kind.CONSOLE, f"{message.text} ({message.location.get('url', '')})")

    def _request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in _INLINE and address.netloc != self._home:
            self._add(Kind.ELSEWHERE, f"{request.method} {request.url}")

    def _failed(self, request: Request) -> None:
        # what a navigation cuts short (a feed that waits, a picture not yet there) is no failure of anything
        if request.failure != "net::ERR_ABORTED":
            self._add(Kind.REQUEST, f"{request.method} {request.url}: {request.failure}")

    def _response(self, response: Response) -> None:
        if response.status >= 500:
            self._add(Kind.RESPONSE, f"{response.status} {response.request.method} {response.url}")

    def _dialog(self, dialog: Dialog) -> None:
        self._add(Kind.DIALOG, f"{dialog.type}: {dialog.message}")
        dialog.dismiss()


_WATCHES: WeakKeyDictionary[Page, Watch] = WeakKeyDictionary()


def watch_of(page: Page) -> Watch:
    """Returns the watch of a page that a `Tabs` opened."""
    return _WATCHES[page]
