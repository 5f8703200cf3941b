"""SQS as moto speaks it over HTTP, for the real client of the AWS SDK; and what Lambda makes of its messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

REGION = "eu-central-1"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


@dataclass(frozen=True, kw_only=True)
class Queue:
    """A standard queue; `environment` leads the AWS SDK to it."""

    url: str
    client: Any
    environment: Mapping[str, str]

    def received(self, count: int = 0) -> list[dict[str, Any]]:
        """Takes up to 10 messages, hidden from others from now on, and waits until there are `count`."""
        messages: list[dict[str, Any]] = []
        while True:
            found = self.client.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10, AttributeNames=["All"])
            messages += found.get("Messages", [])
            if len(messages) >= count:
                return messages


@contextmanager
def serving() -> Iterator[str]:
    """Gives the endpoint of a server on loopback, while the block runs."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@contextmanager
def queue_at(endpoint: str) -> Iterator[Queue]:
    """Gives an empty queue on a server, while the block runs."""
    session = boto3.session.Session(aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION)
    client = session.client("sqs", endpoint_url=endpoint)
    url = client.create_queue(QueueName="pending")["QueueUrl"]
    try:
        yield Queue(url=url, client=client, environment={**CREDENTIALS, "AWS_ENDPOINT_URL_SQS": endpoint, "AWS_REGION": REGION})
    finally:
        client.delete_queue(QueueUrl=url)
        client.close()


def event_of(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the event that an event source mapping makes of received messages."""
    return {
        "Records": [
            {
                "messageId": one["MessageId"],
                "receiptHandle": one["ReceiptHandle"],
                "body": one["Body"],
                "attributes": one["Attributes"],
                "messageAttributes": {},
                "md5OfBody": one["MD5OfBody"],
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:{REGION}:123456789012:pending",
                "awsRegion": REGION,
            }
            for one in messages
        ]
    }


def failures(response: Mapping[str, Any]) -> list[str]:
    """Returns the ids of the messages that are to come again."""
    assert set(response) == {"batchItemFailures"}
    return [one["itemIdentifier"] for one in response["batchItemFailures"]]
