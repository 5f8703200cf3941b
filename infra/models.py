"""What the models that the settings choose need: a way out, a layer, permissions. By the variables of docs/settings.md."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from infra.responder import wrong_rights

_SETTINGS_PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
_ROLES = ("EMBEDDER", "NEXT_EMBEDDER", "JUDGE", "STRONG_JUDGE", "SCREEN", "DISTILLER", "RESPONDER")
_SET_BY_THE_STACK = frozenset(
    {
        "TRIBUTARY_DATABASE_URL",
        "DATABASE_URL",
        "TRIBUTARY_READER_URL",
        "TRIBUTARY_OWNER_URL",
        "TRIBUTARY_DATABASE_AUTH",
        "TRIBUTARY_PENDING_QUEUE_URL",
        "TRIBUTARY_GARDEN_EVERY_S",
        "TRIBUTARY_EVIDENCE",
        "TRIBUTARY_EVIDENCE_BUCKET",
        "TRIBUTARY_EVIDENCE_FOLDER",
        "TRIBUTARY_SECRET_ARN",
        "TRIBUTARY_HOME",
        "TRIBUTARY_POSTGRES_MAJOR",
        "TRIBUTARY_LOG_FILE",
        "TRIBUTARY_RESPONDER_RDS_URL",
        "TRIBUTARY_CORS_ORIGINS",
        "TRIBUTARY_DASHBOARD_PUBLIC",
        "AWS_REGION",
    }
)
TITAN = "amazon.titan-embed-text-v2:0"
_OUTSIDE = frozenset({"openai", "jev"})
_IMPOSSIBLE = {
    "claude": "is a program, which no Lambda function has; use bedrock",
    "sentence-transformers": "pulls several gigabytes, more than a Lambda layer holds; use bedrock or minilm",
    "hash": "is for tests and refuses to serve",
    "scripted": "follows a file, which no Lambda function has; use bedrock",
}
_INSIDE = frozenset({"local", "minilm", "bedrock", "guardrails"})
_GEOGRAPHY = re.compile(r"^(us|us-gov|eu|apac|jp|au|ca|global)\.")


@dataclass(frozen=True, kw_only=True)
class Needs:
    """`outside` names the settings that reach beyond AWS's endpoints, `bedrock` whether its runtime is called."""

    bedrock: bool
    local_layer: bool
    outside: tuple[str, ...]
    wrong: str | None

    def unmet(self, *, egress: str) -> str | None:
        """Returns what cannot work, None when all can."""
        if self.wrong:
            return self.wrong
        if self.outside and egress != "nat":
            return (
                f"{', '.join(self.outside)}: cannot be reached from isolated subnets; add -c egress=nat (about 33 dollars a month"
                " and gateway), or choose a model of Bedrock and leave tools for live systems out"
            )
        return None


def needs_of(settings: Mapping[str, str]) -> Needs:
    """Returns what settings need; what is wrong with one of them is told, not raised."""
    chosen = {f"TRIBUTARY_{role}": settings.get(f"TRIBUTARY_{role}", "") for role in _ROLES}
    outside = [f"{name}={value}" for name, value in chosen.items() if value in _OUTSIDE]
    if _is_elsewhere(settings.get("TRIBUTARY_TRACES_URL", "")):
        outside.append("TRIBUTARY_TRACES_URL")
    if settings.get("TRIBUTARY_TRACES") == "otlp" and "TRIBUTARY_TRACES_URL" not in settings:
        outside.append("TRIBUTARY_TRACES=otlp")
    if settings.get("TRIBUTARY_RESPONDER_RDS") == "on":
        outside.append("TRIBUTARY_RESPONDER_RDS=on")
    return Needs(
        bedrock=any(value in {"bedrock", "guardrails"} for value in chosen.values()),
        local_layer="minilm" in chosen.values(),
        outside=tuple(outside),
        wrong=next(_wrong(settings, chosen), None),
    )


