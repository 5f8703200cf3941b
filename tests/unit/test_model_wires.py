"""What every client of a model does on the wire: it ends in time, reads so much, and talks to nobody else."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.providers.raw import RawServer, head
from tests.providers.server import ProviderServer, Reply, wait_for
from tests.unit.test_language_models import PROMPT
from tributary.core.errors import ModelFailed, ModelMalformed, ModelTimedOut
from tributary.core.spending import Purpose
from tributary.models import aws
from tributary.models.bounded import MOST_ABANDONED, MOST_REPLY_BYTES, Lane
from tributary.models.embedders import BedrockEmbedder
from tributary.models.jev import Jev
from tributary.models.llms import BedrockModel, OpenAiModel, openai
from tributary.models.llms.listing import openai_models
from tributary.models.prices import Prices
from tributary.models.screens import GuardrailsScreen

Ask = Callable[[float], object]
"""Asks within so many seconds."""
REGION = "eu-central-1"
FAR_S = 60.0


def _openai(url: str) -> Ask:
    model = OpenAiModel(model="m", url=f"{url}/v1", attempts=1, timeout_s=FAR_S)
    return lambda timeout_s: model.answer(PROMPT, timeout_s=timeout_s)


def _listing(url: str) -> Ask:
    return lambda timeout_s: openai_models(url=f"{url}/v1", api_key=None, timeout_s=timeout_s)


def _jev(url: str) -> Ask:
    from typesafe_sdk import Noul, NoulCriteria

    made = Jev(
        api_key="k",
        url=url,
        model="jev-1.13.0",
        timeout_s=FAR_S,
        attempts=1,
        prices=Prices.shipped(),
        purpose=Purpose.SCREEN,
    )
    question = Noul(instructions="Is it?", criteria=NoulCriteria(true="it is", false="it is not"))
    return lambda timeout_s: made.probabilities({"lesson": {"text": "x"}}, {"is": question}, timeout_s=timeout_s)


def _bedrock(url: str) -> Ask:
    model = BedrockModel(model="x.y", region=REGION, url=url, attempts=1, timeout_s=FAR_S)
    return lambda timeout_s: model.answer(PROMPT, timeout_s=timeout_s)


def _embedder(url: str) -> Ask:
    made = BedrockEmbedder(model="amazon.titan-embed-text-v2:0", region=REGION, url=url, attempts=1, timeout_s=FAR_S)
    return lambda timeout_s: made.embed(["a lesson"], timeout_s=timeout_s)


def _guardrail(url: str) -> Ask:
    made = GuardrailsScreen(guardrail="ab12cd34ef56", version="1", region=REGION, url=url, attempts=1, timeout_s=FAR_S)
    return lambda timeout_s: made.screen({"text": "a lesson"}, timeout_s=timeout_s)


HTTP = {"openai": _openai, "listing": _listing, "jev": _jev}
AWS = {"bedrock": _bedrock, "embedder": _embedder, "guardrail": _guardrail}
CLIENTS = {**HTTP, **AWS}
every_client = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


REFUSED = head(400, "content-length: 2", "connection: close") + b"{}"
"""What makes a client be made, which may take longer than a short call, and be asked again over another connection."""
SLOW = {
    "mute": (b"", b""),
    "drips its headers": (b"HTTP/1.1 200 OK\r\nx-slow: ", b"x"),
    "stops in its answer": (head(200, "content-length: 100000") + b"{", b""),
    "drips its answer": (head(200, "content-length: 100000"), b" "),
    "drips its refusal": (head(400, "content-length: 100000"), b" "),
    "drips chunks": (head(200, "transfer-encoding: chunked"), b"1\r\n \r\n"),
}


@every_client
@pytest.mark.parametrize(("first", "again"), SLOW.values(), ids=SLOW)
def test_a_call_that_nobody_waits_for_hangs_up(client: Callable[[str], Ask], first: bytes, again: bytes) -> None:
    """Long before the client's own time-out, which bounds a read."""
    before = threading.enumerate()
    with RawServer(first=REFUSED) as server:
        ask = client(server.url)
        with pytest.raises(ModelFailed):
            ask(20.0)
        server.first, server.again = first, again
        with pytest.raises(ModelTimedOut):
            ask(0.5)
        assert server.all_hung_up()
    assert wait_for(lambda: not [one for one in threading.enumerate() if one.name == "model-call" and one not in before])


