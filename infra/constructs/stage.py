"""The one stage of an HTTP API: throttled, and logged without what callers send."""

from __future__ import annotations

import json

from aws_cdk import aws_apigatewayv2 as api
from constructs import Construct

from infra.config import Config
from infra.log_groups import log_group
from infra.resources import resource_of

_LOGGED = {
    "at": "$context.requestTime",
    "request": "$context.requestId",
    "route": "$context.routeKey",
    "status": "$context.status",
    "agent": "$context.authorizer.name",
    "tribe": "$context.authorizer.tribe_id",
    "ms": "$context.responseLatency",
    "integration_ms": "$context.integrationLatency",
    "error": "$context.error.message",
    "integration_error": "$context.integrationErrorMessage",
    "ip": "$context.identity.sourceIp",
    "bytes": "$context.responseLength",
}


def logged_stage(scope: Construct, config: Config, http: api.HttpApi, *, per_second: int) -> api.HttpStage:
    """Makes the `$default` stage of `http`, which lets so many requests through, and twice as many at once."""
    stage = api.HttpStage(
        scope,
        "Stage",
        http_api=http,
        stage_name="$default",
        auto_deploy=True,
        detailed_metrics_enabled=True,
        throttle=api.ThrottleSettings(rate_limit=per_second, burst_limit=2 * per_second),
    )
    resource_of(stage, api.CfnStage).access_log_settings = api.CfnStage.AccessLogSettingsProperty(
        destination_arn=log_group(scope, "Access", config).log_group_arn, format=json.dumps(_LOGGED)
    )
    return stage
