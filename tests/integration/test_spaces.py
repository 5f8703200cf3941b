"""Embedding spaces: created, built, switched to and dropped; what is refused; and that none is ever mixed with another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psycopg
import pytest

from tests.doubles import RuledJudge, all_unrelated, same_text_same_else_conflict, within_a_subject
from tests.gardens import garden, kinds
from tests.spaces import (
    NEW,
    OLD,
    Projected,
    another_process,
    build,
    create,
    drop,
    facts,
    following,
    moved,
    operating,
    spaces,
    switch,
    texts,
    vectors,
)
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.curation import Ending, RetireCause
from tributary.core.errors import BadSetting, NotFound, WrongStanding
from tributary.core.garden import Rule
from tributary.core.lesson import Draft
from tributary.core.receipt import Coverage, SearchPath
from tributary.models.embedders import HashedEmbedder
from tributary.spaces.fill import PAGE, pages


class Killed(BaseException):
    """The process ends here."""


def test_a_tribe_changes_its_space_step_by_step(changing: Tribal) -> None:
    known = facts(changing, 5)
    assert create(changing).missing == 5
    assert spaces(changing) == {OLD: "serving", NEW: "building"}
    facts(changing, 1, first=5)
    assert vectors(changing) == {OLD: 6, NEW: 1}, "what is learned meanwhile has a vector in both"
    assert build(changing) == (5, 0)
    assert build(changing) == (0, 0)
    assert changing.recall(known[2]).receipt.space == OLD
    clock = changing.recall(known[0]).receipt.searched[0].tick
    tick = switch(changing)
    assert tick == clock + 1, "one tick"
    assert spaces(changing) == {OLD: "retired", NEW: "serving"}
    after = changing.recall(known[2])
    assert (after.receipt.space, after.receipt.coverage, texts(after)[0]) == (NEW, Coverage.COMPLETE, known[2])
    assert changing.rows("SELECT tick, event, agent_id, details FROM tributary.tribe_event") == [
        {"tick": tick, "event": "space_switched", "agent_id": None, "details": {"from": OLD, "to": NEW}}
    ]
    drop(changing, OLD)
    assert spaces(changing) == {NEW: "serving"}
    assert vectors(changing) == {NEW: 6}
    assert changing.rows("SELECT name FROM tributary.space") == [{"name": NEW}]
    assert changing.recall(known[2]).receipt.coverage is Coverage.COMPLETE


def test_what_was_believed_before_the_switch_is_found_as_of_then_in_the_new_space(database_url: str) -> None:
    judge = RuledJudge(within_a_subject)
    with open_tribal(database_url, next_embedder=Projected(), judge=judge) as tribal:
        once = tribal.learn(tribal.curator, "the deploy API needs the header X-Batch", subject="api").lesson
        now = tribal.learn(tribal.curator, "the deploy API needs no header at all", subject="api").lesson
        assert once is not None
        assert now is not None
        gone = tribal.learn(tribal.curator, "the cache lives in us-east-1", subject="cache").lesson
        assert gone is not None
        tribal.memory.curate.retire(tribal.curator, gone.lesson_id, RetireCause.OUTDATED)
        moved(tribal)
        drop(tribal, OLD)
        then = tribal.recall("deploy API header X-Batch", as_of=once.learned.tick)
        assert [(hit.lesson.text, then.receipt.space) for hit in then.hits] == [(once.text, NEW)]
        assert (then.receipt.coverage, then.hits[0].terms["similarity"] > 0.5) == (Coverage.COMPLETE, True)
        assert texts(tribal.recall("cache us-east-1", as_of=gone.learned.tick))[0] == gone.text
        assert texts(tribal.recall("deploy API header")) == [now.text]


def test_a_space_is_built_of_all_that_a_search_or_a_learn_may_need_and_of_nothing_else(database_url: str) -> None:
    judge = RuledJudge(same_text_same_else_conflict)
    with open_tribal(database_url, next_embedder=Projected(), judge=judge) as tribal:
        writer = tribal.agent("writer")
        tribal.learn(tribal.curator, "superseded", subject="a")
        tribal.learn(tribal.curator, "active", subject="a")
        disputed = tribal.learn(writer, "rejected", subject="a")
        assert disputed.dispute_id is not None
        tribal.memory.curate.resolve(tribal.curator, disputed.dispute_id, Ending.REJECTED, rationale="no")
        tribal.learn(writer, "disputed", subject="a")
        tribal.memory.learn(tribal.curator, Draft(text="pending", situation="s", source=SEEN), wait=False)
        tribal.learn(tribal.curator, "HIJACK quarantined", subject="b")
        erased = tribal.learn(tribal.curator, "erased", subject="c").lesson
        assert erased is not None
        tribal.memory.curate.erase(tribal.curator, erased.lesson_id)
        create(tribal)
        build(tribal)
        found = tribal.rows(
            """SELECT l.text FROM tributary.lesson_vector v JOIN tributary.lesson l USING (tribe_id, lesson_id)
               JOIN tributary.space s USING (space_id) WHERE s.name = %s ORDER BY 1""",
            NEW,
        )
        assert [row["text"] for row in found] == ["active", "disputed", "pending", "rejected", "superseded"]


@pytest.mark.parametrize("batch", [1, 2, 3, 4])
def test_a_build_that_was_killed_goes_on_where_it_was(changing: Tribal, batch: int) -> None:
    count = 3 * PAGE + 5
    facts(changing, count)
    create(changing)
    embedded = 0

    def kill(given: Sequence[str]) -> None:
        nonlocal embedded
        embedded += "widget" in given[0]
        if embedded == batch:
            raise Killed

    following(changing).before = kill
    with pytest.raises(Killed):
        build(changing)
    assert vectors(changing)[NEW] == (batch - 1) * PAGE
    with pytest.raises(WrongStanding, match="lack a vector"):
        switch(changing)
    following(changing).before = lambda _: None
    assert build(changing) == (count - (batch - 1) * PAGE, 0)
    switch(changing)


def test_two_builds_at_once_make_each_vector_once(changing: Tribal) -> None:
    facts(changing, 2 * PAGE)
    create(changing)
    with ThreadPoolExecutor(2) as pool:
        both = [one.result() for one in [pool.submit(build, changing) for _ in range(2)]]
    assert sum(made for made, _ in both) == 2 * PAGE
    assert {left for _, left in both} == {0}
    assert vectors(changing) == {OLD: 2 * PAGE, NEW: 2 * PAGE}
    switch(changing)


def test_a_retired_space_is_switched_back_to_once_it_has_caught_up(changing: Tribal) -> None:
    facts(changing, 3)
    first = moved(changing)
    later = facts(changing, 2, first=3)
    assert vectors(changing) == {OLD: 3, NEW: 5}
    with pytest.raises(WrongStanding, match=re.escape(f"lack a vector in the space '{OLD}'")):
        switch(changing, OLD)
    assert build(changing, OLD) == (2, 0)
    assert spaces(changing) == {OLD: "building", NEW: "serving"}
    facts(changing, 1, first=5)
    assert vectors(changing) == {OLD: 6, NEW: 6}, "learn fills what was retired again, else it could never catch up"
    assert switch(changing) == first + 4
    back = changing.recall(later[0])
    assert (back.receipt.space, back.receipt.coverage, texts(back)[0]) == (OLD, Coverage.COMPLETE, later[0])
    assert spaces(changing) == {OLD: "serving", NEW: "retired"}


def test_switching_twice_at_once_takes_one_tick(changing: Tribal) -> None:
    facts(changing, 3)
    create(changing)
    build(changing)

    def attempt() -> int | str:
        try:
            return switch(changing)
        except (WrongStanding, NotFound) as error:
            return error.code

    with ThreadPoolExecutor(4) as pool:
        ends = [one.result() for one in [pool.submit(attempt) for _ in range(4)]]
    assert sum(isinstance(end, int) for end in ends) == 1
    assert changing.rows("SELECT count(*) AS n FROM tributary.tribe_event") == [{"n": 1}]


def test_however_many_lessons_have_their_vectors_each_that_lacks_one_is_looked_at_once(changing: Tribal) -> None:
    """Lessons are looked through a thousand at a time: of 2,100 here, the last 50 and each hundredth lack a vector."""
    changing.rows(
        """INSERT INTO tributary.lesson (tribe_id, lesson_id, agent_id, kind, status, text, situation, source_how, confidence,
               content_hash, learned_tick, learned_at, activated_tick, activated_at)
           SELECT %s, lpad(to_hex(g), 32, '0')::uuid, %s, 'gotcha', 'active', 'text ' || g, 's', 'observed', 0.5,
               sha256(g::text::bytea), g, now(), g, now() FROM generate_series(1, 2100) g""",
        changing.tribe_id,
        changing.curator.agent_id,
    )
    space_id = create(changing).number
    changing.rows(
        """INSERT INTO tributary.lesson_vector (tribe_id, space_id, lesson_id, believed, embedding)
           SELECT tribe_id, %s, lesson_id, true, %s FROM tributary.lesson
           WHERE learned_tick <= 2050 AND learned_tick %% 100 <> 0""",
        space_id,
        str([0.5] * 1024),
    )
    found = [one.text for page in pages(changing.memory.database, changing.tribe_id, space_id) for one in page]
    wanted = [*range(100, 2051, 100), *range(2051, 2101)]
    assert found == [f"s\ntext {number}" for number in wanted]
    assert build(changing) == (len(wanted), 0)


def test_what_makes_no_sense_is_refused_and_changes_nothing(changing: Tribal) -> None:
    facts(changing, 2)
    with operating(changing, next_embedder=None) as operator, pytest.raises(BadSetting, match="TRIBUTARY_NEXT_EMBEDDER: is not"):
        operator.create_space(changing.name)
    with operating(changing, next_embedder=HashedEmbedder()) as operator, pytest.raises(WrongStanding, match="already"):
        operator.create_space(changing.name)
    for attempt in (build, switch):
        with pytest.raises(NotFound, match="builds no space"):
            attempt(changing)
    with pytest.raises(WrongStanding, match="serves from this space"):
        drop(changing, OLD)
    with pytest.raises(NotFound, match="no space 'nonsense'"):
        drop(changing, "nonsense")
    create(changing)
    assert create(changing).name == NEW, "to say it again is harmless"
    with operating(changing, next_embedder=Projected(seed=2)) as operator, pytest.raises(WrongStanding, match=f"builds.*{NEW}"):
        operator.create_space(changing.name)
    with (
        operating(changing, next_embedder=None) as operator,
        pytest.raises(BadSetting, match="TRIBUTARY_NEXT_EMBEDDER: no embedder"),
    ):
        operator.build_space(changing.name)
    with pytest.raises(WrongStanding, match=f"2 lesson.*{NEW}"):
        switch(changing)
    with pytest.raises(WrongStanding, match="already"):
        switch(changing, OLD)
    assert spaces(changing) == {OLD: "serving", NEW: "building"}
    assert changing.rows("SELECT * FROM tributary.tribe_event") == []


def test_what_was_learned_between_the_check_and_the_switch_is_seen_under_the_gate(changing: Tribal) -> None:
    facts(changing, 2)
    create(changing)
    build(changing)
    following(changing).fails = True
    facts(changing, 1, first=2)
    space_id = changing.rows("SELECT space_id FROM tributary.tribe_space WHERE state = 'building'")[0]["space_id"]
    with pytest.raises(psycopg.Error, match="1 lesson") as refused:
        changing.rows("SELECT tributary.space_switch_v1(%s, %s, 10000, false)", changing.tribe_id, space_id)
    assert refused.value.sqlstate == "TB410"


def test_a_large_tribe_is_not_switched_to_a_space_without_an_index_unless_asked_to(database_url: str) -> None:
    with open_tribal(database_url, next_embedder=Projected(), judge=RuledJudge(all_unrelated), exact_limit=20) as tribal:
        known = facts(tribal, 30)
        create(tribal)
        build(tribal)
        index = next(
            str(row["relname"]) for row in tribal.rows("SELECT relname FROM pg_class WHERE relname LIKE 'lesson_vector_hnsw%%'")
        )
        tribal.rows(f'DROP INDEX tributary."{index}"')
        with pytest.raises(WrongStanding, match=r"30 vectors .* have no index"):
            switch(tribal)
        assert build(tribal) == (0, 0)
        switch(tribal)
        served = tribal.recall(known[7])
        assert (served.receipt.paths[0], texts(served)[0]) == (SearchPath.VECTOR_HNSW, known[7])
        switch(tribal, OLD, exact=True)
        assert tribal.recall(known[7]).receipt.paths[0] is SearchPath.VECTOR_EXACT
        drop(tribal, NEW)
        assert tribal.rows("SELECT relname FROM pg_class WHERE relname = %s", index) == []


def test_a_space_is_forgotten_with_the_last_tribe_that_has_it(changing: Tribal) -> None:
    with open_tribal(changing.url, name="other", next_embedder=Projected()) as other:
        for tribal in (changing, other):
            facts(tribal, 1)
            moved(tribal)
        with operating(changing) as operator:
            assert not operator.drop_space(changing.name, OLD).forgotten
            assert operator.drop_space("other", OLD).forgotten
        assert changing.rows("SELECT name FROM tributary.space") == [{"name": NEW}]
        assert changing.rows("SELECT DISTINCT space_id FROM tributary.space_reference") == changing.rows(
            "SELECT space_id FROM tributary.space"
        )


def test_an_interrupted_drop_is_ended_by_the_next_and_never_switched_to(changing: Tribal) -> None:
    facts(changing, 3)
    moved(changing)
    old = changing.rows("SELECT space_id FROM tributary.tribe_space WHERE state = 'retired'")[0]["space_id"]
    changing.rows("SELECT tributary.space_dropping_v1(%s, %s)", changing.tribe_id, old)
    changing.rows("SELECT tributary.space_clear_v1(%s, %s, 1)", changing.tribe_id, old)
    assert (spaces(changing)[OLD], vectors(changing)[OLD]) == ("dropping", 2)
    for attempt in (switch, build):
        with pytest.raises(WrongStanding, match="dropped"):
            attempt(changing, OLD)
    made = changing.rows(
        """SELECT tributary.space_embed_v1(%s, %s, ARRAY[lesson_id], ARRAY[%s]) AS made FROM tributary.lesson
           WHERE lesson_id NOT IN (SELECT lesson_id FROM tributary.lesson_vector WHERE space_id = %s)""",
        changing.tribe_id,
        old,
        str([0.5] * 256),
        old,
    )
    assert made == [{"made": 0}], "nobody fills what is being removed"
    drop(changing, OLD)
    assert spaces(changing) == {NEW: "serving"}


def test_erasing_takes_a_lesson_out_of_every_space(changing: Tribal) -> None:
    facts(changing, 2)
    create(changing)
    build(changing)
    one = changing.learn(changing.curator, "to be erased").lesson
    assert one is not None
    assert vectors(changing) == {OLD: 3, NEW: 3}
    changing.memory.curate.erase(changing.curator, one.lesson_id)
    assert vectors(changing) == {OLD: 2, NEW: 2}
    assert build(changing) == (0, 0)
    switch(changing)


def test_a_second_embedder_that_fails_fails_no_learn_and_what_it_missed_is_filled_in(changing: Tribal) -> None:
    create(changing)
    following(changing).fails = True
    facts(changing, 3)
    assert vectors(changing) == {OLD: 3, NEW: 0}
    following(changing).fails = False
    assert build(changing) == (3, 0)


def test_the_second_embedder_is_left_alone_until_it_is_needed(changing: Tribal) -> None:
    known = facts(changing, 2)
    changing.recall(known[0])
    garden(changing)
    assert following(changing).calls == 0
    create(changing)
    assert following(changing).calls == 0
    changing.recall(known[0])
    assert following(changing).calls == 0, "a recall embeds in the serving space only"


def test_the_gardener_fills_the_space_that_is_built_where_it_can(changing: Tribal) -> None:
    facts(changing, PAGE + 1)
    assert garden(changing).idle
    create(changing)
    assert kinds(garden(changing, dry_run=True).rule(Rule.EMBED)) == {"built": PAGE + 1}
    with another_process(changing, next_embedder=None) as without:
        report = without.gardener.run(changing.tribe_id).rule(Rule.EMBED)
        assert (report.done, report.left, report.refused) == (0, PAGE + 1, {"no_embedder": PAGE + 1})
    following(changing).fails = True
    assert garden(changing).rule(Rule.EMBED).refused == {"model_failed": PAGE + 1}
    following(changing).fails = False
    assert kinds(garden(changing).rule(Rule.EMBED)) == {"built": PAGE + 1}
    assert garden(changing).idle
    switch(changing)


def test_a_query_is_compared_with_vectors_of_its_own_space_only(database_url: str) -> None:
    """Both spaces have the same width, so nothing but the space's number keeps them apart."""
    old, new = Projected(dimension=300, seed=4), Projected(dimension=300, seed=5)
    with open_tribal(database_url, embedder=old, next_embedder=new, judge=RuledJudge(all_unrelated)) as tribal:
        known = facts(tribal, 8)

        def compared(space: Projected) -> None:
            for question in known:
                recalled = tribal.recall(question, limit=10)
                assert recalled.receipt.space == space.space.name
                asked, *made = space.embed([question, *(f"operating the service\n{one}" for one in texts(recalled))])
                similar = [hit.similarity for hit in recalled.receipt.hits]
                assert similar == pytest.approx([float(np.dot(asked, one)) for one in made], abs=2e-3)

        compared(old)
        create(tribal)
        compared(old)
        build(tribal)
        compared(old)
        switch(tribal)
        compared(new)
        assert abs(float(np.dot(old.embed(known[:1])[0], new.embed(known[:1])[0]))) < 0.3, "control: mixing them would be seen"


def test_the_database_takes_no_vector_of_another_width(changing: Tribal) -> None:
    one = changing.learn(changing.curator, "one").lesson
    assert one is not None
    space_id = changing.rows("SELECT space_id FROM tributary.space")[0]["space_id"]
    changing.rows("DELETE FROM tributary.lesson_vector")
    with pytest.raises(psycopg.Error, match="3 dimensions was given for a space of 256") as refused:
        changing.rows(
            "SELECT tributary.space_embed_v1(%s, %s, ARRAY[%s]::uuid[], ARRAY['[1,2,3]'])",
            changing.tribe_id,
            space_id,
            one.lesson_id,
        )
    assert refused.value.sqlstate == "TB500"