@pytest.mark.parametrize("status", [200, 400])
def test_a_read_that_is_late_before_its_caller_gives_up_is_a_time_out_too(status: int) -> None:
    with RawServer(first=head(status, "content-length: 100000") + b"{") as server:
        client = openai.client(url=f"{server.url}/v1", key="k", timeout_s=0.2)
        with pytest.raises(ModelTimedOut):
            openai.fetched(client.models.with_streaming_response.list, lane=Lane(), timeout_s=20.0)
        bedrock = aws.runtime_client(region=REGION, url=server.url, timeout_s=0.2)
        with pytest.raises(Exception, match=r"(?i)timed out|read timeout") as caught:
            bedrock.invoke_model(modelId="x.y", body=b"{}")["body"].read()
        assert type(aws.failure(caught.value, model="x.y")) is ModelTimedOut


@every_client
@pytest.mark.parametrize("status", [200, 400])
def test_an_endless_answer_is_read_up_to_a_cap(client: Callable[[str], Ask], status: int) -> None:
    with RawServer(first=head(status, "content-length: 9000000000"), again=b" " * 1_000_000, every_s=0.0) as server:
        with pytest.raises(ModelMalformed, match="larger than"):
            client(server.url)(30.0)
        assert server.all_hung_up()
        assert server.sent < 64 * 1024**2


@every_client
@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_compressed_answer_is_not_unpacked(client: Callable[[str], Ask], status: int) -> None:
    bomb = gzip.compress(b" " * (MOST_REPLY_BYTES // 4) + b"{}")
    with ProviderServer([]) as server:
        server.always(Reply(status=status, raw=bomb, headers={"content-encoding": "gzip"}))
        with pytest.raises(ModelFailed) as caught:
            client(server.url)(20.0)
        assert server.asked[0].headers["accept-encoding"] == "identity"
    assert isinstance(caught.value, ModelMalformed) or status == 500


@every_client
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_failure_that_names_the_setting(client: Callable[[str], Ask], status: int) -> None:
    with ProviderServer([]) as thief, ProviderServer([]) as server:
        elsewhere = thief.url.replace("127.0.0.1", "localhost")
        server.always(Reply(status=status, document={}, headers={"location": f"{elsewhere}/v1/chat/completions"}))
        with pytest.raises(ModelFailed, match=r"redirects.*TRIBUTARY_\w+_URL") as caught:
            client(server.url)(20.0)
        assert type(caught.value) is ModelFailed
        assert len(server.asked) == 1
        assert thief.asked == []


@every_client
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_what_is_for_this_computer_goes_through_no_proxy(
    client: Callable[[str], Ask], host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProviderServer([]) as server, ProviderServer([]) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        with pytest.raises(ModelFailed):
            client(server.url.replace("127.0.0.1", host))(20.0)
        assert len(server.asked) == 1
        assert proxy.asked == []


@every_client
def test_what_is_elsewhere_goes_through_the_proxy_of_the_environment(
    client: Callable[[str], Ask], monkeypatch: pytest.MonkeyPatch
) -> None:
    with RawServer(first=REFUSED) as proxy:
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, proxy.url)
        ask = client("http://models.invalid") if client not in (_openai, _listing) else _keyed(client)
        with pytest.raises(ModelFailed):
            ask(20.0)
        proxy.first, proxy.again = SLOW["drips its headers"]
        with pytest.raises(ModelTimedOut):
            ask(0.5)
        assert proxy.all_hung_up(), "through a proxy it ends in time as well"


def _keyed(client: Callable[[str], Ask]) -> Ask:
    url = "http://models.invalid/v1"
    if client is _listing:
        return lambda timeout_s: openai_models(url=url, api_key="k", timeout_s=timeout_s)
    model = OpenAiModel(model="m", url=url, api_key="k", attempts=1, timeout_s=FAR_S)
    return lambda timeout_s: model.answer(PROMPT, timeout_s=timeout_s)


def test_a_provider_that_hangs_keeps_nobody_from_another_one() -> None:
    """More calls than one lane may leave behind, each given up long before the client's own time-out."""
    with RawServer(first=REFUSED) as mute, ProviderServer([]) as healthy:
        hanging, other = _bedrock(mute.url), _openai(healthy.url)
        with pytest.raises(ModelFailed):
            hanging(20.0)
        mute.first = b""
        threads = [threading.Thread(target=_fails, args=(hanging,)) for _ in range(MOST_ABANDONED * 2)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        healthy.always(Reply(status=400, document={}))
        with pytest.raises(ModelFailed, match="HTTP 400"):
            other(20.0)


def _fails(ask: Ask) -> None:
    with pytest.raises(ModelFailed):
        ask(0.3)
