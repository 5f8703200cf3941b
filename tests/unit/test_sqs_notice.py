"""A notice over SQS: whoever tells never waits for the network, whatever that does."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from uuid import UUID

import pytest

from tributary.queues.message import PendingMessage
from tributary.queues.sqs import MOST_AT_ONCE, SqsNotice

TRIBE = UUID("0199c0de-0000-7000-8000-000000000001")
URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/pending"


class Client:
    """Keeps what is sent; each call waits for `open`, and raises `fails`."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.open = threading.Event()
        self.open.set()
        self.begun = threading.Semaphore(0)
        self.fails: Exception | None = None

    def send_message(self, *, QueueUrl: str, MessageBody: str) -> object:  # noqa: N803
        self.begun.release()
        self.open.wait(30)
        if self.fails is not None:
            raise self.fails
        self.sent.append((QueueUrl, MessageBody))
        return {}


def notice_of(client: Client) -> SqsNotice:
    return SqsNotice(URL, region="eu-central-1", make=lambda _region: client)


def test_a_message_names_the_tribe_and_its_cell() -> None:
    client = Client()
    notice_of(client).tell(TRIBE)
    ((url, body),) = client.sent
    assert url == URL
    assert json.loads(body) == {"tribe_id": str(TRIBE), "cell": None}
    assert PendingMessage.read(body) == PendingMessage(tribe_id=TRIBE)


def test_what_the_client_raises_is_raised() -> None:
    client = Client()
    client.fails = ConnectionError("away")
    with pytest.raises(ConnectionError):
        notice_of(client).tell(TRIBE)


def test_a_queue_that_hangs_is_given_up_and_the_message_may_arrive_still() -> None:
    client = Client()
    client.open.clear()
    notice = notice_of(client)
    with pytest.raises(TimeoutError):
        notice.tell(TRIBE)
    assert client.sent == []
    client.open.set()
    while not client.sent:
        pass


def test_no_more_messages_hang_than_may() -> None:
    client = Client()
    client.open.clear()
    notice = notice_of(client)

    def tell() -> None:
        with suppress(TimeoutError):
            notice.tell(TRIBE)

    threads = [threading.Thread(target=tell) for _ in range(MOST_AT_ONCE)]
    for one in threads:
        one.start()
    for _ in threads:
        client.begun.acquire()
    with pytest.raises(TimeoutError, match="hang"):
        notice.tell(TRIBE)
    assert not client.begun.acquire(blocking=False), "one more was begun"
    client.open.set()
    for one in threads:
        one.join()


def test_a_client_that_cannot_be_made_fails_when_it_is_used_and_is_tried_again() -> None:
    client, tries = Client(), 0

    def make(_region: str) -> Client:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ValueError("no credentials")
        return client

    notice = SqsNotice(URL, region="eu-central-1", make=make)
    with pytest.raises(ValueError, match="credentials"):
        notice.tell(TRIBE)
    notice.tell(TRIBE)
    assert len(client.sent) == 1


def test_preparing_makes_the_client_and_fails_nobody() -> None:
    made = threading.Event()

    def make(_region: str) -> Client:
        made.set()
        raise ValueError("no credentials")

    SqsNotice(URL, region="eu-central-1", make=make).prepare()
    assert made.wait(10)


@pytest.mark.parametrize(
    "body",
    [
        None,
        "",
        "no JSON",
        "[]",
        "{}",
        '{"tribe_id": "0199c0de-0000-7000-8000-000000000001"}',
        '{"tribe_id": "0199c0de-0000-7000-8000-000000000001", "cell": null, "more": 1}',
        '{"tribe_id": "none", "cell": null}',
        '{"tribe_id": 1, "cell": null}',
        '{"tribe_id": "0199c0de-0000-7000-8000-000000000001", "cell": 1}',
    ],
)
def test_what_is_no_message_of_ours_is_refused(body: object) -> None:
    with pytest.raises(ValueError):
        PendingMessage.read(body)
