"""Settings that come from AWS Secrets Manager, read by the real client over a wire."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from moto.server import ThreadedMotoServer

from tests.contract.deployed import Deployed
from tests.contract.samples import event_of
from tests.logs import logger_as_it_was
from tests.providers.server import ProviderServer, Reply, unreachable
from tributary.core.errors import BadSetting, SecretUnread, TributaryError
from tributary.service import load_settings
from tributary.telemetry import log

KEY = "sk-PLANTED-key"
ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:tributary-AbCdEf"
Manager = Any


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Secrets Manager, as far as it can be had without an account."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", endpoint)


@pytest.fixture
def manager(endpoint: str, _credentials: None) -> Manager:
    return botocore.session.get_session().create_client("secretsmanager", region_name="eu-central-1", endpoint_url=endpoint)


@pytest.fixture
def keep(manager: Manager, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Any:
    """Keeps a value in a new secret, which the environment then names."""

    def kept(**value: object) -> str:
        made: str = manager.create_secret(**{"Name": f"test/{abs(hash(request.node.nodeid))}", **value})["ARN"]
        monkeypatch.setenv("TRIBUTARY_SECRET_ARN", made)
        return made

    return kept


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """What answers as Secrets Manager does when it refuses; the environment names a secret in it."""
    with ProviderServer([]) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", server.url)
        monkeypatch.setenv("TRIBUTARY_SECRET_ARN", ARN)
        yield server


def refusal(kind: type[TributaryError] = BadSetting) -> str:
    with pytest.raises(kind) as caught:
        load_settings()
    assert type(caught.value) is kind
    detail = caught.value.detail
    assert "TRIBUTARY_" in detail
    assert "PLANTED" not in detail
    assert "PLANTED" not in repr(caught.value.__cause__)
    return detail


def test_a_secret_gives_the_settings_that_the_environment_has_not(keep: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(
        SecretString=json.dumps(
            {
                "TRIBUTARY_OPENAI_API_KEY": KEY,
                "OPENAI_API_KEY": "sk-own",
                "TRIBUTARY_CONNECTIONS": "7",
                "TRIBUTARY_CORS_ORIGINS": "https://a.example,https://b.example",
                "TRIBUTARY_DATABASE_URL": "postgresql://secret",
                "TRIBUTARY_LOG_LEVEL": "",
                "TRIBUTARY_JEV_API_KEY": "unused",
            }
        )
    )
    monkeypatch.setenv("TRIBUTARY_JEV_API_KEY", "from-the-environment")
    monkeypatch.setenv("DATABASE_URL", "postgresql://environment")
    found = load_settings(home=Path("/data"))
    assert found.openai_api_key is not None
    assert found.openai_api_key.get_secret_value() == KEY
    assert found.openai_own_key is not None
    assert found.openai_own_key.get_secret_value() == "sk-own"
    assert found.connections == 7
    assert found.cors_origins == ("https://a.example", "https://b.example")
    assert found.log_level == "INFO", "an empty one counts as absent"
    assert found.jev_api_key is not None
    assert found.jev_api_key.get_secret_value() == "from-the-environment"
    assert found.database_url == "postgresql://environment", "by whichever name the environment has it"
    assert found.home == Path("/data")
    assert KEY not in repr(found)


def test_a_secret_is_read_once_a_process(keep: Any, manager: Manager) -> None:
    arn = keep(SecretString=json.dumps({"TRIBUTARY_CONNECTIONS": "7"}))
    assert load_settings().connections == 7
    manager.put_secret_value(SecretId=arn, SecretString=json.dumps({"TRIBUTARY_CONNECTIONS": "8"}))
    assert load_settings().connections == 7


def test_a_secret_that_could_not_be_read_is_read_again(keep: Any, manager: Manager) -> None:
    arn = keep(SecretString="{")
    refusal()
    manager.put_secret_value(SecretId=arn, SecretString=json.dumps({"TRIBUTARY_CONNECTIONS": "8"}))
    assert load_settings().connections == 8


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("PLANTED", "not a JSON object"),
        ('["PLANTED"]', "not a JSON object"),
        ('"PLANTED"', "not a JSON object"),
        ("[" * 20_000, "not a JSON object"),
        ('{"TRIBUTARY_OPENAI_API_KEY": {"value": "PLANTED"}}', "TRIBUTARY_OPENAI_API_KEY in the secret must be text"),
        ('{"TRIBUTARY_CONNECTIONS": 7}', "TRIBUTARY_CONNECTIONS in the secret must be text"),
        ('{"TRIBUTARY_OPENAI_API_KEYS": "PLANTED"}', "did you mean TRIBUTARY_OPENAI_API_KEY?"),
        ('{"password": "PLANTED"}', "the key password in the secret is no setting"),
        ('{"sk-PLANTED": ""}', "a key in the secret is no setting"),
        ('{"TRIBUTARY_SECRET_ARN": "PLANTED"}', "is no setting"),
        ('{"TRIBUTARY_JUDGE": "local", "TRIBUTARY_JUDGE": "PLANTED"}', "twice"),
        ('{"TRIBUTARY_OPENAI_API_KEY": "PLANTED key"}', "TRIBUTARY_OPENAI_API_KEY, as the secret has it: must be printable"),
        ('{"TRIBUTARY_CONNECTIONS": "PLANTED"}', "TRIBUTARY_CONNECTIONS, as the secret has it: must be a whole number"),
        ('{"TRIBUTARY_DATABASE_URL": "PLANTED"}', "TRIBUTARY_DATABASE_URL, as the secret has it: must begin with"),
        ('{"TRIBUTARY_TRACES": "PLANTED"}', "TRIBUTARY_TRACES, as the secret has it: input should be"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_secret_that_is_no_object_of_settings_stops_the_start_and_is_not_repeated(keep: Any, text: str, words: str) -> None:
    keep(SecretString=text)
    assert words in refusal()


def test_a_binary_secret_is_refused(keep: Any) -> None:
    keep(SecretBinary=b'{"TRIBUTARY_CONNECTIONS": "7"}')
    assert "is binary" in refusal()


def test_a_secret_that_is_not_there_or_is_being_deleted_is_refused(
    keep: Any, manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager.delete_secret(SecretId=keep(SecretString="{}"))
    assert "being deleted" in refusal()
    monkeypatch.setenv("TRIBUTARY_SECRET_ARN", ARN)
    assert "there is no such secret" in refusal()


@pytest.mark.parametrize("value", ["tributary/PLANTED", "arn:aws:s3:::PLANTED", ARN.replace("eu-central-1", ""), f"{ARN} "])
def test_what_is_no_arn_of_a_secret_is_refused_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch, faked: ProviderServer, value: str
) -> None:
    monkeypatch.setenv("TRIBUTARY_SECRET_ARN", value)
    assert "must be the ARN of a secret" in refusal()
    assert faked.asked == []


def test_a_wrong_variable_is_told_before_the_secret_is_read(monkeypatch: pytest.MonkeyPatch, faked: ProviderServer) -> None:
    monkeypatch.setenv("TRIBUTARY_CONNECTIONS", "many")
    assert refusal() == "TRIBUTARY_CONNECTIONS: must be a whole number (it is 'many')"
    assert faked.asked == []


def refused(status: int, code: str) -> Reply:
    return Reply(status=status, document={"__type": code, "Message": "PLANTED"})


@pytest.mark.parametrize(
    ("reply", "kind", "words", "asked"),
    [
        (refused(400, "AccessDeniedException"), BadSetting, "allow secretsmanager:GetSecretValue", 1),
        (refused(400, "DecryptionFailure"), BadSetting, "allow kms:Decrypt", 1),
        (refused(400, "InvalidParameterException"), BadSetting, "refuses the request (InvalidParameterException, HTTP 400)", 1),
        (refused(400, "PLANTED-7"), BadSetting, "refuses the request (no code, HTTP 400)", 1),
        (refused(400, "ThrottlingException"), SecretUnread, "takes no request now", 2),
        (refused(500, "InternalServiceError"), SecretUnread, "takes no request now", 2),
        (Reply(cut=True), SecretUnread, "cannot be reached", 2),
        (Reply(raw=b"<html>PLANTED</html>"), SecretUnread, "what answers for Secrets Manager is not it", 1),
        (Reply(raw=b'["PLANTED"]'), SecretUnread, "what answers for Secrets Manager is not it", 1),
        (Reply(status=502, raw=b"<html>PLANTED</html>"), SecretUnread, "takes no request now", 2),
    ],
)
def test_what_the_service_refuses_is_told_in_our_words_and_not_asked_for_ever(
    faked: ProviderServer, reply: Reply, kind: type[TributaryError], words: str, asked: int
) -> None:
    faked.always(reply)
    assert words in refusal(kind)
    assert len(faked.asked) == asked


def test_a_service_that_cannot_be_reached_and_missing_credentials_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIBUTARY_SECRET_ARN", ARN)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", unreachable())
    assert "cannot be reached" in refusal(SecretUnread)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    assert "no AWS credentials" in refusal()


def test_the_region_is_the_secrets_own(faked: ProviderServer) -> None:
    faked.always(refused(400, "AccessDeniedException"))
    refusal()
    (asked,) = faked.asked
    assert "/eu-central-1/secretsmanager/" in asked.headers["authorization"]
    assert asked.body == {"SecretId": ARN}


def test_a_deployed_function_takes_its_database_and_keys_from_a_secret(keep: Any, endpoint: str, database_url: str) -> None:
    secret = {"TRIBUTARY_DATABASE_URL": database_url, "TRIBUTARY_OPENAI_API_KEY": KEY}
    named = {
        "TRIBUTARY_SECRET_ARN": keep(SecretString=json.dumps(secret)),
        "AWS_ENDPOINT_URL_SECRETS_MANAGER": endpoint,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
    }
    with Deployed("recall", named) as recall:
        assert recall(event_of("GET", "/health"))["statusCode"] == 200
        assert KEY not in recall.end()
    keep(SecretString=json.dumps(secret | {"colour": KEY}), Name="another")
    with Deployed("recall", named | {"TRIBUTARY_SECRET_ARN": os.environ["TRIBUTARY_SECRET_ARN"]}) as recall:
        response = recall(event_of("GET", "/health"))
        lines = [json.loads(line) for line in recall.end().splitlines()]
    assert (response["statusCode"], json.loads(response["body"])["code"]) == (500, "bad_setting")
    assert "colour" not in response["body"]
    (told,) = [line for line in lines if line["event"] == "secret.unread"]
    assert told["reason"].startswith("TRIBUTARY_SECRET_ARN: the key colour in the secret is no setting")
    assert KEY not in json.dumps(lines)


def test_nothing_of_a_secret_reaches_a_log_whatever_is_logged(
    keep: Any, caplog: pytest.LogCaptureFixture, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    file = tmp_path / "log.jsonl"
    with logger_as_it_was():
        log.configure(form="json", level="DEBUG", file=file)
        keep(SecretString=json.dumps({"TRIBUTARY_OPENAI_API_KEY": KEY}))
        assert "botocore.parsers" in {one.name for one in caplog.records}, "the library does log what it reads"
        caplog.clear()
        assert load_settings().openai_api_key is not None
        keep_again = json.dumps({"TRIBUTARY_OPENAI_API_KEY": [KEY]})
        with pytest.MonkeyPatch.context() as patch, ProviderServer([]) as server:
            patch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", server.url)
            patch.setenv("TRIBUTARY_SECRET_ARN", ARN)
            server.always(Reply(document={"ARN": ARN, "SecretString": keep_again}))
            refusal()
    assert "PLANTED" not in "".join(f"{one.getMessage()} {one.__dict__}" for one in caplog.records)
    assert "PLANTED" not in "".join(capfd.readouterr())
    (line,) = [json.loads(one) for one in file.read_text(encoding="utf-8").splitlines()]
    assert (line["event"], line["code"]) == ("secret.unread", "bad_setting")
    assert line["reason"].endswith("must be text, as it would stand in the environment")
