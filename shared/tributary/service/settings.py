"""Typed settings, read from the environment when an entry point asks, never at import."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError
from pydantic_settings import NoDecode, SettingsConfigDict

from tributary.access import cell_of
from tributary.core.errors import BadSetting, NotFound, Unauthenticated
from tributary.service.cell_settings import CellDatabase, CellDatabases, CellName, check_apart, is_postgres, places_of
from tributary.service.model_settings import Folder, ModelSettings, Whole, split
from tributary.service.secret_settings import ARN_RULE, is_arn, read_secret

PREFIX = "TRIBUTARY_"
_SECRET = ("URL", "API_KEY", "SECRET", "CELLS", "DASHBOARD_TOKEN")
"""Words in the names of variables whose values may hold a secret."""
_OF_CLIENTS = frozenset(
    {
        *("TRIBUTARY_URL", "TRIBUTARY_TOKEN", "TRIBUTARY_AUTH", "TRIBUTARY_OPERATOR_FUNCTION"),
        *("TRIBUTARY_VERIFY_CLUSTER_ARN", "TRIBUTARY_VERIFY_SECRET_ARN", "TRIBUTARY_VERIFY_DATABASE", "TRIBUTARY_VERIFY_MCP"),
    }
)


def _postgres(value: str) -> str:
    if not is_postgres(value):
        raise PydanticCustomError("postgres_url", "must begin with postgresql://")
    return value


def _origin(value: str) -> str:
    if not re.fullmatch(r"https?://[^/*\s]+", value):
        rule = "must be exact origins such as https://app.example.org, without a path or *, separated by commas"
        raise PydanticCustomError("origin", rule)
    return value


def _arn(value: str) -> str:
    if not is_arn(value):
        raise PydanticCustomError("arn", ARN_RULE)
    return value


def _queue(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#@]+/[0-9]{12}/[A-Za-z0-9_-]{1,80}", value):
        example = "https://sqs.eu-central-1.amazonaws.com/123456789012/pending"
        rule = f"must begin with http:// or https:// and be the URL of a standard queue of SQS, such as {example}"
        raise PydanticCustomError("queue_url", rule)
    return value


def _bucket(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", value):
        raise PydanticCustomError("bucket", "must be the name of a bucket: 3 to 63 lower case letters, digits, dots or hyphens")
    return value


def _token(value: SecretStr) -> SecretStr:
    try:
        cell_of(value.get_secret_value())
    except Unauthenticated:
        raise PydanticCustomError("token", "must be the token of an agent: trb_ and what follows it, nothing else") from None
    return value


PostgresUrl = Annotated[str, AfterValidator(_postgres)]
Bucket = Annotated[str, AfterValidator(_bucket)]
QueueUrl = Annotated[str, AfterValidator(_queue)]
Token = Annotated[SecretStr, AfterValidator(_token)]
Origins = Annotated[tuple[Annotated[str, AfterValidator(_origin)], ...], NoDecode, BeforeValidator(split)]


class Settings(ModelSettings):
    """Every setting of the server's side. Each is a variable, see `variable_of`; an empty one counts as absent."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="ignore", populate_by_name=True, hide_input_in_errors=True
    )

    home: Folder | None = Field(default=None, description="Folder for the embedded database and the local token.")
    database_url: PostgresUrl | None = Field(
        default=None,
        validation_alias=AliasChoices("TRIBUTARY_DATABASE_URL", "DATABASE_URL"),
        description="PostgreSQL >= 15 with pgvector >= 0.8, instead of the embedded server.",
    )
    reader_url: PostgresUrl | None = Field(
        default=None,
        description=(
            "A read replica of the database URL, with a login like its own: recall, listings and lessons are read there."
            " While one of the two is away, the other answers what it can."
        ),
    )
    owner_url: PostgresUrl | None = Field(
        default=None,
        description=(
            "Login that migrates and makes tribes. When set, the database URL must log in as the runtime role by itself,"
            " as behind a pooler; when not, it is the owner's, and the code steps down to the runtime role."
        ),
    )
    database_auth: Literal["password", "iam"] = Field(
        default="password",
        description=(
            "Where the passwords of the database's URLs come from: from the URLs, or from IAM, as a token for each connection."
            " With iam the database URL's login is a function's role itself, and its owner is OWNER_URL's alone."
        ),
    )
    database_region: str | None = Field(
        default=None, validation_alias="AWS_REGION", description="Region of the database, which its IAM tokens are signed for."
    )
    cell: CellName | None = Field(default=None, description="Name of the own database, where tribes live in several.")
    cells: CellDatabases = Field(
        default=(),
        repr=False,
        description="Further databases by the name of their cell: `eu=postgresql://...,us=postgresql://...`, or JSON.",
    )
    postgres_major: Literal["16", "18"] = Field(default="18", description="Version of the embedded server.")
    connections: Whole = Field(default=16, ge=1, le=200, description="Most database connections of one process.")
    exact_limit: Whole = Field(
        default=10_000, ge=0, le=10_000_000, description="Lessons up to which a tribe is searched exactly."
    )
    scan_budget_ms: Whole = Field(
        default=2000,
        ge=1,
        le=25_000,
        description="Milliseconds in which a recall may compare many lessons one by one; past it its coverage is partial.",
    )
    writes_per_minute: Whole = Field(
        default=600, ge=1, le=10_000_000, description="Writes a minute that one agent may go on with; as many may come at once."
    )
    writes_per_day: Whole = Field(default=200_000, ge=1, le=10_000_000_000, description="Writes of one tribe on a day (UTC).")
    garden_every_s: Whole = Field(
        default=600, ge=0, le=86_400, description="Seconds between two runs of the gardener beside `serve`; 0 is never."
    )
    changes_wait_s: Whole | None = Field(
        default=None,
        ge=0,
        le=20,
        description="Most seconds that a caller may wait for a change; beside `serve` and in the dashboard's container"
        " 20 unless set, elsewhere 0.",
    )
    idempotency_days: Whole = Field(
        default=7, ge=1, le=365, description="Days for which a write's first reply is kept for its idempotency key."
    )
    pending_queue_url: QueueUrl | None = Field(
        default=None,
        description="SQS queue that is told of tribes with pending lessons, so that a function settles them at once.",
    )
    evidence: Literal["folder", "s3", "off"] | None = Field(
        default=None,
        description="Where evidence files are kept; a folder unless set, where there is TRIBUTARY_HOME, else nowhere.",
    )
    evidence_folder: Folder | None = Field(default=None, description="The folder for them, instead of TRIBUTARY_HOME/evidence.")
    evidence_bucket: Bucket | None = Field(
        default=None, description="The bucket of Amazon S3 for them, in the region AWS_REGION."
    )
    evidence_mb: Whole = Field(
        default=1000, ge=1, le=10_000_000, description="Megabytes that the evidence files of one tribe may come to."
    )
    dashboard_public: Literal["read"] | None = Field(
        default=None,
        description="With `read` the dashboard shows whoever comes what the reader of DASHBOARD_TOKEN may see; no sign-in.",
    )
    dashboard_token: Token | None = Field(
        default=None, description="Token of the reader as whom a dashboard's public sees; looked at with DASHBOARD_PUBLIC only."
    )
    cors_origins: Origins = Field(default=(), description="Exact origins, separated by commas, that browsers may call from.")
    secret_arn: Annotated[str, AfterValidator(_arn)] | None = Field(
        default=None,
        description="A secret in AWS Secrets Manager that holds more settings, as a JSON object; the environment goes before it.",
    )
    log_format: Literal["text", "json"] = Field(default="text", description="Form of log lines.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(default="INFO", description="Least severity that is logged.")
    log_file: Folder | None = Field(default=None, description="File that log lines go to as well.")

    @field_validator("cells")
    @classmethod
    def _apart(cls, cells: tuple[CellDatabase, ...], info: ValidationInfo) -> tuple[CellDatabase, ...]:
        check_apart(
            cells, info.data.get("cell"), places_of(*(info.data.get(f"{one}_url") for one in ("database", "reader", "owner")))
        )
        return cells

    @property
    def public_token(self) -> str | None:
        """The token of the agent as whom the public sees the dashboard; None where nothing is public. May raise BadSetting.

        A token alone opens nothing and is no mistake: the secret that holds it is every function's, and one of them shows pages.
        """
        if self.dashboard_public is None:
            return None
        if self.dashboard_token is None:
            raise BadSetting("TRIBUTARY_DASHBOARD_TOKEN: is needed by TRIBUTARY_DASHBOARD_PUBLIC=read; give a reader's token")
        return self.dashboard_token.get_secret_value()

    @property
    def cell_names(self) -> tuple[str | None, ...]:
        """The cells that a process with these settings serves, its own first."""
        return (self.cell, *(one.name for one in self.cells))

    def in_cell(self, name: str | None) -> Self:
        """Returns the settings of a process whose own database is that cell's and the only one; None is the own cell's name, too.

        Raises NotFound.
        """
        if name in (None, self.cell):
            return self.model_copy(update={"cells": ()})
        for one in self.cells:
            if one.name == name:
                urls = {"database_url": one.database_url, "reader_url": one.reader_url, "owner_url": one.owner_url}
                return self.model_copy(update={"cell": name, "cells": (), **urls})
        known = ", ".join(f"'{one}'" for one in self.cell_names if one) or "none"
        raise NotFound(f"there is no cell '{name}'; TRIBUTARY_CELL and TRIBUTARY_CELLS name {known}")


def load_settings(*, home: Path | None = None) -> Settings:
    """Reads the environment; raises BadSetting naming the variable, the rule and, where it is no secret, the value.

    `home` is the folder to use when TRIBUTARY_HOME is absent: an edge knows where the user's data belongs. A
    variable that begins with TRIBUTARY_ and is no setting is refused, too: it was meant to be one. Where the environment
    names a secret, that has the settings which the environment has not; raises Unavailable, too, while it cannot be read.
    """
    known = setting_names()
    for name in sorted(os.environ):
        if name.upper().startswith(PREFIX) and name not in known and name not in _OF_CLIENTS:
            nearly_a_clients = difflib.get_close_matches(name.upper(), _OF_CLIENTS, n=1, cutoff=0.9)
            near = nearly_a_clients or difflib.get_close_matches(name.upper(), known, n=1)
            raise BadSetting(f"{name} is no setting" + (f"; did you mean {near[0]}?" if near else ""))
    found = _validated({})
    if found.secret_arn is not None:
        secret = read_secret(found.secret_arn, known)
        fields = {variable_of(name): name for name in Settings.model_fields}
        kept = {fields[variable]: value for variable, value in secret.items() if value}
        found = _validated({name: value for name, value in kept.items() if name not in found.model_fields_set})
    return found if found.home is not None else found.model_copy(update={"home": home})


def _validated(besides: Mapping[str, str]) -> Settings:
    """Returns the settings of the environment and, by names of fields, `besides`: a secret's, whose values no message repeats."""
    try:
        return Settings(**besides)  # type: ignore[arg-type]  # text, of which each field makes what it holds
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    name = str(first["loc"][0])
    variable = name if name.isupper() else PREFIX + name.upper()
    rule = _printable(first["msg"][:1].lower() + first["msg"][1:])  # which may name a part of the value
    if name in besides or any(variable_of(one) == variable for one in besides):
        raise BadSetting(f"{variable}, as the secret has it: {rule}")
    if not os.environ.get(variable):
        variable = variable.removeprefix(PREFIX)  # the value came by the other name that a setting may have
    hidden = any(word in variable for word in _SECRET)
    raise BadSetting(f"{variable}: {rule}" + ("" if hidden else f" (it is '{_shown(os.environ.get(variable, ''))}')"))


def _shown(value: str) -> str:
    """Returns a value as one line that a terminal does not act upon."""
    return _printable(value if len(value) <= 200 else f"{value[:200]}...")


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def setting_names() -> frozenset[str]:
    """Returns the environment variable of every setting; some have a second one, which is another program's."""
    return frozenset(variable_of(name) for name in Settings.model_fields)


def variable_of(setting: str) -> str:
    """Returns the environment variable of a setting: the one that others gave it, or TRIBUTARY_<NAME>."""
    others = Settings.model_fields[setting].validation_alias
    return others if isinstance(others, str) else PREFIX + setting.upper()
