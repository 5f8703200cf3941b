"""The schema: made once however often and by however many it is asked for, the same by every way, and fit for the code."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from typer.testing import CliRunner

import tributary
from tests.conftest import database_at
from tests.tribes import open_tribal
from tributary.core.errors import CodeTooOld, NotMigrated, TributaryError, Unavailable
from tributary.edges.cli.app import app
from tributary.edges.cli.exits import exit_for
from tributary.models.embedders import HashedEmbedder
from tributary.service import Memory, Settings, open_memory
from tributary.service.wiring import Adapters
from tributary.store import CODE_LEVEL, RUNTIME, Target, connect
from tributary.store.migrate import head, migrate, migration_sql
from tributary.store.queries import load

SOURCES = Path(tributary.__file__).parent
ROOMS = sorted(path.stem for path in (SOURCES / "store" / "sql").glob("*.sql"))
STATEMENTS = [(room, name) for room in ROOMS for name in load(room)]
PATIENCE_S = 60

# What a schema is made of, one listing a kind of object; each row as text.
CATALOGUE: dict[str, LiteralString] = {
    "schemas": "SELECT nspname, pg_get_userbyid(nspowner), nspacl::text FROM pg_namespace WHERE nspname = 'tributary'",
    "tables": """
        SELECT c.relname, c.relkind, pg_get_userbyid(c.relowner), c.relacl::text, c.reloptions::text, c.relpersistence
        FROM pg_class c WHERE c.relnamespace = 'tributary'::regnamespace ORDER BY 1""",
    "columns": """
        SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated,
               a.attstorage, pg_get_expr(d.adbin, d.adrelid), a.attacl::text
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE c.relnamespace = 'tributary'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, 2""",
    "constraints": """
        SELECT c.conrelid::regclass::text, c.conname, c.contype, pg_get_constraintdef(c.oid), c.convalidated
        FROM pg_constraint c WHERE c.connamespace = 'tributary'::regnamespace ORDER BY 1, 2""",
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'tributary' ORDER BY 1, 2",
    "functions": """
        SELECT p.oid::regprocedure::text, pg_get_functiondef(p.oid), pg_get_userbyid(p.proowner), p.proacl::text
        FROM pg_proc p WHERE p.pronamespace = 'tributary'::regnamespace ORDER BY 1""",
    "triggers": """
        SELECT c.relname, t.tgname, pg_get_triggerdef(t.oid), t.tgenabled FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = 'tributary'::regnamespace AND NOT t.tgisinternal ORDER BY 1, 2""",
    "types": """
        SELECT t.typname, t.typtype, pg_get_userbyid(t.typowner), t.typacl::text FROM pg_type t
        WHERE t.typnamespace = 'tributary'::regnamespace ORDER BY 1""",
    "extensions": "SELECT extname, extnamespace::regnamespace::text FROM pg_extension ORDER BY 1",
    "revisions": "SELECT version_num FROM tributary.alembic_version",
    "requirements": "SELECT * FROM tributary.schema_requirement",
    "keys": "SELECT key_id, octet_length(secret) FROM tributary.signing_key",
}


def catalogue(url: str) -> dict[str, list[str]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return {kind: [str(row) for row in connection.execute(query).fetchall()] for kind, query in CATALOGUE.items()}


def memory_at(url: str) -> Memory:
    settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": url})
    return open_memory(settings, adapters=Adapters(embedder=HashedEmbedder()))


@pytest.fixture
def schema_url(server_url: str, template: str) -> str:
    """The template itself, for tests that change nothing."""
    return database_at(server_url, template)


def execute(url: str, statement: LiteralString | bytes) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def test_migrating_again_changes_nothing(empty_database_url: str) -> None:
    target = Target(url=empty_database_url)
    assert migrate(target) == head()
    before = catalogue(empty_database_url)
    assert all(before.values()), "a listing that finds nothing would compare nothing"
    assert migrate(target) == head()
    assert catalogue(empty_database_url) == before


def test_migrating_again_leaves_what_a_tribe_has_learned(database_url: str) -> None:
    with open_tribal(database_url) as tribal:
        tribal.learn(tribal.curator, "The deploy API needs X-Batch.")
        migrate(Target(url=database_url))
        assert tribal.status_counts() == {"active": 1}


def test_two_processes_that_migrate_at_once_both_succeed(empty_database_url: str) -> None:
    program = (
        "import sys; from tributary.store import Target; from tributary.store.migrate import migrate;"
        "print(migrate(Target(url=sys.argv[1])))"
    )
    with psycopg.connect(empty_database_url, autocommit=True) as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", (0x7472_6962,))
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", program, empty_database_url],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        _until_both_wait(holder, processes)
        holder.execute("SELECT pg_advisory_unlock(%s)", (0x7472_6962,))
        results = [(*process.communicate(timeout=PATIENCE_S), process.returncode) for process in processes]
    assert results == [(f"{head()}\n", "", 0)] * 2
    with memory_at(empty_database_url) as memory:
        memory.health()


def _until_both_wait(holder: psycopg.Connection, processes: list[subprocess.Popen[str]]) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        waiting = holder.execute(
            """SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
        ).fetchone()
        if waiting == (2,):
            return
        assert all(process.poll() is None for process in processes), "a migration did not wait for the other"
        time.sleep(0.05)
    pytest.fail("the migrations never came to wait")


