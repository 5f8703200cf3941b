"""One PostgreSQL server a session, one migrated template, a copy of it for each test that asks.

TRIBUTARY_TEST_POSTGRES chooses the server: 16 or 18 (embedded, 18 by default) or the URL of a superuser's login.
"""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.tribes import Tribal, open_tribal

TEMPLATE = "tributary_template"
CHOSEN = os.environ.pop("TRIBUTARY_TEST_POSTGRES", "18")


def pytest_configure() -> None:
    """Takes interrupts again: a run in the background ignores them, and would hand that down to every process it starts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    return f"PostgreSQL: {CHOSEN if CHOSEN.isdigit() else 'by URL'}"


MAY_BE_SKIPPED = ("sentence-transformers is not installed", "float32 weights", "runbooks are not in", "may mount no file")
"""Reasons for a skip that CI accepts: libraries of several gigabytes, behind an extra of their own, foreign material, and a
machine on which no disk of a test's own can be filled."""


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a CI run in which a test was skipped: there, everything that tests need is installed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("CI") or reporter is None:
        return
    reasons = [str(report.longrepr) for report in reporter.stats.get("skipped", [])]
    if any(all(known not in reason for known in MAY_BE_SKIPPED) for reason in reasons):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


_OF_THE_PERSON = ("TRIBUTARY_", "PG", "OTEL_", "AWS_", "OPENAI_", "ANTHROPIC_", "CLAUDE_", "TYPESAFE_")


@pytest.fixture(autouse=True)
def _scrubbed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads the settings, databases or credentials of whoever runs it."""
    for name in list(os.environ):
        if name.startswith(_OF_THE_PERSON) or name == "DATABASE_URL":
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """What a test sets up for the logs ends with it: a later one would write to a stream that is closed by then."""
    logger = logging.getLogger("tributary")
    handlers, level, propagate = list(logger.handlers), logger.level, logger.propagate
    yield
    for handler in [one for one in logger.handlers if one not in handlers]:
        logger.removeHandler(handler)
        handler.close()
    for handler in [one for one in handlers if one not in logger.handlers]:
        logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = propagate


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """A superuser's URL of the server under test."""
    if not CHOSEN.isdigit():
        yield CHOSEN
        return
    from tributary.store.embedded import EmbeddedPostgres

    with (
        tempfile.TemporaryDirectory(prefix="tributary-test-", ignore_cleanup_errors=True) as home,
        EmbeddedPostgres.join(Path(home), major=int(CHOSEN), fast=True) as server,
    ):
        yield server.url()


@pytest.fixture(scope="session")
def template(server_url: str) -> str:
    """The name of a migrated database that tests copy."""
    from tributary.store import Target
    from tributary.store.migrate import migrate

    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(TEMPLATE)))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(TEMPLATE)))
    migrate(Target(url=database_at(server_url, TEMPLATE)))
    return TEMPLATE


@pytest.fixture
def empty_database_url(server_url: str) -> Iterator[str]:
    """A superuser's URL of a new database without our schema."""
    with new_database(server_url, "template1") as url:
        yield url


@pytest.fixture
def database_url(server_url: str, template: str) -> Iterator[str]:
    """A superuser's URL of a new, migrated database."""
    with new_database(server_url, template) as url:
        yield url


@pytest.fixture
def tribal(database_url: str) -> Iterator[Tribal]:
    """A tribe with a memory over a database of its own."""
    with open_tribal(database_url) as opened:
        yield opened


def database_at(url: str, database: str) -> str:
    """Returns `url` with another database in it."""
    parts = conninfo_to_dict(url)
    if str(parts.get("host", "")).startswith("/"):
        return f"postgresql://{parts.get('user', 'postgres')}@/{database}?host={parts['host']}&port={parts.get('port', 5432)}"
    password = f":{parts['password']}" if parts.get("password") else ""
    return f"postgresql://{parts['user']}{password}@{parts['host']}:{parts.get('port', 5432)}/{database}"


@contextmanager
def new_database(server_url: str, template: str) -> Iterator[str]:
    """Gives a superuser's URL of a copy of a template, and drops it afterwards."""
    name = f"test_{uuid.uuid4().hex}"
    admin = make_conninfo(server_url)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))
    try:
        yield database_at(server_url, name)
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
