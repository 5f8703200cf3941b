"""Log groups: kept for as long as the option says, and gone with their stack."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.config import Config

_RETENTION = {
    1: logs.RetentionDays.ONE_DAY,
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    180: logs.RetentionDays.SIX_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
    731: logs.RetentionDays.TWO_YEARS,
}


def log_group(scope: Construct, id_: str, config: Config, *, name: str | None = None) -> logs.LogGroup:
    """Makes a log group; `name` where a service demands one."""
    return logs.LogGroup(
        scope, id_, log_group_name=name, retention=_RETENTION[config.log_days], removal_policy=RemovalPolicy.DESTROY
    )
