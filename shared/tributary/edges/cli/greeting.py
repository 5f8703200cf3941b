"""What `serve` says once it listens: where, as whom, where things are kept, and what to try next. Pure."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tributary.edges.cli.words import moment, shown

_LEARN = {
    "text": "The deploy API needs X-Batch: true",
    "situation": "deploying a service",
    "subject": "deploy-api",
    "source": {"how": "observed", "ref": "run:88"},
}
_RECALL = {"query": "deploy payments"}


@dataclass(frozen=True, kw_only=True)
class Greeting:
    """A server that has just begun to listen.

    `token` is set on the first start only. `kept_for` is the agent whose token the connection file keeps, None when it keeps
    none that this database knows. `named` is the address in the connection file when it is another live server's.
    """

    url: str
    exposed: bool
    public: bool
    """Whoever comes may read the dashboard."""
    tribe: str
    made_at: datetime
    curator: str | None
    token: str | None
    token_good_until: datetime | None
    connection_file: Path
    kept_for: str | None
    named: str | None
    set_aside: Path | None
    data: str
    origins: tuple[str, ...]
    models: Mapping[str, str | None]
    """Name and version by what the model is for."""
    cells: tuple[str, ...]
    """All that are served, the own one first."""

    def document(self) -> dict[str, object]:
        """Returns the same for machines."""
        return {
            "url": self.url,
            "tribe": self.tribe,
            "tribe_made_at": self.made_at.isoformat(),
            "first_start": self.token is not None,
            "curator": self.curator,
            "token": self.token,
            "connection_file": str(self.connection_file) if self.kept_for else None,
            "data": self.data,
            "cors_origins": list(self.origins),
            "models": dict(self.models),
            "cells": list(self.cells),
        }

    def lines(self) -> list[str]:
        return [
            f"Tributary serves at {self.url} (API: {self.url}/docs). Ctrl-C stops it.",
            f"Dashboard: {self.url}/dashboard; "
            + ("anybody may read it, to do more sign in" if self.public else "sign in")
            + " with an agent's token.",
            "",
            *self._whose(),
            f"Data: {shown(self.data)}",
            f"Models: {', '.join(_model(role.replace('_', ' '), name) for role, name in self.models.items())}.",
            *([f"Cells: {', '.join(self.cells)}."] if len(self.cells) > 1 else []),
            *self._browsers(),
            "",
            "Try:",
            f"  {self.curl('/v1/lessons', _LEARN)}",
            f"  {self.curl('/v1/recall', _RECALL)}",
            "",
            *self._next(),
        ]

    def warning(self) -> str | None:
        """Returns what to say when others than this computer can reach the server."""
        if not self.exposed:
            return None
        return (
            "Warning: other computers can reach this server, and tokens and lessons travel to it unencrypted. Put TLS in front "
            "of it, or serve on 127.0.0.1."
        )

    def curl(self, path: str, body: object) -> str:
        """Returns a command line that works as it stands in any POSIX shell, and shows no kept token."""
        words = f"-H 'Content-Type: application/json' -d {shlex.quote(json.dumps(body))}"
        return f'curl -sS {self.url}{path} -H "Authorization: Bearer {self._bearer()}" {words}'

    def _bearer(self) -> str:
        if self.token is not None:
            return self.token
        if self.kept_for is not None:
            pattern = r"""'s/.*"token": "\([^"]*\)".*/\1/p'"""
            return f"$(sed -n {pattern} {shlex.quote(str(self.connection_file))})"
        return "$TRIBUTARY_TOKEN"

    def _whose(self) -> Iterator[str]:
        tribe, file = shown(self.tribe), shown(str(self.connection_file))
        if self.token is None:
            by = f", with its curator '{shown(self.curator)}'" if self.curator else ""
            yield f"Tribe '{tribe}' was made on {moment(self.made_at)}{by}."
            if self.kept_for is not None:
                yield f"A token of agent '{shown(self.kept_for)}' is kept in {file}."
            else:
                yield f"No token that this database knows is kept in {file}."
                yield "Tokens are shown only when they are made; make another:"
                yield f"  {_command()} agent create NAME --role curator --tribe {shlex.quote(tribe)} --keep"
        else:
            until = f", good until {moment(self.token_good_until)}" if self.token_good_until else ""
            yield f"This is the first start: tribe '{tribe}' was made, with its curator '{shown(self.curator or '')}'."
            yield f"The curator's token{until}. It is shown this once:"
            yield ""
            yield f"  {self.token}"
            yield ""
            if self.kept_for is not None:
                yield f"It is kept in {file}, for commands on this computer."
        if self.set_aside is not None:
            yield f"The token kept there before, of another database, is now in {shown(str(self.set_aside))}."
        if self.named is not None:
            yield f"Commands on this computer still go to {shown(self.named)}, a server of the same home, until that one ends."

    def _browsers(self) -> Iterator[str]:
        if self.origins:
            yield f"Browsers may call it from {', '.join(map(shown, self.origins))}."
        else:
            yield "Browsers: pages of other origins may not call it, since TRIBUTARY_CORS_ORIGINS is empty."

    def _next(self) -> Iterator[str]:
        tribe = "" if self.tribe == "default" else f" --tribe {shlex.quote(shown(self.tribe))}"
        if self.kept_for is not None and self.named is None:
            yield "In another terminal, without a token since it is kept:"
            yield f'  {_command()} recall "deploy payments"'
        yield "Give each of your agents a token of its own:"
        yield f"  {_command()} agent create agent-a --role writer{tribe}"


def _model(role: str, name: str | None) -> str:
    return f"no {role}" if name is None else f"{role} {shown(name)}"


def _command() -> str:
    """Returns how to call this program from another terminal: by its name where that is on the PATH, else by its path."""
    if shutil.which("tributary") is not None:
        return "tributary"
    beside = Path(sys.executable).parent / "tributary"
    return shlex.quote(str(beside)) if beside.exists() else "tributary"
