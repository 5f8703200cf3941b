"""The entry points of the dashboard: the container's app, and the Lambda function's handler. Nothing is opened early."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from typing import Any, Protocol

from tributary.edges.dashboard.port import Asgi, OpenProber, ProberFace
from tributary.telemetry import log


class MakeApp(Protocol):
    def __call__(self, prober: OpenProber, *, close: Callable[[], None]) -> Asgi: ...


def container_app() -> Asgi:
    """Returns the app over what the environment's settings name; for uvicorn's `--factory`."""
    from tributary.edges.dashboard.app import make_app

    return _over_settings(make_app)


def lambda_handler() -> Callable[[dict[str, Any], Any], dict[str, Any]]:
    """Returns the handler that answers API Gateway's events (HTTP API, payload format 2.0) with the same app."""
    # Imported when the function's module is: Lambda gives the init phase a whole CPU, whatever the function is sized for.
    from mangum import Mangum

    from tributary.edges.dashboard.app import make_app

    @cache
    def adapter() -> Mangum:
        return Mangum(_over_settings(make_app), lifespan="off")

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        reply: dict[str, Any] = adapter()(event, context)
        return reply

    return handler


def _over_settings(make_app: MakeApp) -> Asgi:
    log.configure_by(os.environ)
    opened = ExitStack()

    def prober() -> ProberFace:
        from tributary.service import load_settings, open_prober

        return opened.enter_context(open_prober(load_settings()))

    return make_app(prober, close=opened.close)
