"""Where the dashboard runs: a container and a function that are given the same, which is what recall and curate are given."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from infra.constructs.dashboard_service import EXTRAS
from tests.infra.conftest import ROOT, Deployment, Synthesiser
from tests.infra.test_functions import listed, resolved, text
from tributary.service import load_settings
from tributary.service.logins import logins_of

Right = tuple[str, str]
_LAMBDAS = ("logs:", "ec2:", "xray:", "rds-db:")


def _service(deployment: Deployment) -> dict[str, Any]:
    return deployment.only("AWS::AppRunner::Service")


def _told(deployment: Deployment) -> dict[str, Any]:
    """Returns the variables of the container."""
    image = _service(deployment)["SourceConfiguration"]["ImageRepository"]["ImageConfiguration"]
    return {one["Name"]: one["Value"] for one in image["RuntimeEnvironmentVariables"]}


def _rights(statements: list[dict[str, Any]]) -> set[Right]:
    """Returns what statements allow of what code of ours does itself, but for logging in to the database."""
    return {
        (action, json.dumps(resource))
        for one in statements
        for action in listed(one["Action"])
        for resource in listed(one["Resource"])
        if one["Effect"] == "Allow" and not action.startswith(_LAMBDAS)
    }


def _of_the_container(deployment: Deployment) -> list[dict[str, Any]]:
    role = _service(deployment)["InstanceConfiguration"]["InstanceRoleArn"]["Fn::GetAtt"][0]
    return deployment.statements_of(role)


def test_the_function_may_do_what_recall_and_curate_may_and_nothing_else(dev: Deployment) -> None:
    function = dev.function("dashboard")
    assert _rights(dev.statements("dashboard")) == _rights(dev.statements("recall")) | _rights(dev.statements("curate"))
    assert (function["MemorySize"], function["Timeout"]) == (1024, 29)
    curates = dev.function("curate")["Environment"]["Variables"]
    recalls = dev.function("recall")["Environment"]["Variables"]
    assert set(function["Environment"]["Variables"]) == set(curates) | set(recalls)


def test_the_container_may_do_what_recall_and_curate_may_and_nothing_else(everything: Deployment) -> None:
    statements = _of_the_container(everything)
    assert _rights(statements) == _rights(everything.statements("recall")) | _rights(everything.statements("curate"))
    (login,) = [one for one in statements if one["Action"] == "rds-db:connect"]
    assert text(login["Resource"]).endswith("/tributary_dashboard")
    assert len(statements) == len([one for one in statements if one["Effect"] == "Allow"])


def test_what_the_container_is_told_are_settings_that_it_takes(everything: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    told = _told(everything)
    for variable, value in told.items():
        if variable != "TRIBUTARY_SECRET_ARN":
            monkeypatch.setenv(variable, resolved(value))
    settings = load_settings()
    logins = logins_of(settings)
    assert logins is not None
    assert logins.owners is None
    assert "sslrootcert=/app/certs/rds.pem" in str(settings.database_url)
    others = set(everything.function("recall")["Environment"]["Variables"]) | {"TRIBUTARY_PENDING_QUEUE_URL"}
    assert set(told) - {"AWS_REGION", "FORWARDED_ALLOW_IPS", "TRIBUTARY_DASHBOARD_PUBLIC"} == others - {"TRIBUTARY_READER_URL"}


def test_only_what_shows_pages_is_told_that_they_are_public_and_the_token_is_in_the_secret_alone(
    everything: Deployment, dev: Deployment
) -> None:
    told = _told(everything)
    assert told["TRIBUTARY_DASHBOARD_PUBLIC"] == "read"
    assert "TRIBUTARY_SECRET_ARN" in told
    assert "TRIBUTARY_DASHBOARD_PUBLIC" not in dev.function("dashboard")["Environment"]["Variables"], "unless it is asked for"
    others = [
        one["Properties"].get("Environment", {}).get("Variables", {})
        for one in everything.of_type("AWS::Lambda::Function").values()
    ]
    assert len(others) > 5
    assert not [one for one in others if "TRIBUTARY_DASHBOARD_PUBLIC" in one]
    assert "DASHBOARD_TOKEN" not in json.dumps([everything.app, everything.data])


def test_the_container_believes_app_runners_own_proxy_alone_of_where_a_viewer_is(everything: Deployment) -> None:
    assert _told(everything)["FORWARDED_ALLOW_IPS"] == "169.254.0.0/16"


def test_the_image_has_what_the_settings_may_choose_and_the_local_embedder_where_they_do(
    everything: Deployment, local: Deployment
) -> None:
    dockerfile = (ROOT / "functions" / "dashboard" / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall(r"^ARG EXTRAS=(.+)$", dockerfile, re.MULTILINE) == [EXTRAS]
    assert [image.get("dockerBuildArgs") for image in everything.images] == [None]
    assert [image.get("dockerBuildArgs") for image in local.images] == [{"EXTRAS": f"{EXTRAS},minilm"}]
    sizes = [(one["Cpu"], one["Memory"]) for one in (_service(it)["InstanceConfiguration"] for it in (everything, local))]
    assert sizes == [("0.5 vCPU", "1 GB"), ("1 vCPU", "2 GB")]


def test_pages_are_throttled_apart_from_the_api_and_their_address_is_told(
    synthesise: Synthesiser, everything: Deployment
) -> None:
    prod = synthesise(profile="prod", dashboard="lambda")
    stages = [one["Properties"]["DefaultRouteSettings"] for one in prod.of_type("AWS::ApiGatewayV2::Stage").values()]
    assert sorted(one["ThrottlingRateLimit"] for one in stages) == [50, 500]
    (pages,) = [one for one in stages if one["ThrottlingRateLimit"] == 50]
    assert pages["ThrottlingBurstLimit"] == 100
    for deployment in (prod, everything):
        assert deployment.app["Outputs"]["Dashboard"]["Value"]
