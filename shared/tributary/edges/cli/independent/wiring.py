"""Which road `--via` means, by the variables that say where it begins."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tributary.contract.home import home
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.independent.data_api import DataApi
from tributary.edges.cli.independent.guarding import Guarded, audit_to
from tributary.edges.cli.independent.mcp_server import McpServer
from tributary.edges.cli.independent.roads import Road
from tributary.edges.cli.options import ViaRoad

CLUSTER, SECRET, DATABASE = "TRIBUTARY_VERIFY_CLUSTER_ARN", "TRIBUTARY_VERIFY_SECRET_ARN", "TRIBUTARY_VERIFY_DATABASE"
COMMAND = "TRIBUTARY_VERIFY_MCP"
DEFAULT_DATABASE = "tributary"

_CLUSTER_ARN = re.compile(r"arn:aws[a-z-]*:rds:[a-z0-9-]+:[0-9]{12}:cluster:[A-Za-z0-9-]+")
_SECRET_ARN = re.compile(r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[!-~]+")


def open_road(via: ViaRoad, *, tool: str | None, environment: Mapping[str, str]) -> Guarded:
    """Returns the road behind its guard; raises CommandFailed, naming the variable, for what is missing or malformed.

    Nothing is reached yet.
    """
    road: Road = _data_api(environment) if via is ViaRoad.DATA_API else _mcp(environment, tool or "query")
    return Guarded(road, audit_to(home(environment)))


def _data_api(environment: Mapping[str, str]) -> DataApi:
    return DataApi(
        cluster_arn=_matching(environment, CLUSTER, _CLUSTER_ARN, "arn:aws:rds:eu-central-1:123456789012:cluster:tributary"),
        secret_arn=_matching(
            environment, SECRET, _SECRET_ARN, "arn:aws:secretsmanager:eu-central-1:123456789012:secret:verifier"
        ),
        database=environment.get(DATABASE) or DEFAULT_DATABASE,
        region=environment.get("AWS_REGION") or None,
    )


def _matching(environment: Mapping[str, str], variable: str, form: re.Pattern[str], example: str) -> str:
    found = environment.get(variable) or ""
    if not form.fullmatch(found):
        raise CommandFailed("not_configured", f"{variable} must be an ARN such as {example}")
    return found


def _mcp(environment: Mapping[str, str], tool: str) -> McpServer:
    example = '["npx", "-y", "@modelcontextprotocol/server-postgres@0.6.2", "postgresql://..."]'
    rule = f"{COMMAND} must be the command that starts the server, as a JSON array such as {example}"
    try:
        command = json.loads(environment.get(COMMAND) or "")
    except (ValueError, RecursionError):
        raise CommandFailed("not_configured", rule) from None
    if not isinstance(command, list) or not command or not all(isinstance(one, str) and one for one in command):
        raise CommandFailed("not_configured", rule)
    return McpServer(command, tool=tool)
