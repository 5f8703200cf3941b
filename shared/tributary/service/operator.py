"""The operator's side: tribes, agents and their first tokens, made over the owner's own connection."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self, cast
from uuid import UUID

import psycopg

from tributary.access import new_token, token_hash
from tributary.core.agent import Agent, NewToken, Role
from tributary.core.clock import Now, utc_now
from tributary.core.errors import InvalidRequest, NotFound, WrongStanding
from tributary.core.ids import new_id
from tributary.core.limits import check_name
from tributary.core.ports import SpaceDefinition
from tributary.spaces import build_index
from tributary.store import Target, connect, failures, statement
from tributary.store.migrate import migrate, migration_sql

TOKEN_DAYS = 365


@dataclass(frozen=True, kw_only=True)
class Tribe:
    tribe_id: UUID
    name: str
    clock: int
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class NewTribe:
    tribe: Tribe
    token: NewToken
    """Of its first curator."""


class Operator:
    """Acts as the owner of the schema; nothing here is reachable by a token. Not thread-safe."""

    def __init__(
        self,
        *,
        owner: Target,
        login: Target,
        space: SpaceDefinition,
        now: Now = utc_now,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        """`owner` acts as the owner role; `login` is the user that migrates; `space` is what new tribes serve from."""
        self._target = owner
        self._on_close = on_close
        self._login = login
        self._space = space
        self._now = now
        self._open: psycopg.Connection | None = None

    def migrate(self) -> str:
        """Brings the schema to the newest revision and returns its name."""
        return migrate(self._login)

    def migration_sql(self) -> str:
        return migration_sql()

    def create_tribe(self, name: str, *, curator: str = "curator", days: int = TOKEN_DAYS) -> NewTribe:
        """Makes a tribe with its first curator, wholly or not at all; raises WrongStanding when the name is taken."""
        check_name("name", name)
        with self._transaction() as connection:
            row = connection.execute(
                statement("access", "create_tribe"), {"tribe_id": new_id(), "name": name, "secret": secrets.token_bytes(32)}
            ).fetchone()
            if row is None:
                raise WrongStanding(f"there is a tribe named '{name}' already")
            tribe = _tribe(row)
            space = self._space
            connection.execute(
                statement("spaces", "ensure"),
                {
                    "name": space.name,
                    "model": space.model,
                    "pooling": space.pooling,
                    "windowing": space.windowing,
                    "quantisation": space.quantisation,
                    "dimension": space.dimension,
                },
            )
            connection.execute(statement("spaces", "serve_from"), {"tribe_id": tribe.tribe_id, "name": space.name})
            token = self._new_agent(connection, tribe, curator, Role.CURATOR, days)
        return NewTribe(tribe=tribe, token=token)

    def tribes(self) -> tuple[Tribe, ...]:
        """Returns all tribes by name."""
        with self._transaction() as connection:
            return tuple(_tribe(row) for row in connection.execute(statement("access", "tribes")).fetchall())

    def create_agent(self, tribe: str, name: str, role: Role, *, days: int = TOKEN_DAYS) -> NewToken:
        """Makes an agent and its token, whose secret is given this once; raises WrongStanding when the name is taken."""
        with self._transaction() as connection:
            return self._new_agent(connection, self._tribe(connection, tribe), name, role, days)

    def agents(self, tribe: str) -> tuple[Agent, ...]:
        """Returns the agents of a tribe, oldest first, the revoked ones too."""
        with self._transaction() as connection:
            found = self._tribe(connection, tribe)
            rows = connection.execute(statement("access", "agents"), {"tribe_id": found.tribe_id}).fetchall()
            return tuple(_agent(row) for row in rows)

    def revoke_agent(self, tribe: str, name: str) -> Agent:
        """Ends an agent and all its tokens; what it taught stays."""
        with self._transaction() as connection:
            found = self._tribe(connection, tribe)
            row = connection.execute(statement("access", "revoke_agent"), {"tribe_id": found.tribe_id, "name": name}).fetchone()
        if row is None:
            raise NotFound(f"the tribe '{tribe}' has no agent named '{name}'")
        return _agent(row)

    def build_index(self, tribe: str) -> bool:
        """Gives the tribe its own vector index if it has outgrown exact search; tells whether it has one now."""
        with self._connection() as connection:
            row = connection.execute(statement("access", "tribe"), {"name": tribe}).fetchone()
            if row is None:
                raise NotFound(f"there is no tribe named '{tribe}'")
            return build_index(connection, _tribe(row).tribe_id)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None
        self._on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _new_agent(self, connection: psycopg.Connection, tribe: Tribe, name: str, role: Role, days: int) -> NewToken:
        check_name("name", name)
        if not 1 <= days <= 3650:
            raise InvalidRequest("days", "must be from 1 to 3650")
        row = connection.execute(
            statement("access", "create_agent"),
            {"tribe_id": tribe.tribe_id, "agent_id": new_id(), "name": name, "role": role.value},
        ).fetchone()
        if row is None:
            raise WrongStanding(f"the tribe '{tribe.name}' has an agent named '{name}' already")
        agent = _agent(row)
        secret = new_token()
        expires_at = self._now() + timedelta(days=days)
        connection.execute(
            statement("access", "create_token"),
            {
                "tribe_id": tribe.tribe_id,
                "token_id": new_id(),
                "agent_id": agent.agent_id,
                "token_hash": token_hash(secret),
                "expires_at": expires_at,
            },
        )
        return NewToken(agent=agent, secret=secret, expires_at=expires_at)

    def _tribe(self, connection: psycopg.Connection, name: str) -> Tribe:
        row = connection.execute(statement("access", "tribe"), {"name": name}).fetchone()
        if row is None:
            raise NotFound(f"there is no tribe named '{name}'; 'tributary tribe create {name}' makes it")
        return _tribe(row)

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection]:
        try:
            if self._open is None or self._open.closed:
                self._open = connect(self._target)
            yield self._open
        except psycopg.Error as error:
            if self._open is not None:
                self._open.close()
            raise failures.translate(error) from error

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Connection]:
        with self._connection() as connection, connection.transaction():
            yield connection


def _tribe(row: tuple[object, ...]) -> Tribe:
    tribe_id, name, clock, created_at = cast(tuple[UUID, str, int, datetime], row)
    return Tribe(tribe_id=tribe_id, name=name, clock=clock, created_at=created_at)


def _agent(row: tuple[object, ...]) -> Agent:
    agent_id, name, role, created_at, revoked_at = cast(tuple[UUID, str, str, datetime, datetime | None], row)
    return Agent(agent_id=agent_id, name=name, role=Role(role), created_at=created_at, revoked_at=revoked_at)
