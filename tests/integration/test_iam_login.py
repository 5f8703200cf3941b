"""Logins by tokens of IAM, over the wire: the real driver, through a front that lets in with a token only, to a real server."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.clusters import Cluster, cluster_of_its_own
from tests.contract.deployed import Deployed
from tests.contract.samples import event_of
from tests.token_front import CREDENTIALS, KEY_ID, SECRET, SESSION, TokenFront, fault_of
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.errors import BadSetting, Unavailable
from tributary.core.lesson import Draft
from tributary.core.requests import Question
from tributary.models.embedders import HashedEmbedder
from tributary.service import Settings, load_settings, open_memory, open_operator
from tributary.service.wiring import Adapters
from tributary.store import Target, connect
from tributary.store.database import ATTEMPTS
from tributary.store.migrate import head, migrate

DATABASE = "test_tokens"
SECRETS = ("X-Amz-", SECRET, SESSION)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with cluster_of_its_own() as opened:
        opened.stand_in_for_rds()
        migrate(Target(url=opened.new_database(DATABASE, owner="master")))
        yield opened


@pytest.fixture
def front(cluster: Cluster) -> Iterator[TokenFront]:
    parts = conninfo_to_dict(cluster.url())
    with TokenFront(target=Path(f"{parts['host']}/.s.PGSQL.{parts['port']}")) as opened:
        yield opened


@pytest.fixture
def lambda_environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The variables that a function on Lambda has."""
    for name, value in {**CREDENTIALS, "TRIBUTARY_DATABASE_AUTH": "iam"}.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.fixture
def tribe(cluster: Cluster) -> Iterator[Tribal]:
    with open_tribal(cluster.url(DATABASE), name=uuid4().hex) as opened:
        yield opened


def settings_of(front: TokenFront, function: str, **urls: str) -> Settings:
    """Returns the settings of a function as its environment names them."""
    given = load_settings().model_copy(update=urls)
    return given.model_copy(update={"database_url": front.url(f"tributary_{function}", DATABASE)})


def test_functions_log_in_with_a_token_for_their_own_role_and_send_no_option(
    front: TokenFront, tribe: Tribal, lambda_environment: pytest.MonkeyPatch
) -> None:
    with open_memory(settings_of(front, "learn"), adapters=tribe.adapters) as memory:
        assert front.logins == [], "a token is made for a connection, not ahead of it"
        memory.learn(tribe.curator, Draft(text="the cache is warm", situation="operating", source=SEEN))
    with open_memory(settings_of(front, "recall"), adapters=tribe.adapters) as memory:
        assert [hit.lesson.text for hit in memory.recall(tribe.curator, Question(query="cache")).hits] == ["the cache is warm"]
    assert [one.fault for one in front.logins] == [None] * len(front.logins)
    assert {one.parameters["user"] for one in front.logins} == {"tributary_learn", "tributary_recall"}
    assert not [one for one in front.logins if "options" in one.parameters]


def test_recall_reads_through_a_proxys_read_only_endpoint_without_an_option(
    front: TokenFront, cluster: Cluster, tribe: Tribal, lambda_environment: pytest.MonkeyPatch
) -> None:
    with TokenFront(target=front.target) as readers:
        reader_url = readers.url("tributary_recall", DATABASE)
        with open_memory(settings_of(front, "recall", reader_url=reader_url), adapters=tribe.adapters) as memory:
            memory.lessons(tribe.curator)
        assert [(one.fault, "options" in one.parameters) for one in readers.logins] == [(None, False)]
    # the token of one endpoint opens no other
    assert fault_of(readers.logins[0].password, user="tributary_recall", host="127.0.0.1", port=front.port, now=datetime.now(UTC))


def test_each_connection_has_a_token_of_its_own(
    front: TokenFront, cluster: Cluster, tribe: Tribal, lambda_environment: pytest.MonkeyPatch
) -> None:
    with open_memory(settings_of(front, "recall"), adapters=tribe.adapters) as memory:
        memory.health()
        cluster.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tributary_recall'")
        memory.health()
    assert [one.fault for one in front.logins] == [None, None]


def test_the_owners_url_alone_serves_the_operator_and_the_migration(
    front: TokenFront, lambda_environment: pytest.MonkeyPatch
) -> None:
    lambda_environment.setenv("TRIBUTARY_OWNER_URL", front.url("tributary_operator", DATABASE))
    with open_operator(load_settings(), adapters=Adapters(embedder=HashedEmbedder())) as operator:
        assert operator.migrate() == head()
        assert operator.create_tribe(uuid4().hex).token.secret
    assert [one.fault for one in front.logins] == [None] * len(front.logins)
    assert {one.parameters["user"] for one in front.logins} == {"tributary_operator"}
    assert "role=tributary_owner" in front.logins[-1].parameters["options"]


