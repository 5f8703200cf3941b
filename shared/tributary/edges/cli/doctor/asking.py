"""The server as a client sees it: where it is, whether it answers, as whom it knows us, and what time it has."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from tributary.edges.cli.doctor.finding import Finding, bad, ok, unknown

if TYPE_CHECKING:
    import httpx

    from tributary.client import TributaryError
    from tributary.edges.cli.doctor.examining import Ground

MOST_SKEW_S = 5.0
"""AWS refuses signatures that are 5 minutes off; times in questions and lessons go wrong long before that."""

_COARSE_S = 2.0
"""A server tells its time in whole seconds, and a reply takes a while."""


def server(ground: Ground) -> Sequence[Finding]:
    from tributary import __version__
    from tributary.client import NotConfigured, TributaryError

    try:
        with ground.doors.open_client() as memory:
            url = memory.url
            found = memory.health().version
    except NotConfigured as error:
        return [bad("server", "no server and no token are known", error.detail)]
    except TributaryError as error:
        return [_refused("server", error)]
    findings = [ok("server", f"{url} answers")]
    if found == __version__:
        return [*findings, ok("version", f"{found}, the same on both sides")]
    advice = "upgrade the older one of the two: pip install -U tributary-memory"
    return [*findings, bad("version", f"the server is {found}, this is {__version__}", advice)]


def token(ground: Ground) -> Sequence[Finding]:
    from tributary.client import NotConfigured, TributaryError, Unauthenticated, visible

    try:
        with ground.doors.open_client() as memory:
            try:
                memory.health()  # asked once, while a server that is away would be waited for below
            except TributaryError:
                return []  # which `server` tells already
            me = memory.whoami()
    except NotConfigured:
        return []
    except Unauthenticated:
        advice = "set TRIBUTARY_TOKEN to one that is good; an operator makes it: tributary agent create NAME --role writer"
        return [bad("token", "the server does not know it, or it has expired or was revoked", advice)]
    except TributaryError as error:
        return [_refused("token", error)]
    return [ok("token", f"good, {visible(me.name)}'s, a {me.role}")]


def clock(ground: Ground) -> Sequence[Finding]:
    """Compares this computer's clock with the server's, which its replies tell to the second."""
    from tributary.client import NotConfigured, TributaryError

    try:
        with ground.doors.open_client() as memory:
            url = memory.url
    except NotConfigured:
        return []
    except TributaryError as error:
        return [_refused("clock", error)]
    reply = _asked(url, ground)
    sent = _date(reply)
    if reply is None or sent is None:
        return [unknown("clock", "the server told no time", "see 'server' above; a proxy may have taken the header away")]
    skew_s = (datetime.now(UTC) - reply.elapsed / 2 - sent).total_seconds()
    told = f"{abs(skew_s):.0f} seconds {'ahead of' if skew_s > 0 else 'behind'} the server's"
    if abs(skew_s) > MOST_SKEW_S:
        return [bad("clock", told, "set this computer's clock, or the server's, by a time server (NTP)")]
    return [ok("clock", "as the server's" if abs(skew_s) < _COARSE_S else told)]


def answers_there(url: str, ground: Ground) -> bool:
    """Tells whether a server of this kind answers at an address."""
    reply = _asked(url, ground)
    return reply is not None and reply.status_code in (200, 503) and "application" in reply.headers.get("content-type", "")


def _asked(url: str, ground: Ground) -> httpx.Response | None:
    import httpx

    from tributary.client.place import is_loopback

    try:
        with httpx.Client(trust_env=not is_loopback(url), timeout=ground.patience_s / 2) as http:
            return http.get(f"{url}/health")
    except (httpx.HTTPError, ImportError, ValueError):
        return None


def _date(reply: httpx.Response | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(reply.headers["date"]) if reply is not None else None
    except (KeyError, ValueError):
        return None
    return found if found is not None and found.tzinfo else None


def _refused(check: str, error: TributaryError) -> Finding:
    return bad(check, error.code, error.detail)
