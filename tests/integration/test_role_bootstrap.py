"""The database roles: made by a master user who is no superuser, by several migrations at once, and once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files

import psycopg
import pytest

from tests.clusters import ALL_ROLES, FUNCTION_ROLES, Cluster, cluster_of_its_own
from tributary.core.errors import BadSetting
from tributary.service import Settings, open_memory
from tributary.store import OWNER, Target, connect
from tributary.store.migrate import head, migrate

BOOTSTRAP = files("tributary.store").joinpath("sql", "migrations", "0000_bootstrap.sql").read_text(encoding="utf-8")
LOGINS = {*FUNCTION_ROLES, "tributary_operator"}
PATIENCE_S = 30


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    with cluster_of_its_own() as opened:
        yield opened


@pytest.fixture
def cluster(server: Cluster) -> Cluster:
    """A cluster without a role of ours."""
    server.wipe()
    return server


@pytest.fixture
def rds(cluster: Cluster) -> Cluster:
    cluster.stand_in_for_rds()
    return cluster


def roles(cluster: Cluster) -> dict[str, tuple[object, ...]]:
    """Returns of each role whether it logs in, its settings, and what it is a member of, with the right to become it or not."""
    rows = cluster.run(
        """SELECT r.rolname, r.rolcanlogin, r.rolconfig, (
               SELECT array_agg(DISTINCT g.rolname::text ORDER BY g.rolname::text) FROM pg_auth_members m
               JOIN pg_roles g ON g.oid = m.roleid WHERE m.member = r.oid)
           FROM pg_roles r WHERE r.rolname LIKE 'tributary%' ORDER BY 1"""
    )
    return {str(name): tuple(rest) for name, *rest in rows}


def test_a_master_user_who_is_no_superuser_migrates_from_zero_and_again(rds: Cluster) -> None:
    url = rds.new_database("test_zero", owner="master")
    assert migrate(Target(url=url)) == head()
    made = roles(rds)
    assert set(made) == set(ALL_ROLES)
    assert migrate(Target(url=url)) == head()
    assert roles(rds) == made
    assert rds.run("SELECT count(*) FROM tributary.tribe", database="test_zero") == [(0,)]
    # the second database of the cluster finds the roles made
    assert migrate(Target(url=rds.new_database("test_second", owner="master"))) == head()
    assert roles(rds) == made


def test_where_rds_iam_is_there_functions_and_the_operator_log_in_by_it_and_elsewhere_nobody_does(cluster: Cluster) -> None:
    url = cluster.new_database("test_login")
    migrate(Target(url=url))
    assert {name for name, (logs_in, *_) in roles(cluster).items() if logs_in} == set()
    cluster.stand_in_for_rds()
    migrate(Target(url=url))
    found = roles(cluster)
    assert {name for name, (logs_in, *_) in found.items() if logs_in} == LOGINS
    assert {name for name, (_, _, of) in found.items() if isinstance(of, list) and "rds_iam" in of} == LOGINS


def test_what_a_function_runs_is_bounded_by_its_login_unless_somebody_chose_otherwise(rds: Cluster) -> None:
    url = rds.new_database("test_bounds", owner="master")
    migrate(Target(url=url))
    shown = "SELECT current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')"
    for role in FUNCTION_ROLES:
        assert rds.run(shown, database="test_bounds", user=role) == [("25s", "25s")]
    rds.run("ALTER ROLE tributary_recall SET statement_timeout = '5s'")
    migrate(Target(url=url))
    assert rds.run(shown, database="test_bounds", user="tributary_recall") == [("5s", "25s")]


def test_the_operator_becomes_the_owner_and_is_nothing_by_itself(rds: Cluster) -> None:
    url = rds.new_database("test_operator", owner="master")
    migrate(Target(url=url))
    operator = rds.url("test_operator", "tributary_operator")
    with connect(Target(url=operator, assume=OWNER)) as connection:
        assert connection.execute("SELECT count(*) FROM tributary.tribe").fetchone() == (0,)
    with connect(Target(url=operator)) as connection:
        for refused in ("SELECT * FROM tributary.tribe", "SET ROLE tributary_runtime", "CREATE SCHEMA mine"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(refused.encode())


def test_a_function_becomes_nobody_else(rds: Cluster) -> None:
    migrate(Target(url=rds.new_database("test_become", owner="master")))
    for role in FUNCTION_ROLES:
        with connect(Target(url=rds.url("test_become", role))) as connection:
            for other in set(ALL_ROLES) - {role}:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(f"SET ROLE {other}".encode())


def test_who_could_make_nothing_migrates_again_where_all_is_in_place(rds: Cluster) -> None:
    """A second master user, and the operator: both may become the owner, neither may grant a role of ours to anybody."""
    url = rds.new_database("test_again", owner="master")
    migrate(Target(url=url))
    rds.run("CREATE ROLE second LOGIN CREATEROLE")
    rds.run("GRANT tributary_owner TO second", user="master")
    for user in ("second", "tributary_operator"):
        assert migrate(Target(url=rds.url("test_again", user))) == head()


def test_who_may_neither_become_the_owner_nor_grant_that_is_told(rds: Cluster) -> None:
    migrate(Target(url=rds.new_database("test_told", owner="master")))
    rds.run("CREATE ROLE second LOGIN CREATEROLE")
    target = Target(url=rds.url("test_told", "second"), setting="TRIBUTARY_OWNER_URL")
    with pytest.raises(BadSetting, match='nothing was changed: permission denied to grant role "tributary_owner"') as caught:
        migrate(target)
    assert caught.value.variable == "TRIBUTARY_OWNER_URL"
    remedy = caught.value.detail.partition("run: ")[2]
    rds.run(remedy, user="master")
    assert migrate(target) == head()


def test_a_login_that_could_do_all_is_refused_where_it_would_serve(cluster: Cluster) -> None:
    url = cluster.new_database("test_mighty")
    migrate(Target(url=url))
    cluster.run("CREATE ROLE mighty LOGIN IN ROLE tributary_owner")
    cluster.run("CREATE ROLE lesser LOGIN IN ROLE tributary_runtime")
    for login, admitted in (("postgres", False), ("mighty", False), ("tributary_operator", False), ("lesser", True)):
        cluster.run(f"ALTER ROLE {login} LOGIN")
        given = {"TRIBUTARY_DATABASE_URL": cluster.url("test_mighty", login), "owner_url": cluster.url("test_mighty", "another")}
        with open_memory(Settings.model_validate(given)) as memory:
            if admitted:
                memory.health()
                continue
            with pytest.raises(BadSetting, match=f"TRIBUTARY_DATABASE_URL: its login '{login}' is a superuser or may become"):
                memory.health()


def test_one_login_under_both_urls_serves_as_the_runtime_role_within_its_time_limit(cluster: Cluster) -> None:
    url = cluster.new_database("test_same")
    migrate(Target(url=url))
    with open_memory(Settings.model_validate({"TRIBUTARY_DATABASE_URL": url, "owner_url": url})) as memory:
        found = memory.database.rows("SELECT current_user, current_setting('statement_timeout')", {})
    assert found == [("tributary_runtime", "25s")]


def test_a_login_that_may_not_step_down_is_told_what_to_grant(cluster: Cluster) -> None:
    migrate(Target(url=cluster.new_database("test_down")))
    cluster.run("CREATE ROLE nobody LOGIN")
    settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": cluster.url("test_down", "nobody")})
    with open_memory(settings) as memory, pytest.raises(BadSetting, match="'nobody' may not become tributary_runtime"):
        memory.health()


def test_threads_of_one_process_migrate_at_once(cluster: Cluster) -> None:
    urls = [cluster.new_database(f"test_thread{number}") for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda url: migrate(Target(url=url)), urls)) == {head()}


def test_control_whoever_made_a_role_is_its_member_and_may_not_become_it(rds: Cluster) -> None:
    """Why the bootstrap asks for SET: with the question for membership, the grant is passed over and the migration fails."""
    asks_for_membership = BOOTSTRAP.replace("WHEN newer THEN 'SET'", "WHEN newer THEN 'MEMBER'")
    assert asks_for_membership != BOOTSTRAP
    url = rds.new_database("test_trap", owner="master")
    with psycopg.connect(url) as connection:
        connection.execute(asks_for_membership.partition("CREATE EXTENSION")[0].encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SET LOCAL ROLE tributary_owner")


@pytest.mark.parametrize("begun", ["with no role yet", "before rds_iam was there"])
def test_migrations_of_two_databases_at_once_make_the_roles_once(cluster: Cluster, begun: str) -> None:
    urls = [cluster.new_database(f"test_{name}") for name in ("one", "two", "three")]
    if begun == "before rds_iam was there":
        migrate(Target(url=urls[0]))
    cluster.run("CREATE ROLE rds_iam")
    failed: list[Exception] = []

    def bootstrap(url: str) -> None:
        try:
            with psycopg.connect(url) as connection:
                connection.execute(BOOTSTRAP.encode())
        except Exception as error:
            failed.append(error)

    with psycopg.connect(urls[0]) as first:
        first.execute(BOOTSTRAP.encode())
        others = [threading.Thread(target=bootstrap, args=(url,)) for url in urls[1:]]
        for other in others:
            other.start()
        _until_waiting(cluster, len(others))
        first.commit()
    for other in others:
        other.join(PATIENCE_S)
    assert failed == []
    assert {name for name, (logs_in, *_) in roles(cluster).items() if logs_in} == LOGINS


def _until_waiting(cluster: Cluster, count: int) -> None:
    until = time.monotonic() + PATIENCE_S
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname LIKE 'test%'"
    while cluster.run(waiting) != [(count,)]:
        assert time.monotonic() < until, "the migrations never came to wait for the first"
        time.sleep(0.02)
