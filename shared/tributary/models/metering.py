"""Each attempt to call a model is charged to the account at hand, with what it took and how it ended."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from tributary.core.clock import utc_now
from tributary.core.errors import ModelFailed, ModelMalformed, ModelRefused, ModelThrottled, ModelTimedOut
from tributary.core.spending import CallEnd, ModelCall, Purpose, account
from tributary.models.prices import Prices
from tributary.telemetry import Event, Metric, Span, log, metrics, traces

_ENDS = {
    ModelRefused: CallEnd.REFUSED,
    ModelMalformed: CallEnd.MALFORMED,
    ModelTimedOut: CallEnd.TIMED_OUT,
    ModelThrottled: CallEnd.THROTTLED,
}

_PROVIDERS = {"bedrock": "aws.bedrock", "claude": "anthropic"}
"""What OpenTelemetry calls a provider, where that is another name than ours."""


@dataclass(kw_only=True)
class Meter:
    """What an attempt used, as far as the provider said; its own figure of the cost goes before the table of prices."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Decimal | None = None


@contextmanager
def metering(purpose: Purpose, model: str, prices: Prices) -> Iterator[Meter]:
    """Times the block, which notes on the meter what the provider says, and charges it whether it answers or raises."""
    provider, _, named = model.partition(":")
    with (
        traces.span(
            Span.MODEL_CALL, purpose=purpose.value, provider=_PROVIDERS.get(provider, provider), model=named or model
        ) as span,
        _charging(purpose, model, prices, span) as meter,
    ):
        yield meter


@contextmanager
def _charging(purpose: Purpose, model: str, prices: Prices, span: traces.Recording) -> Iterator[Meter]:
    meter = Meter()
    at = utc_now()
    began = time.monotonic()
    end = CallEnd.FAILED
    try:
        yield meter
        end = CallEnd.ANSWERED
    except Exception as error:
        end = next((one for kind, one in _ENDS.items() if isinstance(error, kind)), CallEnd.FAILED)
        # what adapters say of a failure quotes neither what was asked nor what came back
        why = error.detail if isinstance(error, ModelFailed) else type(error).__name__
        log.event(Event.MODEL_FAILED, level=log.WARNING, model=model, purpose=purpose.value, ended=end.value, why=why)
        raise
    finally:
        cost = meter.cost_usd
        if cost is None:
            cost = prices.of(model, input_tokens=meter.input_tokens, output_tokens=meter.output_tokens)
        span.note(
            end=end.value,
            input_tokens=meter.input_tokens,
            output_tokens=meter.output_tokens,
            cost_usd=None if cost is None else float(cost),
        )
        metrics.record(Metric.MODEL_CALLS, of=purpose.value)
        if cost is not None:
            metrics.record(Metric.MODEL_COST, float(cost), of=purpose.value)
        if end is not CallEnd.ANSWERED:
            metrics.record(Metric.MODEL_FAILURES, of=purpose.value)
        account().charge(
            ModelCall(
                purpose=purpose,
                model=model,
                at=at,
                ms=(time.monotonic() - began) * 1000,
                end=end,
                input_tokens=meter.input_tokens,
                output_tokens=meter.output_tokens,
                cost_usd=cost,
            )
        )
