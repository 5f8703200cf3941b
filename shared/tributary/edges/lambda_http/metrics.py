"""Metrics in CloudWatch's embedded format, written to stdout, from where Lambda takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tributary.edges.lambda_http.reply import Measure

NAMESPACE = "Tributary"

Meter = Callable[[Sequence[Measure]], None]


def no_metrics(measures: Sequence[Measure]) -> None:
    """Counts nothing: off Lambda nobody reads stdout."""


def meter_for(service: str, environment: Mapping[str, str]) -> Meter:
    """Returns the meter of a function: embedded metrics on Lambda, nothing elsewhere."""
    return embedded_metrics(service) if environment.get("AWS_LAMBDA_FUNCTION_NAME") else no_metrics


def embedded_metrics(service: str) -> Meter:
    """Returns a meter that prints one line of embedded metric format a measure, with `service` as a dimension of each."""
    from aws_lambda_powertools.metrics import MetricUnit, single_metric

    def meter(measures: Sequence[Measure]) -> None:
        for measure in measures:
            with single_metric(
                name=measure.name,
                unit=MetricUnit(measure.unit),
                value=measure.value,
                namespace=NAMESPACE,
                default_dimensions={"service": service},
            ) as metric:
                for name, value in measure.dimensions.items():
                    metric.add_dimension(name=name, value=value)

    return meter
