"""The function `learn` as it is deployed, told by its queue what to settle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.contract.deployed import Deployed
from tests.contract.samples import LEARN, event_of
from tests.contract.test_events import EVENTS, load
from tests.providers import queues
from tributary.core.agent import Principal
from tributary.service import Settings, open_memory, open_operator

SAMPLE_TRIBES = ("0199c0de-0000-7000-8000-000000000001", "0199c0de-0000-7000-8000-000000000002")


@dataclass(frozen=True, kw_only=True)
class Woken:
    """The function `learn` beside a queue, and the curators of two tribes."""

    function: Deployed
    queue: queues.Queue
    curators: tuple[Principal, Principal]

    def keeps(self, curator: Principal, text: str) -> str:
        """Learns without waiting; returns the lesson's id."""
        body = json.dumps({**LEARN, "text": text, "wait": False}).encode()
        reply = self.function(event_of("POST", "/v1/lessons", principal=curator, body=body))
        assert reply["statusCode"] == 202
        return str(json.loads(reply["body"])["lesson"]["id"])

    def sample(self, name: str) -> dict[str, Any]:
        """Returns a sample event with the two tribes in the place of its own."""
        text = json.dumps(load(EVENTS / "learn" / f"{name}.json"))
        for one, curator in zip(SAMPLE_TRIBES, self.curators, strict=True):
            text = text.replace(one, str(curator.tribe_id))
        event: dict[str, Any] = json.loads(text)
        return event


@pytest.fixture
def woken(database_url: str) -> Iterator[Woken]:
    settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": database_url})
    with open_operator(settings) as operator:
        tokens = [operator.create_tribe(name).token.secret for name in ("one", "two")]
    with open_memory(settings) as memory:
        first, second = (memory.authenticate(token) for token in tokens)
    with queues.serving() as endpoint, queues.queue_at(endpoint) as queue:
        environment = {
            "TRIBUTARY_DATABASE_URL": database_url,
            "TRIBUTARY_PENDING_QUEUE_URL": queue.url,
            "NO_PROXY": "127.0.0.1",
            **queue.environment,
        }
        with Deployed("learn", environment) as function:
            yield Woken(function=function, queue=queue, curators=(first, second))


def test_sample_events_settle_their_tribes_and_name_what_comes_again(woken: Woken) -> None:
    first, second = woken.curators
    woken.keeps(first, "Clear the cache first")
    assert queues.failures(woken.function(woken.sample("queue-one"))) == []
    woken.keeps(first, "Warm the cache last")
    woken.keeps(second, "Clear the cache first")
    assert queues.failures(woken.function(woken.sample("queue-batch"))) == []
    woken.keeps(first, "The cache is small")
    foreign = woken.sample("queue-foreign")
    assert queues.failures(woken.function(foreign)) == [foreign["Records"][0]["messageId"]]
    lines = [json.loads(line) for line in woken.function.end().splitlines()]
    settled = [(line["tribe"], line["settled"]) for line in lines if line["event"] == "queue.settled"]
    one, two = str(first.tribe_id), str(second.tribe_id)
    assert settled == [(one, 1), (one, 1), (two, 1), (one, 1)]
    (unreadable,) = [line for line in lines if line["event"] == "queue.unreadable"]
    assert (unreadable["level"], unreadable["message"]) == ("error", foreign["Records"][0]["messageId"])
    assert "aws:s3" not in json.dumps(lines), "what somebody put into the queue is in the log"


def test_what_the_function_left_pending_wakes_it_again_by_the_queue(woken: Woken) -> None:
    curator = woken.curators[0]
    woken.keeps(curator, "Clear the cache first")
    messages = woken.queue.received(1)
    assert queues.failures(woken.function(queues.event_of(messages))) == []
    lines = [json.loads(line) for line in woken.function.end().splitlines()]
    assert [line["outcome"] for line in lines if line["event"] == "learn.committed"] == ["pending", "learned"]
    assert not [line for line in lines if line["event"] == "notice.failed"]


def test_messages_come_again_when_the_function_has_no_database() -> None:
    event = load(EVENTS / "learn" / "queue-batch.json")
    with Deployed("learn", {"TRIBUTARY_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}) as function:
        again = queues.failures(function(event))
    assert sorted(again) == sorted(record["messageId"] for record in event["Records"])


def test_function_that_settles_nothing_does_not_take_messages() -> None:
    with Deployed("curate", {"TRIBUTARY_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}) as function:
        assert "batchItemFailures" not in function(load(EVENTS / "learn" / "queue-one.json"))
