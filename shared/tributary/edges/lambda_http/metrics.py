"""Metrics in CloudWatch's embedded format, written to stdout, from where Lambda takes them.

A line may describe several metrics, each with dimensions of its own, as long as a dimension has one value in it. So a request's
figures are mostly one line; only those that differ in the value of one dimension, as the outcomes of a batch, need further ones.
What a line may hold at most is fixed: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from __future__ import annotations

import json
import logging
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tributary.telemetry import Event, log, metrics
from tributary.telemetry.metrics import COUNT, Measure, Metric

NAMESPACE = "Tributary"
MOST_VALUES = 100
"""Of one metric in one line."""

Meter = Callable[[Sequence[Measure]], None]


def no_metrics(measures: Sequence[Measure]) -> None:
    """Counts nothing: off Lambda nobody reads stdout."""


def meter_for(service: str, environment: Mapping[str, str]) -> Meter:
    """Returns the meter of a function: embedded metrics on Lambda, nothing elsewhere."""
    return embedded_metrics(service) if environment.get("AWS_LAMBDA_FUNCTION_NAME") else no_metrics


def embedded_metrics(service: str) -> Meter:
    """Returns a meter that prints embedded metric format, with `service` as a dimension of each metric. It raises nothing."""

    def meter(measures: Sequence[Measure]) -> None:
        try:
            at_ms = int(time.time() * 1000)
            text = "".join(f"{json.dumps(line.document(service, at_ms))}\n" for line in _lines(measures))
            sys.stdout.write(text)
            sys.stdout.flush()
        except Exception as error:
            log.event(Event.METRICS_LOST, level=logging.ERROR, error=error)

    return meter


@contextmanager
def metered(meter: Meter) -> Iterator[None]:
    """Hands what the block records to `meter` at its end, whatever that is. For no metrics, nothing is collected."""
    if meter is no_metrics:
        yield
        return
    with metrics.tallied() as tally:
        try:
            yield
        finally:
            meter(tally.measures)


@dataclass
class _Line:
    """One line while it is filled: the values by metric, and the one value of each dimension."""

    values: dict[Metric, list[float]] = field(default_factory=dict)
    dimensions: dict[str, str] = field(default_factory=dict)

    def has_room(self, metric: Metric) -> bool:
        return len(self.values.get(metric, ())) < MOST_VALUES

    def add(self, metric: Metric, of: str | None, value: float) -> None:
        if metric.dimension is not None:
            self.dimensions[metric.dimension] = str(of)
        known = self.values.setdefault(metric, [])
        if metric.unit != COUNT or not known:
            known.append(value)
        elif _is_figure(known[0] + value):
            known[0] += value

    def document(self, service: str, at_ms: int) -> dict[str, object]:
        alike: dict[str | None, list[Metric]] = {}
        for metric in self.values:
            alike.setdefault(metric.dimension, []).append(metric)
        described = [
            {
                "Namespace": NAMESPACE,
                "Dimensions": [["service"] if dimension is None else ["service", dimension]],
                "Metrics": [{"Name": one.value, "Unit": one.unit} for one in of_it],
            }
            for dimension, of_it in alike.items()
        ]
        figures = {metric.value: values[0] if len(values) == 1 else values for metric, values in self.values.items()}
        return {
            "_aws": {"Timestamp": at_ms, "CloudWatchMetrics": described},
            "service": service,
            **self.dimensions,
            **figures,
        }


class _Lines:
    """Lines, each with the values of every dimension that it has. Finding the one for a figure takes no look at the others."""

    def __init__(self) -> None:
        self.all: list[_Line] = []
        self._given: Counter[str | None] = Counter()
        """How many of all the lines, from the first on, have a value of a dimension; under None, figures without one."""
        self._of: dict[tuple[str | None, str | None], list[_Line]] = {}
        """The lines of each value of a dimension."""
        self._at: dict[tuple[Metric, str | None], int] = {}
        """Which of those a metric is being written to: those before it are full of it."""

    def line_for(self, metric: Metric, of: str | None) -> _Line:
        value = None if metric.dimension is None else of
        known = self._of.setdefault((metric.dimension, value), [])
        at = self._at.get((metric, value), 0)
        if at < len(known) and not known[at].has_room(metric):
            at += 1
        if at == len(known):
            known.append(self._next_without(metric.dimension))
        self._at[metric, value] = at
        return known[at]

    def _next_without(self, dimension: str | None) -> _Line:
        number = self._given[dimension]
        self._given[dimension] += 1
        if number == len(self.all):
            self.all.append(_Line())
        return self.all[number]


def _lines(measures: Sequence[Measure]) -> list[_Line]:
    lines = _Lines()
    for one in measures:
        if _is_figure(one.value):
            lines.line_for(one.metric, one.of).add(one.metric, one.of, one.value)
    return lines.all


def _is_figure(value: object) -> bool:
    """Tells whether CloudWatch takes a value, and JSON has it; one that is none must cost no other its place."""
    if not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number past what a float holds
        return False
