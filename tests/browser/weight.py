"""How much a page takes over the wire when a browser knows nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

MOST_BYTES = 150_000


@dataclass
class _Load:
    addresses: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def began(self, event: Mapping[str, Any]) -> None:
        self.addresses[event["requestId"]] = event["request"]["url"]

    def ended(self, event: Mapping[str, Any]) -> None:
        self.sizes[self.addresses.get(event["requestId"], "")] = int(event["encodedDataLength"])


def weight(page: Page) -> dict[str, int]:
    """Loads the page anew with nothing cached, and returns bytes on the wire (headers too) by address, the page's own first."""
    session = page.context.new_cdp_session(page)
    load = _Load()
    session.on("Network.requestWillBeSent", load.began)
    session.on("Network.loadingFinished", load.ended)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    try:
        page.reload(wait_until="load")
        session.send("Runtime.evaluate", {"expression": "0"})  # a round trip: all events before it are in
    finally:
        session.detach()
    return load.sizes


def assert_light(page: Page, most: int = MOST_BYTES) -> None:
    """Fails when the first load of the page takes more than `most` bytes."""
    sizes = weight(page)
    total = sum(sizes.values())
    told = "\n  ".join(f"{size:>8} {address}" for address, size in sizes.items())
    assert total <= most, f"{page.url} takes {total} bytes, more than {most}:\n  {told}"
