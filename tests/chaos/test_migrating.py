"""The schema is migrated while the code of the release before serves a crowd: nothing is lost, and nobody waits for long."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest

from tests.chaos.crowd import Crowd, gathered
from tests.chaos.invariants import broken
from tests.chaos.releases import REVISION, Release, later_release
from tests.chaos.scene import eventually
from tests.tribes import open_tribal
from tributary.core.errors import Overloaded
from tributary.store import Target
from tributary.store.level import BASELINE
from tributary.store.migrate import migrate

# What an expanding migration does: a column, a table, a new version of a function beside the old one, and who may call it.
EXPANDS = """
    ALTER TABLE tributary.lesson ADD COLUMN later_note text;
    CREATE TABLE tributary.later (tribe_id uuid NOT NULL, n integer NOT NULL, PRIMARY KEY (tribe_id, n));"""
SECOND_VERSION = """
    DO $$ BEGIN
        EXECUTE replace(pg_get_functiondef('tributary.recall_v1'::regproc), 'tributary.recall_v1(', 'tributary.recall_v2(');
        EXECUTE (SELECT string_agg(format('GRANT EXECUTE ON FUNCTION tributary.recall_v2 TO %I;', a.grantee::regrole), ' ')
                 FROM pg_proc p, aclexplode(p.proacl) a WHERE p.oid = 'tributary.recall_v1'::regproc AND a.grantee <> 0);
    END $$;"""
READERS = 2
small_crowd = partial(gathered, tribes=1, writers=2, readers=READERS)
FAILS = "SELECT 1 / 0;"
OLD_WAY = "ALTER TABLE tributary.lesson ADD COLUMN later_note text"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return later_release(tmp_path_factory.mktemp("later"), [EXPANDS, SECOND_VERSION], calls=("recall_v1", "recall_v2"))


def test_two_processes_of_a_later_release_migrate_under_a_crowd_that_the_older_one_serves(
    database_url: str, release: Release
) -> None:
    both = [release.migration(database_url) for _ in range(2)]
    with small_crowd(database_url) as crowd:
        with crowd.busy():
            crowd.goes_on()
            for one in both:
                one.begins()
            assert [one.ends() for one in both] == [(0, REVISION)] * 2
            # what a migration cannot do within its transaction the owner does beside it
            with psycopg.connect(database_url, autocommit=True) as owner:
                owner.execute("CREATE INDEX CONCURRENTLY lesson_later ON tributary.lesson (tribe_id, later_note)")
            crowd.goes_on()
        _is_whole(crowd)
    assert _revision(database_url) == REVISION


def test_a_migration_that_fails_half_way_leaves_the_schema_and_the_crowd_as_they_were(database_url: str, tmp_path: Path) -> None:
    failing = later_release(tmp_path, [EXPANDS, FAILS]).migration(database_url)
    with small_crowd(database_url) as crowd:
        with crowd.busy():
            crowd.goes_on()
            failing.begins()
            code, complained = failing.ends()
            crowd.goes_on()
        _is_whole(crowd)
    assert code == 1
    assert "nothing was changed: division by zero" in complained
    assert _revision(database_url) == BASELINE
    assert not _has_column(database_url)


def test_a_migration_behind_a_long_transaction_lets_readers_through_until_it_gets_its_lock(
    database_url: str, release: Release
) -> None:
    migration = release.migration(database_url)
    with small_crowd(database_url) as crowd:
        with crowd.busy():
            with _long_transaction(database_url):
                migration.begins()
                tries: set[object] = set()
                eventually(lambda: len(_tries_waiting(database_url, tries)) >= 2)  # it let go, and began anew
                crowd.goes_on()
                assert migration.runs()
                assert not _has_column(database_url)
            assert migration.ends() == (0, REVISION)
            crowd.goes_on()
        _is_whole(crowd)


def test_a_change_of_a_table_that_waits_for_its_lock_as_long_as_it_takes_keeps_all_readers_waiting(database_url: str) -> None:
    """The control of the test above: the same change without `lock_timeout`, as `migrate` did it once."""
    with small_crowd(database_url) as crowd:
        with _long_transaction(database_url) as reader:
            changing = threading.Thread(target=_changes_the_old_way, args=(database_url,))
            changing.start()
            eventually(lambda: bool(_tries_waiting(database_url, set())))
            with crowd.busy():
                eventually(lambda: _waiting_readers(database_url) >= READERS)  # each of them, behind the change
                reader.rollback()
                crowd.goes_on()
            changing.join()
        _is_whole(crowd)


def test_a_migration_that_never_gets_its_lock_says_so_and_changes_nothing(database_url: str) -> None:
    with psycopg.connect(database_url) as holder:
        holder.execute("LOCK TABLE tributary.alembic_version")
        with pytest.raises(Overloaded, match="did not get a lock that others hold, and nothing was changed"):
            migrate(Target(url=database_url), locks_s=0)
    assert _revision(database_url) == BASELINE


def test_code_of_a_later_release_on_the_schema_of_the_older_one_asks_for_the_migration(
    database_url: str, release: Release
) -> None:
    with open_tribal(database_url) as tribal:
        tribal.learn(tribal.curator, "The deploy API needs X-Batch.")
        assert release.recalls(database_url, tribal.curator_token, "deploy API") == "not_migrated"
        migration = release.migration(database_url)
        migration.begins()
        assert migration.ends() == (0, REVISION)
        assert release.recalls(database_url, tribal.curator_token, "deploy API") == "complete 1"
        assert len(tribal.recall("deploy API").hits) == 1


def _is_whole(crowd: Crowd) -> None:
    crowd.settle()
    assert crowd.complaints() == []
    assert broken(crowd.url) == []


def _revision(url: str) -> object:
    return _one(url, "SELECT version_num FROM tributary.alembic_version")


def _has_column(url: str) -> bool:
    return bool(_one(url, "SELECT count(*) FROM information_schema.columns WHERE column_name = 'later_note'"))


def _one(url: str, query: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
    return row[0] if row else None


@contextmanager
def _long_transaction(url: str) -> Iterator[psycopg.Connection]:
    """Somebody has read lessons, and does not end the transaction."""
    with psycopg.connect(url) as reader:
        reader.execute("SELECT count(*) FROM tributary.lesson")
        yield reader


def _tries_waiting(url: str, tries: set[object]) -> set[object]:
    """Adds when each transaction began that waits for a lock to change the table of lessons."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            """SELECT a.xact_start FROM pg_locks l JOIN pg_stat_activity a USING (pid)
               WHERE NOT l.granted AND l.mode = 'AccessExclusiveLock' AND l.relation = 'tributary.lesson'::regclass"""
        )
        tries.update(began for (began,) in found)
    return tries


def _waiting_readers(url: str) -> int:
    query = """SELECT count(*) FROM pg_locks
               WHERE NOT granted AND mode = 'AccessShareLock' AND relation = 'tributary.lesson'::regclass"""
    return int(str(_one(url, query)))


def _changes_the_old_way(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(OLD_WAY)
