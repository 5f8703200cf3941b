"""The entry points of the dashboard: the container's app, and the Lambda function's handler. Nothing is opened early."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from typing import Any

from tributary.edges.dashboard.port import Asgi, ProberFace
from tributary.telemetry import log


def container_app() -> Asgi:
    """Returns the app over what the environment's settings name; for uvicorn's `--factory`."""
    from tributary.edges.dashboard.app import make_app

    log.configure_by(os.environ)
    opened = ExitStack()

    def prober() -> ProberFace:
        from tributary.service import load_settings, open_prober

        return opened.enter_context(open_prober(load_settings()))

    return make_app(prober, close=opened.close)


def lambda_handler() -> Callable[[dict[str, Any], Any], dict[str, Any]]:
    """Returns the handler that answers API Gateway's events (HTTP API, payload format 2.0) with the same app."""
    from mangum import Mangum

    @cache
    def adapter() -> Mangum:
        return Mangum(container_app(), lifespan="off")

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        reply: dict[str, Any] = adapter()(event, context)
        return reply

    return handler
