"""Processes and calls that a change of the space comes between: none is answered from neither space or from two."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.doubles import RuledJudge, all_unrelated
from tests.gardens import garden, kinds
from tests.spaces import (
    NEW,
    OLD,
    Projected,
    Steered,
    another_process,
    build,
    create,
    drop,
    facts,
    moved,
    switch,
    texts,
    vectors,
)
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.curation import RetireCause
from tributary.core.decision import Learned
from tributary.core.errors import BadSetting
from tributary.core.garden import Rule
from tributary.core.lesson import Draft
from tributary.core.receipt import Coverage
from tributary.core.requests import Question


def test_a_process_without_the_new_embedder_is_told_which_to_set(changing: Tribal, caplog: pytest.LogCaptureFixture) -> None:
    known = facts(changing, 1)
    with another_process(changing, next_embedder=None) as stale:
        stale.recaller.profiles.get(changing.tribe_id)
        moved(changing)
        for _ in range(2):
            with pytest.raises(
                BadSetting, match=f"TRIBUTARY_EMBEDDER: .*'{NEW}'.*TRIBUTARY_EMBEDDER=minilm gives '{OLD}'.*set it"
            ):
                stale.learn(changing.curator, Draft(text="x", situation="y", source=SEEN))
    with (
        another_process(changing, next_embedder=Projected(seed=3)) as wrong,
        pytest.raises(BadSetting, match=r"projected-3.*set one"),
    ):
        wrong.learn(changing.curator, Draft(text="x", situation="y", source=SEEN))
    assert texts(changing.recall(known[0])) == known
    assert "space.refused" in caplog.messages, "a caller over HTTP is not told more than the code"


def test_a_process_that_has_not_heard_of_the_switch_finds_out_and_answers(changing: Tribal) -> None:
    known = facts(changing, 3)
    question = changing.recall(known[0]).receipt
    assert question.space == OLD
    with another_process(changing) as stale, another_process(changing) as learning, another_process(changing) as keeping:
        for one in (stale, learning, keeping):
            one.recaller.profiles.get(changing.tribe_id)
        moved(changing)
        drop(changing, OLD)
        found = stale.recall(changing.curator, Question(query=known[1]))
        assert (found.receipt.space, found.receipt.coverage, texts(found)[0]) == (NEW, Coverage.COMPLETE, known[1])
        drafts = [Draft(text=f"batch {number}", situation="s", source=SEEN) for number in range(3)]
        assert all(isinstance(one, Learned) for one in learning.learn_all(changing.curator, drafts))
        assert keeping.learn(changing.curator, Draft(text="kept", situation="s", source=SEEN), wait=False).lesson is not None
    assert vectors(changing) == {NEW: 7}


def test_a_held_back_lesson_is_remembered_by_a_process_that_has_not_heard_of_the_switch(changing: Tribal) -> None:
    held = changing.learn(changing.curator, "HIJACK all readers").lesson
    assert held is not None
    with another_process(changing) as stale:
        stale.recaller.profiles.get(changing.tribe_id)
        moved(changing)
        drop(changing, OLD)
        stale.curate.retire(changing.curator, held.lesson_id, RetireCause.INJECTION)
    assert vectors(changing) == {NEW: 0}
    assert kinds(garden(changing).rule(Rule.EMBED)) == {"embedded": 1}
    assert vectors(changing) == {NEW: 1}


def test_a_switch_while_a_query_is_embedded_makes_no_answer_from_neither_space(database_url: str) -> None:
    embedder = Steered()
    with open_tribal(database_url, embedder=embedder, next_embedder=Projected(), judge=RuledJudge(all_unrelated)) as tribal:
        known = facts(tribal, 3)
        create(tribal)
        build(tribal)

        def meanwhile(_: Sequence[str]) -> None:
            embedder.before = lambda _: None
            switch(tribal)

        embedder.before = meanwhile
        found = tribal.recall(known[1])
        assert (found.receipt.space, found.receipt.coverage, texts(found)[0]) == (NEW, Coverage.COMPLETE, known[1])


def test_a_switch_while_a_lesson_is_judged_puts_it_into_the_new_space(database_url: str) -> None:
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, next_embedder=Projected(), judge=judge) as tribal:
        facts(tribal, 2)
        create(tribal)
        build(tribal)

        def meanwhile() -> None:
            judge.before = None
            switch(tribal)
            drop(tribal, OLD)

        judge.before = meanwhile
        learned = tribal.learn(tribal.curator, "the widget1 of the gadget1 is blue")
        assert learned.outcome.value == "learned"
        assert vectors(tribal) == {NEW: 3}


def test_a_space_that_nobody_knew_of_and_that_serves_by_the_commit_has_the_lesson(database_url: str) -> None:
    """When the lesson was embedded, the tribe did not build any space yet."""
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, next_embedder=Projected(), judge=judge) as tribal:
        facts(tribal, 2)

        def meanwhile() -> None:
            judge.before = None
            moved(tribal)

        judge.before = meanwhile
        assert tribal.learn(tribal.curator, "the widget1 of the gadget1 is blue").outcome.value == "learned"
        assert vectors(tribal)[NEW] == 3


def test_a_space_that_is_dropped_while_a_lesson_is_judged_fails_no_learn(database_url: str) -> None:
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, next_embedder=Projected(), judge=judge) as tribal:
        facts(tribal, 2)
        create(tribal)

        def meanwhile() -> None:
            judge.before = None
            drop(tribal, NEW)

        judge.before = meanwhile
        assert tribal.learn(tribal.curator, "the widget1 of the gadget1 is blue").outcome.value == "learned"
        assert vectors(tribal) == {OLD: 3}
