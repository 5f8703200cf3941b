"""What the functions count on Lambda: all that the catalogue names, each as it says, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from tests.contract.deployed import Deployed
from tests.contract.samples import LEARN, event_of
from tests.contract.test_events import EVENTS, load
from tests.metrics import emitted
from tests.providers import openai, queues
from tests.providers.brain import agreeing
from tests.providers.server import ProviderServer, Reply
from tributary.core.agent import Principal, Role
from tributary.edges.lambda_http.port import Event
from tributary.service import Settings, open_memory, open_operator
from tributary.telemetry import Metric

CATALOGUE = {(metric.value, metric.unit, metric.dimension) for metric in Metric}


@dataclass
class Account:
    """Functions as on Lambda, in a tribe of their own; what they print is kept when they end."""

    url: str
    writer: Principal
    curator: Principal
    stack: ExitStack
    opened: list[Deployed] = field(default_factory=list)

    def function(self, name: str, **settings: str) -> Deployed:
        environment = {
            "TRIBUTARY_DATABASE_URL": self.url,
            "AWS_LAMBDA_FUNCTION_NAME": f"tributary-{name}",
            "NO_PROXY": "127.0.0.1",
            **settings,
        }
        opened = self.stack.enter_context(Deployed(name, environment))
        self.opened.append(opened)
        return opened

    def learn(self, text: str, **more: object) -> Event:
        body = json.dumps({**LEARN, "text": text, "subject": "deploy-api", **more}).encode()
        return event_of("POST", "/v1/lessons", principal=self.writer, body=body)

    def printed(self) -> list[str]:
        return [line for one in self.opened for line in one.printed]


@pytest.fixture
def account(database_url: str) -> Iterator[Account]:
    settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": database_url})
    with open_operator(settings) as operator:
        token = operator.create_tribe("metrics").token.secret
        writer = operator.create_agent("metrics", "writer", Role.WRITER).secret
    with open_memory(settings) as memory, ExitStack() as stack:
        yield Account(url=database_url, writer=memory.authenticate(writer), curator=memory.authenticate(token), stack=stack)


def test_functions_emit_all_metrics_of_the_catalogue_and_no_other(account: Account) -> None:
    with ExitStack() as stack:
        model = stack.enter_context(ProviderServer(openai.chat_routes(agreeing, cost=0.002)))
        queue = stack.enter_context(queues.queue_at(stack.enter_context(queues.serving())))
        learn = account.function(
            "learn",
            **queue.environment,
            TRIBUTARY_PENDING_QUEUE_URL=queue.url,
            TRIBUTARY_STRONG_JUDGE="openai",
            TRIBUTARY_STRONG_JUDGE_MODEL=openai.MODEL,
            TRIBUTARY_OPENAI_URL=f"{model.url}/v1",
            TRIBUTARY_OPENAI_API_KEY=openai.KEY,
        )
        assert learn(account.learn("The deploy API needs X-Batch: true"))["statusCode"] == 200
        assert learn(account.learn("The deploy API needs X-Batch: false"))["statusCode"] == 200
        model.always(Reply(status=400, document={"error": {"message": "no", "type": "invalid_request_error"}}))
        assert learn(account.learn("The deploy API does not need X-Batch: true"))["statusCode"] == 200
        assert learn(account.learn("Clear the cache first", wait=False))["statusCode"] == 202
        assert learn(queues.event_of(queue.received(1))) == {"batchItemFailures": []}
        begin = json.dumps({"key": "reboot:db-7", "description": "reboot db-7"}).encode()
        assert learn(event_of("POST", "/v1/actions", principal=account.writer, body=begin))["statusCode"] == 200
    # the queue is away by now
    assert learn(account.learn("Warm the cache last", wait=False))["statusCode"] == 202
    recall = account.function("recall")
    query = event_of("POST", "/v1/recall", principal=account.curator, body=b'{"query": "deploy"}')
    assert recall(query)["statusCode"] == 200
    assert recall(load(EVENTS / "recall" / "unknown-route.json"))["statusCode"] == 404
    account.function("gardener")(load(EVENTS / "gardener" / "scheduler.json"))
    account.function("curate")(event_of("GET", "/v1/disputes", principal=account.curator))
    account.function("authorizer")(load(EVENTS / "authorizer" / "unknown.json"))
    account.function("migrate")(load(EVENTS / "migrate" / "trigger.json"))
    assert emitted(account.printed()) == CATALOGUE
    cold = [json.loads(line)["service"] for line in account.printed() if "ColdStarts" in line]
    assert cold == ["learn", "recall", "gardener", "curate", "authorizer", "migrate"]


def test_a_warm_request_prints_one_line(account: Account) -> None:
    recall = account.function("recall")
    query = event_of("POST", "/v1/recall", principal=account.curator, body=b'{"query": "deploy"}')
    recall(query)
    recall.printed.clear()
    recall(query)
    (line,) = recall.printed
    assert {"Latency", "RecallLatency", "Coverage"} <= json.loads(line).keys()


def test_off_lambda_nothing_is_printed(account: Account) -> None:
    recall = account.function("recall", AWS_LAMBDA_FUNCTION_NAME="")
    recall(event_of("GET", "/health"))
    recall(load(EVENTS / "recall" / "unknown-route.json"))
    assert recall.printed == []


def test_every_function_says_at_its_first_invocation_which_build_it_is(account: Account) -> None:
    for name, event in (
        ("recall", event_of("GET", "/health")),
        ("authorizer", load(EVENTS / "authorizer" / "unknown.json")),
        ("migrate", load(EVENTS / "migrate" / "trigger.json")),
        ("gardener", load(EVENTS / "gardener" / "scheduler.json")),
    ):
        function = account.function(name)
        function(event)
        function(event)
        lines = [json.loads(line) for line in function.end().splitlines()]
        (started,) = [line for line in lines if line["event"] == "function.started"]
        assert (started["function"], started["build"]) == (name, "source")
        assert started["version"]
        assert started["python"]
        assert started["init_ms"] > 0
