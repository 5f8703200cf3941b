"""What the incident agent may do in Amazon RDS: to look at everything, and to change what its settings allow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_ALLOWED = re.compile(r"([a-z_]+):([A-Za-z0-9*?-]{1,63})")
_CHANGES = {
    "reboot_db_instance": ("rds:RebootDBInstance", "db"),
    "failover_db_cluster": ("rds:FailoverDBCluster", "cluster"),
    "modify_db_instance": ("rds:ModifyDBInstance", "db"),
}
"""By verb: the action of IAM, and what kind of resource it is about."""
CHANGES = tuple(action for action, _ in _CHANGES.values())
LOOKS = (
    "rds:DescribeDBClusters",
    "rds:DescribeDBInstances",
    "rds:DescribeDBLogFiles",
    "rds:DescribeEvents",
    "rds:DescribePendingMaintenanceActions",
)


@dataclass(frozen=True, kw_only=True)
class Right:
    action: str
    resource: str


def uses_rds(settings: Mapping[str, str]) -> bool:
    return settings.get("TRIBUTARY_RESPONDER_RDS") == "on"


def wrong_rights(settings: Mapping[str, str]) -> Iterator[str]:
    """Yields what is wrong with the changes that the settings allow."""
    if settings.get("TRIBUTARY_RESPONDER_ALLOW") and not uses_rds(settings):
        yield "settings: TRIBUTARY_RESPONDER_ALLOW needs TRIBUTARY_RESPONDER_RDS=on"
    if uses_rds(settings) and not settings.get("TRIBUTARY_RESPONDER"):
        yield "settings: TRIBUTARY_RESPONDER_RDS=on needs TRIBUTARY_RESPONDER"
    for one in _listed(settings):
        found = _ALLOWED.fullmatch(one)
        if not found or found[1] not in _CHANGES:
            verbs = ", ".join(_CHANGES)
            yield f"settings: TRIBUTARY_RESPONDER_ALLOW: '{one}' must be one of {verbs}, a colon, and which targets"


def changes(settings: Mapping[str, str], *, partition: str, region: str, account: str) -> tuple[Right, ...]:
    """Returns the rights to change what is allowed, each on the targets of its pattern alone."""
    rights = []
    for one in _listed(settings):
        verb, _, targets = one.partition(":")
        action, kind = _CHANGES[verb]
        rights.append(Right(action=action, resource=f"arn:{partition}:rds:{region}:{account}:{kind}:{targets.lower()}"))
    return tuple(rights)


def _listed(settings: Mapping[str, str]) -> list[str]:
    return [one.strip() for one in settings.get("TRIBUTARY_RESPONDER_ALLOW", "").split(",") if one.strip()]
