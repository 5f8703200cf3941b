"""The dashboard's Lambda function as it is deployed, on real PostgreSQL: the sample events, and the database away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import new_database
from tests.contract.deployed import Deployed
from tests.contract.test_events import EVENTS, load, named
from tests.contract.test_functions import NOWHERE
from tests.tribes import open_tribal
from tributary.edges.dashboard.headers import HEADERS
from tributary.edges.lambda_http.port import Event

SAMPLES = sorted((EVENTS / "dashboard").glob("*.json"))
EXPECTED = {
    "dashboard/unknown-page": 404,
    "dashboard/wrong-method": 405,
    "dashboard/status": 303,
    "dashboard/session-ended": 303,
    "dashboard/sign-in-refused": 401,
}


@pytest.fixture(scope="module")
def dashboard(server_url: str, template: str) -> Iterator[Deployed]:
    with new_database(server_url, template) as url, Deployed("dashboard", {"TRIBUTARY_DATABASE_URL": url}) as deployed:
        yield deployed
        assert deployed.end() == "", "nothing is logged of what went well"


@pytest.mark.parametrize("path", SAMPLES, ids=named)
def test_function_answers_a_sample_event_as_its_name_says(dashboard: Deployed, path: Any) -> None:
    response = dashboard(load(path))
    assert response["statusCode"] == EXPECTED.get(named(path), 200)
    assert response["headers"].items() >= HEADERS.items()
    assert response["isBase64Encoded"] is False
    assert "<script>" not in response["body"]


def test_function_is_ready_on_the_real_database(dashboard: Deployed) -> None:
    assert "not ready" not in dashboard(load(EVENTS / "dashboard" / "sign-in.json"))["body"]
    assert dashboard(load(EVENTS / "dashboard" / "status.json"))["headers"]["location"] == "/sign-in?next=%2Fstatus"
    health = dashboard(load(EVENTS / "dashboard" / "health.json"))
    assert json.loads(health["body"]) == {"serves": True, "state": "ok", "causes": []}


def test_function_shows_nothing_of_any_tribe(database_url: str) -> None:
    with open_tribal(database_url, name="secretive") as tribal:
        tribal.learn(tribal.curator, "PLANTED: the deploy API needs X-Batch.", subject="PLANTED")
        page, health, _ = status_and_health({"TRIBUTARY_DATABASE_URL": database_url})
        shown = page + json.dumps(health)
        for known in ("secretive", "PLANTED", "curator", tribal.curator_token, str(tribal.tribe_id), tribal.tribe_id.hex):
            assert known not in shown
    assert "not ready" not in page


def status_and_health(environment: dict[str, str]) -> tuple[str, Event, list[dict[str, Any]]]:
    with Deployed("dashboard", environment) as deployed:
        page, health = (deployed(load(EVENTS / "dashboard" / f"{name}.json")) for name in ("sign-in", "health"))
        errors = [json.loads(line) for line in deployed.end().splitlines()]
    assert page["statusCode"] == 200
    return page["body"], health, errors


def test_function_without_its_database_shows_so_and_is_503_to_a_health_check() -> None:
    page, health, _ = status_and_health({"TRIBUTARY_DATABASE_URL": NOWHERE})
    assert "not ready" in page
    assert "No connection to it could be opened" in page
    assert health["statusCode"] == 503
    assert json.loads(health["body"])["causes"] == ["unreachable", "no_answer"]
    assert "nobody" not in page


def test_function_with_a_bad_setting_tells_its_log_which_and_the_page_only_that(server_url: str) -> None:
    page, health, errors = status_and_health({"TRIBUTARY_DATABASE_URL": server_url, "TRIBUTARY_CONNECTIONS": "many"})
    assert "bad_setting" in page
    assert "CONNECTIONS" not in page
    assert health["statusCode"] == 503
    assert {line["event"] for line in errors} == {"look.failed"}
    assert "TRIBUTARY_CONNECTIONS" in errors[0]["reason"]


def test_function_on_a_database_without_our_schema_says_what_to_do(empty_database_url: str) -> None:
    page, health, _ = status_and_health({"TRIBUTARY_DATABASE_URL": empty_database_url})
    assert "tributary migrate" in page
    assert health["statusCode"] == 503
