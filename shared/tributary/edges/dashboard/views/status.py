"""How the memory stands: a lamp for each thing that it needs, with a cause and what to do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tributary import __version__
from tributary.client.errors import TributaryError, Unauthenticated
from tributary.edges.dashboard.page import Page, Shown
from tributary.edges.dashboard.telling.tribe_panel import facts_of, lamps_of, tended
from tributary.edges.dashboard.visit import Visit


def _status(visit: Visit) -> Shown:
    databases = visit.look()
    try:
        status = visit.memory.status()
    except Unauthenticated:
        raise
    except TributaryError:  # the databases' lamps tell more than its words
        status = None
    of_tribe = lamps_of(status)
    about = (
        ("Version", f"tributary-memory {__version__}"),
        ("Read replica", "set up" if databases.has_replica else "none is set up"),
        ("This process runs for", lasted(visit.at - visit.began)),
    )
    values = {
        "panel": replace(databases, lamps=(*databases.lamps, *of_tribe)),
        "databases": databases,
        "of_tribe": of_tribe,
        "facts": facts_of(status) if status else (),
        "gardening": status.gardening if status else None,
        "tended": tended(status.gardening if status else None),
        "about": about,
    }
    return Shown(template="status.html", values=values)


def lasted(time: timedelta) -> str:
    """Returns a time span for people, in its two largest units: '3 days 4 hours'."""
    left = max(0, int(time.total_seconds()))
    parts: list[str] = []
    for unit, seconds in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count} {unit}" + ("" if count == 1 else "s"))
    return " ".join(parts[:2]) or "0 seconds"


PAGES = (Page(path="/status", title="Status", answer=_status, public=True),)
