"""Queues: tribes with pending lessons, and what nobody could deliver."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.acknowledged import acknowledge
from infra.table import BY_NAME

TRIES = 8
"""Times that a tribe's pending lessons are tried, half an hour in all, until the message is set aside."""


def dead_letters(scope: Construct, id_: str) -> sqs.Queue:
    """Makes a queue for what failed for good, kept for two weeks."""
    queue = sqs.Queue(
        scope,
        id_,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=Duration.days(14),
    )
    acknowledge(queue, {"SQS3": "It is a dead-letter queue itself"})
    return queue


class PendingQueue(Construct):
    """Told by learn and curate, emptied by the settler."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_)
        self.dead = dead_letters(self, "Dead")
        self.queue = sqs.Queue(
            self,
            "Queue",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            # what could not be settled comes again after it, so no longer than it must be
            visibility_timeout=Duration.seconds(2 * BY_NAME["settler"].timeout_s),
            retention_period=Duration.days(4),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead, max_receive_count=TRIES),
        )
