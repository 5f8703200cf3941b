"""`tributary models`: whether the models that are set up over a wire answer, and what their providers have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.exits import exit_for
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.words import shown

if TYPE_CHECKING:
    from tributary.edges.cli.output import Output
    from tributary.service.model_listing import ModelsSeen, ProviderSeen, RoleSeen

_ROLES = (("role", "left"), ("provider", "left"), ("model", "left"), ("state", "left"), ("found", "left"))
_MODELS = (("provider", "left"), ("kind", "left"), ("model", "left"), ("state", "left"))


def models(context: typer.Context, as_json: AsJson = False) -> None:
    """Ask each model over a wire that is set up for one tiny thing. Costs about a cent.

    Its provider is asked what it has, too.

    On Bedrock each text model and inference profile is asked, too: 'invocable', or the error that it gives. Ends with 6 or 7
    when a model that is set up does not answer.

    \b
    Example: tributary models
    """
    doors, output = session(context, as_json=as_json)
    seen = doors.list_models(doors.load_settings(False))
    if as_json:
        output.json(seen.document())
    else:
        _show(output, seen)
    codes = [one.code for one in seen.roles if one.code is not None]
    if codes:
        raise typer.Exit(max(exit_for(code) for code in codes))


def _show(output: Output, seen: ModelsSeen) -> None:
    if not seen.roles:
        settings = "TRIBUTARY_JUDGE, _STRONG_JUDGE, _SCREEN, _DISTILLER, _EMBEDDER and _NEXT_EMBEDDER"
        output.lines([f"No model over a wire is set up: see {settings}."])
        return
    output.table(_ROLES, [_role(one) for one in seen.roles])
    rows = [row for one in seen.providers for row in _rows(one)]
    if rows:
        output.table(_MODELS, rows)
    output.lines([line for one in seen.providers for line in _lines(one)])


def _role(one: RoleSeen) -> tuple[str, str, str, str, str]:
    found = f"{one.ms:.0f} ms" if one.detail is None else shown(one.detail)
    return one.role, one.provider, shown(one.model or ""), "ok" if one.code is None else "NOT OK", found


def _rows(provider: ProviderSeen) -> Iterator[tuple[str, str, str, str]]:
    for one in provider.models:
        yield provider.provider, one.kind, shown(one.model), shown(one.state)


def _lines(provider: ProviderSeen) -> Iterator[str]:
    if provider.version is not None:
        yield f"{provider.provider} at {shown(provider.place)}: {shown(provider.version)}"
    if provider.detail is not None:
        yield f"{provider.provider} at {shown(provider.place)} gives no list: {shown(provider.detail)}"
