"""The API at a glance, as Markdown: `python -m tributary.edges.lambda_http.markdown > docs/api/README.md` writes it down."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from tributary.contract.problems import PROBLEMS
from tributary.contract.routes import ROUTES
from tributary.edges.lambda_http.openapi import codes_of

_HEAD = """# The HTTP API

Made from the route table and the error codes by `python -m tributary.edges.lambda_http.markdown`; do not edit. The whole
description is [openapi.json](openapi.json), which a running server gives at `/openapi.json` and shows at `/docs`.

Send `Authorization: Bearer <token>`. Bodies are JSON in UTF-8, at most 64 KB (4 MB for a batch, 2 MB for a transcript, 256 KB
for a receipt to verify). A POST that writes takes `Idempotency-Key`: the same key and body give the first reply again. Errors are
problem+json (RFC 9457); `X-Operation-Id` finds a request in the log.
"""


def overview() -> str:
    """Returns the page."""
    operations = _table(
        ("Operation", "Route", "Role", "What it does", "Problems"),
        (
            (
                f"`{route.operation}`",
                f"`{route.method} {route.path}`",
                route.role or "open",
                route.summary,
                ", ".join(f"`{code}`" for code in codes_of(route) if PROBLEMS[code].status != 500),
            )
            for route in ROUTES
        ),
    )
    problems = _table(
        ("Code", "Status", "Meaning", "Try again after"),
        (
            (f"`{kind.code}`", str(kind.status), kind.title, f"{kind.retry_after_s} s" if kind.retry_after_s else "")
            for kind in PROBLEMS.values()
        ),
    )
    return f"{_HEAD}\n## Operations\n\n{operations}\n## Problems\n\n{problems}"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    top = tuple(head)
    lines = [top, tuple("---" for _ in top), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    sys.stdout.write(overview())