def _wrong(settings: Mapping[str, str], chosen: Mapping[str, str]) -> Iterator[str]:
    for name in settings:
        if name not in known_settings():
            near = difflib.get_close_matches(name, known_settings(), n=1)
            yield f"settings: {name} is no setting" + (f"; did you mean {near[0]}?" if near else "")
        if name in _SET_BY_THE_STACK:
            yield f"settings: {name} is set by the stack itself"
        if "@" in settings[name] and "://" in settings[name]:
            yield f"settings: {name} has a user or password in its URL, which all readers of the configuration see"
        if name.endswith(("_MODEL", "_GUARDRAIL_ID")) and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9:./_-]*", settings[name]):
            yield f"settings: {name} must be one model's or guardrail's id or ARN (it is '{settings[name]}')"
        if name.endswith(("_API_KEY", "_DASHBOARD_TOKEN")):
            yield f"settings: {name} is a key, which all readers of the configuration see; put it into the secret (secret_arn)"
    if "TRIBUTARY_CELLS" in settings:
        yield "settings: TRIBUTARY_CELLS: a deployment serves one database; make another deployment for another cell"
    yield from wrong_rights(settings)
    for name, value in chosen.items():
        needed = [f"{name}_MODEL"] if value in {"bedrock", "openai", "jev"} and "EMBEDDER" not in name else []
        needed = ["TRIBUTARY_GUARDRAIL_ID", "TRIBUTARY_GUARDRAIL_VERSION"] if value == "guardrails" else needed
        for missing in (one for one in needed if not settings.get(one)):
            yield f"settings: {name}={value} needs {missing}"
        if value in _IMPOSSIBLE:
            yield f"settings: {name}={value} {_IMPOSSIBLE[value]}"
        elif value and value not in _INSIDE | _OUTSIDE:
            yield f"settings: {name}={value} is no provider"


@cache
def known_settings() -> frozenset[str]:
    """Returns the server's settings, read off the page that the tests hold complete."""
    page = _SETTINGS_PAGE.read_text(encoding="utf-8").split("\n## Client")[0]
    return frozenset(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE))


def _is_elsewhere(url: str) -> bool:
    return bool(url) and not re.match(r"https?://(localhost|127\.0\.0\.1)[:/]", url)


@dataclass(frozen=True, kw_only=True)
class Invoked:
    """The models that a function may invoke, and the guardrails that it may apply, as resources of ARNs."""

    models: tuple[str, ...]
    guardrails: tuple[str, ...]


def invoked_by(settings: Mapping[str, str], roles: frozenset[str], *, partition: str, region: str, account: str) -> Invoked:
    """Returns what a function that plays `roles` (such as JUDGE) must be allowed; an inference profile names its models too."""
    wanted = sorted(
        {settings.get(f"TRIBUTARY_{role}_MODEL") or TITAN for role in roles if settings.get(f"TRIBUTARY_{role}") == "bedrock"}
    )
    models: list[str] = []
    for model in wanted:
        if model.startswith("arn:"):
            models.append(model)
            continue
        if _GEOGRAPHY.match(model):
            models.append(f"arn:{partition}:bedrock:{region}:{account}:inference-profile/{model}")
            # a profile routes to other regions of its geography, whose models must be allowed as well
            models.append(f"arn:{partition}:bedrock:*::foundation-model/{_GEOGRAPHY.sub('', model)}")
        else:
            models.append(f"arn:{partition}:bedrock:{region}::foundation-model/{model}")
    applied = "SCREEN" in roles and settings.get("TRIBUTARY_SCREEN") == "guardrails"
    guardrail = settings.get("TRIBUTARY_GUARDRAIL_ID", "")
    arn = guardrail if guardrail.startswith("arn:") else f"arn:{partition}:bedrock:{region}:{account}:guardrail/{guardrail}"
    return Invoked(models=tuple(models), guardrails=(arn,) if applied else ())
