"""The HTTP API of a deployment: the contract's routes, known callers, throttled, logged."""

from __future__ import annotations

import json

from tests.infra.conftest import Deployment
from tributary.contract.routes import ROUTES
from tributary.edges.gateway import cors

OPEN = {f"{route.method} {route.path}" for route in ROUTES if route.role is None}
NO_ROUTE = {f"{method} /{{rest+}}" for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")}


def _routes(deployment: Deployment) -> dict[str, str]:
    """Returns how callers of each route are known, but for the dashboard's."""
    return {
        one["Properties"]["RouteKey"]: one["Properties"]["AuthorizationType"]
        for one in deployment.of_type("AWS::ApiGatewayV2::Route").values()
        if "{page+}" not in one["Properties"]["RouteKey"] and one["Properties"]["RouteKey"] != "ANY /"
    }


def test_routes_are_the_contracts_and_wrong_ones_are_answered_in_our_words(prod: Deployment, everything: Deployment) -> None:
    every = {f"{route.method} {route.path}" for route in ROUTES} | NO_ROUTE
    assert set(_routes(everything)) == every
    assert set(_routes(prod)) == every - {"POST /v1/responder/turn"}, "without a model there is no incident agent"


def test_every_route_but_the_open_ones_knows_its_caller(prod: Deployment, everything: Deployment) -> None:
    for deployment, known in ((prod, "CUSTOM"), (everything, "AWS_IAM")):
        assert {key: kind for key, kind in _routes(deployment).items() if kind != known} == dict.fromkeys(OPEN | NO_ROUTE, "NONE")


def test_authorizers_word_is_kept_for_a_minute_at_most(prod: Deployment) -> None:
    authorizer = prod.only("AWS::ApiGatewayV2::Authorizer")
    assert authorizer["AuthorizerResultTtlInSeconds"] == 60
    assert authorizer["EnableSimpleResponses"] is True
    assert authorizer["AuthorizerPayloadFormatVersion"] == "2.0"
    assert authorizer["IdentitySource"] == ["$request.header.Authorization"]


def test_requests_are_throttled_and_logged_without_what_they_say(prod: Deployment, dev: Deployment) -> None:
    for deployment, rate in ((prod, 500), (dev, 50)):
        stages = deployment.of_type("AWS::ApiGatewayV2::Stage").values()
        assert stages
        for stage in stages:
            properties = stage["Properties"]
            settings = properties["DefaultRouteSettings"]
            assert (settings["ThrottlingRateLimit"], settings["ThrottlingBurstLimit"]) == (rate, 2 * rate)
            logged = properties["AccessLogSettings"]["Format"]
            assert "$context.authorizer.name" in logged
            assert isinstance(json.loads(logged), dict)
            assert "messageString" not in logged  # it brings quotes of its own, in the midst of ours
            assert "authorization" not in logged.lower().replace("$context.authorizer", "")


def test_browsers_are_let_in_from_listed_origins_alone_and_as_the_local_gateway_does(
    prod: Deployment, everything: Deployment
) -> None:
    assert "CorsConfiguration" not in prod.only("AWS::ApiGatewayV2::Api")
    allowed = everything.only("AWS::ApiGatewayV2::Api")["CorsConfiguration"]
    assert allowed["AllowOrigins"] == ["https://app.example.org"]
    assert "AllowCredentials" not in allowed
    assert ", ".join(allowed["AllowMethods"]) == cors.METHODS
    assert ", ".join(allowed["AllowHeaders"]) == cors.REQUEST_HEADERS
    assert set(allowed["ExposeHeaders"]) == set(cors.RESPONSE_HEADERS.split(", "))
    assert allowed["MaxAge"] == cors.MAX_AGE_S


def test_domain_of_ones_own_speaks_tls_1_2_and_is_found_by_its_name(everything: Deployment) -> None:
    domain = everything.only("AWS::ApiGatewayV2::DomainName")
    assert domain["DomainName"] == "memory.example.org"
    assert domain["DomainNameConfigurations"][0]["SecurityPolicy"] == "TLS_1_2"
    assert everything.only("AWS::Route53::RecordSet")["Name"] == "memory.example.org."
    (url,) = [one["Value"] for name, one in everything.app["Outputs"].items() if name == "Url"]
    assert url == "https://memory.example.org"
