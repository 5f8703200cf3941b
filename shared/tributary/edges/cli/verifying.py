"""`tributary verify-live`: a running system, used once in each of its ways by agents of its own."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.exits import FAULTY, INTERRUPTED
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.signals import stopping_on_signals
from tributary.edges.cli.words import counted, shown

if TYPE_CHECKING:
    from tributary.edges.cli.doors import Doors
    from tributary.edges.cli.faces import OperatorFace
    from tributary.edges.cli.live import Report, Stage, StepResult

_FROM_STDIN = "-"
_DAYS = 1
"""Tokens of a run that could not clean up end by themselves."""


def verify_live(
    context: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="The server's address.")],
    tribe: Annotated[
        str, typer.Option("--tribe", metavar="NAME", help="The tribe to do it in; made when absent.")
    ] = "verify-live",
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN", help="A curator's token, in place of the operator's access; - reads it from standard input."
        ),
    ] = None,
    origin: Annotated[
        str | None, typer.Option(metavar="ORIGIN", help="An origin that browsers may call from, to be tried.")
    ] = None,
    insecure_http: Annotated[bool, typer.Option("--insecure-http", help="Send tokens to another computer without TLS.")] = False,
    wait: Annotated[float, typer.Option(metavar="SECONDS", min=0, help="How long a pending lesson may take to settle.")] = 60.0,
    as_json: AsJson = False,
) -> None:
    """Try every operation of a running system once, and tell what does not hold.

    It does so in a tribe of its own, and holds each outcome against what it must be.

    What it taught it retires, and the agents that it made it revokes, in the end, on Ctrl-C or on SIGTERM. Ends with 10 when
    something did not hold. With TRIBUTARY_AUTH=iam the AWS caller is the curator, and what takes other agents is not tried.

    \b
    Example: tributary --via lambda verify-live https://memory.example.org
    """
    from tributary.client.place import is_loopback
    from tributary.edges.cli.live import STEPS, State, checked

    if url.lower().startswith("http://") and not is_loopback(url) and not insecure_http:
        raise typer.BadParameter("tokens would travel in the clear: use https://, or --insecure-http", param_hint="URL")
    doors, output = session(context, as_json=as_json)

    def told(step: StepResult) -> None:
        if not as_json:
            output.lines([_line(step)])

    with stopping_on_signals(), _staged(doors, url, tribe, token, wait_s=wait, origin=origin) as (stage, revoke):
        report = checked(stage, STEPS, revoke=revoke, told=told)
    if as_json:
        output.json(
            {
                "url": stage.url,
                "tribe": tribe if stage.own_curator is not None else None,
                "version": report.version,
                "held": report.held,
                "interrupted": report.interrupted,
                "steps": [one.document() for one in report.steps],
                "warnings": list(report.warnings),
                "left": list(report.left),
            }
        )
    else:
        counts = {state: sum(one.state is state for one in report.steps) for state in State}
        verdict = "All held" if report.held else "NOT all held"
        tally = f"{counts[State.OK]} ok, {counts[State.FAILED]} failed, {counts[State.SKIPPED]} skipped"
        output.lines([f"{verdict}: {tally}, of {counted(len(STEPS), 'step')}."])
    _remark(output.remark, report)
    if report.interrupted:
        raise typer.Exit(INTERRUPTED)
    if not report.held:
        raise typer.Exit(FAULTY)


@contextmanager
def _staged(
    doors: Doors, url: str, tribe: str, token: str | None, *, wait_s: float, origin: str | None
) -> Iterator[tuple[Stage, Callable[[str], None]]]:
    """Gives a stage with a curator, and what ends an agent by its name."""
    from tributary.client.place import find_place
    from tributary.edges.cli.live import Stage

    find_place(url, "checked-before-anything-is-made", {})  # raises for an address that is none
    if token is None and doors.environment.get("TRIBUTARY_AUTH", "token") not in ("", "token"):
        signing = find_place(url, None, doors.environment).signing
        with Stage(url, None, wait_s=wait_s, origin=origin, signing=signing) as stage:
            yield stage, lambda name: _revoke_over_http(stage, name)
        return
    if token is not None:
        secret = token if token != _FROM_STDIN else sys.stdin.readline().strip()
        with Stage(url, secret, wait_s=wait_s, origin=origin) as stage:
            yield stage, lambda name: _revoke_over_http(stage, name)
        return
    with operator_of(doors) as operator:
        name = f"verify-live-{secrets.token_hex(6)}"
        secret = None
        try:
            secret = _curator(operator, tribe, name)
            opened = Stage(url, secret, wait_s=wait_s, origin=origin)
        except BaseException as error:
            if secret is not None or isinstance(error, KeyboardInterrupt):  # interrupted, it may have been made all the same
                with suppress(Exception):
                    _revoke(operator, tribe, name)
            raise
        with opened as stage:
            stage.own_curator = name
            yield stage, lambda agent: _revoke(operator, tribe, agent)


def _curator(operator: OperatorFace, tribe: str, name: str) -> str:
    """Returns the token of a new curator of the tribe, which is made when there is none."""
    from tributary.core.agent import Role

    try:
        return operator.create_tribe(tribe, curator=name, days=_DAYS).token.secret
    except Exception as error:
        if getattr(error, "code", None) != "wrong_standing":
            raise
    return operator.create_agent(tribe, name, Role.CURATOR, days=_DAYS).secret


def _revoke(operator: OperatorFace, tribe: str, name: str) -> None:
    operator.revoke_agent(tribe, name)


def _revoke_over_http(stage: Stage, name: str) -> None:
    from tributary.edges.cli.failures import CommandFailed
    from tributary.edges.cli.live.step import Unexpected

    try:
        agents = stage.ask("GET", "/v1/agents?limit=100", by=stage.curator).document["agents"]  # newest first, ours among them
        for one in agents:
            if one["name"] == name and one["revoked_at"] is None:
                stage.ask("POST", f"/v1/agents/{one['id']}/revoke", by=stage.curator, body={})
    except Unexpected as failure:
        raise CommandFailed("unavailable", failure.found) from failure


def _line(step: StepResult) -> str:
    from tributary.edges.cli.live import State

    head = f"{'FAILED' if step.state is State.FAILED else step.state.value:<8}{step.name:<16}{step.ms:>8.0f} ms"
    if step.state is State.FAILED:
        return f"{head}  expected {shown(step.expected or '')}, found {shown(step.found or '')}"
    return f"{head}  {shown(step.reason)}" if step.reason else head


def _remark(remark: Callable[[str], None], report: Report) -> None:
    for warning in report.warnings:
        remark(f"Warning: {shown(warning)}.")
    for what in report.left:
        remark(f"Not cleaned up: {shown(what)}.")
