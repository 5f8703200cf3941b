"""`python -m layers.supply.audit [--url URL]`: asks a database of advisories about each part of all that is shipped.

Speaks the API of OSV (osv.dev, or a mirror of it by --url). What could not be asked about is never "nothing found": the exit
status is 0 only when each part was asked about and none has an advisory, 1 when one has, and 2 when an answer is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import httpx

from layers.supply.shipped import Part, shipped

URL = "https://api.osv.dev"
AT_ONCE = 500
"""Parts in one question; OSV takes up to 1,000."""
PATIENCE_S = 30.0
MOST_PAGES = 20

CLEAN, FOUND, UNKNOWN = 0, 1, 2

KNOWN = ("pkg:pypi/", "pkg:npm/")
"""Kinds of parts that OSV has advisories about. For others, their makers' own announcements have to be read."""


class Unanswered(Exception):
    """The database of advisories gave no answer that could be read."""


@dataclass(frozen=True, kw_only=True)
class Advisory:
    """What is said against one part; `fixed` are the versions that have it no more."""

    part: Part
    id: str
    summary: str
    fixed: tuple[str, ...]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m layers.supply.audit", description=__doc__)
    parser.add_argument("--url", default=URL, help=f"where OSV's API is answered (default: {URL})")
    url = parser.parse_args().url.rstrip("/")
    parts = {part.purl: part for one in shipped() for part in one.parts}
    asked = [part for purl, part in sorted(parts.items()) if purl.startswith(KNOWN)]
    apart = [part for purl, part in sorted(parts.items()) if not purl.startswith(KNOWN)]
    try:
        with httpx.Client(base_url=url, timeout=PATIENCE_S) as client:
            found = list(advisories(client, asked))
    except (httpx.HTTPError, Unanswered) as error:
        print(
            f"UNKNOWN: {url} could not be asked about {len(asked)} parts: {str(error) or type(error).__name__}", file=sys.stderr
        )
        return UNKNOWN
    for one in found:
        print(f"{one.part.name} {one.part.version}: {one.id}: {one.summary}; fixed in {', '.join(one.fixed) or 'no version yet'}")
    print(f"{len(asked)} parts asked about, {len(found)} advisories")
    for part in apart:
        print(f"not asked about: {part.name} {part.version} (OSV has no advisories of {part.purl.split('/')[0]})")
    return FOUND if found else CLEAN


def advisories(client: httpx.Client, parts: Sequence[Part]) -> Iterator[Advisory]:
    """Gives what stands against the parts; raises httpx.HTTPError or Unanswered when one of them was not answered."""
    waiting = iter(parts)
    while some := list(islice(waiting, AT_ONCE)):
        yield from _of_some(client, some)


def _of_some(client: httpx.Client, parts: Sequence[Part]) -> Iterator[Advisory]:
    questions = [{"package": {"purl": part.purl}} for part in parts]
    results = _asked(client, "/v1/querybatch", {"queries": questions}).get("results")
    if not isinstance(results, list) or len(results) != len(parts):
        raise Unanswered("the answer does not fit the question")
    for part, result in zip(parts, results, strict=True):
        for id_ in _ids(client, part, result or {}):
            if (advisory := _detail(client, part, id_)) is not None:
                yield advisory


def _ids(client: httpx.Client, part: Part, result: Mapping[str, Any]) -> Iterator[str]:
    for _ in range(MOST_PAGES):
        yield from (str(one["id"]) for one in result.get("vulns") or ())
        if not (page := result.get("next_page_token")):
            return
        result = _asked(client, "/v1/query", {"package": {"purl": part.purl}, "page_token": page})
    raise Unanswered(f"the advisories of {part.purl} did not end")


def _detail(client: httpx.Client, part: Part, id_: str) -> Advisory | None:
    document = _read(client.get(f"/v1/vulns/{id_}"))
    if document.get("withdrawn"):
        return None
    events = [
        event
        for affected in document.get("affected") or ()
        if str((affected.get("package") or {}).get("name", part.name)).lower() == part.name.lower()
        for span in affected.get("ranges") or ()
        for event in span.get("events") or ()
    ]
    return Advisory(
        part=part,
        id=id_,
        summary=str(document.get("summary") or document.get("details") or "no summary").splitlines()[0],
        fixed=tuple(str(event["fixed"]) for event in events if "fixed" in event),
    )


def _asked(client: httpx.Client, path: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
    return _read(client.post(path, json=question))


def _read(response: httpx.Response) -> Mapping[str, Any]:
    response.raise_for_status()
    try:
        document = response.json()
    except ValueError as error:
        raise Unanswered("the answer is not JSON") from error
    if not isinstance(document, dict):
        raise Unanswered("the answer is no object")
    return document


if __name__ == "__main__":
    sys.exit(main())
