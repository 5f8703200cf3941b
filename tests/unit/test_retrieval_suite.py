"""The retrieval suite's own parts: its questions, its measures, its baselines, and what it does without the runbooks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from evals.retrieval.ages import ranked_as_mixed, ranked_as_new, score_now, score_v1
from evals.retrieval.baselines import Bm25Only, RarityOnly, VectorOnly
from evals.retrieval.floors import floored
from evals.retrieval.measures import DEPTH, FIRST, Figures, figures, place
from evals.retrieval.pools import Pooled
from evals.retrieval.questions import SPLITS, Asked, Set, load
from evals.runbooks import ABSENT, Section, present, sections
from tests.unit.core_made import NOON, lesson
from tributary.core.confidence import half_life
from tributary.core.lesson import Kind
from tributary.core.limits import QUERY_BYTES
from tributary.core.ranking import Found, rank
from tributary.models.embedders import HashedEmbedder

IDS = tuple(UUID(int=number) for number in range(1, 21))
ASKED = Asked(id="q1", set=Set.ANSWERABLE, question="?", right=("a#b",), replacement=None, tags=("symptom",), split="tune")
SECTIONS = (
    Section(situation="Mail queue: Meaning", text="The queue of outgoing mail is long.", ref="mail.md#Meaning:3"),
    Section(
        situation="Mail queue: Mitigation", text="Flush it with postqueue -f once the relay answers.", ref="mail.md#Mitigation:9"
    ),
    Section(situation="Disk: Meaning", text="The disk is nearly full, and so is the queue on the disk.", ref="disk.md#Meaning:3"),
)


@pytest.mark.parametrize(
    ("right", "at"),
    [({IDS[0]}, 1), ({IDS[4], IDS[2]}, 3), ({IDS[DEPTH - 1]}, DEPTH), ({IDS[DEPTH]}, None), (set[UUID](), None)],
)
def test_the_place_is_that_of_the_first_right_answer_among_those_looked_at(right: set[UUID], at: int | None) -> None:
    assert place(IDS, right) == at


def test_recall_counts_who_got_an_answer_among_the_first_and_mrr_adds_one_over_the_place() -> None:
    found = figures([1, 2, FIRST, FIRST + 1, None])
    assert found.questions == 5
    assert found.recall == pytest.approx(3 / 5)
    assert found.mrr == pytest.approx((1 + 1 / 2 + 1 / FIRST + 1 / (FIRST + 1)) / 5)
    assert figures([]) == Figures(questions=0, recall=0.0, mrr=0.0)


def test_a_search_beats_another_only_with_both_figures() -> None:
    base = Figures(questions=10, recall=0.5, mrr=0.4)
    assert replace(base, recall=0.6, mrr=0.5).beats(base)
    assert not replace(base, recall=0.6).beats(base)
    assert not replace(base, mrr=0.5).beats(base)


def test_the_question_file_is_what_it_says_it_is() -> None:
    asked = load()
    by_set = Counter(one.set for one in asked)
    assert by_set[Set.ANSWERABLE] >= 130
    assert by_set[Set.SUPERSEDED] >= 15
    assert by_set[Set.UNANSWERABLE] >= 40
    assert max(Counter(one.id for one in asked).values()) == 1
    assert max(Counter(one.question.casefold() for one in asked).values()) == 1
    assert all(0 < len(one.question.encode()) <= QUERY_BYTES for one in asked)
    for one in asked:
        assert one.split in SPLITS
        assert len(set(one.right)) == len(one.right)
        assert (one.replacement is not None) == (one.set is Set.SUPERSEDED)
        if one.set is Set.UNANSWERABLE:
            assert not one.right
            assert one.tags in (("near",), ("far",))
        else:
            assert one.right
        if one.set is Set.SUPERSEDED:
            assert len(one.right) == 1
    halves = Counter((one.set, one.split) for one in asked)
    assert all(halves[one, "tune"] == halves[one, "test"] for one in Set)


def test_no_section_is_replaced_twice() -> None:
    replaced = Counter(one.right for one in load() if one.set is Set.SUPERSEDED)
    assert max(replaced.values()) == 1


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_each_label_names_exactly_one_section_of_the_runbooks() -> None:
    names = Counter(one.name for one in sections())
    assert {name: names[name] for one in load() for name in one.right if names[name] != 1} == {}


@pytest.mark.parametrize(
    "search",
    [VectorOnly(SECTIONS, IDS[:3], HashedEmbedder()), RarityOnly(SECTIONS, IDS[:3]), Bm25Only(SECTIONS, IDS[:3])],
    ids=lambda one: one.name,
)
def test_each_side_alone_finds_what_shares_most_with_the_question(search: VectorOnly | RarityOnly | Bm25Only) -> None:
    assert search.found("flush with postqueue -f")[0] == IDS[1]
    assert search.found("the disk is full")[0] == IDS[2]


@pytest.mark.parametrize("search", [RarityOnly(SECTIONS, IDS[:3]), Bm25Only(SECTIONS, IDS[:3])], ids=lambda one: one.name)
def test_terms_alone_find_nothing_that_shares_none(search: RarityOnly | Bm25Only) -> None:
    assert search.found("certificate expired") == []


def test_bm25_weighs_how_often_a_term_stands_in_how_long_a_text() -> None:
    assert Bm25Only(SECTIONS, IDS[:3]).found("disk") == [IDS[2]]
    twice = (replace(SECTIONS[0], text="queue queue"), replace(SECTIONS[0], text="queue and relay"))
    assert Bm25Only(twice, IDS[:2]).found("queue") == [IDS[0], IDS[1]]
    assert RarityOnly(twice, IDS[:2]).found("queue") == [IDS[1], IDS[0]]  # equal, so the newer first


def found(number: int, similarity: float, term_share: float) -> Found:
    one = lesson(number, kind=Kind.RUNBOOK_FACT)
    return Found(lesson=one, similarity=similarity, term_share=term_share, subject_matches=False, challenges=())


def test_the_control_scores_as_ranking_v1_did() -> None:
    aged = lesson(1, confirmations=1, contradictions=1, last_confirmed_at=NOON - half_life(Kind.GOTCHA))
    one = Found(lesson=aged, similarity=0.5, term_share=0.9, subject_matches=False, challenges=())
    (ranked,) = rank([one], at=NOON, floor=0.0, limit=1).ranked
    assert score_v1(ranked) == pytest.approx(0.6 * 0.5 + 0.25 * 0.5 + 0.15 * 0.5 - 0.3 * 0.5)
    assert score_now(ranked) == ranked.score


def test_mixed_ages_are_drawn_the_same_each_time_and_can_only_change_the_order() -> None:
    pool = (found(1, 0.5, 0.0), found(2, 0.49, 0.0))
    pools = [Pooled(asked=ASKED, right=frozenset({UUID(int=1)}), pool=pool)] * 20
    assert ranked_as_new(pools, score_now, at=NOON) == Figures(questions=20, recall=1.0, mrr=1.0)
    mixed = ranked_as_mixed(pools, IDS[:2], score_now, at=NOON + timedelta(hours=1))
    assert mixed == ranked_as_mixed(pools, IDS[:2], score_now, at=NOON + timedelta(hours=1))
    assert mixed.recall == 1.0
    assert mixed.mrr < 1.0
    assert ranked_as_new([replace(pools[0], pool=())], score_now, at=NOON).recall == 0.0


def test_a_higher_floor_empties_more_questions_those_with_an_answer_included() -> None:
    answered = Pooled(asked=ASKED, right=frozenset({UUID(int=1)}), pool=(found(1, 0.31, 0.0), found(2, 0.3, 0.0)))
    far = replace(ASKED, set=Set.UNANSWERABLE, right=(), tags=("far",))
    noise = Pooled(asked=far, right=frozenset(), pool=(found(2, 0.26, 0.0),))
    other_split = Pooled(asked=replace(ASKED, split="test"), right=frozenset(), pool=())
    floors = floored([answered, noise, other_split], split="tune", floor=0.25, at=NOON)
    assert [one.floor for one in floors] == [0.25, 0.27, 0.3, 0.35]
    assert [one.empty for one in floors] == [
        {"answerable": 0.0, "far": 0.0},
        {"answerable": 0.0, "far": 1.0},
        {"answerable": 0.0, "far": 1.0},
        {"answerable": 1.0, "far": 1.0},
    ]
    assert [one.answerable.recall for one in floors] == [1.0, 1.0, 1.0, 0.0]
