"""What the gardener does besides beliefs: vectors, indexes, and what may be forgotten."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.doubles import RuledJudge, SwitchedEmbedder, all_unrelated, same_text_same_else_conflict
from tests.gardens import (
    HEADER,
    OTHER,
    garden,
    kinds,
    learned,
    ticks,
)
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.garden import Rule
from tributary.core.ids import new_id
from tributary.core.lesson import Draft
from tributary.garden import FEWEST
from tributary.models.embedders import HashedEmbedder


def test_lessons_without_a_vector_get_one_and_are_found_by_it(database_url: str) -> None:
    embedder = SwitchedEmbedder(HashedEmbedder())
    judge = RuledJudge(same_text_same_else_conflict)
    with open_tribal(database_url, embedder=embedder, judge=judge) as tribal:
        learned(tribal, tribal.agent("writer"), HEADER, subject="deploy-api")
        learned(tribal, tribal.agent("other"), OTHER, subject="deploy-api")
        tribal.rows("DELETE FROM tributary.lesson_vector")
        embedder.fails = True
        report = garden(tribal).rule(Rule.EMBED)
        assert (report.done, report.left, report.refused) == (0, 2, {"model_failed": 2})
        embedder.fails = False
        before = ticks(tribal)
        assert kinds(garden(tribal).rule(Rule.EMBED)) == {"embedded": 2}
        assert ticks(tribal) == before
        vectors = tribal.rows(
            """SELECT l.status, v.believed FROM tributary.lesson_vector v JOIN tributary.lesson l USING (tribe_id, lesson_id)
               ORDER BY 1"""
        )
        assert vectors == [{"status": "active", "believed": True}, {"status": "disputed", "believed": False}]
        assert tribal.rows("SELECT vectors FROM tributary.tribe_space") == [{"vectors": 1}]
        assert tribal.recall("deploy API payments header").receipt.coverage.value == "complete"
        assert garden(tribal).idle


def test_an_erased_lesson_gets_no_vector(unrelated: Tribal) -> None:
    one, two = learned(unrelated, unrelated.curator, "one"), learned(unrelated, unrelated.curator, "two")
    vectors = unrelated.rows("SELECT lesson_id, embedding::text AS vector FROM tributary.lesson_vector")
    unrelated.rows("DELETE FROM tributary.lesson_vector")
    unrelated.memory.curate.erase(unrelated.curator, one.lesson_id)
    made = unrelated.rows(
        "SELECT tributary.space_embed_v1(%s, (SELECT space_id FROM tributary.space), %s, %s) AS made",
        unrelated.tribe_id,
        [row["lesson_id"] for row in vectors],
        [row["vector"] for row in vectors],
    )
    assert made == [{"made": 1}]
    assert unrelated.rows("SELECT lesson_id FROM tributary.lesson_vector") == [{"lesson_id": two.lesson_id}]


def test_a_lesson_that_is_being_erased_is_passed_over_and_nobody_waits(unrelated: Tribal) -> None:
    one = learned(unrelated, unrelated.curator, "one")
    vector = unrelated.rows("SELECT embedding::text AS vector FROM tributary.lesson_vector")[0]["vector"]
    unrelated.rows("DELETE FROM tributary.lesson_vector")
    with psycopg.connect(unrelated.url) as eraser:
        eraser.execute("SELECT FROM tributary.lesson WHERE lesson_id = %s FOR UPDATE", (one.lesson_id,))
        made = unrelated.rows(
            "SELECT tributary.space_embed_v1(%s, (SELECT space_id FROM tributary.space), ARRAY[%s]::uuid[], ARRAY[%s]) AS made",
            unrelated.tribe_id,
            one.lesson_id,
            vector,
        )
    assert made == [{"made": 0}]
    assert garden(unrelated).rule(Rule.EMBED).done == 1


@pytest.mark.parametrize("first", ["erasing", "embedding"])
def test_of_a_lesson_that_is_erased_while_it_is_embedded_no_vector_stays(database_url: str, first: str) -> None:
    """A disputed one: neither erasing it nor embedding it goes by its belief."""
    judge = RuledJudge(same_text_same_else_conflict)
    with open_tribal(database_url, judge=judge) as tribal:
        learned(tribal, tribal.agent("writer"), HEADER, subject="deploy-api")
        one = learned(tribal, tribal.agent("other"), OTHER, subject="deploy-api")
        vector = tribal.rows("SELECT embedding::text AS v FROM tributary.lesson_vector WHERE lesson_id = %s", one.lesson_id)[0][
            "v"
        ]
        tribal.rows("DELETE FROM tributary.lesson_vector WHERE lesson_id = %s", one.lesson_id)
        embed = (
            "SELECT tributary.space_embed_v1(%s, (SELECT space_id FROM tributary.space), ARRAY[%s]::uuid[], ARRAY[%s])",
            (tribal.tribe_id, one.lesson_id, vector),
        )
        erase = (
            "SELECT tributary.erase_v1(%s, %s, %s, 'key', '\\x00')",
            (tribal.tribe_id, tribal.curator.agent_id, one.lesson_id),
        )
        begun, then = (erase, embed) if first == "erasing" else (embed, erase)
        with psycopg.connect(database_url) as slow, ThreadPoolExecutor(1) as pool:
            slow.execute(begun[0].encode(), begun[1])
            other = pool.submit(tribal.rows, then[0], *then[1])
            while not other.done() and not tribal.rows("SELECT FROM pg_locks WHERE NOT granted"):
                pass
            slow.commit()
            other.result()
        assert tribal.memory.lesson(tribal.curator, one.lesson_id).lesson.status.value == "erased"
        assert tribal.rows("SELECT * FROM tributary.lesson_vector WHERE lesson_id = %s", one.lesson_id) == []


def test_a_tribe_that_outgrew_exact_search_is_reported_until_its_index_is_built(database_url: str) -> None:
    from tributary.service import open_operator
    from tributary.spaces import build_index
    from tributary.store import OWNER, Target, connect

    with open_tribal(database_url, judge=RuledJudge(all_unrelated), exact_limit=2) as tribal:
        for number in range(3):
            learned(tribal, tribal.curator, f"fact {number}")
        report = garden(tribal).rule(Rule.INDEX)
        assert (report.done, report.left, report.refused) == (0, 1, {"needs_an_index": 1})
        with connect(Target(url=database_url, assume=OWNER)) as connection:
            assert build_index(connection, tribal.tribe_id, exact_limit=2)
        assert garden(tribal).idle
        with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
            assert operator.build_index(tribal.name)
        for number in range(FEWEST - 1):
            learned(tribal, tribal.curator, f"learned since {number}")
        assert garden(tribal).idle  # few are compared one by one at no cost, and may be replaced soon
        learned(tribal, tribal.curator, "and this")
        assert kinds(garden(tribal, dry_run=True).rule(Rule.INDEX)) == {"indexed": FEWEST}
        assert garden(tribal, budget_s=0).rule(Rule.INDEX).left == FEWEST
        before = ticks(tribal)
        assert kinds(garden(tribal).rule(Rule.INDEX)) == {"indexed": FEWEST}
        assert ticks(tribal) == before
        assert tribal.rows("SELECT count(*) AS n FROM tributary.lesson_vector WHERE NOT indexed") == [{"n": 0}]
        assert garden(tribal).idle


def test_old_replies_counts_and_pace_are_forgotten_and_new_ones_kept(unrelated: Tribal) -> None:
    learned(unrelated, unrelated.curator, "old")
    unrelated.clock.advance(days=2)
    assert kinds(garden(unrelated).rule(Rule.PRUNE)) == {"pace": 1}
    unrelated.clock.advance(days=4)
    assert garden(unrelated).idle
    unrelated.clock.advance(days=2)
    assert kinds(garden(unrelated).rule(Rule.PRUNE)) == {"idempotency": 1}
    unrelated.clock.advance(days=84)
    report = garden(unrelated).rule(Rule.PRUNE)
    assert kinds(report) == {"usage": 1, "tribe_day": 1}
    for table in ("idempotency", "usage", "tribe_day", "pace"):
        assert unrelated.rows(f"SELECT * FROM tributary.{table}") == []


def test_the_key_of_a_lesson_that_is_pending_still_is_kept(unrelated: Tribal) -> None:
    draft = Draft(text=HEADER, situation="deploying", source=SEEN)
    pending = unrelated.memory.learn(unrelated.curator, draft, wait=False).lesson
    assert pending is not None
    for lesson_id in (pending.lesson_id, new_id()):
        unrelated.rows(
            "INSERT INTO tributary.idempotency VALUES (%s, %s, %s, '\\x00', '{}', now() - interval '30 days')",
            unrelated.tribe_id,
            unrelated.curator.agent_id,
            f"server:settle:{lesson_id.hex}:1",
        )
    unrelated.rows("SELECT tributary.garden_prune_v1(%s, now(), now()::date, now(), now(), now(), 100, true)", unrelated.tribe_id)
    keys = unrelated.rows("SELECT key FROM tributary.idempotency")
    assert keys == [{"key": f"server:settle:{pending.lesson_id.hex}:1"}]
