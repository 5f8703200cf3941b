"""An agent of one's own at the local memory: made once by name, its token kept in the home folder.

Confirmations count by agent, so whoever works by himself needs a name of his own.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tributary.client import BadReply, Unauthenticated, Unreachable
from tributary.client.place import is_loopback
from tributary.client.replies import Answer, error_of
from tributary.contract.agents import AgentsReply, NewTokenReply
from tributary.contract.route import Role
from tributary.contract.status import MeReply
from tributary.edges.cli.connection import setting_up

AGENTS_FILE = "agents.json"
_PATIENCE_S = 20.0
_PAGE = 100


@dataclass(frozen=True, kw_only=True)
class OwnAgent:
    """Who asks from now on, and with which token."""

    me: MeReply
    token: str


def own_agent(
    url: str, token: str, *, name: str, role: Role, folder: Path, transport: httpx.BaseTransport | None = None
) -> OwnAgent:
    """Returns the agent called `name` of the tribe that `token` is of; makes it, with `role`, where it is not there yet.

    Where `token` is no curator's, nobody can be made: then its own agent it is. Raises the SDK's errors.
    """
    with _Api(url, transport) as api:
        keeper = api.me(token)
        if keeper.name == name or keeper.role != "curator":
            return OwnAgent(me=keeper, token=token)
        with setting_up(folder):
            kept = _kept(folder)
            found = _still_good(api, kept.get(keeper.tribe, {}).get(name), name)
            if found is None:
                made = api.make(token, name, role)
                kept.setdefault(keeper.tribe, {})[name] = made
                _keep(folder, kept)
                found = OwnAgent(me=api.me(made), token=made)
        return found


def _still_good(api: _Api, token: str | None, name: str) -> OwnAgent | None:
    if token is None:
        return None
    try:
        me = api.me(token)
    except Unauthenticated:  # it ended, or is of a database that is no more
        return None
    return OwnAgent(me=me, token=token) if me.name == name else None


def _kept(folder: Path) -> dict[str, dict[str, str]]:
    """Returns the tokens of the file, by tribe and name; none of a file that is not there or damaged."""
    try:
        stored = json.loads((folder / AGENTS_FILE).read_text(encoding="utf-8"))
        return {str(tribe): {str(name): str(token) for name, token in named.items()} for tribe, named in stored.items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _keep(folder: Path, tokens: dict[str, dict[str, str]]) -> None:
    """Writes the file, which its owner alone can read."""
    descriptor, fresh = tempfile.mkstemp(prefix=f"{AGENTS_FILE}.", dir=folder)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(tokens, stream, indent=2)
        Path(fresh).replace(folder / AGENTS_FILE)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise


class _Api:
    """The few requests that this takes, as they are: the SDK makes no agents."""

    def __init__(self, url: str, transport: httpx.BaseTransport | None) -> None:
        self._http = httpx.Client(
            base_url=url, transport=transport, timeout=_PATIENCE_S, trust_env=not is_loopback(url), follow_redirects=False
        )

    def me(self, token: str) -> MeReply:
        return MeReply.model_validate_json(self._ask("GET", "/v1/me", token))

    def make(self, curator: str, name: str, role: Role) -> str:
        """Returns the token of a new agent, or another one of an agent that has the name already."""
        there = next((one for one in self._agents(curator) if one.name == name and one.revoked_at is None), None)
        if there is not None:
            reply = self._ask("POST", f"/v1/agents/{there.id}/tokens", curator, {})
        else:
            reply = self._ask("POST", "/v1/agents", curator, {"name": name, "role": role})
        return NewTokenReply.model_validate_json(reply).token

    def _agents(self, curator: str) -> Iterator[Any]:
        before = ""
        while True:
            page = AgentsReply.model_validate_json(self._ask("GET", f"/v1/agents?limit={_PAGE}{before}", curator))
            yield from page.agents
            if page.next is None:
                return
            before = f"&before={page.next}"

    def _ask(self, method: str, path: str, token: str, body: object = None) -> bytes:
        try:
            reply = self._http.request(method, path, json=body, headers={"authorization": f"Bearer {token}"})
        except httpx.DecodingError as error:
            raise BadReply("the server's reply cannot be decoded") from error
        except httpx.RequestError as error:
            raise Unreachable(f"no answer from {self._http.base_url}: {str(error) or type(error).__name__}") from error
        if not reply.is_success:
            raise error_of(Answer(status=reply.status_code, headers=reply.headers, body=reply.content))
        return reply.content

    def __enter__(self) -> _Api:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()