def test_the_script_makes_the_same_schema_as_migrating_and_can_be_followed_by_it(
    empty_database_url: str, database_url: str
) -> None:
    execute(empty_database_url, migration_sql().encode())
    by_script, by_code = catalogue(empty_database_url), catalogue(database_url)
    for kind in CATALOGUE:
        assert by_script[kind] == by_code[kind], kind
    assert migrate(Target(url=empty_database_url)) == head()
    assert catalogue(empty_database_url) == by_script
    with open_tribal(empty_database_url) as tribal:
        assert tribal.learn(tribal.curator, "The deploy API needs X-Batch.").lesson is not None


def test_the_listing_notices_a_changed_grant_a_function_and_a_constraint(database_url: str) -> None:
    before = catalogue(database_url)
    execute(database_url, "GRANT DELETE ON tributary.lesson TO tributary_runtime")
    execute(database_url, "ALTER FUNCTION tributary.latest_v1() VOLATILE")
    execute(database_url, "ALTER TABLE tributary.rival DROP CONSTRAINT rival_not_both")
    after = catalogue(database_url)
    assert {kind for kind in CATALOGUE if before[kind] != after[kind]} == {"tables", "functions", "constraints"}


def test_a_migration_that_is_refused_changes_nothing_and_says_why(empty_database_url: str) -> None:
    execute(empty_database_url, "CREATE SCHEMA tributary")
    execute(empty_database_url, "CREATE TABLE tributary.lesson_event (mine integer)")
    execute(empty_database_url, "ALTER SCHEMA tributary OWNER TO tributary_owner")
    with pytest.raises(TributaryError, match='nothing was changed: relation "lesson_event" already exists') as caught:
        migrate(Target(url=empty_database_url))
    assert caught.value.code == "error"
    with psycopg.connect(empty_database_url) as connection:
        left = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'tributary'").fetchall()
        extensions = connection.execute("SELECT extname FROM pg_extension WHERE extname = 'vector'").fetchall()
    assert (left, extensions) == ([("lesson_event",)], [])


@pytest.mark.parametrize("version", ["0.7.4", "0.4.0", "0.0.9-beta"])
def test_a_pgvector_older_than_0_8_is_refused_by_its_version(empty_database_url: str, version: str) -> None:
    _pretend_pgvector(empty_database_url, version)
    with pytest.raises(TributaryError, match=f"pgvector {version} is installed; 0.8 or newer is needed"):
        migrate(Target(url=empty_database_url))


