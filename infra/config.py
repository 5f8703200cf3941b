"""The options of a deployment, typed: defaults by profile, changed by `-c name=value` or by `context` in cdk.json."""

from __future__ import annotations

import difflib
import ipaddress
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from infra.models import Needs, needs_of
from infra.table import FUNCTIONS, FunctionSpec

ROOT = Path(__file__).parents[1]
LAYER = ROOT / "build" / "layer"
LOCAL_LAYER = ROOT / "build" / "layer-local"
_KEEPERS_ARN = r"arn:aws(-[a-z]+)*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[A-Za-z0-9/_+=.@-]+"
DASHBOARD_LAYER = ROOT / "build" / "layer-dashboard"
MCP_LAYER = ROOT / "build" / "layer-mcp"


class BadOption(Exception):
    """An option of the deployment is missing or makes no sense."""


def _from_json(value: object) -> object:
    """Options given on the command line are text; lists and mappings are JSON in it, or in a file that is named after an `@`."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    try:
        if text.startswith("@"):
            text = Path(text[1:]).read_text(encoding="utf-8")
        return json.loads(text)
    except (OSError, ValueError, RecursionError):
        raise ValueError(
            "must be JSON, which shells and make take the quotes from: write it into a file and give @file.json, or into cdk.json"
        ) from None


def _whole(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _shaped(pattern: str, example: str) -> AfterValidator:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(f"must look like {example} (it is '{value}')")
        return value

    return AfterValidator(check)


def _network(value: str) -> str:
    try:
        network = ipaddress.IPv4Network(value)
    except ValueError:
        raise ValueError(f"must be a network such as 10.20.0.0/16 (it is '{value}')") from None
    if not (network.is_private and 16 <= network.prefixlen <= 18):
        raise ValueError(f"must be a private network of the size /16 to /18 (it is '{value}')")
    return value


Json = BeforeValidator(_from_json)
Capacity = Annotated[float, Field(ge=0, le=256, multiple_of=0.5)]
Instant = _shaped(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-11-30T09:00:00Z")
ClusterName = _shaped(r"[a-z](-?[a-z0-9])+", "tributary-prod")


class Config(BaseModel):
    """Every option, checked. What an option costs is in docs/deploy.md."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: Literal["prod", "dev"]
    name: Annotated[str, Field(max_length=20), _shaped(r"[a-z]([a-z0-9]|-(?=[a-z]))+", "tributary or team-memory")] = "tributary"
    """Begins the names of stacks and functions: `tributary-prod-recall`."""
    account: Annotated[str, _shaped(r"\d{12}", "123456789012")] | None = None
    region: Annotated[str, _shaped(r"[a-z]{2}(-[a-z]+)+-\d", "eu-central-1")] | None = None

    cidr: Annotated[str, AfterValidator(_network)] = "10.20.0.0/16"
    egress: Literal["none", "nat"] = "none"

    proxy: bool
    readers: Annotated[int, Field(ge=0, le=15)]
    min_acu: Capacity
    max_acu: Annotated[Capacity, Field(ge=1)]
    backup_days: Annotated[int, Field(ge=1, le=35)]
    deletion_protection: bool
    restore_from: Annotated[str, ClusterName] | None = None
    restore_to: Annotated[str, Instant] | None = None
    restore_snapshot: (
        Annotated[str, _shaped(r"arn:[^:]+:rds:.+:cluster-snapshot:.+", "arn:aws:rds:...:cluster-snapshot:...")] | None
    ) = None
    """The database begins as a copy of another cluster, now or at an instant, or of a snapshot; to be kept from then on."""

    dashboard: Literal["apprunner", "lambda", "none"] = "lambda"
    dashboard_public: Literal["read"] | None = None
    """Whoever comes sees what a reader may, whose token is in the secret."""
    authorization: Literal["tokens", "iam"] = "tokens"
    cors_origins: Annotated[tuple[str, ...], Json] = ()
    domain_name: str | None = None
    certificate_arn: Annotated[str, _shaped(r"arn:[^:]+:acm:.+", "arn:aws:acm:...")] | None = None
    hosted_zone_id: str | None = None
    hosted_zone_name: str | None = None
    requests_per_second: Annotated[int, Field(ge=1, le=10_000)]

    garden_minutes: Annotated[int, Field(ge=1, le=1440)]
    index_minutes: Annotated[int, Field(ge=15, le=1440)]
    log_days: Annotated[Literal[1, 7, 14, 30, 90, 180, 365, 731], BeforeValidator(_whole)]
    alarm_email: Annotated[str, _shaped(r"[^@\s]+@[^@\s]+\.[^@\s]+", "oncall@example.org")] | None = None
    snap_start: bool = False
    reserved_concurrency: Annotated[Mapping[str, Annotated[int, Field(ge=1)]], Json] = Field(default_factory=dict)

    settings: Annotated[Mapping[str, str], Json] = Field(default_factory=dict)
    """Settings of the library for every function, by variable (docs/settings.md); no keys: those go into the secret."""
    secret_arn: (
        Annotated[str, _shaped(_KEEPERS_ARN, "arn:aws:secretsmanager:<region>:<account>:secret:<name>-<6 characters>")] | None
    ) = None
    """A secret whose JSON holds settings that nobody may read, such as API keys."""
    restart: Annotated[str, Field(max_length=100)] = ""
    """Any word. Another one than before has every function, and the container, started anew, as after a change of the secret."""
    layer: Path = LAYER
    local_layer: Path = LOCAL_LAYER
    dashboard_layer: Path = DASHBOARD_LAYER
    mcp_layer: Path = MCP_LAYER

    @field_validator("cors_origins")
    @classmethod
    def _exact(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if not re.fullmatch(r"https?://[^/*\s]+", origin):
                raise ValueError(f"'{origin}' is no exact origin such as https://app.example.org (no path, no *)")
        return origins

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.min_acu > self.max_acu:
            raise ValueError(f"min_acu ({self.min_acu}) is above max_acu ({self.max_acu})")
        if self.proxy and self.min_acu == 0:
            raise ValueError("min_acu=0 has no use with proxy=true: a cluster behind RDS Proxy never pauses")
        if self.readers and not self.proxy:
            raise ValueError(
                "readers need proxy=true: recall reads through the proxy's read-only endpoint (without a proxy, readers=0)"
            )
        if self.restore_to and not self.restore_from:
            raise ValueError("restore_to needs restore_from, the cluster to copy")
        if self.restore_from and self.restore_snapshot:
            raise ValueError("restore_from and restore_snapshot exclude each other")
        if self.restore_from == self.prefix:
            raise ValueError(f"restore_from={self.prefix} is this deployment itself: give the copy another name (-c name=...)")
        if bool(self.domain_name) != bool(self.certificate_arn):
            raise ValueError("domain_name and certificate_arn go together")
        if bool(self.hosted_zone_id) != bool(self.hosted_zone_name):
            raise ValueError("hosted_zone_id and hosted_zone_name go together")
        if self.hosted_zone_id and not self.domain_name:
            raise ValueError("hosted_zone_id needs domain_name")
        unmet = self.needs.unmet(egress=self.egress)
        if unmet:
            raise ValueError(unmet)
        return self

    @model_validator(mode="after")
    def _public_by_a_token(self) -> Self:
        if self.dashboard_public and self.dashboard == "none":
            raise ValueError("dashboard_public has no use with dashboard=none")
        if self.dashboard_public and not self.secret_arn:
            raise ValueError("dashboard_public needs secret_arn, a secret with a reader's token as TRIBUTARY_DASHBOARD_TOKEN")
        return self

    @property
    def needs(self) -> Needs:
        """What the configured models need of the network and the layers."""
        return needs_of(self.models)

    @property
    def models(self) -> Mapping[str, str]:
        """The settings of every function, with the default of AWS: Bedrock embeds."""
        return {"TRIBUTARY_EMBEDDER": "bedrock", **self.settings}

    @property
    def functions(self) -> tuple[FunctionSpec, ...]:
        """The functions of the table that this deployment has."""
        dashboard, responder = self.dashboard == "lambda", "TRIBUTARY_RESPONDER" in self.settings
        return tuple(
            spec for spec in FUNCTIONS if (dashboard or not spec.when_dashboard) and (responder or not spec.when_responder)
        )

    @property
    def prefix(self) -> str:
        return f"{self.name}-{self.profile}"

    @property
    def stack_prefix(self) -> str:
        return "".join(part.capitalize() for part in self.prefix.split("-"))


PROFILES: Mapping[str, Mapping[str, Any]] = {
    "prod": {
        "proxy": True,
        "readers": 1,
        "min_acu": 0.5,
        "max_acu": 16,
        "backup_days": 14,
        "deletion_protection": True,
        "requests_per_second": 500,
        "garden_minutes": 15,
        "index_minutes": 60,
        "log_days": 90,
    },
    "dev": {
        "proxy": False,
        "readers": 0,
        "min_acu": 0,
        "max_acu": 2,
        "backup_days": 1,
        "deletion_protection": False,
        "requests_per_second": 50,
        "garden_minutes": 1440,
        "index_minutes": 1440,
        "log_days": 14,
    },
}


def config_from(context: Mapping[str, Any]) -> Config:
    """Returns the options in a CDK app's context; raises BadOption naming the option and the rule."""
    given = {name: value for name, value in context.items() if not _is_cdks_own(name)}
    profile = str(given.get("profile", ""))
    if profile not in PROFILES:
        raise BadOption(f"-c profile=prod or -c profile=dev is needed (it is '{profile}')")
    for name in given:
        if name not in Config.model_fields:
            near = difflib.get_close_matches(name, Config.model_fields, n=1)
            raise BadOption(f"-c {name}: is no option" + (f"; did you mean {near[0]}?" if near else ""))
    try:
        return Config.model_validate({**PROFILES[profile], **given})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        rule = first["msg"].removeprefix("Value error, ")
        raise BadOption(f"-c {place}: {rule}" if place else rule) from None


def _is_cdks_own(name: str) -> bool:
    return ":" in name or name.startswith(("@", "aws-cdk"))
