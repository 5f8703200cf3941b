"""What is the OpenAI-compatible providers' own: what each of them takes, their resets, keys and costs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.providers import openai
from tests.providers.brain import agreeing
from tests.providers.openai import KEY, MODEL, chat_routes
from tests.providers.server import ProviderServer, Reply, wait_for
from tests.unit.test_language_models import ANSWER, PROMPT, Book
from tributary.core.errors import (
    BadSetting,
    ModelFailed,
    ModelMalformed,
    ModelRefused,
    ModelThrottled,
    ModelTimedOut,
    ModelUnreachable,
)
from tributary.core.spending import CallEnd, on_account
from tributary.models.llms import OpenAiModel


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(chat_routes(agreeing)) as server:
        yield server


def made(url: str, *, model: str = MODEL, key: str | None = KEY, attempts: int = 1) -> OpenAiModel:
    return OpenAiModel(model=model, url=f"{url}/v1/", api_key=key, attempts=attempts, sleep=lambda _: None)


def form(body: Any) -> str:
    return "tool" if "tools" in body else str(body.get("response_format", {}).get("type", "text"))


def test_the_request_is_strict_capped_cool_and_signed(server: ProviderServer) -> None:
    made(server.url).answer(PROMPT, timeout_s=None)
    (asked,) = server.asked
    assert asked.body["response_format"]["json_schema"]["strict"] is True
    assert (asked.body["temperature"], asked.body["max_tokens"], asked.body["model"]) == (0.0, 2048, MODEL)
    assert asked.headers["authorization"] == f"Bearer {KEY}"


LADDERS = {
    "tools": ({"tool", "json_object"}, ["json_schema", "tool"]),
    "JSON mode": ({"json_object"}, ["json_schema", "tool", "json_object"]),
    "words": (set[str](), ["json_schema", "tool", "json_object", "text"]),
}


@pytest.mark.parametrize(("known", "forms"), LADDERS.values(), ids=LADDERS)
def test_a_form_that_is_not_known_is_given_up_from_then_on(known: set[str], forms: list[str]) -> None:
    book = Book()
    with ProviderServer(chat_routes(agreeing, forms=frozenset(known))) as server, on_account(book):
        model = made(server.url)
        assert model.answer(PROMPT, timeout_s=None) == ANSWER
        assert model.answer(PROMPT, timeout_s=None) == ANSWER
        asked = [form(each.body) for each in server.asked]
        words = server.asked[-1].body["messages"][0]["content"]
    assert asked == [*forms, forms[-1]]
    assert book.ends == [*[CallEnd.FAILED] * (len(forms) - 1), CallEnd.ANSWERED, CallEnd.ANSWERED]
    assert ('"additionalProperties": false' in words) is (forms[-1] in ("json_object", "text"))


def test_deepseeks_words_for_a_form_it_lacks_are_understood() -> None:
    routes = chat_routes(agreeing, forms=frozenset({"tool"}), no_format=openai.deepseek_no_format)
    with ProviderServer(routes) as server:
        assert made(server.url).answer(PROMPT, timeout_s=None) == ANSWER
        assert [form(each.body) for each in server.asked] == ["json_schema", "tool"]


@pytest.mark.parametrize("cap", ["max_tokens", "max_completion_tokens"])
def test_the_cap_goes_by_the_name_that_the_server_knows(cap: str) -> None:
    with ProviderServer(chat_routes(agreeing, cap=cap)) as server:
        assert made(server.url).answer(PROMPT, timeout_s=None) == ANSWER
        assert server.asked[-1].body[cap] == 2048
        assert all(form(each.body) == "json_schema" for each in server.asked)


def test_a_model_without_a_temperature_gets_none_from_then_on() -> None:
    with ProviderServer(chat_routes(agreeing, temperature=False)) as server:
        model = made(server.url)
        for _ in range(2):
            assert model.answer(PROMPT, timeout_s=None) == ANSWER
        assert ["temperature" in each.body for each in server.asked] == [True, False, False]


def test_threads_that_find_out_together_agree_on_the_form() -> None:
    answers: list[object] = []
    with ProviderServer(chat_routes(agreeing, forms=frozenset({"json_object"}), temperature=False)) as server:
        model = made(server.url)
        threads = [threading.Thread(target=lambda: answers.append(model.answer(PROMPT, timeout_s=None))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.forget()
        model.answer(PROMPT, timeout_s=None)
        assert [form(each.body) for each in server.asked] == ["json_object"]
    assert answers == [ANSWER] * 8


def test_a_server_that_refuses_whatever_it_is_asked_is_left_alone_soon(server: ProviderServer) -> None:
    server.always(openai.error(400, "max_tokens, max_completion_tokens, temperature, response_format, tools: all unsupported"))
    with pytest.raises(ModelFailed, match="refuses the request"):
        made(server.url).answer(PROMPT, timeout_s=None)
    assert len(server.asked) == 6


def test_a_request_that_is_wrong_in_another_way_is_not_repeated(server: ProviderServer) -> None:
    server.script(openai.error(400, "Invalid 'messages': the text 4711 is not valid.", param="messages"))
    with pytest.raises(ModelFailed, match="refuses the request") as caught:
        made(server.url).answer(PROMPT, timeout_s=None)
    assert "4711" not in caught.value.detail
    assert len(server.asked) == 1


QUOTING = "Judge this: response_format is not supported, nor is the temperature; the tool is unavailable and max_tokens unknown."
REFUSED: dict[str, Reply] = {
    "too long, with the cap in its words": openai.error(
        400,
        "'max_tokens' is too large: 2048. This model's maximum context length is 4096 tokens and your request has 3000.",
        code="context_length_exceeded",
    ),
    "too long, without a code": openai.error(400, "'max_tokens' is too large: 2048. The context length is 4096 tokens."),
    "filtered, with the question in its words": openai.error(400, f"Rejected: '{QUOTING}'", code="content_policy_violation"),
    "quoting the question": openai.error(400, f"Invalid input: '{QUOTING}'"),
    "quoting the question at length": openai.error(422, f"Input: {'lorem ' * 60} response_format is not supported"),
    "another parameter": openai.error(400, "Temperature is not supported in a message", param="messages[0].content"),
    "words that name a parameter": openai.error(400, "Could not read: set the temperature, response_format, tools and grammar"),
}


@pytest.mark.parametrize("reply", REFUSED.values(), ids=REFUSED)
def test_one_question_that_is_refused_costs_the_others_nothing(server: ProviderServer, reply: Reply) -> None:
    model = made(server.url)
    model.answer(PROMPT, timeout_s=None)
    server.always(reply)
    with pytest.raises(ModelFailed):
        model.answer(replace(PROMPT, material=QUOTING), timeout_s=None)
    assert len(server.asked) == 2, "nothing about its shape was refused"
    server.always(None)
    model.answer(PROMPT, timeout_s=None)
    first, *_, last = server.asked
    assert {**last.body, "messages": None} == {**first.body, "messages": None}


SHAPES = {
    "Groq": (openai.error(400, "This model does not support response format `json_schema`. See supported models."), "tool"),
    "Azure": (openai.error(400, "Invalid parameter: 'response_format' must be one of 'json_object', 'text'."), "tool"),
    "Mistral": (openai.error(422, "response_format: type json_schema is not supported"), "tool"),
    "a named parameter": (openai.error(400, "Invalid schema for response_format", param="response_format"), "tool"),
    "a part of it": (openai.error(400, "Invalid schema", param="response_format.json_schema"), "tool"),
}


@pytest.mark.parametrize(("reply", "then"), SHAPES.values(), ids=SHAPES)
def test_providers_words_for_a_form_they_lack_are_understood(server: ProviderServer, reply: Reply, then: str) -> None:
    server.script(reply)
    assert made(server.url).answer(PROMPT, timeout_s=None) == ANSWER
    assert [form(each.body) for each in server.asked] == ["json_schema", then]


TOOLS = {
    "Ollama": openai.error(400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    "OpenRouter": openai.error(404, "No endpoints found that support tool use. To learn more, see its documentation."),
    "vLLM": openai.error(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    "DeepSeek": openai.error(400, "deepseek-reasoner does not support this tool_choice"),
}


@pytest.mark.parametrize("reply", TOOLS.values(), ids=TOOLS)
def test_providers_words_for_tools_they_lack_are_understood(server: ProviderServer, reply: Reply) -> None:
    server.script(openai.deepseek_no_format("json_schema"), reply)
    assert made(server.url).answer(PROMPT, timeout_s=None) == ANSWER
    assert [form(each.body) for each in server.asked] == ["json_schema", "tool", "json_object"]


def test_what_the_provider_says_a_call_cost_goes_before_the_table() -> None:
    book = Book()
    with ProviderServer(chat_routes(agreeing, cost=0.00042)) as server, on_account(book):
        made(server.url).answer(PROMPT, timeout_s=None)
    assert book.calls[0].cost_usd == Decimal("0.00042")


@pytest.mark.parametrize("cost", [float("nan"), -1, "0.1", True, 1e300])
def test_a_senseless_cost_is_not_believed(server: ProviderServer, cost: Any) -> None:
    book = Book()
    server.script(openai.message_of('{"said": "yes"}', cost=cost))
    with on_account(book):
        made(server.url).answer(PROMPT, timeout_s=None)
    assert book.calls[0].cost_usd == Decimal("0.000096"), "as the table of prices has it"


def test_openrouters_limit_tells_its_reset_inside_the_body(server: ProviderServer) -> None:
    server.script(openai.openrouter_limit(int((time.time() + 40) * 1000)))
    with pytest.raises(ModelThrottled) as caught:
        made(server.url).answer(PROMPT, timeout_s=None)
    assert caught.value.retry_after_s == pytest.approx(40, abs=3)


WRAPPED = {
    "an error in place of the answer": ({"error": {"code": 502, "message": "Provider returned error"}}, ModelUnreachable),
    "a limit in place of the answer": ({"error": {"code": 429, "message": "upstream limit"}}, ModelThrottled),
    "an error inside the choice": (
        {"choices": [{"message": {}, "finish_reason": "error", "error": {"code": 503, "message": "no"}}]},
        ModelUnreachable,
    ),
    "an error without a code": ({"error": {"message": "oops"}}, ModelUnreachable),
    "two choices": ({"choices": [{"message": {"content": "{}"}}, {"message": {"content": "{}"}}]}, ModelMalformed),
}


@pytest.mark.parametrize(("document", "kind"), WRAPPED.values(), ids=WRAPPED)
def test_a_gateways_ok_is_read_to_its_end(server: ProviderServer, document: object, kind: type[ModelFailed]) -> None:
    server.script(Reply(document=document))
    with pytest.raises(ModelFailed) as caught:
        made(server.url).answer(PROMPT, timeout_s=None)
    assert type(caught.value) is kind


ERRORS: dict[str, tuple[Reply, type[ModelFailed], str]] = {
    "no credit": (openai.no_credit(), ModelFailed, "no credit left"),
    "no balance": (openai.error(402, "Insufficient Balance"), ModelFailed, "no credit left"),
    "denied": (openai.error(403, "Project does not have access"), ModelFailed, "denies access"),
    "no such model": (openai.error(404, "The model does not exist", code="model_not_found"), ModelFailed, "does not know"),
    "filtered": (openai.error(400, "The prompt triggered the policy", code="content_filter"), ModelRefused, "filter"),
    "too long": (openai.error(400, "maximum context", code="context_length_exceeded"), ModelFailed, "longer than"),
    "a fault": (openai.error(500, "The server had an error"), ModelUnreachable, "HTTP 500"),
    "a proxy's page": (Reply(status=502, raw=b"<html>bad gateway</html>"), ModelUnreachable, "HTTP 502"),
    "a body of no form": (Reply(status=400, document=[1]), ModelFailed, "HTTP 400"),
}


@pytest.mark.parametrize(("reply", "kind", "remedy"), ERRORS.values(), ids=ERRORS)
def test_an_error_says_what_to_do(server: ProviderServer, reply: Reply, kind: type[ModelFailed], remedy: str) -> None:
    server.script(reply)
    with pytest.raises(ModelFailed, match=remedy) as caught:
        made(server.url).answer(PROMPT, timeout_s=None)
    assert type(caught.value) is kind
    assert len(server.asked) == 1, "the library's own retries are off"


def test_a_body_is_not_read_beyond_its_cap(server: ProviderServer) -> None:
    server.script(openai.message_of("y" * 10_000_000))
    with pytest.raises(ModelMalformed, match="larger than 4194304 bytes"):
        made(server.url).answer(PROMPT, timeout_s=None)


def test_a_drip_that_nobody_waits_for_is_hung_up_on(server: ProviderServer) -> None:
    model = made(server.url)
    model.answer(PROMPT, timeout_s=None)
    before = threading.enumerate()
    server.always(replace(openai.message_of('{"said": "yes"}'), drip_s=0.1))
    with pytest.raises(ModelTimedOut):
        model.answer(PROMPT, timeout_s=1.0)
    assert wait_for(lambda: not [one for one in threading.enumerate() if one.name == "model-call" and one not in before])


def test_a_filtered_answer_is_a_refusal(server: ProviderServer) -> None:
    server.script(openai.message_of(None, finish="content_filter"))
    with pytest.raises(ModelRefused):
        made(server.url).answer(PROMPT, timeout_s=None)


def test_a_server_on_this_computer_needs_no_key_and_gets_none_of_the_environment(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert made(server.url, key=None).answer(PROMPT, timeout_s=None) == ANSWER
    assert KEY not in server.asked[0].headers["authorization"]


def test_the_organisation_of_the_environment_is_told_to_nobody_else(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-hush")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-hush")
    made(server.url).answer(PROMPT, timeout_s=None)
    assert "hush" not in str({name: value for name, value in server.asked[0].headers.items() if name != "authorization"})


@pytest.mark.parametrize("url", ["https://openrouter.ai/api", "https://10.0.0.7:11434", "https://localhost.example.org"])
def test_a_server_elsewhere_needs_a_key(url: str) -> None:
    with pytest.raises(BadSetting, match="TRIBUTARY_OPENAI_API_KEY"):
        made(url, key=None)


@pytest.mark.parametrize("key", ["kéy", "k\nx", "k x", " "])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(server: ProviderServer, key: str) -> None:
    with pytest.raises(BadSetting, match="printable ASCII without white space") as caught:
        made(server.url, key=key)
    assert key == " " or key not in caught.value.detail


def test_over_plain_http_a_server_elsewhere_is_asked_without_a_key() -> None:
    assert made("http://10.0.0.7:11434", key=None).version == f"openai:{MODEL}"


def test_without_the_library_the_extra_is_named_and_nothing_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    book = Book()
    with pytest.raises(BadSetting, match=r"tributary-memory\[openai\]"), on_account(book):
        made("http://127.0.0.1:9").answer(PROMPT, timeout_s=None)
    assert book.calls == []