def test_a_login_that_is_refused_is_tried_a_few_times_and_told_without_the_token(
    front: TokenFront, tribe: Tribal, lambda_environment: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    front.refuses = True
    with open_memory(settings_of(front, "recall"), adapters=tribe.adapters) as memory, pytest.raises(Unavailable) as caught:
        memory.health()
    assert 1 <= len(front.logins) <= ATTEMPTS
    told = f"{caplog.text} {caught.value} {caught.value.__cause__} {memory.database._target!r}"
    assert "database.unavailable" in caplog.text
    assert not [secret for secret in SECRETS if secret in unquote(told)]


def test_no_function_prints_a_token(front: TokenFront) -> None:
    url = front.url("tributary_recall", DATABASE)
    environment = {**CREDENTIALS, "TRIBUTARY_DATABASE_URL": url, "TRIBUTARY_DATABASE_AUTH": "iam", "TRIBUTARY_LOG_LEVEL": "DEBUG"}
    with Deployed("recall", environment) as recall:
        assert recall(event_of("GET", "/health"))["statusCode"] == 200
        front.refuses = True
        refused = recall(event_of("GET", "/v1/lessons", headers={"authorization": "Bearer trb_x"}))
        printed = json.dumps(refused) + recall.end()
    assert [one.fault for one in front.logins][:1] == [None]
    assert not [secret for secret in (*SECRETS, front.logins[0].password) if secret in unquote(printed)]


def test_another_users_token_and_one_that_is_old_or_changed_let_nobody_in(
    front: TokenFront, tribe: Tribal, lambda_environment: pytest.MonkeyPatch
) -> None:
    """Negative controls of the front itself."""
    with open_memory(settings_of(front, "recall"), adapters=tribe.adapters) as memory:
        memory.health()
    token, now = front.logins[0].password, datetime.now(UTC)
    good = {"user": "tributary_recall", "host": "127.0.0.1", "port": front.port}
    assert fault_of(token, **good, now=now) is None  # type: ignore[arg-type]  # of both kinds
    assert fault_of(token, **good, now=now + timedelta(minutes=16))  # type: ignore[arg-type]
    assert fault_of(token[:-1] + ("0" if token[-1] != "0" else "1"), **good, now=now) == "its signature is another's"  # type: ignore[arg-type]
    assert fault_of(token, **{**good, "user": "tributary_curate"}, now=now)  # type: ignore[arg-type]
    stolen = Target(url=front.url("tributary_curate", DATABASE), password=lambda: token)
    with pytest.raises(psycopg.OperationalError, match="PAM authentication failed"):
        connect(stolen)


# -- credentials


def test_without_credentials_the_first_connection_says_what_is_missing(
    front: TokenFront, tribe: Tribal, lambda_environment: pytest.MonkeyPatch
) -> None:
    with open_memory(settings_of(front, "recall"), adapters=tribe.adapters) as memory:
        lambda_environment.delenv("AWS_SECRET_ACCESS_KEY")
        with pytest.raises(BadSetting, match="AWS_SECRET_ACCESS_KEY: is needed"):
            memory.health()
        lambda_environment.delenv("AWS_ACCESS_KEY_ID")
        with pytest.raises(BadSetting, match="AWS_ACCESS_KEY_ID: no credentials of AWS were found"):
            memory.health()
        for name, value in CREDENTIALS.items():
            lambda_environment.setenv(name, value)
        memory.health()


class _Container(BaseHTTPRequestHandler):
    """The credentials of a container, as SnapStart and App Runner hand them out."""

    def do_GET(self) -> None:
        until = (datetime.now(UTC) + timedelta(hours=6)).strftime("%Y-%m-%dT%H:%M:%SZ")
        told = {"AccessKeyId": KEY_ID, "SecretAccessKey": SECRET, "Token": SESSION, "Expiration": until}
        body = json.dumps(told).encode()
        self.send_response(200 if self.path == "/known" else 404)
        self.end_headers()
        self.wfile.write(body if self.path == "/known" else b"{}")

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  (the name that it has)
        pass


def test_a_containers_credentials_sign_as_well_and_while_they_cannot_be_had_the_database_is_away(
    front: TokenFront, tribe: Tribal, lambda_environment: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        lambda_environment.delenv(name)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Container) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_address[1]}"
        with open_memory(settings_of(front, "recall"), adapters=tribe.adapters) as memory:
            lambda_environment.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{place}/unknown")
            with pytest.raises(Unavailable, match="credentials of AWS"):
                memory.health()
            lambda_environment.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{place}/known")
            memory.health()
        server.shutdown()
    assert [one.fault for one in front.logins] == [None]
