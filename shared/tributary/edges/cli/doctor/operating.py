"""The operator's side: settings, the models that they choose, credentials and the database. Left out where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tributary.edges.cli.doctor.finding import Finding, State, bad, ok, unknown

if TYPE_CHECKING:
    from tributary.core.ports import Embedder
    from tributary.core.status import Observation
    from tributary.edges.cli.doctor.examining import Ground
    from tributary.service import Settings

_NONE_MADE = "none is made here yet"


@dataclass(frozen=True, kw_only=True)
class _Side:
    """What the settings name. `here` is whether there is a database that this computer's operator looks after."""

    settings: Settings
    here: bool


def _side(ground: Ground) -> _Side | None:
    """Returns the operator's side, None when the settings cannot be read, which `settings` tells of."""
    from tributary.core.errors import TributaryError
    from tributary.edges.cli.failures import CommandFailed
    from tributary.store.embedded import EmbeddedPostgres

    try:
        found = ground.doors.load_settings(False)
    except (TributaryError, CommandFailed):
        return None
    embedded = found.home is not None and EmbeddedPostgres.is_made(found.home, major=int(found.postgres_major))
    return _Side(settings=found, here=found.database_url is not None or found.owner_url is not None or embedded)


def settings(ground: Ground) -> Sequence[Finding]:
    from tributary.core.errors import TributaryError
    from tributary.edges.cli.failures import CommandFailed

    try:
        ground.doors.load_settings(False)
    except (TributaryError, CommandFailed) as error:
        return [bad("settings", error.code, error.detail)]
    return [ok("settings", "each is well formed")]


def models(ground: Ground) -> Sequence[Finding]:
    """Makes every model that the settings choose. Only a local embedder is tried: others cost money, and `models` asks them."""
    side = _side(ground)
    if side is None:
        return []
    from tributary.core.errors import TributaryError
    from tributary.service import Models, over_a_wire

    wired = over_a_wire(side.settings)
    try:
        chosen = Models(side.settings)
        roles = [("judge", chosen.judge.version), ("screen", chosen.screen.version)]
        if chosen.distiller is not None:
            roles.append(("distiller", chosen.distiller.version))
        embedders = [("embedder", chosen.embedder)]
        if chosen.next_embedder is not None:
            embedders.append(("next_embedder", chosen.next_embedder))
    except TributaryError as error:
        return [bad("models", error.code, error.detail)]
    findings = [ok(role, f"{version}{_asked_elsewhere(role, wired)}") for role, version in roles]
    return [*findings, *(_embedder(role, one, wired) for role, one in embedders)]


def _asked_elsewhere(role: str, wired: Sequence[str]) -> str:
    return ", over a wire ('tributary models' asks it)" if role in wired else ""


def _embedder(role: str, embedder: Embedder, wired: Sequence[str]) -> Finding:
    from tributary.core.errors import TributaryError

    check = role.replace("_", " ")
    if role in wired:
        return ok(check, f"{embedder.space.name}{_asked_elsewhere(role, wired)}")
    begun = perf_counter()
    try:
        (vector,) = embedder.embed(["what is known about this"])
    except TributaryError as error:
        return bad(check, error.code, error.detail)
    took_ms = (perf_counter() - begun) * 1000
    return ok(check, f"{embedder.space.name}, {len(vector)} numbers, loaded and used in {took_ms:.0f} ms")


def aws_credentials(ground: Ground) -> Sequence[Finding]:
    """Looks for credentials where something chosen needs them; nothing is sent to AWS but what finding them takes."""
    side = _side(ground)
    needed = list(_needing_aws(ground, side))
    if not needed:
        return []
    what = f"needed by {', '.join(needed)}"
    advice = "set AWS_PROFILE, or AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, or run with a role"
    try:
        import boto3
    except ModuleNotFoundError:
        return [bad("AWS credentials", f"boto3 is not installed; {what}", "pip install 'tributary-memory[aws]'")]
    session = boto3.Session()
    try:
        found = session.get_credentials()
        frozen = None if found is None else found.get_frozen_credentials()
    except Exception as error:
        return [
            bad("AWS credentials", f"cannot be had ({type(error).__name__}); {what}", "aws sso login, or a new session token")
        ]
    if found is None or frozen is None or not frozen.access_key:
        return [bad("AWS credentials", f"none; {what}", advice)]
    region = session.region_name or "no region by default"
    return [ok("AWS credentials", f"by {found.method}, {region}; {what}")]


def _needing_aws(ground: Ground, side: _Side | None) -> Iterator[str]:
    from tributary.service import over_a_wire

    environment = ground.doors.environment
    if environment.get("TRIBUTARY_OPERATOR_FUNCTION"):
        yield "TRIBUTARY_OPERATOR_FUNCTION"
    if environment.get("TRIBUTARY_VERIFY_CLUSTER_ARN"):
        yield "TRIBUTARY_VERIFY_CLUSTER_ARN"
    if environment.get("TRIBUTARY_SECRET_ARN"):
        yield "TRIBUTARY_SECRET_ARN"
    if side is None:
        return
    if side.settings.database_auth == "iam":
        yield "TRIBUTARY_DATABASE_AUTH"
    if side.settings.pending_queue_url is not None:
        yield "TRIBUTARY_PENDING_QUEUE_URL"
    for role in over_a_wire(side.settings):
        if getattr(side.settings, role) in ("bedrock", "guardrails"):
            yield f"TRIBUTARY_{role.upper()}"


