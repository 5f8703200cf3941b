"""Listings by kind, subject, tags and author: what they let in, and that narrow ones read no tribe to find it."""

from __future__ import annotations

import psycopg
import pytest

from tests.tribes import Tribal
from tributary.core.agent import Principal, Role
from tributary.core.errors import InvalidRequest
from tributary.core.ids import Prefix, show
from tributary.core.lesson import Kind
from tributary.core.requests import EVERYTHING, Filters

FILLERS = 9000
"""So many that a filter which most of them pass is too broad to go by."""


def texts(tribal: Tribal, filters: Filters, agent: Principal | None = None) -> list[str]:
    found = tribal.memory.lessons(agent or tribal.curator, filters=filters, limit=100, status=None)
    assert found.next_before is None
    return sorted(one.text for one in found.lessons)


@pytest.fixture
def taught(tribal: Tribal) -> dict[str, Principal]:
    ada, bob = tribal.agent("ada"), tribal.agent("bob")
    tribal.learn(ada, "one", kind=Kind.GOTCHA, subject="Deploy API", tags={"env": "prod", "team": "a=b"})
    tribal.learn(ada, "two", kind=Kind.OBSERVATION, subject="deploy_api", tags={"env": "dev"})
    tribal.learn(bob, "three", kind=Kind.GOTCHA, subject="port", tags={"env": "prod"})
    tribal.learn(bob, "four", kind=Kind.OBSERVATION)
    return {"ada": ada, "bob": bob}


CASES: tuple[tuple[Filters, list[str]], ...] = (
    (Filters(), ["four", "one", "three", "two"]),
    (Filters(kind=Kind.GOTCHA), ["one", "three"]),
    (Filters(kind=Kind.RESOLUTION), []),
    (Filters(subject="deploy-api"), ["one", "two"]),
    (Filters(subject="nothing"), []),
    (Filters(tags={"env": "prod"}), ["one", "three"]),
    (Filters(tags={"env": "prod", "team": "a=b"}), ["one"]),
    (Filters(tags={"env": "pro"}), []),
    (Filters(author="bob"), ["four", "three"]),
    (Filters(author="bob", kind=Kind.GOTCHA, subject="PORT", tags={"env": "prod"}), ["three"]),
)


def test_a_listing_holds_what_passes_all_of_its_filters(tribal: Tribal, taught: dict[str, Principal]) -> None:
    for filters, expected in CASES:
        assert texts(tribal, filters) == expected, filters
    assert texts(tribal, Filters(author=show(Prefix.AGENT, taught["ada"].agent_id))) == ["one", "two"]
    tick = tribal.memory.lessons(tribal.curator).receipt.searched[0].tick
    then = tribal.memory.lessons(tribal.curator, as_of=tick - 2, filters=Filters(tags={"env": "prod"}))
    assert [one.text for one in then.lessons] == ["one"]


def test_filters_let_the_same_in_where_they_are_too_broad_to_go_by(tribal: Tribal, taught: dict[str, Principal]) -> None:
    erased = tribal.learn(taught["bob"], "five", kind=Kind.GOTCHA).lesson
    assert erased is not None
    tribal.memory.curate.erase(tribal.curator, erased.lesson_id)
    narrow = [texts(tribal, filters) for filters, _ in CASES]
    assert narrow[1] == ["", "one", "three"], "of what was erased its kind is known still"
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            "INSERT INTO tributary.lesson_facet (tribe_id, facet, lesson_id)"
            " SELECT l.tribe_id, f, gen_random_uuid()"
            " FROM tributary.lesson l, unnest(tributary.facets_v1(l)) f, generate_series(1, %s) WHERE l.text IN ('one', 'three')",
            (FILLERS // 2,),
        )
    assert [texts(tribal, filters) for filters, _ in CASES] == narrow


def test_pages_of_a_filtered_listing_go_on_and_its_receipt_names_the_filters(
    tribal: Tribal, taught: dict[str, Principal]
) -> None:
    filters = Filters(kind=Kind.GOTCHA, tags={"env": "prod"})
    first = tribal.memory.lessons(tribal.curator, filters=filters, limit=1)
    rest = tribal.memory.lessons(tribal.curator, filters=filters, limit=1, before=first.next_before)
    assert [one.text for one in (*first.lessons, *rest.lessons)] == ["three", "one"]
    assert rest.next_before is None
    assert {"kind": "gotcha", "tags": {"env": "prod"}}.items() <= first.receipt.filters.items()
    assert not {"kind", "subject", "tags", "author"} & set(tribal.memory.lessons(tribal.curator).receipt.filters)
    assert EVERYTHING.document() == {}


