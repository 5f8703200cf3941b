"""The functions: one entry each. Whoever adds a folder under `functions/` adds its line here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_EMBEDS = frozenset({"EMBEDDER", "NEXT_EMBEDDER"})
_JUDGES = _EMBEDS | {"JUDGE", "STRONG_JUDGE", "SCREEN"}


@dataclass(frozen=True, kw_only=True)
class FunctionSpec:
    """What one function is given. `models` are the roles in which it calls models, by their settings (JUDGE)."""

    name: str
    purpose: str
    memory_mb: int
    timeout_s: int
    code: str = ""
    """The folder under `functions/`, where it is not of the function's name."""
    door: Literal["proxy", "writer"] = "proxy"
    """The way to the database: through the proxy where there is one, or to the writer itself, as the owner."""
    patience_s: int = 25
    """The longest that connecting to the database may take."""
    reads_replica: bool = False
    models: frozenset[str] = frozenset()
    shows_pages: bool = False
    """Is told whether they are public."""
    tells_queue: bool = False
    """Keeps lessons as pending, and says so to the queue."""
    files: frozenset[str] = frozenset()
    """What it does with evidence files, by the actions of S3 that its role, or an address that it signs, needs."""
    asynchronous: bool = False
    """Is invoked without anybody waiting: what fails goes to a dead-letter queue."""
    when_dashboard: bool = False
    """Is there only with `dashboard=lambda`."""
    when_responder: bool = False
    """Is there only where the settings choose a model for the incident agent."""
    layer: Literal["dashboard", "mcp"] | None = None
    """The layer that it has beside those of every function."""
    snap_start: bool = True
    """May be started from a snapshot where the option asks for it."""

    @property
    def database_user(self) -> str:
        """The role of the database that it logs in as; two functions of the same code are one there."""
        return MASTER if self.name == "migrate" else f"tributary_{self.folder}"

    @property
    def folder(self) -> str:
        return self.code or self.name


MASTER = "tributary_admin"
"""The cluster's master user, who migrates."""

FUNCTIONS: tuple[FunctionSpec, ...] = (
    FunctionSpec(
        name="recall",
        purpose="reads of the memory, its health, and the API's description",
        memory_mb=1024,
        timeout_s=29,
        reads_replica=True,
        models=_EMBEDS,
        files=frozenset({"s3:GetObject"}),
    ),
    FunctionSpec(
        name="learn",
        purpose="all writes of lessons",
        memory_mb=1024,
        timeout_s=29,
        models=_JUDGES | {"DISTILLER"},
        tells_queue=True,
        files=frozenset({"s3:GetObject", "s3:PutObject"}),
    ),
    FunctionSpec(
        name="settler",
        purpose="the queue of tribes with pending lessons: judges those in its own time",
        code="learn",
        memory_mb=1024,
        timeout_s=120,
        models=_JUDGES,
        snap_start=False,
    ),
    FunctionSpec(
        name="curate",
        purpose="what curators do and look through",
        memory_mb=1024,
        timeout_s=29,
        models=_JUDGES,
        tells_queue=True,
    ),
    FunctionSpec(
        name="responder",
        purpose="turns of the incident agent",
        memory_mb=1024,
        # behind the HTTP API a turn ends before its 30 seconds are over; invoked directly, it may take a minute
        timeout_s=65,
        models=_JUDGES | {"RESPONDER"},
        when_responder=True,
    ),
    FunctionSpec(
        name="mcp",
        purpose="the memory as tools of the Model Context Protocol",
        memory_mb=1024,
        timeout_s=29,
        reads_replica=True,
        models=_JUDGES,
        tells_queue=True,
        layer="mcp",
    ),
    FunctionSpec(
        name="authorizer",
        purpose="which agent a bearer token belongs to",
        memory_mb=512,
        timeout_s=10,
        # well within the ten seconds that API Gateway gives it; then the function looks the token up itself, with more patience
        patience_s=3,
    ),
    FunctionSpec(
        name="gardener",
        purpose="what time, room and missing models left to do, on a schedule",
        memory_mb=1024,
        timeout_s=840,
        models=_JUDGES,
        files=frozenset({"s3:DeleteObject"}),
        asynchronous=True,
        snap_start=False,
    ),
    FunctionSpec(
        name="operator",
        purpose="tribes, their first agents, spaces and indexes; for operators, by IAM alone",
        memory_mb=1024,
        timeout_s=900,
        door="writer",
        models=_EMBEDS,
        asynchronous=True,
        snap_start=False,
    ),
    FunctionSpec(
        name="dashboard",
        purpose="the dashboard's pages",
        memory_mb=1024,
        timeout_s=29,
        # not from a replica: a page shows what the viewer has just changed on the one before
        models=_JUDGES,
        shows_pages=True,
        tells_queue=True,
        files=frozenset({"s3:GetObject"}),
        when_dashboard=True,
        layer="dashboard",
    ),
    FunctionSpec(
        name="migrate",
        purpose="the schema, at each deployment",
        memory_mb=1024,
        timeout_s=840,
        door="writer",
        snap_start=False,
    ),
)

BY_NAME = {spec.name: spec for spec in FUNCTIONS}
