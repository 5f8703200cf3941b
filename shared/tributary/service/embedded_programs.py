"""PostgreSQL's own programs (pg_dump, psql ...) with the embedded server: where they are, and what leads them to it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tributary.core.errors import BadSetting
from tributary.service.settings import Settings
from tributary.service.wiring import EMBEDDED_DATABASE, join_embedded


@contextmanager
def embedded_programs(settings: Settings, environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Keeps the embedded server up and gives an environment in which its programs are found, and find it.

    Raises BadSetting where the settings name a database by URL.
    """
    from psycopg.conninfo import conninfo_to_dict

    if settings.database_url is not None:
        raise BadSetting("TRIBUTARY_DATABASE_URL: names another server than the embedded one; run the program with that URL")
    with join_embedded(settings) as server:
        parts = conninfo_to_dict(server.url(EMBEDDED_DATABASE))
        yield {
            **environment,
            "PATH": f"{server.programs}{os.pathsep}{environment.get('PATH', os.defpath)}",
            "PGHOST": str(parts["host"]),
            "PGPORT": str(parts["port"]),
            "PGUSER": str(parts["user"]),
            "PGDATABASE": EMBEDDED_DATABASE,
        }
