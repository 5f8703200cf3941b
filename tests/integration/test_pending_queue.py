"""Over a real queue's wire: what a slow judge left pending is told of, and settled by the function that the message wakes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.contract.samples import Context
from tests.doubles import RuledJudge, SwitchedEmbedder, within_a_subject
from tests.providers.queues import Queue, event_of, failures, queue_at, serving
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.decision import Outcome
from tributary.core.errors import BadSetting
from tributary.core.lesson import Draft
from tributary.edges.lambda_http.settling import settled
from tributary.models.embedders import HashedEmbedder
from tributary.service import Cells, Memory, Settings, open_memory

SLOW_S = 0.1


@dataclass(frozen=True, kw_only=True)
class Queued:
    tribal: Tribal
    judge: RuledJudge
    embedder: SwitchedEmbedder
    queue: Queue

    def late(self, text: str) -> Outcome:
        """Learns with less time than the judge takes; returns what came of it."""
        self.judge.delay_s = SLOW_S
        draft = Draft(text=text, situation="operating the service", source=SEEN, subject="port")
        outcome = self.tribal.memory.learn(self.tribal.agent(text.replace(" ", "-")), draft, deadline_s=SLOW_S / 2).outcome
        self.judge.delay_s = 0
        return outcome

    def handed(self, event: Mapping[str, Any], *, left_ms: int = 30_000) -> list[str]:
        """Hands an event to the function; returns the messages that are to come again."""
        return failures(settled(dict(event), alone(self.tribal.memory), Context(left_ms)))


def alone(memory: Memory) -> Cells:
    """Returns one memory as all the cells that there are."""
    return Cells(None, (), lambda _: memory)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serving() as opened:
        yield opened


@pytest.fixture
def queue(endpoint: str) -> Iterator[Queue]:
    with queue_at(endpoint) as opened:
        yield opened


@pytest.fixture
def queued(database_url: str, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> Iterator[Queued]:
    for name, value in queue.environment.items():
        monkeypatch.setenv(name, value)
    judge, embedder = RuledJudge(within_a_subject), SwitchedEmbedder(HashedEmbedder(), word="STUCK")
    with open_tribal(
        database_url, judge=judge, embedder=embedder, pending_queue_url=queue.url, aws_region=queue.environment["AWS_REGION"]
    ) as tribal:
        tribal.learn(tribal.curator, "it is 80", subject="port")
        yield Queued(tribal=tribal, judge=judge, embedder=embedder, queue=queue)


def test_message_of_a_late_lesson_settles_it_when_it_is_handed_over(queued: Queued) -> None:
    assert queued.queue.received() == []
    assert queued.late("it is 81") is Outcome.PENDING
    (message,) = queued.queue.received(1)
    assert json.loads(message["Body"]) == {"tribe_id": str(queued.tribal.tribe_id), "cell": None}
    assert queued.handed(event_of([message])) == []
    assert queued.tribal.status_counts() == {"active": 1, "disputed": 1}


def test_messages_that_come_twice_or_late_do_no_harm(queued: Queued) -> None:
    assert [queued.late(text) for text in ("it is 81", "it is 82")] == [Outcome.PENDING, Outcome.PENDING]
    messages = queued.queue.received(2)
    ticks = "SELECT clock FROM tributary.tribe"
    assert queued.handed(event_of(messages[::-1] + messages)) == []
    before = queued.tribal.rows(ticks)
    assert queued.handed(event_of(messages)) == []
    assert queued.tribal.rows(ticks) == before
    assert queued.tribal.status_counts() == {"active": 1, "disputed": 2}


def test_two_functions_that_are_handed_the_same_message_settle_each_lesson_once(queued: Queued) -> None:
    for number in range(4):
        queued.late(f"it is {81 + number}")
    event = event_of(queued.queue.received(4))
    came_again: list[str] = []
    threads = [threading.Thread(target=lambda: came_again.extend(queued.handed(event))) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(came_again) in (0, 4, 8), "of a function that found the tribe taken, all come again"
    assert queued.handed(event) == []
    events = queued.tribal.rows("SELECT count(*) AS n FROM tributary.lesson_event WHERE event = 'disputed'")
    assert events == [{"n": 4}]


def test_messages_come_again_while_another_settler_is_at_the_tribe_and_no_model_is_asked(queued: Queued) -> None:
    queued.late("it is 81")
    event = event_of(queued.queue.received(1))
    beside: list[list[str]] = []

    def handed_beside() -> None:
        queued.judge.before = None
        beside.append(queued.handed(event))

    queued.judge.asked.clear()
    queued.judge.before = handed_beside
    assert queued.handed(event) == []
    assert beside == [[event["Records"][0]["messageId"]]]
    assert len(queued.judge.asked) == 1
    assert queued.handed(event) == []


def test_message_comes_again_while_a_lesson_of_its_tribe_cannot_be_settled(queued: Queued) -> None:
    queued.late("it is 81 STUCK")
    queued.late("it is 82")
    first, second = queued.queue.received(2)
    queued.embedder.fails = True
    assert queued.handed(event_of([first])) == [first["MessageId"]]
    assert queued.tribal.status_counts() == {"active": 1, "pending": 1, "disputed": 1}
    queued.embedder.fails = False
    assert queued.handed(event_of([first, second])) == []


def test_messages_come_again_when_the_time_was_over(queued: Queued) -> None:
    queued.late("it is 81")
    messages = queued.queue.received(1)
    assert queued.handed(event_of(messages), left_ms=3_050) == [messages[0]["MessageId"]]
    assert queued.handed(event_of(messages)) == []


def test_messages_come_again_when_the_database_is_away(queued: Queued) -> None:
    queued.late("it is 81")
    event = event_of(queued.queue.received(1))
    nowhere = Settings.model_validate({"TRIBUTARY_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"})
    with open_memory(nowhere, adapters=queued.tribal.adapters) as memory:
        assert failures(settled(event, alone(memory), Context())) == [event["Records"][0]["messageId"]]


@pytest.mark.parametrize("body", ["no JSON", '{"tribe_id": "0199c0de-0000-7000-8000-000000000001", "cell": "elsewhere"}'])
def test_what_is_not_for_us_fails_alone(queued: Queued, body: str) -> None:
    queued.late("it is 81")
    event = event_of(queued.queue.received(1))
    event["Records"].insert(0, {**event["Records"][0], "messageId": "foreign", "body": body})
    assert queued.handed(event) == ["foreign"]
    assert queued.tribal.status_counts() == {"active": 1, "disputed": 1}


def test_learn_is_answered_when_the_queue_is_away_and_the_gardener_settles(
    database_url: str, queue: Queue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, value in {**queue.environment, "AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:1"}.items():
        monkeypatch.setenv(name, value)
    with open_tribal(database_url, pending_queue_url=queue.url, aws_region=queue.environment["AWS_REGION"]) as tribal:
        draft = Draft(text="it is 80", situation="operating the service", source=SEEN)
        assert tribal.memory.learn(tribal.curator, draft, wait=False).outcome is Outcome.PENDING
        assert "notice.failed" in [one.getMessage() for one in caplog.records]
        tribal.memory.gardener.run(tribal.tribe_id)
        assert tribal.status_counts() == {"active": 1}


@pytest.mark.parametrize(
    "url",
    [
        "sqs.eu-central-1.amazonaws.com/123456789012/pending",
        "https://sqs.eu-central-1.amazonaws.com/123456789012/pending.fifo",
        "https://sqs.eu-central-1.amazonaws.com/pending",
        "https://user@sqs.eu-central-1.amazonaws.com/123456789012/pending",
    ],
)
def test_url_that_is_no_standard_queues_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="be the URL of a standard queue"):
        Settings.model_validate({"pending_queue_url": url})


def test_queue_whose_region_nobody_knows_stops_the_start(database_url: str) -> None:
    settings = {"TRIBUTARY_DATABASE_URL": database_url, "pending_queue_url": "http://127.0.0.1:1/123456789012/pending"}
    with pytest.raises(BadSetting, match="TRIBUTARY_PENDING_QUEUE_URL"):
        open_memory(Settings.model_validate(settings))
