"""The harness itself: what goes wrong in a page behind a test's back fails the test, unless the test brought it about."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.chromium import NoBrowserError, found
from tests.browser.serving import Leaves, Reply, leaf, served
from tests.browser.tabs import Tabs
from tests.browser.watching import Kind, watch_of

FAILING = leaf(
    '<img src="/none.svg" alt="">', script="fetch('/broken').then(reply => { throw new Error(`gone: ${reply.status}`) })"
)
BROKEN = Leaves({**FAILING.replies, "/broken": Reply(body="", status=503)})

ROOT = Path(__file__).parents[2]


def seen(browser: Browser, app: Leaves, visit: Callable[[Page], object]) -> str:
    """Returns what a test that makes this visit to the app would fail with at its end."""

    def visited() -> None:
        with served(app) as url, Tabs(browser) as tabs:
            visit(tabs.open(url))

    with pytest.raises(AssertionError) as failure:
        visited()
    return str(failure.value)


def root(page: Page) -> None:
    page.goto("/")


def test_inline_script_and_style_and_handler_under_the_policy_are_reported(browser: Browser) -> None:
    inline = leaf('<script>document.title = "ran"</script><p style="color:red" onclick="1">x</p>')
    told = seen(browser, inline, root)
    for directive in ("script-src-elem", "style-src-attr", "script-src-attr"):
        assert f"csp: {directive} keeps out inline" in told
    assert "console: " in told


def test_error_of_a_script_a_failed_response_and_a_missing_file_are_reported(browser: Browser) -> None:
    def thrown(page: Page) -> None:
        page.goto("/")
        page.wait_for_function("() => performance.getEntriesByName(new URL('/broken', location), 'resource').length")
        page.evaluate("fetch('/')")

    told = seen(browser, BROKEN, thrown)
    assert "error: gone: 503" in told
    assert "response: 503 GET http://127.0.0.1:" in told
    assert "404" in told
    assert "/none.svg" in told


def test_request_to_another_host_is_reported_and_leads_nowhere(browser: Browser) -> None:
    away = leaf('<a href="https://elsewhere.invalid/">away</a>', script="fetch('https://elsewhere.invalid/x').catch(() => 0)")
    away = Leaves({**away.replies, "/": Reply(body=away.replies["/"].body, headers={"content-security-policy": "connect-src *"})})

    def failed(page: Page) -> None:
        with page.expect_event("requestfailed"):
            page.goto("/")

    told = seen(browser, away, failed)
    assert "elsewhere: GET https://elsewhere.invalid/x" in told
    assert "net::ERR_NAME_NOT_RESOLVED" in told


def test_dialog_is_reported_and_closed(browser: Browser) -> None:
    told = seen(browser, leaf("", script="alert('boo')"), root)
    assert "dialog: alert: boo" in told


def test_what_a_test_expects_is_no_trouble_and_what_then_does_not_come_is(browser: Browser, tabs: Tabs) -> None:
    def missed(path: str) -> Callable[[Page], None]:
        def visit(page: Page) -> None:
            watch_of(page).expect(Kind.CONSOLE, "/none")
            page.goto(path)

        return visit

    app = leaf("")
    app = Leaves({**app.replies, "/none": replace(app.replies["/"], status=404)})
    with served(app) as url:
        missed("/none")(tabs.open(url))
    assert "console: '/none' was expected, and did not come" in seen(browser, app, missed("/"))


def test_trouble_does_not_hide_why_the_test_failed(browser: Browser) -> None:
    def visited() -> None:
        with served(leaf("<script>1</script>")) as url, Tabs(browser) as tabs:
            tabs.open(url).goto("/")
            raise AssertionError("the test's own")

    with pytest.raises(AssertionError, match="the test's own") as failure:
        visited()
    assert any("csp: script-src-elem" in note for note in failure.value.__notes__)


def test_missing_browser_says_how_to_install_it() -> None:
    with pytest.raises(NoBrowserError, match="make system-deps"):
        found("chromium-of-nowhere")


def test_test_of_another_folder_that_comes_after_these_can_run_an_event_loop(tmp_path: Path) -> None:
    after = tmp_path / "test_after.py"
    after.write_text("import asyncio\n\n\ndef test_loop() -> None:\n    asyncio.run(asyncio.sleep(0))\n")
    before = f"{Path(__file__).relative_to(ROOT)}::{test_dialog_is_reported_and_closed.__name__}"
    run = [sys.executable, "-m", "pytest", "-q", "--rootdir", str(ROOT), "-c", "pyproject.toml", before, str(after)]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert "2 passed" in done.stdout, done.stdout + done.stderr
