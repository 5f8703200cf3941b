"""The routes of the API, from the description that the library generates (docs/api/openapi.json)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from infra.config import ROOT

_DOCUMENT = ROOT / "docs" / "api" / "openapi.json"


@dataclass(frozen=True, kw_only=True)
class ApiRoute:
    method: str
    path: str
    function: str
    is_open: bool


@cache
def api_routes() -> tuple[ApiRoute, ...]:
    """Returns every route, in the document's order."""
    document = json.loads(_DOCUMENT.read_text(encoding="utf-8"))
    return tuple(
        ApiRoute(method=method.upper(), path=path, function=operation["x-function"], is_open=not operation["security"])
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    )
