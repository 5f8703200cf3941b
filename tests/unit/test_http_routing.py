"""One table of routes, found alike by the gateway, the functions and API Gateway."""

from __future__ import annotations

import pytest

from tributary.contract.routes import ROUTES, Route
from tributary.edges.lambda_http.operations import OPERATIONS
from tributary.edges.lambda_http.routing import find, methods_of, powertools_rule
from tributary.edges.mcp.http import MCP


def test_every_route_has_an_operation_and_the_other_way_round() -> None:
    assert {route.operation for route in ROUTES} == {*OPERATIONS, *MCP}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_each_route_is_found_by_its_own_path(route: Route) -> None:
    found = find(route.method, route.path.replace("{id}", "les_1"))
    assert found is not None
    assert found.route is route


def test_variable_takes_one_whole_segment() -> None:
    found = find("GET", "/v1/lessons/a b%?é")
    assert found is not None
    assert found.parameters == {"id": "a b%?é"}
    assert find("GET", "/v1/lessons/") is None
    assert find("GET", "/v1/lessons/a/b") is None


def test_path_is_matched_to_its_end_and_in_its_case() -> None:
    assert find("GET", "/health\n") is None
    assert find("GET", "/healthy") is None
    assert find("GET", "/Health") is None


def test_methods_of_a_path_are_those_of_all_functions() -> None:
    assert methods_of("/v1/lessons") == ("GET", "POST")
    assert methods_of("/v1/recall") == ("POST",)
    assert methods_of("/nowhere") == ()


def test_variables_are_spelled_for_powertools() -> None:
    assert powertools_rule("/v1/lessons/{id}/reinforce") == "/v1/lessons/<id>/reinforce"


def test_a_path_of_its_own_is_never_taken_for_an_id() -> None:
    assert find("GET", "/v1/lessons/batch") is None
    assert methods_of("/v1/lessons/batch") == ("POST",)
    assert methods_of("/v1/lessons/les_0") == ("GET",)