def test_an_author_that_the_tribe_does_not_have_is_refused_by_name(tribal: Tribal, taught: dict[str, Principal]) -> None:
    for author in ("nobody", "agt_" + "0" * 32, "", "agt ", "a" * 101):
        with pytest.raises(InvalidRequest, match="author"):
            tribal.memory.lessons(tribal.curator, filters=Filters(author=author))
    for broken in (Filters(subject=" "), Filters(tags={"a": ""}), Filters(tags={"": "a"})):
        with pytest.raises(InvalidRequest, match=r"subject|tags"):
            tribal.memory.lessons(tribal.curator, filters=broken)


def test_a_filter_opens_nothing_that_the_listing_holds_back(tribal: Tribal, taught: dict[str, Principal]) -> None:
    tribal.learn(taught["ada"], "HIJACK", kind=Kind.RESOLUTION, tags={"x": "y"})
    reader = tribal.agent("reader", Role.READER)
    for filters in (Filters(kind=Kind.RESOLUTION), Filters(tags={"x": "y"})):
        assert texts(tribal, filters) == ["HIJACK"]
        assert texts(tribal, filters, reader) == []


def test_a_narrow_filter_reads_few_pages_of_a_large_tribe(tribal: Tribal, taught: dict[str, Principal]) -> None:
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            "INSERT INTO tributary.lesson (tribe_id, lesson_id, agent_id, kind, status, text, situation, source_how, confidence,"
            " content_hash, learned_tick, learned_at, activated_tick, activated_at)"
            " SELECT tribe_id, gen_random_uuid(), agent_id, 'runbook_fact', 'active', repeat('filler ', 50), 'filler', 'told',"
            " 0.5, sha256(n::text::bytea), 4, learned_at, 4, learned_at"
            " FROM tributary.lesson, generate_series(1, %s) n WHERE text = 'four'",
            (FILLERS,),
        )
        connection.execute(
            "INSERT INTO tributary.lesson_facet (tribe_id, facet, lesson_id)"
            " SELECT l.tribe_id, f, l.lesson_id"
            " FROM tributary.lesson l, unnest(tributary.facets_v1(l)) f WHERE l.source_how = 'told'"
        )
        connection.execute("UPDATE tributary.tribe_count SET lessons = lessons + %s WHERE status = 'active'", (FILLERS,))
        connection.execute("VACUUM ANALYZE")

        def pages_read(filters: str) -> int:
            query = (
                "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT tributary.list_lessons_v1(%s, %s, 'active', true, false,"
                " NULL, NULL, 5, NULL, NULL, NULL, NULL, now(), %s::jsonb)"
            )
            asked = (tribal.tribe_id, tribal.curator.agent_id, filters)
            connection.execute(query, asked)  # the first one reads the catalogue, too
            row = connection.execute(query, asked).fetchone()
            assert row is not None
            read = row[0][0]["Plan"]
            return int(read["Shared Hit Blocks"]) + int(read["Shared Read Blocks"])

        for narrow in (
            f'{{"agent": null, "agent_id": "{taught["ada"].agent_id}", "tags": {{}}}}',
            '{"kinds": ["observation"], "tags": {}}',
            '{"subject_key": "port", "tags": {}}',
            '{"tags": {"env": "prod"}}',
        ):
            assert pages_read(narrow) < 150, narrow
        assert pages_read('{"kinds": ["runbook_fact"], "tags": {"env": "none"}}') < 150
        connection.execute("DELETE FROM tributary.lesson_facet")
        connection.execute(
            "INSERT INTO tributary.lesson_facet SELECT tribe_id, tributary.facet_v1('kind', 'observation'), gen_random_uuid()"
            " FROM tributary.lesson"
        )
        assert pages_read('{"kinds": ["observation"], "tags": {}}') > 150, "without its facet it reads the tribe"
