"""Confidence as shown: figures reckoned by hand, and the directions in which it may move."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.core_made import NOON, lesson
from tributary.core import confidence
from tributary.core.confidence import WITHERED_BELOW, freshness, half_life, lapsed, shown_confidence, withered
from tributary.core.lesson import Kind, Lesson

ROUNDING = 1e-12
UNIT = st.floats(min_value=0, max_value=1)
COUNT = st.integers(min_value=0, max_value=1000)
AGE = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=20_000))
KIND = st.sampled_from(Kind)


@pytest.mark.parametrize(
    ("kind", "days"),
    [
        (Kind.GOTCHA, 90),
        (Kind.ENTITY_FACT, 14),
        (Kind.OBSERVATION, 30),
        (Kind.RUNBOOK_FACT, 90),
        (Kind.RESOLUTION, 180),
        (Kind.REJECTED_HYPOTHESIS, 365),
    ],
)
def test_freshness_is_one_when_confirmed_a_half_after_a_half_life_and_a_quarter_after_two(kind: Kind, days: int) -> None:
    one = lesson(kind=kind)
    assert half_life(kind) == timedelta(days=days)
    assert freshness(one, at=NOON) == 1
    assert freshness(one, at=NOON + timedelta(days=days)) == 0.5
    assert freshness(one, at=NOON + timedelta(days=2 * days)) == 0.25


def test_every_kind_has_a_half_life() -> None:
    assert set(confidence.HALF_LIFE_DAYS) == set(Kind)


@pytest.mark.parametrize(
    ("stated", "confirmations", "contradictions", "half_lives", "shown"),
    [
        (0.7, 0, 0, 0, 0.7),  # the writer's own
        (0.7, 1, 0, 0, 2.4 / 3),  # (2 * 0.7 + 1) / 3
        (0.7, 0, 1, 0, 1.4 / 3),  # (2 * 0.7) / 3
        (0.7, 2, 1, 0, 3.4 / 5),
        (0.7, 2, 1, 1, 1.7 / 5),  # a half-life later half of it
        (0.0, 0, 0, 0, 0.0),
        (1.0, 9, 0, 0, 1.0),
        (0.5, 0, 8, 0, 0.1),
    ],
)
def test_shown_confidence_is_the_posterior_times_freshness(
    stated: float, confirmations: int, contradictions: int, half_lives: int, shown: float
) -> None:
    one = lesson(confidence=stated, confirmations=confirmations, contradictions=contradictions)
    at = NOON + half_lives * half_life(Kind.GOTCHA)
    assert shown_confidence(one, at=at) == pytest.approx(shown, abs=ROUNDING)


@settings(deadline=None)
@given(UNIT, COUNT, COUNT, AGE, KIND)
def test_shown_confidence_moves_one_way_with_each_of_its_grounds(
    stated: float, confirmations: int, contradictions: int, age: timedelta, kind: Kind
) -> None:
    one = lesson(confidence=stated, confirmations=confirmations, contradictions=contradictions, kind=kind)
    at = NOON + age
    shown = shown_confidence(one, at=at)
    assert 0 <= shown <= 1
    assert shown == shown_confidence(one, at=at)
    assert shown_confidence(replace(one, confirmations=confirmations + 1), at=at) >= shown - ROUNDING
    assert shown_confidence(replace(one, contradictions=contradictions + 1), at=at) <= shown + ROUNDING
    assert shown_confidence(one, at=at + timedelta(days=1)) <= shown
    assert shown_confidence(replace(one, last_confirmed_at=at), at=at) >= shown


def test_a_lesson_from_the_future_counts_as_fresh() -> None:
    assert freshness(lesson(), at=NOON - timedelta(days=400)) == 1


def test_confirmations_and_contradictions_do_move_it() -> None:
    """The property above would hold for a constant, too."""
    one = lesson(confidence=0.5)
    shown = shown_confidence(one, at=NOON)
    assert shown_confidence(replace(one, confirmations=1), at=NOON) > shown
    assert shown_confidence(replace(one, contradictions=1), at=NOON) < shown
    assert shown_confidence(one, at=NOON + timedelta(days=1)) < shown


def test_validity_holds_from_its_first_instant_up_to_and_without_its_last() -> None:
    one = lesson(valid_from=NOON, valid_until=NOON + timedelta(hours=1))
    moment = timedelta(microseconds=1)
    assert confidence.not_yet_valid(one, at=NOON - moment)
    assert not confidence.not_yet_valid(one, at=NOON)
    assert not confidence.expired(one, at=NOON + timedelta(hours=1) - moment)
    assert confidence.expired(one, at=NOON + timedelta(hours=1))
    assert not confidence.expired(lesson(), at=NOON + timedelta(days=10_000))
    assert not confidence.not_yet_valid(lesson(), at=NOON - timedelta(days=10_000))


@pytest.mark.parametrize(
    ("one", "half_lives", "expected"),
    [
        (lesson(confidence=0.7), 1.0, False),  # 0.35 is left
        (lesson(confidence=0.7), 2.0, True),  # 0.175 is left
        (lesson(confidence=0.1), 0.999, False),  # little is left, but it is young
        (lesson(confidence=0.1), 1.0, True),
        (lesson(confidence=0.4), 1.0, False),  # exactly WITHERED_BELOW is left
        (lesson(confidence=0.7, confirmations=4), 2.0, False),  # 5.4 / 6 / 4
    ],
)
def test_a_lesson_withers_when_unconfirmed_for_a_half_life_and_little_is_left(
    one: Lesson, half_lives: float, expected: bool
) -> None:
    assert WITHERED_BELOW == 0.2
    at = NOON + half_lives * half_life(Kind.GOTCHA)
    assert withered(one, at=at) is expected
    assert lapsed(one, at=at) is expected


@settings(deadline=None)
@given(UNIT, COUNT, COUNT, AGE, KIND)
def test_what_has_withered_stays_so_until_it_is_confirmed(
    stated: float, confirmations: int, contradictions: int, age: timedelta, kind: Kind
) -> None:
    one = lesson(confidence=stated, confirmations=confirmations, contradictions=contradictions, kind=kind)
    at = NOON + age
    if withered(one, at=at):
        assert withered(one, at=at + timedelta(days=1))
        assert not withered(replace(one, last_confirmed_at=at), at=at)


def test_a_lesson_lapses_by_expiry_alone_too_and_not_for_being_young() -> None:
    brief = lesson(valid_until=NOON + timedelta(minutes=1))
    assert lapsed(brief, at=NOON + timedelta(minutes=1))
    assert not lapsed(brief, at=NOON)
    assert not lapsed(lesson(valid_from=NOON + timedelta(days=1)), at=NOON)
