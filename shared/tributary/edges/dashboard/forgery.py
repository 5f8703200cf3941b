"""What keeps other sites from sending forms in a visitor's name (CSRF), beside the cookie's own SameSite=Strict.

Each form of a page carries a token that only this session's pages have. And each browser says which site a request comes from.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from urllib.parse import urlsplit

FIELD = "csrf"
_PURPOSE = b"tributary dashboard form"


def form_token(session: str) -> str:
    """Returns what each form of a session carries: 64 hexadecimal digits, from which the session's secret cannot be told."""
    return hmac.new(session.encode(), _PURPOSE, hashlib.sha256).hexdigest()


def is_token(given: str, expected: str) -> bool:
    """Compares in a time that tells nothing."""
    return bool(expected) and hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def from_here(headers: Mapping[str, str]) -> bool:
    """Tells whether a form was sent by a page of this host, as far as the browser says.

    Browsers say it in `Sec-Fetch-Site`; where a page came without TLS they leave it out, and `Origin` is held against `Host`.
    What says neither is no browser, and forged by nobody.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is None or (origin != "null" and _host_of(origin) == headers.get("host"))


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # what no browser sends
        return None
