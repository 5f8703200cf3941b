"""Servers of a test's own: roles belong to a whole cluster, so tests about them cannot share one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from tests.conftest import CHOSEN
from tributary.store.embedded import EmbeddedPostgres

FUNCTION_ROLES = tuple(
    f"tributary_{name}" for name in ("recall", "learn", "curate", "gardener", "authorizer", "dashboard", "mcp", "responder")
)
ALL_ROLES = ("tributary_owner", "tributary_runtime", "tributary_operator", "tributary_verifier", *FUNCTION_ROLES)


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A server that any local user may enter as any role that may log in."""

    server: EmbeddedPostgres

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return self.server.url(database, user)

    def run(self, statement: str, *, database: str = "postgres", user: str = "postgres") -> list[tuple[object, ...]]:
        with psycopg.connect(self.url(database, user), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description is not None else []

    def new_database(self, name: str, *, owner: str = "postgres") -> str:
        """Makes a database that has pgvector, which takes a superuser, and returns the URL of its owner's login."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(owner)))
        self.run("CREATE EXTENSION vector", database=name)
        return self.url(name, owner)

    def stand_in_for_rds(self) -> None:
        """Makes what Aurora has: the role of logins by token, and a master user who makes roles and is no superuser."""
        self.run("CREATE ROLE rds_iam")
        self.run("CREATE ROLE master LOGIN CREATEROLE CREATEDB")
        self.run("GRANT rds_iam TO master WITH ADMIN OPTION")

    def wipe(self) -> None:
        """Drops every database and role that tests made; memberships go with the role that is granted, so those first."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            for (name,) in connection.execute("SELECT datname FROM pg_database WHERE datname LIKE 'test%'").fetchall():
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
            made = "SELECT rolname FROM pg_roles WHERE rolname !~ '^(pg_|postgres$)' ORDER BY rolname !~ '^(tributary|rds)_'"
            for (name,) in connection.execute(made).fetchall():
                connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))

    def denied_since(self, offset: int) -> list[str]:
        """Returns what the server's log says was not permitted, from an offset on: also what nobody was told of."""
        with self.server.log.open("rb") as log:
            log.seek(offset)
            return [line.decode() for line in log if b"permission denied" in line]

    def log_end(self) -> int:
        return self.server.log.stat().st_size


@contextmanager
def cluster_of_its_own() -> Iterator[Cluster]:
    """Runs an embedded server of the version under test, or of the newest where that is no embedded one."""
    major = int(CHOSEN) if CHOSEN.isdigit() else 18
    with (
        tempfile.TemporaryDirectory(prefix="tributary-own-", ignore_cleanup_errors=True) as home,
        EmbeddedPostgres.join(Path(home), major=major, fast=True) as server,
    ):
        yield Cluster(server=server)
