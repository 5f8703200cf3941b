"""What runs by the clock: the gardener, and the building of indexes for tribes that outgrew exact search."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as targets
from constructs import Construct

from infra.config import Config
from infra.constructs.functions import Functions
from infra.constructs.queues import dead_letters

BUILD_INDEXES: Mapping[str, object] = {"operation": "build_indexes", "arguments": {}}


class Schedules(Construct):
    """Each with two more tries, and a dead-letter queue for what could not be delivered at all."""

    def __init__(self, scope: Construct, id_: str, config: Config, functions: Functions) -> None:
        super().__init__(scope, id_)
        self.dead = dead_letters(self, "Dead")
        self._every("Garden", config.garden_minutes, functions, "gardener", None)
        self._every("Indexes", config.index_minutes, functions, "operator", BUILD_INDEXES)

    def _every(self, id_: str, minutes: int, functions: Functions, name: str, event: Mapping[str, object] | None) -> None:
        scheduler.Schedule(
            self,
            id_,
            description=f"Tributary: {name}, every {minutes} minutes",
            schedule=scheduler.ScheduleExpression.rate(Duration.minutes(minutes)),
            target=targets.LambdaInvoke(
                functions.live[name],
                input=scheduler.ScheduleTargetInput.from_object(dict(event)) if event else None,
                dead_letter_queue=self.dead,
                retry_attempts=2,
                max_event_age=Duration.minutes(max(1, min(minutes, 1440))),
            ),
        )
