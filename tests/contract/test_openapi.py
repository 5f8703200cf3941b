"""The API's description: one document of all routes, true to them, written down and shown as a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.samples import bearer
from tributary.contract import distilling, models
from tributary.contract.problems import PROBLEMS
from tributary.contract.routes import ROUTES
from tributary.edges.lambda_http import examples
from tributary.edges.lambda_http.markdown import overview
from tributary.edges.lambda_http.openapi import document, document_json

WRITTEN = Path(__file__).parents[2] / "docs" / "api" / "openapi.json"
API = document()


def test_written_document_is_the_one_that_is_served(api: httpx.Client) -> None:
    """Otherwise: `python -m tributary.edges.lambda_http.openapi > docs/api/openapi.json`."""
    served = api.get("/openapi.json")
    assert served.headers["content-type"] == "application/json"
    assert WRITTEN.read_text(encoding="utf-8") == served.text == document_json()


def test_written_overview_is_up_to_date() -> None:
    """Otherwise: `python -m tributary.edges.lambda_http.markdown > docs/api/README.md`."""
    assert WRITTEN.with_name("README.md").read_text(encoding="utf-8") == overview()


def test_document_has_every_route_and_no_other() -> None:
    described = {(path, method) for path, operations in API["paths"].items() for method in operations}
    assert described == {(route.path, route.method.lower()) for route in ROUTES}


def walk(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from walk(inner)


def test_every_reference_leads_somewhere() -> None:
    references = [node["$ref"] for node in walk(API) if isinstance(node.get("$ref"), str)]
    assert len(references) > 50
    for reference in references:
        here: Any = API
        for piece in reference.removeprefix("#/").split("/"):
            here = here[piece]


def test_operation_ids_are_unique() -> None:
    found = [operation["operationId"] for operations in API["paths"].values() for operation in operations.values()]
    assert len(set(found)) == len(found) == len(ROUTES)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_each_operation_tells_its_access_and_its_problems(route: Any) -> None:
    operation = API["paths"][route.path][route.method.lower()]
    assert operation["security"] == ([{"token": []}] if route.role else [])
    statuses = set(operation["responses"])
    assert {"200", "400", "500"} <= statuses
    assert ({"401", "403", "503"} <= statuses) is bool(route.role)
    assert ({"413", "415"} <= statuses) is bool(route.request)
    assert ("202" in statuses) is (route.operation in {"learn", "learn_batch", "contest", "release", "mcp"})
    assert ("429" in statuses) is (route.keyed or route.paced)
    assert ("501" in statuses) is (route.paced or route.of_files)
    names = {parameter["name"] for parameter in operation.get("parameters", [])}
    assert ("Idempotency-Key" in names) is route.keyed
    assert ("id" in names) is ("{id}" in route.path)
    assert names >= {parameter.name for parameter in route.query}


def test_every_problem_of_a_503_says_when_to_try_again() -> None:
    assert "Retry-After" in API["components"]["responses"]["Problem503"]["headers"]
    assert all(kind.retry_after_s for kind in PROBLEMS.values() if kind.status == 503)


def test_examples_are_what_the_models_take_and_give() -> None:
    models.LearnRequest.model_validate_json(json.dumps(examples.REQUESTS["learn"]))
    models.RecallRequest.model_validate_json(json.dumps(examples.REQUESTS["recall"]))
    distilling.DistillRequest.model_validate_json(json.dumps(examples.REQUESTS["distill"]))
    for operation, model in (
        ("learn", models.LearnReply),
        ("recall", models.RecallReply),
        ("distill", distilling.DistillReply),
    ):
        example = examples.REPLIES[operation]
        again = model.model_validate(example).model_dump(mode="json")
        assert set(again) == set(example)
    assert set(examples.REPLIES["recall"]["receipt"]) == set(models.ReceiptReply.model_fields)
    assert set(examples.REPLIES["learn"]["lesson"]) == set(models.LessonReply.model_fields)


@pytest.mark.parametrize("operation", ["learn", "recall"])
def test_example_request_is_accepted(api: httpx.Client, operation: str) -> None:
    route = next(route for route in ROUTES if route.operation == operation)
    assert api.post(route.path, json=examples.REQUESTS[operation], headers=bearer("writer")).status_code == 200


KNOWN_TAGS = set(
    "html head meta title style body header h1 p a nav ul li main h2 section h3 span code strong div table thead tr th tbody td"
    " details summary pre".split()
)
"""None that runs or loads anything; text that was not escaped would show up as another one."""


class Page(HTMLParser):
    """Collects what the page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [value for name, value in attrs if name == "href" and value]
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_docs_page_needs_nothing_but_itself(api: httpx.Client) -> None:
    response = api.get("/docs")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    page = Page(response.text)
    assert page.open == []
    assert set(page.tags) <= KNOWN_TAGS
    assert not {name for name in page.attributes if name.startswith("on") or name in {"src", "style"}}
    assert all(link.startswith("#") or link == "/openapi.json" for link in page.links)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_docs_page_lets_a_browser_run_and_load_nothing(api: httpx.Client) -> None:
    import base64
    import hashlib

    response = api.get("/docs")
    policy = dict(part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";"))
    style = re.findall(r"<style>(.*?)</style>", response.text, re.DOTALL)
    assert len(style) == 1
    digest = base64.b64encode(hashlib.sha256(style[0].encode()).digest()).decode()
    assert policy == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest}'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


def test_docs_page_shows_every_operation_problem_and_schema(api: httpx.Client) -> None:
    page = Page(api.get("/docs").text)
    assert {route.operation for route in ROUTES} <= set(page.ids)
    assert {f"problem-{code}" for code in PROBLEMS} <= set(page.ids)
    assert {f"schema-{name}" for name in API["components"]["schemas"]} <= set(page.ids)


def test_problem_types_lead_to_the_page(api: httpx.Client) -> None:
    page = Page(api.get("/docs").text)
    kind = api.get("/nowhere").json()["type"]
    assert kind.partition("#")[0] == "/docs"
    assert kind.partition("#")[2] in page.ids


def test_links_lead_to_operations_and_name_parameters_that_they_have() -> None:
    operations = {one["operationId"]: one for paths in API["paths"].values() for one in paths.values()}
    found = 0
    for operation in operations.values():
        for response in operation["responses"].values():
            for link in response.get("links", {}).values():
                found += 1
                parameters = {one["name"] for one in operations[link["operationId"]]["parameters"]}
                assert set(link["parameters"]) <= parameters
                assert ("requestBody" in operations[link["operationId"]]) or "requestBody" not in link
    assert found > 50


def test_path_that_looks_like_an_id_but_is_a_route_has_only_its_own_methods(api: httpx.Client) -> None:
    response = api.get("/v1/lessons/batch", headers=bearer("reader"))
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"
