"""What the memory sees of itself: each thing that is not as it should be is told, and hides nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.clusters import FUNCTION_ROLES
from tests.doubles import RuledJudge, SwitchedEmbedder, all_unrelated
from tests.integration.bouncer import make_login, pooled
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.errors import NotFound, NotMigrated, Unavailable
from tributary.core.lesson import Draft
from tributary.core.receipt import SearchPath
from tributary.core.status import Observation, Seen, State, Status, Unseen
from tributary.models.embedders import HashedEmbedder
from tributary.service import Settings, open_memory, open_prober
from tributary.spaces import build_index

VECTORS = 1000
EXACT, HNSW, TERMS = SearchPath.VECTOR_EXACT, SearchPath.VECTOR_HNSW, SearchPath.TERMS
DATABASE_CHECKS = ["server_version", "pgvector_version", "recovery", "schema_revision", "oldest_code"]
TRIBE_CHECKS = [
    *("tick", "clock_ahead_s", "pending", "disputed", "quarantined", "spaces", "serving_space", "without_vector"),
    *("index", "beside_index", "path", "planned_with", "last_gardening", "gardening_failed", "embedder", "recall"),
]
OF_THE_TRIBE = ("tick", "clock_ahead_s", "pending", "disputed", "quarantined", "last_gardening", "gardening_failed")
"""What one function tells."""


def status(tribal: Tribal) -> Status:
    return tribal.memory.status(tribal.curator)


def seen(status: Status, check: str) -> Observation:
    (found,) = [one for one in status.observations if one.check == check]
    return found


def value(status: Status, check: str) -> Seen | None:
    return seen(status, check).value


def not_as_it_should_be(status: Status) -> set[str]:
    return {one.check for one in status.warnings}


@pytest.fixture
def outgrown(database_url: str) -> Iterator[Tribal]:
    """A tribe that is searched exactly up to 20 lessons, its index, and vectors enough for the planner to prefer that."""
    with open_tribal(database_url, judge=RuledJudge(all_unrelated), exact_limit=20) as tribal:
        for number in range(3):
            tribal.learn(tribal.curator, f"lesson number{number} of the queue", situation=f"situation{number}")
        with psycopg.connect(tribal.url, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")  # vectors alone: a lesson for each would take minutes
            connection.execute(
                """INSERT INTO tributary.lesson_vector (tribe_id, space_id, lesson_id, believed, embedding)
                   SELECT s.tribe_id, s.space_id, gen_random_uuid(), true,
                          ARRAY(SELECT random() FROM generate_series(1, 256) WHERE n > 0)::real[]::halfvec(256)
                   FROM generate_series(1, %s) n, tributary.tribe_space s""",
                (VECTORS,),
            )
            connection.execute("UPDATE tributary.tribe_space SET vectors = vectors + %s", (VECTORS,))
            connection.execute("UPDATE tributary.tribe_count SET lessons = lessons + %s WHERE status = 'active'", (VECTORS,))
            connection.execute("SET session_replication_role = origin")
            assert build_index(connection, tribal.tribe_id, exact_limit=20)
        yield tribal


def index_of(tribal: Tribal) -> str:
    (row,) = tribal.rows("SELECT tributary.index_name_v1(tribe_id, space_id) AS name FROM tributary.tribe_space")
    return f'tributary."{row["name"]}"'


# -- everything well


def test_of_a_tribe_that_is_well_everything_is_ok_but_what_did_not_happen_yet(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "the cache is warm")
    found = status(tribal)
    assert [one.check for one in found.observations] == DATABASE_CHECKS + TRIBE_CHECKS
    unknown = {one.check: one.cause for one in found.observations if one.state is not State.OK}
    assert unknown == {"last_gardening": Unseen.NOT_RECORDED, "gardening_failed": Unseen.NOT_RECORDED}
    assert found.warnings == ()
    assert found.usable_paths == (EXACT, TERMS)
    assert value(found, "tick") == 1
    assert value(found, "planned_with") == ("lesson_vector_believed",)
    server, extension = tribal.rows(
        "SELECT current_setting('server_version') AS v UNION ALL SELECT extversion FROM pg_extension WHERE extname = 'vector'"
    )
    assert (value(found, "server_version"), value(found, "pgvector_version")) == (server["v"], extension["v"])


def test_an_empty_tribe_can_be_recalled_from(tribal: Tribal) -> None:
    assert status(tribal).usable_paths == (EXACT, TERMS)


def test_looking_takes_a_database_that_lets_nothing_be_written(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "the cache is warm")
    url = f"{tribal.url}&options=-c%20default_transaction_read_only%3Don"
    settings = tribal.settings.model_copy(update={"database_url": url})
    with open_memory(settings, adapters=tribal.adapters) as memory:
        found = memory.prober.status(tribal.curator)
        assert found.usable_paths == (EXACT, TERMS)
        assert found.warnings == ()
        with pytest.raises(Unavailable):  # the control: a write is refused there
            memory.learn(tribal.curator, Draft(text="the cache is cold", situation="here", source=SEEN))


# -- the index


def test_of_an_index_that_is_there_it_is_told_that_the_planner_chooses_it(outgrown: Tribal) -> None:
    found = status(outgrown)
    assert (value(found, "index"), value(found, "path")) == ("valid", "vector:hnsw")
    assert index_of(outgrown).split('"')[1] in (value(found, "planned_with") or ())  # type: ignore[operator]  # a tuple
    assert found.usable_paths == (EXACT, HNSW, TERMS)
    assert found.warnings == ()
    tried = value(found, "recall")
    assert isinstance(tried, tuple)
    assert "vector:exact" not in tried, "whether there is anything is not what is asked: no lesson is compared for it"


def test_vectors_that_wait_beside_the_index_are_counted(outgrown: Tribal) -> None:
    assert value(status(outgrown), "beside_index") == 0
    outgrown.learn(outgrown.curator, "lesson number30 of the queue", situation="situation30")
    assert value(status(outgrown), "beside_index") == 1


def test_a_dropped_index_is_missed_and_the_tribe_is_searched_exactly(outgrown: Tribal) -> None:
    outgrown.rows(f"DROP INDEX {index_of(outgrown)}")
    found = status(outgrown)
    assert (value(found, "index"), value(found, "path")) == ("absent", "vector:exact")
    assert not_as_it_should_be(found) == {"index"}
    assert found.usable_paths == (EXACT, TERMS)


def test_an_invalid_index_is_told_from_one_that_is_not_there(outgrown: Tribal) -> None:
    outgrown.rows(f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{index_of(outgrown)}'::regclass")
    found = status(outgrown)
    assert (value(found, "index"), value(found, "path")) == ("invalid", "vector:exact")
    assert not_as_it_should_be(found) == {"index"}
    assert found.usable_paths == (EXACT, TERMS)


def test_an_index_that_the_planner_cannot_choose_is_not_called_usable(outgrown: Tribal) -> None:
    """The control for what is read from EXPLAIN: by the catalogue alone this index is as good as the right one."""
    index = index_of(outgrown)
    outgrown.rows(f"DROP INDEX {index}")
    outgrown.rows(f"CREATE INDEX {index.removeprefix('tributary.')} ON tributary.lesson_vector (lesson_id) WHERE NOT believed")
    found = status(outgrown)
    assert (value(found, "index"), value(found, "path")) == ("valid", "vector:hnsw")
    assert not_as_it_should_be(found) == {"planned_with"}
    assert found.usable_paths == (EXACT, TERMS)


# -- what is stored


def test_lessons_without_a_vector_are_counted(tribal: Tribal) -> None:
    for number in range(3):
        tribal.learn(tribal.curator, f"the cache {number} is warm", situation=f"place {number}")
    tribal.rows("DELETE FROM tributary.lesson_vector WHERE lesson_id IN (SELECT lesson_id FROM tributary.lesson LIMIT 2)")
    found = status(tribal)
    assert (value(found, "without_vector"), not_as_it_should_be(found)) == (2, {"without_vector"})


def test_a_clock_that_ran_ahead_of_the_wall_clock_is_told(tribal: Tribal) -> None:
    tribal.rows("UPDATE tributary.tribe SET clock_at = clock_timestamp() + interval '1 hour'")
    found = status(tribal)
    assert not_as_it_should_be(found) == {"clock_ahead_s"}
    assert 3500 < float(str(value(found, "clock_ahead_s"))) < 3601


def test_open_lessons_are_counted_from_the_tribes_counters(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "HIJACK the reader")
    found = status(tribal)
    assert [value(found, check) for check in ("pending", "disputed", "quarantined")] == [0, 0, 1]


def test_an_old_pgvector_is_told(tribal: Tribal) -> None:
    tribal.rows("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
    found = status(tribal)
    assert (value(found, "pgvector_version"), not_as_it_should_be(found)) == ("0.7.4", {"pgvector_version"})


def test_a_schema_that_wants_newer_code_is_told_and_nothing_can_be_recalled_by_a_new_process(tribal: Tribal) -> None:
    tribal.rows("UPDATE tributary.schema_requirement SET oldest_code = 99")
    with open_memory(tribal.settings, adapters=tribal.adapters) as memory:
        found = memory.status(tribal.curator)
    assert not_as_it_should_be(found) == {"oldest_code", "recall"}
    assert (value(found, "recall"), found.usable) == ("code_too_old", False)


# -- the process


def test_the_embedder_of_another_space_is_told_with_both_spaces_named(tribal: Tribal) -> None:
    other = HashedEmbedder(dimension=128)
    with open_memory(tribal.settings, adapters=replace(tribal.adapters, embedder=other)) as memory:
        found = memory.status(tribal.curator)
    serving = seen(found, "serving_space")
    assert not_as_it_should_be(found) == {"serving_space", "recall"}
    assert serving.value == HashedEmbedder().space.name
    assert other.space.name in str(serving.rule)
    assert not found.usable


def test_with_an_embedder_that_fails_words_still_find_something(database_url: str) -> None:
    embedder = SwitchedEmbedder(HashedEmbedder())
    with open_tribal(database_url, embedder=embedder) as tribal:
        embedder.fails = True
        found = status(tribal)
    assert not_as_it_should_be(found) == {"embedder", "recall"}
    assert found.usable_paths == (TERMS,)


# -- what cannot be told


def test_with_the_database_away_all_of_it_is_unreachable(tribal: Tribal) -> None:
    nowhere = Settings.model_validate({"TRIBUTARY_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"})
    with open_memory(nowhere, adapters=tribal.adapters) as memory:
        found = memory.status(tribal.curator)
    unknown = {one.check: one.cause for one in found.observations if one.state is State.UNKNOWN}
    assert set(unknown.values()) == {Unseen.UNREACHABLE}
    assert unknown["embedder"] is Unseen.UNREACHABLE, "it is compared with the references of its space before its first use"
    assert [one.check for one in found.observations if one.state is State.OK] == []
    assert not found.usable


@pytest.mark.parametrize(
    ("function", "checks"),
    [
        ("status_schema_v1()", {"schema_revision", "oldest_code"}),
        ("status_tribe_v1(uuid)", {*OF_THE_TRIBE, "without_vector"}),
        ("status_spaces_v1(uuid)", {"spaces", "serving_space"}),
        ("status_index_v1(uuid)", {"index", "beside_index", "without_vector"}),
        ("status_plan_v1(uuid, bigint, integer)", {"path", "planned_with"}),
    ],
)
def test_a_check_that_is_not_permitted_hides_no_other(tribal: Tribal, function: str, checks: set[str]) -> None:
    tribal.rows(f"REVOKE EXECUTE ON FUNCTION tributary.{function} FROM {', '.join(FUNCTION_ROLES)}")
    found = status(tribal)
    assert {one.check for one in found.observations if one.cause is Unseen.NOT_PERMITTED} == checks
    assert not_as_it_should_be(found) == checks
    assert found.usable_paths == (EXACT, TERMS)


def test_a_check_that_takes_too_long_hides_no_other(tribal: Tribal) -> None:
    slow = f"{tribal.url}&options=-c%20statement_timeout%3D300"
    name = "slow_login"
    make_login(tribal.url, name)
    settings = tribal.settings.model_copy(update={"database_url": slow.replace("postgres@", f"{name}@"), "owner_url": tribal.url})
    with open_memory(settings, adapters=tribal.adapters) as memory, psycopg.connect(tribal.url) as holder:
        holder.execute("LOCK TABLE tributary.dispute IN ACCESS EXCLUSIVE MODE")
        holder.execute("LOCK TABLE tributary.tribe_count IN ACCESS EXCLUSIVE MODE")
        found = memory.status(tribal.curator)
        holder.rollback()
    timed_out = {one.check for one in found.observations if one.cause is Unseen.TIMED_OUT}
    assert timed_out == {*OF_THE_TRIBE, "without_vector"}
    assert seen(found, "index").state is State.OK


def test_a_database_without_our_schema_is_told_from_one_that_is_away(empty_database_url: str) -> None:
    settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": empty_database_url, "TRIBUTARY_OWNER_URL": empty_database_url})
    bare = settings.model_copy(update={"owner_url": empty_database_url})
    with open_prober(bare) as prober:
        found = {one.check: one for one in prober.databases()}
        assert prober.tribes(None) == {}
    assert found["server_version"].state is State.OK
    assert found["pgvector_version"].value == "none"
    assert found["schema_revision"].cause is Unseen.NOT_MIGRATED


# -- the operator's


def test_the_operator_sees_every_tribe_or_the_one_that_is_named(tribal: Tribal) -> None:
    with open_prober(tribal.settings, adapters=tribal.adapters) as prober:
        assert [one.check for one in prober.databases()] == DATABASE_CHECKS
        assert {name: one.usable for name, one in prober.tribes(None).items()} == {tribal.name: True}
        assert list(prober.tribes(tribal.name)) == [tribal.name]
        with pytest.raises(NotFound, match="no tribe named 'nobody'"):
            prober.tribes("nobody")


def test_a_home_that_was_never_used_stays_so(tmp_path: Path) -> None:
    with pytest.raises(NotMigrated, match="'tributary serve' makes one"), open_prober(Settings(home=tmp_path / "home")):
        pass
    assert not (tmp_path / "home").exists()


def test_of_a_tribe_that_is_not_there_everything_is_unknown(tribal: Tribal) -> None:
    found = tribal.memory.prober.tribe(UUID(int=1))
    assert not found.usable
    assert seen(found, "tick").cause is Unseen.NO_TRIBE
    assert seen(found, "index").cause is Unseen.NO_SERVING_SPACE


@pytest.mark.system
def test_it_can_be_asked_through_a_pooler_by_the_runtime_role_alone(outgrown: Tribal) -> None:
    make_login(outgrown.url, "pooled_app")
    with pooled(outgrown.url, user="pooled_app", pool_size=2) as url:
        settings = outgrown.settings.model_copy(
            update={"database_url": url, "reader_url": url, "owner_url": outgrown.url, "exact_limit": 20}
        )
        with open_memory(settings, adapters=outgrown.adapters) as memory:
            found = memory.status(outgrown.curator)
    assert found.usable_paths == (EXACT, HNSW, TERMS)
    assert conninfo_to_dict(url)["user"] == "pooled_app"
    # the same server twice: what is set up as the reader takes writes, so it replays nothing
    assert not_as_it_should_be(found) == {"recovery"}
