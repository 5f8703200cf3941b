"""Titan and Cohere over the wire: what is sent, what comes back, and what is made of everything that may go wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.providers import bedrock_embeddings as bedrock
from tests.providers.ledger import charged
from tests.providers.server import Asked, ProviderServer, Reply, unreachable
from tributary.core.errors import (
    BadSetting,
    ModelFailed,
    ModelMalformed,
    ModelThrottled,
    ModelTimedOut,
    ModelUnreachable,
)
from tributary.core.spending import CallEnd, Purpose
from tributary.models.embedders import BedrockEmbedder

TEXT = "The deploy fails when the migration lock is held by an old pod."
MODELS = [bedrock.TITAN, bedrock.ENGLISH, bedrock.MULTILINGUAL, bedrock.COHERE_V4]


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    for variable, value in bedrock.credentials().items():
        monkeypatch.setenv(variable, value)
    with bedrock.serving() as server:
        yield server


def made(provider: ProviderServer, model: str = bedrock.TITAN, **options: Any) -> BedrockEmbedder:
    return BedrockEmbedder(**{"model": model, "region": "us-east-1", "url": provider.url, **options})


class TestWhatIsSent:
    def test_titan_gets_one_text_a_request_and_is_told_the_width(self, provider: ProviderServer) -> None:
        made(provider, dimension=512).embed([TEXT, "timeout"])
        assert sorted(asked.body["inputText"] for asked in provider.asked) == [TEXT, "timeout"]
        assert {(asked.body["dimensions"], asked.body["normalize"]) for asked in provider.asked} == {(512, True)}

    def test_cohere_gets_96_texts_a_request_as_documents_that_must_not_be_cut_off(self, provider: ProviderServer) -> None:
        made(provider, bedrock.ENGLISH).embed([f"shard {number} moved" for number in range(100)])
        assert sorted(len(asked.body["texts"]) for asked in provider.asked) == [4, 96]
        assert {(asked.body["input_type"], asked.body["truncate"]) for asked in provider.asked} == {("search_document", "NONE")}
        assert all("output_dimension" not in asked.body for asked in provider.asked)

    def test_cohere_v4_is_told_the_width(self, provider: ProviderServer) -> None:
        made(provider, bedrock.COHERE_V4, dimension=256).embed([TEXT])
        assert provider.asked[0].body["output_dimension"] == 256

    @pytest.mark.parametrize(
        "model", [f"us.{bedrock.COHERE_V4}", f"arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.{bedrock.COHERE_V4}"]
    )
    def test_an_inference_profile_is_asked_by_its_own_id(self, provider: ProviderServer, model: str) -> None:
        provider.always(Reply(document={"embeddings": {"float": [bedrock.vector_of(TEXT, 1536)]}}))
        with charged() as ledger:
            made(provider, model).embed([TEXT])
        assert f"us.{bedrock.COHERE_V4}" in provider.asked[0].path.replace("%3A", ":")
        assert [call.model for call in ledger.calls] == [f"bedrock:us.{bedrock.COHERE_V4}"]

    def test_no_text_asks_nothing(self, provider: ProviderServer) -> None:
        assert made(provider).embed([]) == []
        assert provider.asked == []

    @pytest.mark.parametrize("model", MODELS)
    @pytest.mark.parametrize(
        "text", ["a" * 60_000, "中" * 4000, "🎉" * 3000, "각" * 3000, "ﷺ" * 3000, "é n " * 4000], ids=lambda text: text[:3]
    )
    def test_a_text_of_any_length_and_script_fits_the_model(self, provider: ProviderServer, model: str, text: str) -> None:
        [vector] = made(provider, model).embed([text])
        assert np.linalg.norm(vector) == pytest.approx(1)

    def test_a_long_text_is_sent_whole_in_windows_that_overlap(self, provider: ProviderServer) -> None:
        text = "".join(f"Shard {number} was moved to node {number * 7}. " for number in range(60))
        made(provider, bedrock.ENGLISH).embed([text])
        sent = provider.asked[0].body["texts"]
        assert len(sent) > 4
        assert text.startswith(sent[0])
        assert text.endswith(sent[-1])
        for before, after in pairwise(sent):
            assert after[:60] in before


class TestTheSpace:
    def test_each_model_has_a_width_of_its_own_when_none_is_chosen(self, provider: ProviderServer) -> None:
        assert [made(provider, model).space.dimension for model in MODELS] == [1024, 1024, 1024, 1536]

    def test_a_model_and_its_profiles_share_a_space(self, provider: ProviderServer) -> None:
        names = {made(provider, f"{area}{bedrock.COHERE_V4}").space.name for area in ("", "us.", "global.")}
        assert len(names) == 1

    def test_the_space_of_cohere_says_that_all_are_embedded_as_documents(self, provider: ProviderServer) -> None:
        assert "search_document" in made(provider, bedrock.ENGLISH).space.name

    def test_models_and_widths_have_spaces_of_their_own(self, provider: ProviderServer) -> None:
        spaces = [made(provider, model).space.name for model in MODELS]
        spaces += [made(provider, dimension=width).space.name for width in (512, 256)]
        assert len(set(spaces)) == len(spaces)

    def test_a_measured_floor_goes_before_the_cautious_one(self, provider: ProviderServer) -> None:
        assert made(provider, floor=0.31).space.floor == 0.31
        assert made(provider, floor=0.31).space.name == made(provider).space.name


class TestSettings:
    @pytest.mark.parametrize(
        "model",
        [
            None,
            "",
            "amazon.titan-embed-text-v1",
            "us.amazon.nova-lite-v1:0",
            "titan",
            "xx." + bedrock.TITAN,
            "my/" + bedrock.TITAN,
        ],
    )
    def test_a_model_that_is_not_known_is_refused_by_the_setting(self, model: str | None) -> None:
        with pytest.raises(BadSetting, match=rf"^TRIBUTARY_NEXT_EMBEDDER_MODEL: .*{bedrock.TITAN}"):
            BedrockEmbedder(model=model, region="us-east-1", setting="TRIBUTARY_NEXT_EMBEDDER")

    @pytest.mark.parametrize(
        ("model", "dimension", "rule"),
        [
            (bedrock.TITAN, 384, "1024 or 512 or 256"),
            (bedrock.ENGLISH, 512, "1024"),
            (f"eu.{bedrock.COHERE_V4}", 384, "1536 or 1024 or 512 or 256"),
        ],
    )
    def test_a_width_that_the_model_does_not_have_is_refused_by_the_setting(self, model: str, dimension: int, rule: str) -> None:
        with pytest.raises(BadSetting, match=rf"^TRIBUTARY_EMBEDDER_DIMENSION: must be {rule} .*it is {dimension}"):
            BedrockEmbedder(model=model, dimension=dimension, region="us-east-1")

    @pytest.mark.parametrize("concurrency", [0, 65, -1, True, 2.0])
    def test_a_senseless_number_of_requests_at_once_is_refused(self, concurrency: Any) -> None:
        with pytest.raises(BadSetting, match="TRIBUTARY_MODEL_CONCURRENCY"):
            BedrockEmbedder(model=bedrock.TITAN, region="us-east-1", concurrency=concurrency)

    @pytest.mark.parametrize("floor", [float("nan"), 1.1, float("-inf")])
    def test_a_senseless_floor_is_refused(self, floor: float) -> None:
        with pytest.raises(BadSetting, match="floor"):
            BedrockEmbedder(model=bedrock.TITAN, region="us-east-1", floor=floor)

    def test_an_endpoint_that_is_none_is_refused_before_anything_is_asked(self, provider: ProviderServer) -> None:
        with charged() as ledger, pytest.raises(BadSetting, match="URL"):
            made(provider, url="not a url").embed([TEXT])
        assert ledger.calls == []


VECTOR = bedrock.vector_of(TEXT, 1024)
MALFORMED = {
    "too narrow": bedrock.embeddings(VECTOR[:-1]),
    "too wide": bedrock.embeddings([*VECTOR, 0.0]),
    "not a number": bedrock.embeddings([*VECTOR[:-1], float("nan")]),
    "infinite": bedrock.embeddings([*VECTOR[:-1], float("inf")]),
    "beyond a double": Reply(raw=json.dumps({"embedding": [*VECTOR[:-1], 10**400]}).encode()),
    "zeros": bedrock.embeddings([0.0] * 1024),
    "words": bedrock.embeddings(["0.1"] * 1024),
    "booleans": bedrock.embeddings([True] * 1024),
    "nulls": bedrock.embeddings([None] * 1024),
    "nested": bedrock.embeddings([VECTOR]),
    "nothing": bedrock.embeddings(None),
    "another field": Reply(document={"vector": VECTOR}),
    "a list": Reply(document=[VECTOR]),
    "no JSON": Reply(raw=b"<html>busy</html>"),
    "empty": Reply(raw=b""),
    "deep": Reply(raw=b"[" * 200_000),
}


class TestAnswersThatAreNone:
    @pytest.mark.parametrize("reply", MALFORMED.values(), ids=MALFORMED.keys())
    def test_what_is_no_vector_of_the_space_is_malformed_and_asked_for_once(self, provider: ProviderServer, reply: Reply) -> None:
        provider.always(reply)
        with charged() as ledger, pytest.raises(ModelMalformed):
            made(provider).embed([TEXT])
        assert [call.end for call in ledger.calls] == [CallEnd.MALFORMED]

    @pytest.mark.parametrize(
        "found",
        [
            {},
            {"embeddings": None},
            {"embeddings": {"int8": []}},
            {"embeddings": {"float": [VECTOR]}},
            {"embeddings": [VECTOR] * 3},
        ],
    )
    def test_cohere_must_give_as_many_vectors_as_texts(self, provider: ProviderServer, found: dict[str, object]) -> None:
        provider.always(Reply(document=found))
        with pytest.raises(ModelMalformed):
            made(provider, bedrock.ENGLISH).embed([TEXT, "timeout"])

    def test_the_flat_form_of_coheres_answer_is_understood(self, provider: ProviderServer) -> None:
        provider.always(Reply(document={"embeddings": [VECTOR], "response_type": "embeddings_floats"}))
        assert made(provider, bedrock.ENGLISH).embed([TEXT])[0] == pytest.approx(VECTOR)

    def test_a_vector_of_any_length_is_brought_to_unit_norm(self, provider: ProviderServer) -> None:
        provider.always(bedrock.embeddings([7 * value for value in VECTOR]))
        assert made(provider).embed([TEXT])[0] == pytest.approx(VECTOR)


class TestFailures:
    @pytest.mark.parametrize(
        ("reply", "kind", "said"),
        [
            (bedrock.EXPIRED, ModelFailed, "credentials have expired"),
            (bedrock.DENIED, ModelFailed, "bedrock:InvokeModel"),
            (bedrock.NO_SUCH, ModelFailed, "no model"),
            (bedrock.invalid("on-demand throughput isn't supported."), ModelFailed, "inference profile"),
            (bedrock.refusal("ModelTimeoutException", status=408), ModelTimedOut, "took too long"),
        ],
        ids=lambda value: value.__name__ if isinstance(value, type) else None,
    )
    def test_what_another_attempt_would_not_mend_is_asked_once(
        self, provider: ProviderServer, reply: Reply, kind: type[ModelFailed], said: str
    ) -> None:
        provider.always(reply)
        with pytest.raises(kind, match=said) as caught:
            made(provider).embed([TEXT])
        assert type(caught.value) is kind
        assert len(provider.asked) == 1

    def test_no_error_repeats_the_text(self, provider: ProviderServer) -> None:
        provider.always(bedrock.invalid(f"Malformed input request: {TEXT}"))
        with pytest.raises(ModelFailed) as caught:
            made(provider).embed([TEXT])
        assert "migration lock" not in str(caught.value)

    def test_throttling_is_waited_out_and_each_attempt_is_charged(self, provider: ProviderServer) -> None:
        provider.script(bedrock.throttled("0"), bedrock.throttled("0"))
        with charged() as ledger:
            assert len(made(provider).embed([TEXT])) == 1
        assert [call.end for call in ledger.calls] == [CallEnd.THROTTLED, CallEnd.THROTTLED, CallEnd.ANSWERED]

    def test_a_reset_that_lies_past_the_time_is_not_waited_for(self, provider: ProviderServer) -> None:
        provider.always(bedrock.throttled("3600"))
        with pytest.raises(ModelThrottled) as caught:
            made(provider).embed([TEXT])
        assert caught.value.retry_after_s == 3600
        assert len(provider.asked) == 1

    def test_attempts_are_bounded(self, provider: ProviderServer) -> None:
        provider.always(bedrock.throttled("0"))
        with pytest.raises(ModelThrottled):
            made(provider, attempts=2).embed([TEXT])
        assert len(provider.asked) == 2

    @pytest.mark.parametrize("reply", [bedrock.AWAY, Reply(cut=True)], ids=["503", "cut"])
    def test_a_service_that_is_away_for_a_moment_is_asked_again(self, provider: ProviderServer, reply: Reply) -> None:
        provider.script(reply)
        assert len(made(provider).embed([TEXT])) == 1

    def test_a_service_that_stays_away_is_unreachable(self, provider: ProviderServer) -> None:
        with charged() as ledger, pytest.raises(ModelUnreachable):
            made(provider, url=unreachable(), attempts=2).embed([TEXT])
        assert [call.end for call in ledger.calls] == [CallEnd.FAILED] * 2

    @pytest.mark.parametrize(
        "slow", [Reply(delay_s=30.0), Reply(document={"embedding": VECTOR}, drip_s=0.2)], ids=["mute", "dripping"]
    )
    @pytest.mark.parametrize("bound", ["its own", "the caller's"])
    def test_a_slow_service_is_not_waited_for_past_the_time(self, provider: ProviderServer, slow: Reply, bound: str) -> None:
        embedder = made(provider, timeout_s=2.0 if bound == "its own" else 20.0)
        embedder.warm()  # so that the client is there, however long this machine takes to make one
        provider.always(slow)
        with charged() as ledger, pytest.raises(ModelTimedOut):
            embedder.embed([TEXT], timeout_s=2.0 if bound == "the caller's" else None)
        assert [call.end for call in ledger.calls] == [CallEnd.TIMED_OUT]

    def test_without_time_nothing_is_asked(self, provider: ProviderServer) -> None:
        with pytest.raises(ModelTimedOut):
            made(provider).embed([TEXT, "timeout"], timeout_s=0.0)
        assert provider.asked == []

    def test_without_credentials_nothing_is_sent(self, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
        for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(variable)
        with pytest.raises(ModelFailed, match="no AWS credentials"):
            made(provider).embed([TEXT])
        assert provider.asked == []

    def test_one_failed_request_of_many_fails_the_call_and_spares_the_rest(self, provider: ProviderServer) -> None:
        provider.always(bedrock.DENIED)
        with pytest.raises(ModelFailed, match="denies"):
            made(provider, concurrency=2).embed([f"shard {number} moved" for number in range(50)])
        assert len(provider.asked) < 50


class TestCost:
    def test_titans_own_count_of_tokens_is_charged(self, provider: ProviderServer) -> None:
        provider.always(Reply(document={"embedding": VECTOR, "inputTextTokenCount": 1_000_000}))
        with charged() as ledger:
            made(provider).embed([TEXT])
        [call] = ledger.calls
        assert (call.purpose, call.model, call.input_tokens) == (Purpose.EMBED, f"bedrock:{bedrock.TITAN}", 1_000_000)
        assert call.cost_usd == Decimal("0.02")

    def test_coheres_tokens_are_read_from_the_header(self, provider: ProviderServer) -> None:
        with charged() as ledger:
            made(provider, f"us.{bedrock.COHERE_V4}").embed(["x" * 400, "x" * 400])
        assert [call.input_tokens for call in ledger.calls] == [200]
        assert ledger.calls[0].cost_usd == Decimal("0.12") * 200 / 1_000_000

    @pytest.mark.parametrize("said", ["", "many", "-3", "1" * 30, "²"])
    def test_a_count_that_is_none_is_not_charged(self, provider: ProviderServer, said: str) -> None:
        headers = {"X-Amzn-Bedrock-Input-Token-Count": said.encode().decode("latin-1")}
        provider.always(Reply(document={"embeddings": [VECTOR]}, headers=headers))
        with charged() as ledger:
            made(provider, bedrock.ENGLISH).embed([TEXT])
        assert [(call.input_tokens, call.cost_usd) for call in ledger.calls] == [(None, None)]

    def test_an_answer_that_is_none_is_charged_with_its_tokens(self, provider: ProviderServer) -> None:
        provider.always(bedrock.embeddings([0.0] * 1024))
        with charged() as ledger, pytest.raises(ModelMalformed):
            made(provider).embed([TEXT])
        assert [call.input_tokens for call in ledger.calls] == [3]


class TestManyAtOnce:
    def test_as_many_requests_as_allowed_run_at_once_and_all_are_charged_to_the_account_at_hand(
        self, provider: ProviderServer
    ) -> None:
        texts = [f"shard {number} moved" for number in range(12)]
        counted = Counted()
        with ProviderServer([("POST", "/model/.*/invoke", counted.answer)]) as busy, charged() as ledger:
            vectors = made(busy, concurrency=3).embed(texts)
        assert counted.most == 3
        assert len(ledger.calls) == 12
        assert vectors == made(provider).embed(texts)


class Counted:
    """Keeps each request waiting for a while, for one more than are allowed at once, and counts how many were there."""

    def __init__(self) -> None:
        self.most = 0
        self._now = 0
        self._changed = threading.Condition()

    def answer(self, asked: Asked) -> Reply:
        with self._changed:
            self._now += 1
            self.most = max(self.most, self._now)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.most > 3, timeout=0.4)
            self._now -= 1
        return bedrock.embeddings(bedrock.vector_of(asked.body["inputText"], 1024))