@pytest.mark.parametrize("version", ["0.8.0", "0.8", "0.10.0", "1.0", "0.9.0-rc1", "2"])
def test_a_pgvector_of_0_8_or_newer_is_taken(empty_database_url: str, version: str) -> None:
    _pretend_pgvector(empty_database_url, version)
    assert migrate(Target(url=empty_database_url)) == head()


def _pretend_pgvector(url: str, version: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("UPDATE pg_extension SET extversion = %s WHERE extname = 'vector'", (version,))


def test_a_database_that_cannot_be_reached_is_told_as_that(server_url: str) -> None:
    for url in ("postgresql://nobody:hunter2@127.0.0.1:1/nowhere", database_at(server_url, "no_such_database")):
        with pytest.raises(Unavailable) as caught:
            migrate(Target(url=url))
        assert "hunter2" not in caught.value.detail


def test_a_server_without_our_roles_is_not_migrated(server_url: str) -> None:
    with pytest.raises(NotMigrated):
        connect(Target(url=server_url, assume="a_role_that_nobody_made"))


def test_a_database_without_the_schema_is_not_migrated(empty_database_url: str) -> None:
    with memory_at(empty_database_url) as memory:
        with pytest.raises(NotMigrated, match="tributary migrate"):
            memory.health()
        migrate(Target(url=empty_database_url))
        memory.health()


def test_a_schema_without_its_requirement_is_not_migrated(database_url: str) -> None:
    execute(database_url, "DELETE FROM tributary.schema_requirement")
    with memory_at(database_url) as memory, pytest.raises(NotMigrated):
        memory.health()


@pytest.mark.parametrize(("above", "old"), [(-1, False), (0, False), (1, True), (1000, True)])
def test_code_older_than_the_schema_requires_says_so(database_url: str, above: int, old: bool) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE tributary.schema_requirement SET oldest_code = %s", (CODE_LEVEL + above,))
    with memory_at(database_url) as memory:
        if old:
            with pytest.raises(CodeTooOld, match="upgrade"):
                memory.health()
        else:
            memory.health()


def test_code_older_than_the_schema_requires_serves_no_request(database_url: str) -> None:
    with open_tribal(database_url) as tribal:
        execute(database_url, "UPDATE tributary.schema_requirement SET oldest_code = 1000")
        with pytest.raises(CodeTooOld):
            tribal.learn(tribal.curator, "The deploy API needs X-Batch.")
        with pytest.raises(CodeTooOld):
            tribal.recall("deploy API")
        assert tribal.status_counts() == {}


def test_a_new_schema_requires_no_newer_code_than_this(schema_url: str) -> None:
    with psycopg.connect(schema_url) as connection:
        found = connection.execute("SELECT oldest_code FROM tributary.schema_requirement").fetchall()
    assert [one for (one,) in found if one <= CODE_LEVEL] == [1]


def test_there_are_statements_of_every_room() -> None:
    assert ROOMS == ["access", "actions", "curate", "evaluations", "evidence", "garden", "learn", "recall", "spaces", "transfer"]
    assert len(STATEMENTS) > 20


@pytest.mark.parametrize(("room", "name"), STATEMENTS)
def test_every_named_statement_is_used_has_a_purpose_and_can_be_prepared(schema_url: str, room: str, name: str) -> None:
    called = re.compile(rf"statement\(\s*\"{room}\",\s*\"{name}\"\s*\)")
    assert [path for path in SOURCES.rglob("*.py") if called.search(path.read_text(encoding="utf-8"))]
    text = load(room)[name]
    assert re.match(r"-- \S.*\.?\n", text)
    with psycopg.connect(schema_url) as connection:
        connection.execute(f"PREPARE shipped AS {_numbered(text)}".encode())


def test_every_statement_that_the_code_asks_for_is_there() -> None:
    asked = {
        found
        for path in SOURCES.rglob("*.py")
        for found in re.findall(r"statement\(\s*\"(\w+)\",\s*\"(\w+)\"\s*\)", path.read_text(encoding="utf-8"))
    }
    assert asked == set(STATEMENTS)


def test_a_statement_that_the_schema_does_not_serve_cannot_be_prepared(schema_url: str) -> None:
    text = load("recall")["signing_key"].replace("retired_at", "no_such_column")
    with psycopg.connect(schema_url) as connection, pytest.raises(psycopg.errors.UndefinedColumn):
        connection.execute(f"PREPARE shipped AS {_numbered(text)}".encode())


def _numbered(text: str) -> str:
    """Returns a statement with the database's own placeholders, $1 and on."""
    names: list[str] = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
    return re.sub(r"%\((\w+)\)s", lambda match: f"${names.index(match[1]) + 1}", text)


def test_functions_that_run_as_the_owner_name_their_schemas_and_end_with_pg_temp(schema_url: str) -> None:
    """Else a caller could put an object of its own in front of ours."""
    with psycopg.connect(schema_url) as connection:
        rows = connection.execute(
            """SELECT p.proname, p.proconfig FROM pg_proc p
               WHERE p.pronamespace = 'tributary'::regnamespace AND p.prosecdef"""
        ).fetchall()
    assert len(rows) > 5
    for name, configuration in rows:
        paths = [one for one in configuration or () if one.startswith("search_path=")]
        assert len(paths) == 1, name
        assert paths[0].endswith("pg_temp"), name


def test_the_runtime_role_may_run_what_the_code_calls_and_nothing_else(schema_url: str) -> None:
    called = set(re.findall(r"tributary\.(\w+_v\d+)\(", "\n".join(load(room)[name] for room, name in STATEMENTS)))
    owners_own = {
        *("index_name_v1", "index_vectors_v1", "add_agent_v1", "add_token_v1", "has_curator_v1"),
        *("bind_principal_v1", "last_used_v1"),
        *("spaces_v1", "space_ensure_v1", "space_begin_v1", "space_switch_v1"),
        *("space_dropping_v1", "space_clear_v1", "space_end_v1"),
        *("record_evaluation_v1", "after_restore_v1"),
    }
    with connect(Target(url=schema_url, assume=RUNTIME)) as connection:
        allowed = connection.execute(
            """SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'tributary'::regnamespace
               AND has_function_privilege(p.oid, 'EXECUTE')"""
        ).fetchall()
    assert {name for (name,) in allowed} == called - owners_own


def test_schema_of_a_version_that_this_one_does_not_know_is_refused_in_plain_words(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("SET search_path = tributary, public")
        connection.execute("UPDATE alembic_version SET version_num = 'baseline.1'")
    with pytest.raises(NotMigrated, match="another version of Tributary"):
        migrate(Target(url=database_url))


def test_commands_say_of_a_schema_that_this_one_does_not_know_what_migrating_says(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE tributary.alembic_version SET version_num = 'baseline.1'")
    monkeypatch.setenv("TRIBUTARY_DATABASE_URL", database_url)
    for command in (("garden",), ("agent", "list"), ("tribe", "list"), ("tribe", "create", "a")):
        ended = CliRunner().invoke(app, command)
        assert (ended.exit_code, "another version of Tributary" in ended.stderr) == (exit_for("not_migrated"), True), command
    probed = CliRunner().invoke(app, ["probe"])
    assert "should be: one that this version knows" in probed.stdout


def test_schema_of_a_later_release_is_left_as_it_is_while_it_serves_this_code(database_url: str) -> None:
    """So that an older release can be deployed again, and a deployment that fails can be taken back."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("SET search_path = tributary, public")
        connection.execute("UPDATE alembic_version SET version_num = '0007_later'")
        assert migrate(Target(url=database_url)) == "0007_later"
        connection.execute("UPDATE schema_requirement SET oldest_code = 99")
    with pytest.raises(CodeTooOld):
        migrate(Target(url=database_url))
