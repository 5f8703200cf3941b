"""The app of one Lambda function: an API Gateway event in, a response for API Gateway out.

    identify -> allow -> operation (read, ask the service, translate) -> reply

Powertools' resolver keeps the event that it works on in an attribute of its base class, shared by every resolver of the
process: two threads would answer one another's requests. Lambda runs one request at a time, but the local gateway does
not, so here each thread has a resolver of its own, which reads its own event.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from tributary.contract.problems import PROBLEMS
from tributary.contract.routes import ROUTES, Route
from tributary.core.agent import Principal
from tributary.core.clock import Now, utc_now
from tributary.core.errors import BadSetting, Forbidden, UnknownCell
from tributary.edges.lambda_http.iam_callers import IamCallers
from tributary.edges.lambda_http.identify import allow, identify
from tributary.edges.lambda_http.port import Context, Event, OpenMemory
from tributary.edges.lambda_http.principal import bearer_token
from tributary.edges.lambda_http.problems import Refused, code_of, problem_reply
from tributary.edges.lambda_http.reply import HttpReply, headers_of
from tributary.edges.lambda_http.routing import find, methods_of, powertools_rule
from tributary.telemetry import Event as LogEvent
from tributary.telemetry import Metric, Span, log, metrics, traces

if TYPE_CHECKING:
    from tributary.edges.lambda_http.operations.ask import Operation

MARGIN_S = 1.0
"""Kept back of the time that is left, for writing the reply."""
_SHORTEST_S = 0.05

Result = TypeVar("Result")


class App:
    """Serves the routes of one function. May be called from several threads."""

    def __init__(
        self,
        function: str,
        memory: OpenMemory,
        *,
        now: Now = utc_now,
        stopping: threading.Event | None = None,
        seconds: Callable[[], float] = time.monotonic,
        operations: Mapping[str, Operation] | None = None,
    ) -> None:
        """`stopping` is set when the server is to end, and ends what callers wait for; `seconds` is how time goes on.

        `operations` are what the function does where another edge says that; the API's own are loaded when first needed.
        """
        self._operations = operations
        self._function = function
        self._memory = memory
        self._now = now
        self._stopping = stopping or threading.Event()
        self._threads = threading.local()
        self._iam_callers = IamCallers(memory, seconds=seconds)

    def __call__(self, event: Event, context: Context) -> dict[str, Any]:
        """Returns the response to an event, a problem if need be; raises only when the event is none of API Gateway's."""
        resolver: _Resolver | None = getattr(self._threads, "resolver", None)
        if resolver is None:
            resolver = self._threads.resolver = self._new_resolver()
        return resolver.answer(event, context)

    def _new_resolver(self) -> _Resolver:
        resolver = _Resolver()
        for route in ROUTES:
            if route.function == self._function:
                resolver.route(powertools_rule(route.path), method=route.method)(self._handler(resolver, route))
        resolver.not_found(lambda _: self._respond(resolver, None, {}))
        return resolver

    def _handler(self, resolver: _Resolver, route: Route) -> Callable[..., Response[str | bytes]]:
        def handle(**path: str) -> Response[str | bytes]:
            # API Gateway, and Powertools with it, would take `GET /v1/lessons/batch` for a lesson's id.
            return self._respond(resolver, route if find(resolver.method, resolver.path) else None, path)

        return handle

    def _respond(self, resolver: _Resolver, route: Route | None, path: Mapping[str, str]) -> Response[str | bytes]:
        began = time.perf_counter()
        name = route.operation if route else "none"
        # Asked before the operation begins, so that each of its log lines can name the agent; its failure is told inside.
        identity = _attempt(lambda: identify(resolver.event, route, self._memory, self._iam_callers) if route else None)
        who = identity if isinstance(identity, Principal) else None
        about = {"agent": who.name, "tribe": str(who.tribe_id)} if who else {}
        cell = who.cell if who else None
        with (
            traces.continued(resolver.event.get("headers") or {}),
            log.operation(**about, cell=cell) as operation_id,
            traces.span(Span.REQUEST, method=resolver.method, route=route.path if route else None, **about) as span,
        ):
            code = None
            try:
                reply = self._reply(resolver, route, path, identity)
            except Exception as error:
                code = code_of(error)
                if isinstance(error, UnknownCell):
                    cell = error.cell
                reply = problem_reply(error, operation=operation_id)
                self._record(error, name, who)
                if reply.status >= 500:
                    span.failed(code)
            span.note(status=reply.status)
            took_ms = round((time.perf_counter() - began) * 1000, 1)
            outcome = LogEvent.REQUEST_REFUSED if code else LogEvent.REQUEST_SERVED
            log.event(outcome, route=name, status=reply.status, code=code, ms=took_ms, cell=cell)
            metrics.record(Metric.LATENCY, took_ms, of=name)
            if code:
                metrics.record(Metric.PROBLEMS, of=code)
            return _response(reply, operation_id, resolver.path)

    def _reply(
        self, resolver: _Resolver, route: Route | None, path: Mapping[str, str], identity: Principal | Exception | None
    ) -> HttpReply:
        # Here, because it brings all of the core's types along, which no cold start should wait for.
        from tributary.edges.lambda_http.operations import OPERATIONS, Ask

        if route is None:
            raise no_such_route(resolver.method, resolver.path)
        if isinstance(identity, Exception):
            raise identity
        allow(identity, route, token_came=bearer_token(resolver.event) is not None)
        ask = Ask(
            event=resolver.event,
            route=route,
            path=path,
            identity=identity,
            open_memory=self._memory,
            remaining_s=resolver.remaining_s,
            now=self._now,
            stopping=self._stopping,
        )
        return (OPERATIONS if self._operations is None else self._operations)[route.operation](ask)

    def _record(self, error: Exception, operation: str, principal: Principal | None) -> None:
        """Logs what the caller is not told and audits a refusal; raises nothing, the reply is settled."""
        code = code_of(error)
        if PROBLEMS[code].status >= 500:
            level = logging.ERROR if code == "internal" else logging.WARNING
            setting = error.variable if isinstance(error, BadSetting) else None
            log.event(LogEvent.REQUEST_FAILED, level=level, error=error, route=operation, code=code, setting=setting)
        if isinstance(error, Forbidden) and principal is not None:
            detail = error.detail
            failure = _attempt(
                lambda: self._memory().of(principal).audit_refusal(principal, action=operation, code=code, detail=detail)
            )
            if failure is not None:
                log.event(LogEvent.AUDIT_FAILED, level=logging.ERROR, error=failure, route=operation)


