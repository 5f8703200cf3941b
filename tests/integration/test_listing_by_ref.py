"""Lessons listed by where they come from: exactly, by how that begins, and one's own alone."""

from __future__ import annotations

import psycopg
import pytest

from tests.tribes import Tribal
from tributary.core.errors import Forbidden, InvalidRequest
from tributary.core.lesson import How, Source, Status

ROWS = 3000
LONG = "a/long/path/" + "x" * 200


def texts(tribal: Tribal, **asked: object) -> set[str | None]:
    return {one.text for one in tribal.memory.lessons(tribal.curator, limit=100, **asked).lessons}  # type: ignore[arg-type]  # the test's own


@pytest.fixture
def placed(unrelated: Tribal) -> Tribal:
    refs = ("a.md#Port:3", "a.md#Port:30", "a.md#Disk:9", "a.mdx#Port:3", "b_md#%:1", f"{LONG}#One:1", f"{LONG}#Two:2", None)
    writer = unrelated.agent("writer")
    for ref in refs:
        unrelated.learn(writer, f"from {ref}", source=Source(how=How.IMPORTED, ref=ref))
    return unrelated


def test_an_exact_ref_finds_that_alone(placed: Tribal) -> None:
    assert texts(placed, ref="a.md#Port:3") == {"from a.md#Port:3"}
    assert texts(placed, ref=f"{LONG}#Two:2") == {f"from {LONG}#Two:2"}
    assert texts(placed, ref="a.md") == set()


def test_a_prefix_finds_what_begins_so_and_is_no_pattern(placed: Tribal) -> None:
    assert texts(placed, ref_prefix="a.md#") == {"from a.md#Port:3", "from a.md#Port:30", "from a.md#Disk:9"}
    assert texts(placed, ref_prefix="a_md#") == set()
    assert texts(placed, ref_prefix="b_md#%") == {"from b_md#%:1"}
    assert texts(placed, ref_prefix=f"{LONG}#T") == {f"from {LONG}#Two:2"}
    assert texts(placed, ref_prefix="a.md#", ref="b_md#%:1") == set()


def test_pages_of_a_prefix_go_on_where_the_last_one_ended(placed: Tribal) -> None:
    first = placed.memory.lessons(placed.curator, ref_prefix="a.md#", limit=2)
    rest = placed.memory.lessons(placed.curator, ref_prefix="a.md#", limit=2, before=first.next_before)
    assert [one.text for one in (*first.lessons, *rest.lessons)] == [
        f"from a.md#{one}" for one in ("Disk:9", "Port:30", "Port:3")
    ]
    assert rest.next_before is None
    assert first.receipt.filters["ref_prefix"] == "a.md#"


def test_a_blank_or_endless_ref_is_refused(placed: Tribal) -> None:
    for ref in (" ", "x" * 2001, "nul\0"):
        with pytest.raises(InvalidRequest, match="ref_prefix"):
            placed.memory.lessons(placed.curator, ref_prefix=ref)


def test_an_agents_own_lessons_hold_what_is_held_back_which_it_sees_nowhere_else(unrelated: Tribal) -> None:
    author, other = unrelated.agent("author"), unrelated.agent("other")
    unrelated.learn(author, "HIJACK", source=Source(how=How.IMPORTED, ref="a.md#One:1"))
    unrelated.learn(other, "the port is 80", source=Source(how=How.IMPORTED, ref="a.md#Two:2"))

    def seen(agent: object, **asked: object) -> list[str | None]:
        found = unrelated.memory.lessons(agent, status=None, ref_prefix="a.md#", **asked)  # type: ignore[arg-type]  # as above
        return [one.text for one in found.lessons]

    assert seen(author, mine=True) == ["HIJACK"]
    assert seen(author) == seen(other) == seen(other, mine=True) == ["the port is 80"]
    assert [one.text for one in unrelated.memory.lessons(author, status=Status.QUARANTINED, mine=True).lessons] == ["HIJACK"]
    with pytest.raises(Forbidden):
        unrelated.memory.lessons(author, status=Status.QUARANTINED)


def test_the_listing_by_ref_reads_the_index_and_another_order_of_characters_would_not(placed: Tribal) -> None:
    placed.rows(
        "INSERT INTO tributary.lesson (tribe_id, lesson_id, agent_id, kind, status, text, situation, source_how, source_ref,"
        " confidence, content_hash, learned_tick, learned_at, activated_tick, activated_at)"
        " SELECT tribe_id, gen_random_uuid(), agent_id, kind, 'retired', 'filler', 'filler', 'imported', 'f' || n || '.md#A:1',"
        " 0.5, content_hash, learned_tick, learned_at, NULL, NULL"
        " FROM (SELECT * FROM tributary.lesson LIMIT 1) one, generate_series(1, %s) n",
        ROWS,
    )
    placed.rows("ANALYZE tributary.lesson")

    def scans() -> int:
        with psycopg.connect(placed.url, autocommit=True) as connection:
            connection.execute("SELECT pg_stat_force_next_flush()")
        return int(str(placed.rows("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'lesson_ref'")[0]["idx_scan"]))

    def plan(condition: str) -> str:
        query = f"EXPLAIN SELECT lesson_id FROM tributary.lesson WHERE tribe_id = '{placed.tribe_id}' AND {condition}"
        return "\n".join(str(one["QUERY PLAN"]) for one in placed.rows(query))

    assert "lesson_ref" in plan("left(source_ref, 128) ^@ 'f77.md#' AND source_ref ^@ 'f77.md#'")
    assert "lesson_ref" in plan("left(source_ref, 128) = 'f77.md#A:1' AND source_ref = 'f77.md#A:1'")
    assert "lesson_ref" not in plan("source_ref ^@ 'f77.md#'")
    with psycopg.connect(placed.url, autocommit=True) as connection:
        asked = (placed.tribe_id, placed.curator.agent_id)
        for name, value in (("p_ref_prefix", "f77.md#"), ("p_ref", "f77.md#A:1")):
            before = scans()
            arguments = ", ".join(f"{one} => NULL" for one in ("p_ref", "p_ref_prefix") if one != name)
            row = connection.execute(
                f"SELECT tributary.list_lessons_v1(p_tribe => %s, p_agent => %s, p_status => NULL, p_hide => true,"
                f" p_mine => false, {arguments}, {name} => %s, p_limit => 5, p_before_tick => NULL, p_before_id => NULL,"
                f" p_tick => NULL, p_instant => NULL, p_now => now())".encode(),
                (*asked, value),
            ).fetchone()
            assert row is not None
            assert [one["source_ref"] for one in row[0]["lessons"]] == ["f77.md#A:1"]
            connection.execute("SELECT pg_stat_force_next_flush()")
            assert scans() > before