def pooler(ground: Ground) -> Sequence[Finding]:
    """Guesses from the database's address whether a pooler stands before it, and looks whether that is provided for."""
    side = _side(ground)
    if side is None or side.settings.database_url is None:
        return []
    kind = pooler_of(side.settings.database_url)
    if kind is None:
        return [ok("pooler", "the database's address looks like none")]
    if side.settings.owner_url is None:
        advice = (
            f"{kind} lets no role be assumed: have TRIBUTARY_DATABASE_URL log in as tributary_runtime or a function's role, and"
            " set TRIBUTARY_OWNER_URL to a login that goes to the database directly"
        )
        return [bad("pooler", f"the database's address looks like {kind}, and there is no TRIBUTARY_OWNER_URL", advice)]
    if pooler_of(side.settings.owner_url) is not None:
        advice = "migrations need a session of their own: let TRIBUTARY_OWNER_URL go to the database directly"
        return [bad("pooler", f"TRIBUTARY_OWNER_URL looks like {pooler_of(side.settings.owner_url)}", advice)]
    return [ok("pooler", f"{kind}, with a way around it for the owner")]


def pooler_of(url: str) -> str | None:
    """Returns which pooler an address looks like: RDS Proxy by its host's name, PgBouncer by its usual port."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if ".proxy-" in host and host.endswith((".rds.amazonaws.com", ".rds.amazonaws.com.cn")):
        return "RDS Proxy"
    return "PgBouncer" if port == 6432 or "pgbouncer" in host else None


def database(ground: Ground) -> Sequence[Finding]:
    """Looks at the database as the running code's role, and tries one recall, as `tributary probe` does."""
    side = _side(ground)
    if side is None:
        return []
    if not side.here:
        if ground.doors.environment.get("TRIBUTARY_URL"):
            return [ok("database", f"{_NONE_MADE}, and none is needed: TRIBUTARY_URL is set")]
        return [bad("database", _NONE_MADE, "'tributary serve' makes one, or set TRIBUTARY_DATABASE_URL")]
    from tributary.core.errors import NotFound, TributaryError

    try:
        with ground.doors.open_prober(side.settings) as prober:
            findings = [_finding(one) for one in prober.databases()]
            try:
                seen = prober.tribes(ground.tribe).get(ground.tribe)
            except NotFound:
                advice = "name one with --tribe, or make it: tributary tribe create NAME"
                return [*findings, unknown("recall", f"there is no tribe '{ground.tribe}' to try one in", advice)]
    except TributaryError as error:
        return [bad("database", error.code, error.detail)]
    if seen is None:  # the tribes cannot be seen, and the findings above say why
        return findings
    return [*findings, *(_finding(one) for one in seen.observations if one.check not in _NOT_TOLD)]


_NOT_TOLD = frozenset(
    {"tick", "pending", "disputed", "quarantined", "spaces", "beside_index", "path", "last_gardening", "gardening_failed"}
)
"""Of what `probe` shows, that which is neither well nor unwell, and the gardener's runs: a server may just have been started."""

_ADVICE = {
    "server_version": "upgrade PostgreSQL",
    "pgvector_version": "install pgvector 0.8 or newer: ALTER EXTENSION vector UPDATE",
    "recovery": "TRIBUTARY_DATABASE_URL must lead to the writer, and TRIBUTARY_READER_URL to a replica",
    "schema_revision": "tributary migrate",
    "oldest_code": "upgrade: pip install -U tributary-memory",
    "lag_bytes": "look at the replica",
    "lag_s": "look at the replica",
    "clock_ahead_s": "set the clock of the database's host by a time server",
    "serving_space": "set TRIBUTARY_EMBEDDER to the one that the tribe serves from, or switch it (docs/spaces.md)",
    "without_vector": "tributary space build",
    "index": "tributary tribe index NAME",
    "planned_with": "tributary tribe index NAME; then ANALYZE",
    "embedder": "look at 'embedder' above, and at the log of the command",
    "recall": "look at the log: a model that has drifted is refused by name (docs/spaces.md)",
}
_UNSEEN = {
    "unreachable": "is the database running, and its address right?",
    "timed_out": "the database is too busy now; try again",
    "not_permitted": "the login lacks the right; tributary migrate grants what is needed",
    "not_migrated": "tributary migrate",
}


def _finding(one: Observation) -> Finding:
    from tributary.edges.cli.probing import value_shown

    check = f"{one.about.value} {one.check.replace('_', ' ')}"
    if one.state.value == "ok":
        return Finding(check=check, state=State.OK, found=value_shown(one.value))
    advice = _ADVICE.get(one.check, "'tributary probe' shows more")
    if one.cause is not None:
        return unknown(check, one.cause.value, _UNSEEN.get(one.cause.value, advice))
    return bad(check, f"{value_shown(one.value)} (should be: {one.rule})", advice)
