"""What is Bedrock's own: the ways to ask for a form, its errors, its credentials."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.providers import bedrock
from tests.providers.bedrock import ARN, MODEL, PROFILE
from tests.providers.brain import agreeing
from tests.providers.server import ProviderServer, Reply
from tests.unit.test_language_models import ANSWER, PROMPT, Book
from tributary.core.errors import BadSetting, ModelFailed, ModelThrottled, ModelTimedOut, ModelUnreachable
from tributary.core.spending import CallEnd, on_account
from tributary.models.llms import BedrockModel


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(bedrock.converse_routes(agreeing)) as server:
        yield server


def made(url: str, *, model: str = PROFILE, attempts: int = 1) -> BedrockModel:
    return BedrockModel(model=model, region="eu-central-1", url=url, attempts=attempts, sleep=lambda _: None)


@pytest.mark.parametrize("model", [MODEL, PROFILE, ARN])
def test_models_profiles_and_arns_are_passed_as_they_are(server: ProviderServer, model: str) -> None:
    assert made(server.url, model=model).answer(PROMPT, timeout_s=None) == ANSWER
    assert unquote(server.asked[0].match["model"]) == model


def test_the_request_is_capped_cool_signed_for_its_region_and_forced_to_the_tool(server: ProviderServer) -> None:
    made(server.url).answer(PROMPT, timeout_s=None)
    (asked,) = server.asked
    assert asked.body["inferenceConfig"] == {"maxTokens": 2048, "temperature": 0.0}
    assert asked.body["toolConfig"]["toolChoice"] == {"tool": {"name": "verdicts"}}
    assert "/eu-central-1/bedrock/aws4_request" in asked.headers["authorization"]


@pytest.mark.parametrize(
    ("known", "forms"), [({"schema"}, ["toolConfig", "outputConfig"]), (set(), ["toolConfig", "outputConfig", ""])]
)
def test_a_model_that_cannot_be_forced_is_asked_another_way_from_then_on(known: set[str], forms: list[str]) -> None:
    book = Book()
    with ProviderServer(bedrock.converse_routes(agreeing, forms=frozenset(known))) as server, on_account(book):
        model = made(server.url)
        assert model.answer(PROMPT, timeout_s=None) == ANSWER
        assert model.answer(PROMPT, timeout_s=None) == ANSWER
        asked = [next((one for one in ("toolConfig", "outputConfig") if one in each.body), "") for each in server.asked]
        words = server.asked[-1].body["system"][0]["text"]
    assert asked == [*forms, forms[-1]]
    assert book.ends == [*[CallEnd.FAILED] * (len(forms) - 1), CallEnd.ANSWERED, CallEnd.ANSWERED]
    assert ('"additionalProperties": false' in words) is (not known), "without a schema its form goes in words"


def test_a_model_without_a_temperature_gets_none_from_then_on() -> None:
    with ProviderServer(bedrock.converse_routes(agreeing, temperature=False)) as server:
        model = made(server.url)
        assert model.answer(PROMPT, timeout_s=None) == ANSWER
        assert model.answer(PROMPT, timeout_s=None) == ANSWER
        assert ["temperature" in each.body["inferenceConfig"] for each in server.asked] == [True, False, False]
        assert all("toolConfig" in each.body for each in server.asked)


@pytest.mark.parametrize(
    "message",
    [
        "The text 'the tool does not support the temperature' is blocked.",
        "1 validation error detected: Value at 'messages' names toolChoice, temperature and outputConfig.",
        "Input is too long for requested model: tools, temperature.",
    ],
)
def test_one_question_that_is_refused_costs_the_others_nothing(server: ProviderServer, message: str) -> None:
    model = made(server.url)
    model.answer(PROMPT, timeout_s=None)
    server.always(bedrock.error(400, "ValidationException", message))
    with pytest.raises(ModelFailed):
        model.answer(replace(PROMPT, material="The tool does not support the temperature"), timeout_s=None)
    assert len(server.asked) == 2, "nothing about its shape was refused"
    server.always(None)
    model.answer(PROMPT, timeout_s=None)
    first, *_, last = server.asked
    assert {**last.body, "messages": None} == {**first.body, "messages": None}


ERRORS: dict[str, tuple[Reply, type[ModelFailed], str]] = {
    "denied": (bedrock.access_denied(), ModelFailed, "allow bedrock:InvokeModel"),
    "a bare model where a profile is needed": (bedrock.on_demand(), ModelFailed, "use the profile's id"),
    "no such model": (bedrock.no_such_model(), ModelFailed, "no model's id in this region"),
    "an ended model": (bedrock.error(404, "ResourceNotFoundException", "end of its life"), ModelFailed, "its life has ended"),
    "a slow model": (bedrock.model_timeout(), ModelTimedOut, "took too long"),
    "a wrong key": (
        bedrock.error(403, "UnrecognizedClientException", "The security token included in the request is invalid."),
        ModelFailed,
        "check the access key",
    ),
    "a wrong secret": (
        bedrock.error(403, "InvalidSignatureException", "The request signature we calculated does not match"),
        ModelFailed,
        "check the access key",
    ),
    "a failing model": (bedrock.error(424, "ModelErrorException", "model error"), ModelUnreachable, "away"),
    "a fault": (bedrock.error(500, "InternalServerException", "try again"), ModelUnreachable, "away"),
    "a cold model": (bedrock.error(429, "ModelNotReadyException", "not ready"), ModelThrottled, "throttles"),
    "a long question": (
        bedrock.error(400, "ValidationException", "Input is too long for requested model."),
        ModelFailed,
        "longer than the model takes",
    ),
    "something new": (bedrock.error(418, "TeapotException", "4711"), ModelFailed, "TeapotException, HTTP 418"),
}


@pytest.mark.parametrize(("reply", "kind", "remedy"), ERRORS.values(), ids=ERRORS)
def test_an_error_says_what_to_do_and_nothing_of_the_services_words(
    server: ProviderServer, reply: Reply, kind: type[ModelFailed], remedy: str
) -> None:
    server.script(reply)
    with pytest.raises(ModelFailed, match=remedy) as caught:
        made(server.url).answer(PROMPT, timeout_s=None)
    assert type(caught.value) is kind
    assert "4711" not in caught.value.detail
    assert len(server.asked) == 1, "the library's own retries are off"


def test_missing_credentials_are_named(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(ModelFailed, match="no AWS credentials were found"):
        made(server.url).answer(PROMPT, timeout_s=None)
    assert server.asked == []


def test_credentials_that_do_not_come_are_not_waited_for_beyond_the_time(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile slow]\ncredential_process = sleep 5\n", "utf-8")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_PROFILE", "slow")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(ModelTimedOut, match=r"within 0\.5 s"):
        made(server.url).answer(PROMPT, timeout_s=0.5)
    assert server.asked == []


def test_a_profile_that_is_not_there_is_a_bad_setting(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(BadSetting, match="AWS profile"):
        made(server.url).answer(PROMPT, timeout_s=None)


def test_without_the_library_the_extra_is_named_and_nothing_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    book = Book()
    with pytest.raises(BadSetting, match=r"tributary-memory\[aws\]"), on_account(book):
        made("http://127.0.0.1:9").answer(PROMPT, timeout_s=None)
    assert book.calls == []


@pytest.mark.parametrize("model", ["", "a b", "x" * 257, "--settings"])
def test_what_is_no_models_id_is_refused(model: str) -> None:
    with pytest.raises(BadSetting, match="must be the id of a model"):
        made("http://127.0.0.1:9", model=model)


def test_a_second_tool_call_is_no_answer(server: ProviderServer) -> None:
    server.script(bedrock.reply([bedrock.tool_use("verdicts", ANSWER)] * 2, stop="tool_use"))
    with pytest.raises(ModelFailed, match="the one tool"):
        made(server.url).answer(PROMPT, timeout_s=None)


def test_a_call_of_another_tool_is_no_answer(server: ProviderServer) -> None:
    server.script(bedrock.reply([bedrock.tool_use("transfer", ANSWER)], stop="tool_use"))
    with pytest.raises(ModelFailed, match="the one tool"):
        made(server.url).answer(PROMPT, timeout_s=None)
