"""What lets tribes be spread over databases or shards: whose a row is stands first in its keys (docs/scale.md)."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

SCALE = Path(__file__).parents[2] / "docs" / "scale.md"
GLOBAL = {"alembic_version", "evaluation", "failed_sign_in", "schema_requirement", "signing_key", "space", "space_reference"}
"""Tables that are of no tribe."""
UNIQUE_OVER_ALL_TRIBES = {
    "agent_principal_principal_key",
    "session_session_hash_key",
    "token_token_hash_key",
    "tribe_name_key",
}
OF_FILES_BY_HASH = {"decision_file", "lesson_file"}


@pytest.fixture
def connection(database_url: str) -> psycopg.Connection:
    return psycopg.connect(database_url, autocommit=True)


def test_every_table_is_of_tribes_but_for_the_documented_ones(connection: psycopg.Connection) -> None:
    with connection:
        found = connection.execute(
            "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'tributary'::regnamespace AND c.relkind = 'r'"
            " AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tribe_id')"
        ).fetchall()
    assert {str(name) for (name,) in found} == GLOBAL
    documented = re.findall(r"^\| `(\w+)` \|", SCALE.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(documented) >= GLOBAL


def test_every_index_of_a_tribes_table_begins_with_the_tribe_but_for_the_documented_ones(connection: psycopg.Connection) -> None:
    with connection:
        found = connection.execute(
            "SELECT t.relname, i.relname FROM pg_index x"
            " JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid"
            " WHERE t.relnamespace = 'tributary'::regnamespace AND (SELECT attname FROM pg_attribute"
            " WHERE attrelid = t.oid AND attnum = x.indkey[0]) IS DISTINCT FROM 'tribe_id'"
        ).fetchall()
    assert {str(index) for table, index in found if table not in GLOBAL} == UNIQUE_OVER_ALL_TRIBES | OF_FILES_BY_HASH
    documented = re.findall(r"`(\w+)`", SCALE.read_text(encoding="utf-8"))
    assert set(documented) >= UNIQUE_OVER_ALL_TRIBES | OF_FILES_BY_HASH


def test_every_reference_between_tribes_tables_carries_the_tribe(connection: psycopg.Connection) -> None:
    with connection:
        found = connection.execute(
            "SELECT confrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE contype = 'f' AND connamespace = 'tributary'::regnamespace"
        ).fetchall()
    across = [definition for to, definition in found if str(to).removeprefix("tributary.") not in GLOBAL]
    assert len(across) > 10
    assert all(re.match(r"FOREIGN KEY \(tribe_id\b.*REFERENCES tributary\.\w+\(tribe_id\b", definition) for definition in across)
