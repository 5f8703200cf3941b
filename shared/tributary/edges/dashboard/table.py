"""All pages: the one table that the app serves, the menu shows and the tests walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tributary.edges.dashboard import sign_in
from tributary.edges.dashboard.page import Page
from tributary.edges.dashboard.views import (
    actions,
    agents,
    audit,
    costs,
    decisions,
    disputes,
    lesson,
    lessons,
    now,
    quality,
    quarantine,
    reviews,
    status,
    time_travel,
)

_GROUPS: Sequence[tuple[str, Sequence[Sequence[Page]]]] = (
    ("Tribe", (now.PAGES, lessons.PAGES, lesson.PAGES, time_travel.PAGES)),
    ("Curate", (disputes.PAGES, quarantine.PAGES, decisions.PAGES, reviews.PAGES)),
    ("Operate", (actions.PAGES, agents.PAGES, audit.PAGES)),
    ("Measure", (quality.PAGES, costs.PAGES, status.PAGES)),
)
"""The menu's groups, and in each the pages of its views."""

PAGES: Sequence[Page] = tuple(page for _, views in _GROUPS for pages in views for page in pages)

MENU: Sequence[tuple[str, Sequence[Page]]] = tuple(
    (group, tuple(page for pages in views for page in pages if page.title is not None)) for group, views in _GROUPS
)

SAID: Mapping[str, str] = {
    **sign_in.SAID,
    **lesson.SAID,
    **disputes.SAID,
    **quarantine.SAID,
    **decisions.SAID,
    **reviews.SAID,
    **actions.SAID,
    **agents.SAID,
}
"""What a page says of the form that led to it."""
