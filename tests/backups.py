"""Backups as an operator makes them, and what is compared of two databases: rows and digests of each table, recalls, receipts.

pg_dump -> an empty server -> pg_restore        export -> an empty server -> restore
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from tests.tribes import Tribal
from tributary.service import Memory, Settings, open_memory, open_operator
from tributary.store import Target
from tributary.store._embedded_cluster import programs
from tributary.store.embedded import EmbeddedPostgres
from tributary.store.migrate import migrate

NEWEST = 18
"""Whose pg_dump dumps servers of every older major too."""
Held = Mapping[str, tuple[int, str]]
"""By table: how many rows, and a digest of them."""
DATABASE = "tributary"


@contextmanager
def empty_server(major: int = NEWEST) -> Iterator[str]:
    """Runs a server that nobody ever used, and gives a superuser's URL of an empty database of it."""
    with (
        tempfile.TemporaryDirectory(prefix="tributary-backup-", ignore_cleanup_errors=True) as home,
        EmbeddedPostgres.join(Path(home), major=major, fast=True) as server,
    ):
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
        yield server.url(DATABASE)


def program(name: str, *words: str) -> None:
    """Runs one of PostgreSQL's programs, which is to end well."""
    done = subprocess.run([programs(NEWEST) / name, *words], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def dump(url: str, file: Path, form: str) -> None:
    """Writes a backup as docs/backup.md says; `form` is custom or plain."""
    program("pg_dump", "--schema=tributary", f"--format={form}", f"--file={file}", url)


def load(url: str, file: Path, form: str) -> None:
    """Restores a backup into an empty database as docs/backup.md says: the roles and the extension, then what was dumped."""
    migrate(Target(url=url))
    program("psql", "--quiet", "--command=SET client_min_messages = warning", "--command=DROP SCHEMA tributary CASCADE", url)
    if form == "custom":
        program("pg_restore", "--exit-on-error", "--single-transaction", f"--dbname={url}", str(file))
    else:
        program("psql", "--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction", f"--file={file}", url)
    migrate(Target(url=url))


def held(url: str) -> Held:
    """Returns what every table holds, sequences too: equal where nothing at all differs."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        names = connection.execute(
            "SELECT c.relname, c.relkind FROM pg_class c WHERE c.relnamespace = 'tributary'::regnamespace"
            " AND c.relkind IN ('r', 'p', 'S') ORDER BY 1"
        ).fetchall()
        found = {}
        for name, kind in names:
            rows = "t" if kind != "S" else "(t.last_value, t.is_called)"
            query = sql.SQL(f"SELECT {rows}::text FROM tributary.{{}} t ORDER BY 1").format(sql.Identifier(name))
            found[name] = _digest(row for (row,) in connection.execute(query))
        return found


def held_by(lines: Sequence[bytes]) -> Held:
    """Returns what an export holds, table by table."""
    tables: dict[str, list[str]] = defaultdict(list)
    for line in lines[1:-1]:
        tables[json.loads(line)["table"]].append(line.decode())
    return {name: _digest(rows) for name, rows in tables.items()}


def different(one: Held, other: Held) -> list[str]:
    """Returns the tables that are not the same in both, by name."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def guarded(url: str) -> Mapping[str, list[str]]:
    """Returns what guards the data beside the rows: constraints, triggers, functions, indexes, grants and owners."""
    asked = {
        "constraints": "SELECT conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE connamespace = 'tributary'::regnamespace",
        "triggers": "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
        "functions": "SELECT pg_get_functiondef(oid) || coalesce(proacl::text, '') || proowner::regrole FROM pg_proc"
        " WHERE pronamespace = 'tributary'::regnamespace AND prokind = 'f'",
        "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = 'tributary'",
        "relations": "SELECT relname || ' ' || relowner::regrole || ' ' || coalesce(relacl::text, '') || relrowsecurity"
        " || coalesce(reloptions::text, '') FROM pg_class WHERE relnamespace = 'tributary'::regnamespace",
        "columns": "SELECT attrelid::regclass || ' ' || attname || ' ' || attstorage::text || attidentity::text"
        " || coalesce(pg_get_expr(adbin, adrelid), '') FROM pg_attribute JOIN pg_class c ON c.oid = attrelid"
        " LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)"
        " WHERE relnamespace = 'tributary'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped",
        "roles": "SELECT rolname || rolcanlogin || rolsuper || coalesce(rolconfig::text, '') FROM pg_roles"
        " WHERE rolname LIKE 'tributary%'",
        "memberships": "SELECT roleid::regrole || ' ' || member::regrole FROM pg_auth_members"
        " WHERE roleid::regrole::text LIKE 'tributary%'",
    }
    with psycopg.connect(url, autocommit=True) as connection:
        return {name: sorted(row for (row,) in connection.execute(query.encode())) for name, query in asked.items()}


def moved(tribal: Tribal, url: str) -> Settings:
    """Returns the tribe's settings for another database."""
    return tribal.settings.model_copy(update={"database_url": url})


@contextmanager
def memory_at(tribal: Tribal, url: str) -> Iterator[Memory]:
    with open_memory(moved(tribal, url), adapters=tribal.adapters) as memory:
        yield memory


def exported(tribal: Tribal, url: str) -> list[bytes]:
    lines: list[bytes] = []
    with open_operator(moved(tribal, url), adapters=tribal.adapters) as operator:
        operator.export(tribal.name, lines.append)
    return lines


def restored(tribal: Tribal, url: str, lines: Sequence[bytes]) -> None:
    with open_operator(moved(tribal, url), adapters=tribal.adapters) as operator:
        operator.migrate()
        operator.restore(lines)


def signed(receipt: Any) -> dict[str, Any]:
    """Returns a receipt as its holder keeps it."""
    return {**receipt.document(), "signature": receipt.signature}


def _digest(rows: Any) -> tuple[int, str]:
    every = sorted(rows)
    return len(every), hashlib.sha256("\n".join(every).encode()).hexdigest()