class _Resolver(APIGatewayHttpResolver):
    """A resolver for one thread, which keeps the event of the request that it is at."""

    def __init__(self) -> None:
        # debug is off whatever the environment says: it prints events, tokens included.
        super().__init__(debug=False)
        self._event = APIGatewayProxyEventV2({})
        self.remaining_s = 0.0

    def answer(self, event: Event, context: Context) -> dict[str, Any]:
        self._event = APIGatewayProxyEventV2(event)
        self.remaining_s = max(_SHORTEST_S, context.get_remaining_time_in_millis() / 1000 - MARGIN_S)
        return self.resolve(event, context)  # type: ignore[arg-type]  # Powertools wants Lambda's class, of which it uses nothing

    @property
    def current_event(self) -> APIGatewayProxyEventV2:  # type: ignore[override]  # a shared attribute of the base class
        return self._event

    @property
    def event(self) -> Event:
        return self._event.raw_event

    @property
    def method(self) -> str:
        return self._event.http_method.upper()

    @property
    def path(self) -> str:
        return self._event.path


def no_such_route(method: str, path: str) -> Refused:
    """Returns 404, or 405 with Allow when the path has other methods."""
    allowed = methods_of(path)
    if not allowed or find(method, path):
        return Refused("not_found", "there is no such route; /docs lists them all")
    listed = ", ".join(allowed)
    return Refused("method_not_allowed", f"this route has {listed}", headers={"Allow": listed})


def _attempt(call: Callable[[], Result]) -> Result | Exception:
    try:
        return call()
    except Exception as error:
        return error


def _response(reply: HttpReply, operation_id: str, path: str) -> Response[str | bytes]:
    headers: dict[str, str | list[str]] = {**headers_of(reply, operation_id=operation_id, path=path)}
    return Response(status_code=reply.status, body=reply.body, headers=headers)
