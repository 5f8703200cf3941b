"""Spans, where somebody collects them; where nobody does, they cost a function call and import nothing.

The library only emits, through OpenTelemetry's API, to the tracer provider of the process: the host's where it set one up, else
ours, which entry points make with `configure`. Whatever goes wrong in OpenTelemetry, a call of ours neither fails nor waits
for it. Attributes are of the catalogue (`spans`); messages of exceptions, which may quote anything, never get into a span.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self
from uuid import UUID

from tributary import __version__
from tributary.core.errors import BadSetting, TributaryError
from tributary.telemetry import log
from tributary.telemetry.spans import Attribute, Span

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span as OpenSpan
    from opentelemetry.trace import Tracer, TracerProvider

    from tributary.telemetry.exporting import Exporting

Exporter = Literal["off", "otlp", "console"]
Value = str | int | float | bool | UUID | None
"""What an attribute may be; one that is None is left out."""
FLUSH_S = 1.0

_NAMES = {one.name.lower(): one.value for one in Attribute}
_KINDS = {Span.REQUEST: "SERVER", Span.MODEL_CALL: "CLIENT"}


class Recording:
    """A span as the code in it sees it. This one records nothing, and serves wherever nobody collects."""

    __slots__ = ()

    def note(self, **attributes: Value) -> None:
        """Adds attributes, named as the members of `Attribute` are, in lower case."""

    def failed(self, code: str) -> None:
        """Marks it as failed with a code, or the type of an exception."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


_NOTHING = Recording()
_current: ContextVar[Recording] = ContextVar("tributary_span", default=_NOTHING)
_known: tuple[TracerProvider, Tracer] | None = None
_ours: Exporting | None = None


def span(name: Span, **attributes: Value) -> Recording:
    """Opens a span for a block, inside the one at hand. An exception that leaves the block marks it failed with its code."""
    tracer = _tracer()
    return _NOTHING if tracer is None else _Live(tracer, name, attributes)


def note(**attributes: Value) -> None:
    """Adds attributes to the span of ours that this code runs in, if there is one."""
    _current.get().note(**attributes)


def continued(headers: Mapping[str, str]) -> AbstractContextManager[None]:
    """Lets the block's spans join the trace that a caller names in W3C `traceparent`; names of `headers` are in lower case.

    Only that and `tracestate` are taken up: the rest of what a caller may send along is not to travel on from here.
    """
    if "traceparent" not in headers or _tracer() is None:
        return nullcontext()
    return _continued(headers)


def configure(exporter: Exporter, *, url: str | None = None) -> None:
    """Sets up where spans go, for the whole process; for entry points. The first call counts, and the host's own set-up more.

    `url` is the OTLP/HTTP endpoint; OpenTelemetry's own variables (OTEL_...) say the rest. Raises BadSetting when its packages
    are missing or these variables are wrong.
    """
    global _ours  # noqa: PLW0603  (as OpenTelemetry's provider, it is one a process)
    if exporter == "off" or _ours is not None:
        return
    try:
        from tributary.telemetry import exporting

        _ours = exporting.start(exporter, url)
    except ImportError as error:
        raise BadSetting(
            f"TRIBUTARY_TRACES: '{exporter}' needs the extra 'traces'; install it with: pip install 'tributary-memory[traces]'"
        ) from error


def flush(timeout_s: float = FLUSH_S) -> None:
    """Hands over what was recorded, within a time: where the process is frozen, or ends, right after."""
    if _ours is not None:
        _ours.flush(timeout_s)


class _Live(Recording):
    __slots__ = ("_attached", "_attributes", "_before", "_name", "_span", "_tracer")

    def __init__(self, tracer: Tracer, name: Span, attributes: Mapping[str, Value]) -> None:
        self._tracer = tracer
        self._name = name
        self._attributes = attributes
        self._span: OpenSpan | None = None
        self._attached: Token[Context] | None = None
        self._before: Token[Recording] | None = None

    def note(self, **attributes: Value) -> None:
        with suppress(Exception):
            if self._span is not None:
                self._span.set_attributes(_named(attributes))

    def failed(self, code: str) -> None:
        with suppress(Exception):
            if self._span is not None:
                from opentelemetry.trace import StatusCode

                self._span.set_status(StatusCode.ERROR)
                self._span.set_attribute(Attribute.ERROR.value, code)

    def __enter__(self) -> Self:
        with suppress(Exception):
            from opentelemetry import context, trace

            self._span = self._tracer.start_span(
                self._name.value,
                kind=trace.SpanKind[_KINDS.get(self._name, "INTERNAL")],
                attributes=_named({"operation": log.operation_id(), **self._attributes}),
            )
            self._attached = context.attach(trace.set_span_in_context(self._span))
            self._before = _current.set(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            self.failed(error.code if isinstance(error, TributaryError) else type(error).__qualname__)
        with suppress(Exception):
            from opentelemetry import context

            if self._before is not None:
                _current.reset(self._before)
            if self._attached is not None:
                context.detach(self._attached)
        with suppress(Exception):
            if self._span is not None:
                self._span.end()


def _tracer() -> Tracer | None:
    """Returns what makes spans, None where nobody set up a provider."""
    global _known  # noqa: PLW0603  (asking for it anew takes a lock)
    if "opentelemetry.trace" not in sys.modules:  # then neither we nor the host set anything up
        return None
    try:
        from opentelemetry import trace

        provider = trace.get_tracer_provider()
        if isinstance(provider, trace.ProxyTracerProvider):
            return None
        known = _known
        if known is None or known[0] is not provider:
            known = _known = (provider, provider.get_tracer("tributary", __version__))
        return known[1]
    except Exception:
        return None


@contextmanager
def _continued(headers: Mapping[str, str]) -> Iterator[None]:
    attached: Token[Context] | None = None
    with suppress(Exception):
        from opentelemetry import context, trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        callers = trace.get_current_span(TraceContextTextMapPropagator().extract(headers))
        if callers.get_span_context().is_valid:
            attached = context.attach(trace.set_span_in_context(callers))
    try:
        yield
    finally:
        if attached is not None:
            with suppress(Exception):
                context.detach(attached)


def _named(attributes: Mapping[str, Value]) -> dict[str, str | int | float | bool]:
    return {
        _NAMES[name]: str(value) if isinstance(value, str | UUID) else value
        for name, value in attributes.items()
        if value is not None
    }
