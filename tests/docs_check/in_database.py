"""Runs the SQL of a page in the database of the local server, as its superuser: `python in_database.py FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

import psycopg

from tributary.store.embedded import EmbeddedPostgres


def main() -> None:
    """Runs the statements of the file one after another."""
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    with (
        EmbeddedPostgres.join(Path.home() / ".local/share/tributary") as server,
        psycopg.connect(server.url("tributary"), autocommit=True) as connection,
    ):
        for statement in text.split(";\n"):
            if statement.strip():
                connection.execute(statement.encode())


if __name__ == "__main__":
    main()
