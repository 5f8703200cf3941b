"""Finds routes in the one table of the contract."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from tributary.contract.routes import ROUTES, Route

_VARIABLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class Match:
    """A route and the values of its path variables."""

    route: Route
    parameters: Mapping[str, str]


def find(method: str, path: str) -> Match | None:
    """Returns the route that serves `method` on the decoded `path`. A path without variables is never taken for another's id."""
    for route, found in _on(path):
        if route.method == method:
            return Match(route=route, parameters=found.groupdict())
    return None


def methods_of(path: str) -> tuple[str, ...]:
    """Returns the methods that `path` has, sorted; none when there is no such path."""
    return tuple(sorted({route.method for route, _ in _on(path)}))


def powertools_rule(path: str) -> str:
    """Returns the path in Powertools' spelling: `/v1/lessons/<id>`."""
    return _VARIABLE.sub(r"<\1>", path)


def _on(path: str) -> Iterator[tuple[Route, re.Match[str]]]:
    """Yields the routes of a path: those of the first that fits, which is the one without variables where there is one."""
    first: str | None = None
    for route, pattern in _patterns():
        found = pattern.fullmatch(path)
        if found and first in (None, route.path):
            first = route.path
            yield route, found


@cache
def _patterns() -> tuple[tuple[Route, re.Pattern[str]], ...]:
    fixed_first = sorted(ROUTES, key=lambda route: len(_VARIABLE.findall(route.path)))
    return tuple((route, _pattern(route.path)) for route in fixed_first)


def _pattern(path: str) -> re.Pattern[str]:
    fixed_and_names = _VARIABLE.split(path)
    return re.compile(
        "".join(f"(?P<{piece}>[^/]+)" if index % 2 else re.escape(piece) for index, piece in enumerate(fixed_and_names))
    )
