"""The Lambda functions as they are deployed, on real PostgreSQL with real embeddings, beside the local gateway."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg import sql

from tests.conftest import database_at
from tests.contract.deployed import ROOT, Deployed
from tests.contract.event_tribe import EventTribe, asks, parsed, settle
from tests.contract.samples import bearer, event_of
from tests.contract.test_events import EVENTS, EVENTS_OF_BOTH, load, named, sent
from tributary.edges.gateway import running
from tributary.service import Settings, open_memory, open_operator

FUNCTIONS = ROOT / "functions"
NOWHERE = "postgresql://nobody@127.0.0.1:1/none"


@dataclass(frozen=True, kw_only=True)
class Tribe:
    """The tribe of the sample events: by the functions over Lambda events, by `api` over HTTP."""

    url: str
    events: EventTribe
    functions: dict[str, Deployed]
    api: httpx.Client

    @property
    def tokens(self) -> dict[str, str]:
        return self.events.tokens


@pytest.fixture(scope="module")
def url(server_url: str, template: str) -> Iterator[str]:
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))
        yield database_at(server_url, name)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="module")
def tribe(url: str) -> Iterator[Tribe]:
    settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": url})
    with ExitStack() as stack:
        functions = {
            name: stack.enter_context(Deployed(name, {"TRIBUTARY_DATABASE_URL": url}))
            for name in ("recall", "learn", "curate", "mcp", "responder", "authorizer")
        }
        events = settle(settings, authorizer=functions["authorizer"], learn=functions["learn"])
        started = stack.enter_context(running(stack.enter_context(open_memory(settings))))
        api = stack.enter_context(httpx.Client(base_url=started.url, trust_env=False, timeout=60))
        yield Tribe(url=url, events=events, functions=functions, api=api)


def changes(path: Path) -> bool:
    """Tells whether an event makes the same event afterwards come to something else."""
    return path.stem.startswith("learn") or (path.parent.name == "curate" and load(path)["routeKey"].startswith("POST"))


@pytest.mark.parametrize("path", [path for path in EVENTS_OF_BOTH if not changes(path)], ids=named)
def test_deployed_function_and_gateway_answer_a_sample_event_alike(tribe: Tribe, path: Path) -> None:
    event = tribe.events.of(load(path))
    by_function = tribe.functions[path.parent.name](event)
    over_http = sent(tribe.api, event)
    assert by_function["statusCode"] == over_http.status_code
    assert by_function["headers"]["Content-Type"] == over_http.headers["content-type"]
    if path.stem == "reinforce":
        # the second time is another outcome, by whichever way it comes
        assert (json.loads(by_function["body"])["outcome"], over_http.json()["outcome"]) == ("reinforced", "unchanged")
    else:
        assert parsed(by_function["body"]) == parsed(over_http.text)


def test_lesson_learned_by_the_function_is_recalled_over_http_byte_for_byte(tribe: Tribe) -> None:
    event = tribe.events.of(load(EVENTS / "learn" / "learn.json"))
    response = tribe.functions["learn"](event)
    assert response["statusCode"] == 200
    learned = json.loads(response["body"])
    recalled = tribe.api.post("/v1/recall", json={"query": "deploy api header"}, headers=bearer(tribe.tokens["reader"]))
    hits = {hit["lesson"]["id"]: hit["lesson"]["text"] for hit in recalled.json()["hits"]}
    assert hits[learned["lesson"]["id"]] == json.loads(event["body"])["text"]
    # the same key and the same request in another dress: the first reply again
    again = {**event, "body": base64.b64encode(event["body"].encode()).decode(), "isBase64Encoded": True}
    repeated = json.loads(tribe.functions["learn"](again)["body"])
    assert repeated["replayed"] is True
    assert repeated["decision"] == learned["decision"]


def test_refused_reader_is_found_in_the_audit(tribe: Tribe) -> None:
    count = "SELECT count(*) FROM tributary.audit WHERE action = 'learn' AND code = 'forbidden'"
    with psycopg.connect(tribe.url, autocommit=True) as connection:
        before = connection.execute(count).fetchone()
        response = tribe.functions["learn"](tribe.events.of(load(EVENTS / "learn" / "forbidden.json")))
        after = connection.execute(count).fetchone()
    assert response["statusCode"] == 403
    assert before is not None
    assert after == (before[0] + 1,)


def test_functions_know_who_is_bound_to_an_aws_principal_and_audit_what_it_is_refused(tribe: Tribe) -> None:
    recalled, refused = (load(EVENTS / name) for name in ("recall/recall-iam.json", "learn/forbidden-iam.json"))
    assert tribe.functions["recall"](recalled)["statusCode"] == 401
    with open_operator(Settings.model_validate({"TRIBUTARY_DATABASE_URL": tribe.url})) as operator:
        operator.bind("events", "agent-reader", "arn:aws:iam::123456789012:role/incident-agent")
    answered = tribe.functions["recall"](recalled)
    assert answered["statusCode"] == 200
    assert json.loads(answered["body"])["receipt"]["searched"][0]["tribe"] == tribe.events.contexts["reader"]["tribe_id"]
    assert tribe.functions["learn"](refused)["statusCode"] == 403
    with psycopg.connect(tribe.url, autocommit=True) as connection:
        told = connection.execute("SELECT agent_id::text, code FROM tributary.audit ORDER BY audit_id DESC LIMIT 1").fetchone()
    assert told == (tribe.events.contexts["reader"]["agent_id"], "forbidden")


def test_authorizer_knows_agents_and_lets_strangers_through_without_one(tribe: Tribe) -> None:
    authorizer = tribe.functions["authorizer"]
    assert authorizer(asks(tribe.tokens["writer"]))["context"]["role"] == "writer"
    assert authorizer(load(EVENTS / "authorizer" / "unknown.json")) == {"isAuthorized": True, "context": {}}


@pytest.mark.parametrize("name", ["trigger", "eventbridge"])
def test_migrate_function_names_the_revision_and_may_run_again(empty_database_url: str, name: str) -> None:
    event = load(EVENTS / "migrate" / f"{name}.json")
    with Deployed("migrate", {"TRIBUTARY_DATABASE_URL": empty_database_url}) as migrate:
        first = migrate(event)
        assert set(first) == {"revision"}
        assert first["revision"]
        assert migrate(event) == first


def test_migrate_function_fails_the_deployment_when_the_database_is_away() -> None:
    with Deployed("migrate", {"TRIBUTARY_DATABASE_URL": NOWHERE}) as migrate:
        assert migrate({}) == {"raised": "Unavailable"}


def test_functions_without_their_database_are_503_and_the_undecided_request_works_when_it_is_back(tribe: Tribe) -> None:
    with Deployed("recall", {"TRIBUTARY_DATABASE_URL": NOWHERE}) as recall:
        response = recall(event_of("GET", "/health"))
    assert response["statusCode"] == 503
    assert response["headers"]["Retry-After"] == "2"
    with Deployed("authorizer", {"TRIBUTARY_DATABASE_URL": NOWHERE}) as authorizer:
        undecided = authorizer(asks(tribe.tokens["reader"]))
    assert undecided == {"isAuthorized": True, "context": {"error": "unavailable"}}
    event = tribe.events.of(load(EVENTS / "recall" / "recall.json"))
    event["requestContext"]["authorizer"]["lambda"] = undecided["context"]
    assert tribe.functions["recall"](event)["statusCode"] == 200


def test_function_with_a_bad_setting_tells_its_log_and_not_the_caller(url: str) -> None:
    with Deployed("recall", {"TRIBUTARY_DATABASE_URL": url, "TRIBUTARY_CONNECTIONS": "many"}) as recall:
        response = recall(event_of("GET", "/health"))
        errors = recall.end()
    assert response["statusCode"] == 500
    assert json.loads(response["body"])["code"] == "bad_setting"
    assert "TRIBUTARY_CONNECTIONS" not in response["body"]
    lines = [json.loads(line) for line in errors.splitlines()]
    failed = [(line["code"], line["setting"]) for line in lines if line["event"] == "request.failed"]
    assert failed == [("bad_setting", "TRIBUTARY_CONNECTIONS")]
    assert "many" not in errors


def test_function_on_lambda_prints_metrics_and_logs_apart(url: str) -> None:
    environment = {"TRIBUTARY_DATABASE_URL": url, "AWS_LAMBDA_FUNCTION_NAME": "tributary-recall"}
    with Deployed("recall", environment) as recall:
        assert recall(event_of("GET", "/nowhere"))["statusCode"] == 404
        errors = recall.end()
    _cold_start, metric = map(json.loads, recall.printed)
    assert metric["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Tributary"
    assert (metric["service"], metric["operation"], metric["code"]) == ("recall", "none", "not_found")
    assert all("_aws" not in json.loads(line) for line in errors.splitlines())


@pytest.mark.parametrize("path", sorted(FUNCTIONS.glob("*/handler.py")), ids=lambda path: path.parent.name)
def test_handler_file_only_translates(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 40
    assert not (FUNCTIONS / "__init__.py").exists()
    assert not path.with_name("__init__.py").exists()


@pytest.mark.parametrize("function", sorted(path.parent.name for path in FUNCTIONS.glob("*/handler.py")))
def test_handler_opens_nothing_when_it_is_imported(function: str) -> None:
    with Deployed(function, {"TRIBUTARY_DATABASE_URL": "no url at all"}) as deployed:
        assert deployed.end() == ""
