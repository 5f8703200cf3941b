"""`python -m layers.supply.audit [--url URL]`: asks a database of advisories about each part of all that is shipped.

Speaks the API of OSV (osv.dev, or a mirror of it by --url). What could not be asked about is never "nothing found": the exit
status is 0 only when each part was asked about and none has an advisory, 1 when one has, and 2 when an answer is missing.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, TypeVar

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from layers.supply.shipped import Part, shipped

URL = "https://api.osv.dev"
AT_ONCE = 500
"""Parts in one question; OSV takes up to 1,000."""
PATIENCE_S = 30.0
ANSWER_S = 120.0
"""For all of one answer, however it trickles."""
MOST_BYTES = 64 * 1024 * 1024
MOST_PAGES = 20

CLEAN, FOUND, UNKNOWN = 0, 1, 2

KNOWN = ("pkg:pypi/", "pkg:npm/")
"""Kinds of parts that OSV has advisories about. For others, their makers' own announcements have to be read."""


class Unanswered(Exception):
    """The database of advisories gave no answer that could be read."""


class _Said(BaseModel):
    """What is read of an answer. A value of another kind is no answer: taken for nothing, it would call the part safe."""

    model_config = ConfigDict(strict=True)


class _Named(_Said):
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$")]


class _Page(_Said):
    vulns: list[_Named] = []
    next_page_token: str = ""


class _Batch(_Said):
    results: list[_Page | None]


class _Event(_Said):
    fixed: str | None = None


class _Range(_Said):
    events: list[_Event] | None = None


class _Package(_Said):
    name: str | None = None


class _Affected(_Said):
    package: _Package | None = None
    ranges: list[_Range] | None = None


class _Vulnerability(_Said):
    summary: str | None = None
    details: str | None = None
    withdrawn: str | None = None
    affected: list[_Affected] | None = None


_Answer = TypeVar("_Answer", bound=_Said)


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
        said = _printable(str(error)) or type(error).__name__
        print(f"UNKNOWN: {url} could not be asked about {len(asked)} parts: {said}", file=sys.stderr)
        return UNKNOWN
    for one in found:
        fixed = ", ".join(one.fixed) or "no version yet"
        print(_printable(f"{one.part.name} {one.part.version}: {one.id}: {one.summary}; fixed in {fixed}"))
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
    results = _asked(client, "/v1/querybatch", {"queries": questions}, _Batch).results
    if len(results) != len(parts):
        raise Unanswered("the answer does not fit the question")
    for part, result in zip(parts, results, strict=True):
        for id_ in _ids(client, part, result or _Page()):
            if (advisory := _detail(client, part, id_)) is not None:
                yield advisory


def _ids(client: httpx.Client, part: Part, page: _Page) -> Iterator[str]:
    for _ in range(MOST_PAGES):
        yield from (one.id for one in page.vulns)
        if not page.next_page_token:
            return
        question = {"package": {"purl": part.purl}, "page_token": page.next_page_token}
        page = _asked(client, "/v1/query", question, _Page)
    raise Unanswered(f"the advisories of {part.purl} did not end")


def _detail(client: httpx.Client, part: Part, id_: str) -> Advisory | None:
    document = _read(client, client.build_request("GET", f"/v1/vulns/{id_}"), _Vulnerability)
    if document.withdrawn:
        return None
    events = [
        event
        for affected in document.affected or ()
        if ((affected.package and affected.package.name) or part.name).lower() == part.name.lower()
        for span in affected.ranges or ()
        for event in span.events or ()
    ]
    return Advisory(
        part=part,
        id=id_,
        summary=((document.summary or document.details or "").strip() or "no summary").splitlines()[0],
        fixed=tuple(event.fixed for event in events if event.fixed),
    )


def _asked(client: httpx.Client, path: str, question: Mapping[str, Any], kind: type[_Answer]) -> _Answer:
    return _read(client, client.build_request("POST", path, json=question), kind)


def _read(client: httpx.Client, request: httpx.Request, kind: type[_Answer]) -> _Answer:
    until = time.monotonic() + ANSWER_S
    response = client.send(request, stream=True)
    try:
        response.raise_for_status()
        text = b""
        for piece in response.iter_bytes():
            text += piece
            if len(text) > MOST_BYTES or time.monotonic() > until:
                raise Unanswered("the answer does not end")
    finally:
        response.close()
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        raise Unanswered(f"the answer cannot be read: {where}: {first['msg']}") from error


def _printable(text: str) -> str:
    """Returns a text that somebody else wrote as a terminal does not act upon it."""
    return "".join(c if c.isprintable() else " " for c in text)


if __name__ == "__main__":
    sys.exit(main())
