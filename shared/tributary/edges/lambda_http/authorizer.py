"""The Lambda authorizer: says who is calling, and leaves every refusal to the function.

A request with an unknown token is let through without a principal, because an HTTP API answers for an authorizer that
says no with a bare 403, and callers need 401 with our problem+json. The function answers 401 when there is no principal.
When the token could not be looked up, the context says so and the function looks it up itself: API Gateway keeps an
authorizer's answer for as long as it is set to (at most 60 s here), and an outage of a second must not be kept for a minute.

On AWS a revoked token therefore works for up to 60 s more; the local gateway asks at every request.
"""

from __future__ import annotations

import logging
from typing import Any

from tributary.core.errors import BadSetting, TributaryError, Unauthenticated, UnknownCell
from tributary.edges.lambda_http.port import Event, OpenMemory
from tributary.edges.lambda_http.principal import UNDECIDED, bearer_token, to_context
from tributary.telemetry import Event as LogEvent
from tributary.telemetry import log


def authorize(event: Event, memory: OpenMemory) -> dict[str, Any]:
    """Returns the simple response (format 2.0) for an authorizer REQUEST event. Raises nothing."""
    token = bearer_token(event)
    if token is None:
        return _allow({})
    try:
        return _allow(to_context(memory().authenticate(token)))
    except UnknownCell as error:  # the function tells the caller so, and needs no database for it
        return _allow({UNDECIDED: error.code})
    except Unauthenticated:
        return _allow({})
    except TributaryError as error:
        setting = error.variable if isinstance(error, BadSetting) else None
        log.event(LogEvent.REQUEST_FAILED, level=logging.WARNING, route="authorizer", code=error.code, setting=setting)
        return _allow({UNDECIDED: error.code})
    except Exception as error:
        log.event(LogEvent.REQUEST_FAILED, level=logging.ERROR, error=error, route="authorizer", code="internal")
        return _allow({UNDECIDED: "internal"})


def _allow(context: dict[str, str]) -> dict[str, Any]:
    return {"isAuthorized": True, "context": context}
