"""The Lambda functions as they are deployed, on real PostgreSQL with real embeddings, beside the local gateway."""

from __future__ import annotations

import base64
import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.samples import LEARN, Context, bearer, event_of
from tests.contract.test_events import HTTP_EVENTS, load, named, sent, settled
from tributary.core.agent import Role
from tributary.core.errors import Unavailable
from tributary.edges.gateway import running
from tributary.edges.lambda_http.port import Event, Handler
from tributary.service import load_settings, open_memory, open_operator

FUNCTIONS = Path(__file__).parents[2] / "functions"


def handler_of(function: str) -> Handler:
    """Returns the handler of a function, loaded anew from its file as Lambda does."""
    path = FUNCTIONS / function / "handler.py"
    spec = importlib.util.spec_from_file_location(f"handler_of_{function}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Handler = module.handler
    return handler


@dataclass(frozen=True, kw_only=True)
class Tribe:
    """A tribe whose agents are named as in the sample events, with the id of a lesson that it believes."""

    tokens: dict[str, str]
    contexts: dict[str, dict[str, str]]
    lesson_id: str
    api: httpx.Client


@pytest.fixture
def configured(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIBUTARY_DATABASE_URL", database_url)


@pytest.fixture
def tribe(configured: None) -> Iterator[Tribe]:
    settings = load_settings()
    with open_operator(settings) as operator:
        tokens = {"curator": operator.create_tribe("events", curator="agent-curator").token.secret}
        for role in (Role.READER, Role.WRITER):
            tokens[role.value] = operator.create_agent("events", f"agent-{role}", role).secret
    with (
        open_memory(settings) as memory,
        running(memory) as started,
        httpx.Client(base_url=started.url, trust_env=False, timeout=30) as api,
    ):
        learned = api.post("/v1/lessons", json={**LEARN, "text": "The cache must be cleared"}, headers=bearer(tokens["writer"]))
        authorizer = handler_of("authorizer")
        contexts = {
            role: authorizer({"headers": {"authorization": f"Bearer {token}"}}, Context())["context"]
            for role, token in tokens.items()
        }
        yield Tribe(tokens=tokens, contexts=contexts, lesson_id=learned.json()["lesson"]["id"], api=api)


def of(tribe: Tribe, event: Event) -> Event:
    """Returns a sample event with the tokens, ids and lesson of `tribe` in place of the sample's."""
    text = json.dumps(event).replace("les_0199c0de5a1e7b2c8d3f4a5b6c7d8e9f", tribe.lesson_id)
    changed: Event = json.loads(text)
    role = (changed["requestContext"].get("authorizer") or {}).get("lambda", {}).get("role")
    if role:
        changed["requestContext"]["authorizer"]["lambda"] = tribe.contexts[role]
        changed["headers"]["authorization"] = f"Bearer {tribe.tokens[role]}"
    return changed


def parsed(body: str) -> Any:
    """Returns a reply without what differs from one to the next, or between the first time and a repetition."""
    if not body.startswith("{"):
        return body
    document = json.loads(settled(body))
    for receipt in (document.get("receipt"),):
        if receipt:
            receipt.pop("ms")
            receipt.pop("signature")
    return document


@pytest.mark.parametrize("path", [path for path in HTTP_EVENTS if not path.stem.startswith("learn")], ids=named)
def test_deployed_function_and_gateway_answer_a_sample_event_alike(tribe: Tribe, path: Path) -> None:
    event = of(tribe, load(path))
    over_http = sent(tribe.api, event)
    by_function = handler_of(path.parent.name)(event, Context())
    assert by_function["statusCode"] == over_http.status_code
    assert by_function["headers"]["Content-Type"] == over_http.headers["content-type"]
    if path.stem != "reinforce":
        assert parsed(by_function["body"]) == parsed(over_http.text)


def test_lesson_learned_through_the_function_is_recalled_over_http_byte_for_byte(tribe: Tribe) -> None:
    event = of(tribe, load(FUNCTIONS.parent / "events" / "learn" / "learn.json"))
    response = handler_of("learn")(event, Context())
    assert response["statusCode"] == 200
    learned = json.loads(response["body"])
    recalled = tribe.api.post("/v1/recall", json={"query": "deploy api header"}, headers=bearer(tribe.tokens["reader"]))
    hits = {hit["lesson"]["id"]: hit["lesson"]["text"] for hit in recalled.json()["hits"]}
    assert hits[learned["lesson"]["id"]] == json.loads(event["body"])["text"]
    # the same key and the same request in another dress: the first reply again
    again = dict(event, body=base64.b64encode(event["body"].encode()).decode(), isBase64Encoded=True)
    repeated = json.loads(handler_of("learn")(again, Context())["body"])
    assert repeated["replayed"] is True
    assert repeated["decision"] == learned["decision"]


def test_refused_reader_is_found_in_the_audit(tribe: Tribe, database_url: str) -> None:
    import psycopg

    event = of(tribe, load(FUNCTIONS.parent / "events" / "learn" / "forbidden.json"))
    assert handler_of("learn")(event, Context())["statusCode"] == 403
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT action, code FROM tributary.audit").fetchall()
    assert ("learn", "forbidden") in rows


def test_migrate_function_names_the_revision_and_may_run_again(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIBUTARY_DATABASE_URL", empty_database_url)
    event = load(FUNCTIONS.parent / "events" / "migrate" / "trigger.json")
    first = handler_of("migrate")(event, Context())
    assert first["revision"]
    assert handler_of("migrate")(event, Context()) == first


def test_migrate_function_fails_loudly_when_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIBUTARY_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(Unavailable):
        handler_of("migrate")({}, Context())


def test_function_without_its_database_is_503_and_works_when_it_is_back(
    tribe: Tribe, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIBUTARY_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    response = handler_of("recall")(event_of("GET", "/health"), Context())
    assert response["statusCode"] == 503
    assert response["headers"]["Retry-After"] == "2"
    undecided = handler_of("authorizer")({"headers": bearer(tribe.tokens["reader"])}, Context())
    assert undecided == {"isAuthorized": True, "context": {"error": "unavailable"}}
    monkeypatch.setenv("TRIBUTARY_DATABASE_URL", database_url)
    event = of(tribe, load(FUNCTIONS.parent / "events" / "recall" / "recall.json"))
    event["requestContext"]["authorizer"]["lambda"] = undecided["context"]
    assert handler_of("recall")(event, Context())["statusCode"] == 200


def test_function_with_a_bad_setting_says_so_in_its_log_only(
    configured: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRIBUTARY_CONNECTIONS", "many")
    response = handler_of("recall")(event_of("GET", "/health"), Context())
    assert response["statusCode"] == 500
    assert "TRIBUTARY_CONNECTIONS" not in response["body"]
    assert "bad_setting" in capsys.readouterr().err


@pytest.mark.parametrize("function", sorted(path.parent.name for path in FUNCTIONS.glob("*/handler.py")))
def test_handler_file_only_translates(function: str) -> None:
    text = (FUNCTIONS / function / "handler.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
    assert not (FUNCTIONS / "__init__.py").exists()
    assert not (FUNCTIONS / function / "__init__.py").exists()


def test_handlers_open_nothing_when_they_are_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIBUTARY_DATABASE_URL", "no url at all")
    for path in FUNCTIONS.glob("*/handler.py"):
        assert callable(handler_of(path.parent.name))
