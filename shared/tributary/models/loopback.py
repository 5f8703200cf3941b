"""Which addresses are on this computer: what is sent to them goes through no proxy and needs no key."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_here(url: str) -> bool:
    """Tells whether a URL's host is this computer, by its name or number alone; what is no URL is not."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
