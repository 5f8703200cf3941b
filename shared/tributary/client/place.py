"""Where the memory is and who asks: from arguments, the environment, or what a local server left."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from ipaddress import ip_address
from urllib.parse import urlsplit

from tributary.client.aws import Aws, Signing, signing_at
from tributary.client.errors import NotConfigured
from tributary.contract.home import home, read_connection, serving_at

DEFAULT_PORT = 8377
DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"
"""Where `tributary serve` listens unless told otherwise."""

_NAMES = ("TRIBUTARY_URL", "TRIBUTARY_TOKEN", "TRIBUTARY_AUTH", "TRIBUTARY_HOME")
_WAYS = ("token", "iam")
_HEADER_SAFE = re.compile(r"[!-~]+")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A server's address without a trailing slash, and who asks there: the token to show, or else how to sign.

    `hint` says what to do when none answers.
    """

    url: str
    token: str | None = field(repr=False)
    hint: str
    signing: Signing | None = None


@dataclass(frozen=True, kw_only=True)
class _Known:
    url: str
    token: str | None
    hint: str


def find_place(url: str | None, token: str | None, environment: Mapping[str, str], aws: Aws | None = None) -> Place:
    """Returns where to ask and as whom; raises NotConfigured saying what to do.

    The address is `url`, else TRIBUTARY_URL, else what the local server left, else the default. The token is `token`, else
    TRIBUTARY_TOKEN, else what the local server left. A token is never sent to another address than the one it was kept
    with: that would hand one server's secret to another. With `aws`, or TRIBUTARY_AUTH=iam and no token in the arguments,
    requests are signed instead and no token is sent.
    """
    _refuse_misspelt(environment)
    folder = home(environment)
    stored = read_connection(folder)
    set_url, set_token = environment.get("TRIBUTARY_URL") or None, environment.get("TRIBUTARY_TOKEN") or None
    signing = _signing(token, set_token, environment, aws)
    left = stored.url if stored else serving_at(folder)
    local = _Known(
        url=_checked_url(left, f"what the server left in {folder}") if left else DEFAULT_URL,
        token=stored.token if stored else None,
        hint="start it with 'tributary serve'",
    )
    chosen = local
    if set_url:
        chosen = _Known(url=_checked_url(set_url, "TRIBUTARY_URL"), token=None, hint="check TRIBUTARY_URL")
    if url:
        chosen = _Known(url=_checked_url(url, "url"), token=None, hint="check the url")
    if signing is not None:
        if chosen is local:
            raise NotConfigured("signing for AWS needs the address of the API: set TRIBUTARY_URL; the local server takes tokens")
        return Place(url=chosen.url, token=None, hint=chosen.hint, signing=signing_at(chosen.url, signing, environment))
    elsewhere = url and set_url and _checked_url(set_url, "TRIBUTARY_URL") != chosen.url
    found = token or (None if elsewhere else set_token) or (local.token if chosen.url == local.url else None)
    if not found:
        raise NotConfigured(_no_token(chosen.url, local=chosen is local, elsewhere=bool(elsewhere and set_token)))
    return Place(url=chosen.url, token=_checked_token(found), hint=chosen.hint)


def _signing(token: str | None, set_token: str | None, environment: Mapping[str, str], aws: Aws | None) -> Aws | None:
    """Returns how to sign, None where a token is shown; raises NotConfigured where both are asked for in one place."""
    way = environment.get("TRIBUTARY_AUTH") or "token"
    if way not in _WAYS:
        raise NotConfigured(f"TRIBUTARY_AUTH must be token or iam (it is '{way[:40]}')")
    if token and aws is not None:
        raise NotConfigured("give token or aws, not both: who signs for AWS shows no token")
    if token:
        return None
    if aws is None and way == "iam" and set_token:
        raise NotConfigured("TRIBUTARY_TOKEN and TRIBUTARY_AUTH=iam are both set: who signs for AWS shows no token; unset one")
    return aws if aws is not None else Aws() if way == "iam" else None


def _refuse_misspelt(environment: Mapping[str, str]) -> None:
    """Raises NotConfigured for a name that is nearly one of ours: passed over, it would let another token speak."""
    for name in sorted(environment):
        if name not in _NAMES and name.upper().startswith("TRIBUTARY_"):
            near = get_close_matches(name.upper(), _NAMES, n=1, cutoff=0.9)
            if near and near[0] != "TRIBUTARY_HOME":
                raise NotConfigured(f"{name} is no setting; did you mean {near[0]}?")


def is_loopback(url: str) -> bool:
    """Tells whether `url` names this very computer."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _no_token(url: str, *, local: bool, elsewhere: bool) -> str:
    if local:
        return (
            "no token, and no local server has left one: start one with 'tributary serve', or set TRIBUTARY_URL and "
            "TRIBUTARY_TOKEN to reach another"
        )
    if elsewhere:
        return f"no token for {url}: TRIBUTARY_TOKEN belongs to the address in TRIBUTARY_URL; pass the token along with the url"
    return f"no token for {url}: set TRIBUTARY_TOKEN, or pass one along with the url"


def _checked_url(value: str, name: str) -> str:
    try:
        parts = urlsplit(value.strip())
        port_ok = parts.port is None or 0 < parts.port < 2**16
    except ValueError:
        parts, port_ok = urlsplit(""), False
    fits = parts.scheme in ("http", "https") and parts.hostname and port_ok and parts.username is None
    if not fits or parts.query or parts.fragment or not _HEADER_SAFE.fullmatch(value.strip()):
        raise NotConfigured(f"{name} must look like {DEFAULT_URL} or https://memory.example.org, without user, query or fragment")
    return value.strip().rstrip("/")


def _checked_token(value: str) -> str:
    stripped = value.strip()
    if not _HEADER_SAFE.fullmatch(stripped):
        raise NotConfigured("the token must be one word of printable ASCII, as it was shown when it was made")
    return stripped
