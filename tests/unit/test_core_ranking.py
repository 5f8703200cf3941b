"""Ranking v2: figures reckoned by hand, order, ties, and what each rule leaves out."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import cast
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.core_made import NOON, lesson
from tributary.core.confidence import half_life
from tributary.core.lesson import Kind, Lesson
from tributary.core.ranking import TERM_SHARE, WEAK_MARGIN, WEAK_TERM_SHARE, Found, Ranked, Ranking, rank, saturation

FLOOR = 0.3
HALF_LIFE = half_life(Kind.GOTCHA)


def found(one: Lesson, *, similarity: float | None = 0.5, term_share: float = 0.0, subject_matches: bool = False) -> Found:
    return Found(lesson=one, similarity=similarity, term_share=term_share, subject_matches=subject_matches, challenges=())


def ranked(*pool: Found, limit: int = 10, **options: object) -> Ranking:
    return rank(pool, at=NOON, floor=FLOOR, limit=limit, **options)  # type: ignore[arg-type]  # the test's own keywords


def only(one: Found) -> Ranked:
    (result,) = ranked(one).ranked
    return result


def numbers(ranking: Ranking) -> list[int]:
    return [one.found.lesson.lesson_id.int for one in ranking.ranked]


@pytest.mark.parametrize(("count", "saturated"), [(0, 0), (1, 0.5), (3, 0.75), (9, 0.9)])
def test_saturation_rises_from_nothing_towards_one(count: int, saturated: float) -> None:
    assert saturation(count) == pytest.approx(saturated)


@pytest.mark.parametrize(
    ("one", "similarity", "term_share", "score"),
    [
        (lesson(), 0.5, 0.0, 0.6 * 0.5 * 0.9),
        (lesson(), 0.5, 0.25, (0.6 * 0.5 + 0.4 * 0.25) * 0.9),
        (lesson(), 0.0, 1.0, 0.4 * 0.9),
        (lesson(confirmations=1), 0.5, 0.0, 0.6 * 0.5 * (0.9 + 0.1 * 0.5)),
        (lesson(contradictions=1), 0.5, 0.0, 0.6 * 0.5 * (0.9 - 0.3 * 0.5)),
        (lesson(confirmations=3, contradictions=3), 1.0, 1.0, 0.9 + 0.1 * 0.75 - 0.3 * 0.75),
        (lesson(last_confirmed_at=NOON - HALF_LIFE), 0.5, 0.5, 0.5 * (0.6 + 0.3 * 0.5)),
    ],
)
def test_score_is_relevance_times_standing(one: Lesson, similarity: float, term_share: float, score: float) -> None:
    assert only(found(one, similarity=similarity, term_share=term_share)).score == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize("similarity", [None, -0.4, 0.0])
def test_no_similarity_and_a_negative_one_add_nothing(similarity: float | None) -> None:
    result = only(found(lesson(), similarity=similarity, term_share=0.5))
    assert result.terms["similarity"] == 0
    assert result.score == pytest.approx(0.4 * 0.5 * 0.9)


def test_of_lessons_that_only_their_subject_brought_the_one_in_better_standing_comes_first() -> None:
    by_subject = [
        found(lesson(1, confirmations=1), similarity=None, subject_matches=True),
        found(lesson(2), similarity=None, subject_matches=True),
        found(lesson(3, contradictions=1), similarity=None, subject_matches=True),
    ]
    result = ranked(*by_subject)
    assert numbers(result) == [1, 2, 3]
    assert {one.score for one in result.ranked} == {0}


def test_a_score_follows_from_the_terms_that_are_shown_with_it() -> None:
    one = lesson(confirmations=2, contradictions=1, last_confirmed_at=NOON - HALF_LIFE / 3)
    result = only(found(one, similarity=0.123456789, term_share=1 / 3, subject_matches=True))
    terms = result.terms
    assert set(terms) == {"similarity", "terms", "freshness", "confirmations", "contradictions"}
    assert (terms["similarity"], terms["terms"]) == (0.123457, 0.333333)
    relevance = 0.6 * terms["similarity"] + 0.4 * terms["terms"]
    standing = 0.6 + 0.3 * terms["freshness"] + 0.1 * terms["confirmations"] - 0.3 * terms["contradictions"]
    assert result.score == round(relevance * standing, 6)
    assert result.confidence == round(result.confidence, 6)


@settings(deadline=None)
@given(st.floats(-1, 1), st.floats(0, 1), st.integers(0, 10**6), st.integers(0, 10**6))
def test_scores_stay_from_nothing_to_one(similarity: float, term_share: float, confirmations: int, contradictions: int) -> None:
    one = lesson(confirmations=confirmations, contradictions=contradictions)
    assert 0 <= only(found(one, similarity=similarity, term_share=term_share, subject_matches=True)).score <= 1


def test_a_score_does_not_depend_on_what_else_was_found() -> None:
    one = found(lesson(7), similarity=0.4, term_share=0.3)
    alone, beside = ranked(one), ranked(one, found(lesson(8), similarity=0.9, term_share=1.0))
    assert alone.ranked[0] == beside.ranked[1]


def test_standing_decides_between_lessons_of_like_relevance_and_not_against_a_much_better_one() -> None:
    old, new = lesson(1, last_confirmed_at=NOON - HALF_LIFE), lesson(2)
    assert numbers(ranked(found(old, similarity=0.55), found(new, similarity=0.5))) == [2, 1]
    assert numbers(ranked(found(old, similarity=0.8), found(new, similarity=0.4))) == [1, 2]
    disputed, plain = lesson(1, contradictions=1), lesson(2)
    assert numbers(ranked(found(disputed, similarity=0.55), found(plain, similarity=0.5))) == [2, 1]


@settings(deadline=None)
@given(st.integers(0, 50), st.integers(0, 50), st.timedeltas(timedelta(0), timedelta(days=88)))
def test_score_moves_one_way_with_each_of_its_grounds(confirmations: int, contradictions: int, age: timedelta) -> None:
    one = lesson(confirmations=confirmations, contradictions=contradictions, last_confirmed_at=NOON - age)
    score = only(found(one)).score
    assert only(found(replace(one, confirmations=confirmations + 1))).score >= score
    assert only(found(replace(one, contradictions=contradictions + 1))).score <= score
    assert only(found(replace(one, last_confirmed_at=NOON - age - timedelta(days=1)))).score <= score
    assert only(found(one, similarity=0.6)).score > score
    assert only(found(one, term_share=0.1)).score > score


def test_the_best_comes_first_and_of_equals_the_newer() -> None:
    pool = [found(lesson(3)), found(lesson(9)), found(lesson(5), similarity=0.9), found(lesson(4))]
    assert numbers(ranked(*pool)) == [5, 9, 4, 3]


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0.3, 1), st.integers(0, 3)), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_how_the_pool_lay(grounds: list[tuple[float, int]], chance: random.Random) -> None:
    pool = [
        found(lesson(100 + number, confirmations=confirmations), similarity=similarity)
        for number, (similarity, confirmations) in enumerate(grounds)
    ]
    first = ranked(*pool)
    chance.shuffle(pool)
    again = ranked(*pool)
    assert numbers(again) == numbers(first)
    assert again.excluded == first.excluded
    scores = [one.score for one in first.ranked]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("rule", "one"),
    [
        ("expired", found(lesson(valid_until=NOON))),
        ("withered", found(lesson(last_confirmed_at=NOON - 2 * HALF_LIFE))),
        ("not_yet_valid", found(lesson(valid_from=NOON + timedelta(seconds=1)))),
        ("below_confidence", found(lesson(confidence=0.39))),
        ("weak_match", found(lesson(), similarity=FLOOR - 0.01, term_share=0.0)),
        ("weak_match", found(lesson(), similarity=0.0, term_share=TERM_SHARE - 0.01)),
        ("weak_match", found(lesson(), similarity=None, term_share=WEAK_TERM_SHARE)),
        ("below_floor", found(lesson(), similarity=FLOOR - WEAK_MARGIN - 0.01, term_share=WEAK_TERM_SHARE - 0.01)),
        ("below_floor", found(lesson(), similarity=None)),
    ],
)
def test_each_rule_leaves_out_what_it_is_for_and_is_counted(rule: str, one: Found) -> None:
    other = replace(one, lesson=replace(cast(Lesson, one.lesson), lesson_id=UUID(int=101)))
    result = ranked(one, other, found(lesson(102)), min_confidence=0.4)
    assert numbers(result) == [102]
    assert dict(result.excluded) == {rule: 2}


@pytest.mark.parametrize(
    "one",
    [
        found(lesson(valid_until=NOON + timedelta(microseconds=1), valid_from=NOON)),
        found(lesson(confidence=0.4)),
        found(lesson(), similarity=FLOOR),
        found(lesson(), similarity=-1.0, term_share=TERM_SHARE),
        found(lesson(), similarity=None, subject_matches=True),
    ],
)
def test_what_just_meets_every_rule_is_kept(one: Found) -> None:
    result = ranked(one, min_confidence=0.4)
    assert len(result.ranked) == 1
    assert not result.excluded


def test_stale_lessons_come_when_asked_for_and_still_meet_the_other_rules() -> None:
    stale = [
        found(lesson(1, valid_until=NOON)),
        found(lesson(2, last_confirmed_at=NOON - 2 * HALF_LIFE)),
        found(lesson(3, valid_from=NOON + timedelta(days=1))),
        found(lesson(4, valid_until=NOON), similarity=0.0),
    ]
    result = ranked(*stale, include_stale=True)
    assert set(numbers(result)) == {1, 2, 3}
    assert dict(result.excluded) == {"below_floor": 1}


def test_a_lesson_that_breaks_two_rules_is_counted_once() -> None:
    both = found(lesson(valid_until=NOON, confidence=0.0), similarity=None)
    assert dict(ranked(both, min_confidence=0.9).excluded) == {"expired": 1}


@pytest.mark.parametrize("limit", [1, 2, 4, 5, 100])
def test_no_more_than_the_limit_come_and_the_rest_is_counted(limit: int) -> None:
    result = ranked(*(found(lesson(number)) for number in range(1, 6)), limit=limit)
    assert numbers(result) == [5, 4, 3, 2, 1][:limit]
    assert result.excluded["over_limit"] == max(0, 5 - limit)
    assert ("over_limit" in result.excluded) == (limit < 5)


def test_an_empty_pool_ranks_to_nothing() -> None:
    assert ranked() == Ranking(ranked=(), excluded=Counter())
