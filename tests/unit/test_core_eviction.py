"""How beliefs end without anybody's word: by time, and for want of room; whenever one looks, it comes to the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.core_made import NOON
from tributary.core.confidence import expired, half_life, lapsed, shown_confidence, withered
from tributary.core.eviction import GRACE, STEP, Belief, End, EndCause, Endings, Protection, endings, lapse_of
from tributary.core.lesson import Kind

LAST = NOON + timedelta(days=90)
_BELIEF = Belief(
    lesson_id=UUID(int=100),
    kind=Kind.GOTCHA,
    confidence=0.7,
    confirmations=0,
    contradictions=0,
    learned_at=NOON,
    activated_at=NOON,
    last_confirmed_at=NOON,
    valid_until=None,
    keep_until=None,
)


def belief(number: int = 100, **fields: object) -> Belief:
    return replace(_BELIEF, lesson_id=UUID(int=number), **fields)  # type: ignore[arg-type]  # the test's own keywords


def aged(number: int, days: float, **fields: object) -> Belief:
    """A lesson that was learned `days` before NOON and never confirmed."""
    then = NOON - timedelta(days=days)
    return belief(number, **{"learned_at": then, "activated_at": then, "last_confirmed_at": then, **fields})


class Rule(Protocol):
    """What `endings` is, or ought to be."""

    def __call__(self, beliefs: Sequence[Belief], *, capacity: int | None, since: datetime, until: datetime) -> Endings: ...


def causes(ends: Sequence[End]) -> dict[UUID, EndCause]:
    return {one.lesson_id: one.cause for one in ends}


def applied_at(
    rule: Rule, beliefs: Sequence[Belief], instants: Sequence[datetime], capacity: int | None, *, since: datetime = NOON
) -> dict[UUID, EndCause]:
    """Returns what ended when the rule is applied at each of these instants."""
    standing, found = list(beliefs), dict[UUID, EndCause]()
    for instant in instants:
        ended = causes(rule(standing, capacity=capacity, since=since, until=instant).ends)
        found |= ended
        standing = [one for one in standing if one.lesson_id not in ended]
    return found


moments = st.floats(0, 90).map(lambda days: NOON + timedelta(days=days))
ages = st.floats(0, 60).map(lambda days: NOON - timedelta(days=days))


@st.composite
def tribes(draw: st.DrawFn) -> list[Belief]:
    found = []
    for number in range(draw(st.integers(1, 9))):
        learned = draw(ages)
        until = draw(st.none() | moments)
        found.append(
            belief(
                number,
                kind=draw(st.sampled_from(Kind)),
                confidence=draw(st.floats(0, 1)),
                confirmations=draw(st.integers(0, 3)),
                contradictions=draw(st.integers(0, 2)),
                learned_at=learned,
                activated_at=draw(st.just(learned) | moments),
                last_confirmed_at=draw(st.just(learned) | st.just(NOON)),
                valid_until=until,
                keep_until=draw(st.none() | moments),
            )
        )
    return found


@settings(max_examples=250, deadline=None)
@given(beliefs=tribes(), capacity=st.none() | st.integers(1, 6), instants=st.lists(moments, max_size=8))
def test_applied_at_whichever_instants_it_comes_to_what_it_comes_to_once_at_the_end(
    beliefs: list[Belief], capacity: int | None, instants: list[datetime]
) -> None:
    once = applied_at(endings, beliefs, [LAST], capacity)
    assert applied_at(endings, beliefs, [*sorted(instants), LAST], capacity) == once


def test_a_protection_that_ends_after_its_lesson_did_is_no_occasion_to_evict() -> None:
    """Once the lapse is stamped, nobody knows of the protection any more: what is evicted must not depend on it."""
    over = belief(1, confidence=0.9, valid_until=NOON + timedelta(hours=2), keep_until=NOON + timedelta(days=20))
    fading = belief(2, kind=Kind.ENTITY_FACT, confidence=0.75)
    kept = belief(3, confidence=0.0, confirmations=1, keep_until=NOON + timedelta(days=21))
    until = NOON + timedelta(days=30)
    whole = endings([over, fading, kept], capacity=1, since=NOON, until=until).ends
    assert whole[0].lesson_id == over.lesson_id
    assert endings([fading, kept], capacity=1, since=NOON, until=until).ends == whole[1:]


@settings(max_examples=150, deadline=None)
@given(beliefs=tribes(), capacity=st.integers(1, 6), done=st.integers(0, 9))
def test_what_was_applied_in_part_goes_on_as_if_it_had_not_stopped(beliefs: list[Belief], capacity: int, done: int) -> None:
    whole = endings(beliefs, capacity=capacity, since=NOON, until=LAST).ends
    gone = {one.lesson_id for one in whole[:done]}
    rest = endings([one for one in beliefs if one.lesson_id not in gone], capacity=capacity, since=NOON, until=LAST)
    assert rest.ends == whole[done:]


@settings(max_examples=150, deadline=None)
@given(beliefs=tribes(), capacity=st.integers(1, 6), until=moments)
def test_only_the_lowest_for_whom_there_is_no_room_are_evicted_and_none_that_is_protected(
    beliefs: list[Belief], capacity: int, until: datetime
) -> None:
    found = endings(beliefs, capacity=capacity, since=NOON, until=until)
    by_id = {one.lesson_id: one for one in beliefs}
    ended = {one.lesson_id: one.at for one in found.ends}
    for end in found.ends:
        if end.cause is EndCause.CAPACITY:
            gone = by_id[end.lesson_id]
            assert end.at >= max(gone.learned_at + GRACE, gone.keep_until or end.at)
            there = [one for one in beliefs if one.activated_at <= end.at <= ended.get(one.lesson_id, LAST)]
            there = [one for one in there if lapse_of(one).at > end.at]
            mine = shown_confidence(gone, at=end.at)
            lower = [one for one in there if shown_confidence(one, at=end.at) < mine]
            assert len(lower) < len(there) - capacity
    assert not set(found.refused) & set(ended)
    assert all(by_id[one].free_at > until for one in found.refused)


@settings(max_examples=150, deadline=None)
@given(one=tribes().map(lambda found: found[0]))
def test_a_lapse_is_the_first_instant_at_which_the_lesson_has_lapsed(one: Belief) -> None:
    end = lapse_of(one)
    assert lapsed(one, at=end.at)
    assert not lapsed(one, at=end.at - timedelta(microseconds=1))
    assert expired(one, at=end.at) if end.cause is EndCause.EXPIRED else withered(one, at=end.at)


@settings(max_examples=150, deadline=None)
@given(beliefs=tribes(), capacity=st.none() | st.integers(1, 6), until=moments)
def test_nothing_ends_before_the_next_instant_and_something_changes_at_it(
    beliefs: list[Belief], capacity: int | None, until: datetime
) -> None:
    found = endings(beliefs, capacity=capacity, since=NOON, until=until)
    gone = causes(found.ends)
    rest = [one for one in beliefs if one.lesson_id not in gone]
    later = endings(rest, capacity=capacity, since=NOON, until=(found.next_at or LAST) - timedelta(microseconds=1))
    assert later.ends == ()


def test_the_lowest_goes_by_the_confidence_of_the_instant_at_which_there_was_no_room() -> None:
    slow = belief(1, kind=Kind.REJECTED_HYPOTHESIS, confidence=0.5)
    quick = belief(2, kind=Kind.ENTITY_FACT, confidence=0.9, keep_until=NOON + timedelta(days=60))
    then = NOON + GRACE
    assert then.minute == 0, "a full step, at which protections end"
    assert shown_confidence(slow, at=then) < shown_confidence(quick, at=then)
    at_last = then + timedelta(days=29)
    assert shown_confidence(slow, at=at_last) > shown_confidence(quick, at=at_last)
    free = replace(quick, keep_until=None)
    found = endings([slow, free], capacity=1, since=NOON, until=at_last)
    assert found.ends[0] == End(lesson_id=slow.lesson_id, cause=EndCause.CAPACITY, at=then)


def test_a_protected_lesson_does_not_push_its_eviction_on_to_a_better_one() -> None:
    """Lessons come in by the minute: the first whose grace ends is not the lowest."""
    low, high = belief(1, confidence=0.4, learned_at=NOON + timedelta(minutes=10)), belief(2, confidence=0.9)
    found = endings([low, high], capacity=1, since=NOON, until=NOON + GRACE + timedelta(minutes=10))
    assert (found.ends, found.refused) == ((), {low.lesson_id: Protection.GRACE})
    assert found.next_at == NOON + GRACE + STEP
    later = endings([low, high], capacity=1, since=NOON, until=NOON + GRACE + STEP)
    assert causes(later.ends) == {low.lesson_id: EndCause.CAPACITY}


def test_a_lesson_that_lapses_later_takes_its_room_until_then() -> None:
    """The one that has to go for it is gone for good, whenever it is looked at."""
    short = belief(1, confidence=1.0, valid_until=NOON + timedelta(days=5))
    low, high = belief(2, confidence=0.5), belief(3, confidence=0.8)
    found = endings([short, low, high], capacity=2, since=NOON, until=NOON + timedelta(days=10))
    assert causes(found.ends) == {low.lesson_id: EndCause.CAPACITY, short.lesson_id: EndCause.EXPIRED}


def test_what_may_not_go_yet_is_refused_by_its_reason_and_goes_when_it_may() -> None:
    fresh, kept = belief(1, confidence=0.4), aged(2, 30, keep_until=NOON + timedelta(days=7))
    both = [fresh, kept, aged(3, 2, confidence=0.9, keep_until=NOON + timedelta(days=80))]
    refused = endings(both, capacity=1, since=NOON, until=NOON + timedelta(hours=1))
    assert refused.ends == ()
    assert refused.refused == {fresh.lesson_id: Protection.GRACE, kept.lesson_id: Protection.KEEP_UNTIL}
    assert refused.next_at == NOON + GRACE
    later = endings(both, capacity=1, since=NOON, until=NOON + timedelta(days=7))
    assert [(one.lesson_id, one.at) for one in later.ends] == [
        (fresh.lesson_id, NOON + GRACE),
        (kept.lesson_id, NOON + timedelta(days=7)),
    ]


def test_without_a_capacity_only_time_ends_beliefs() -> None:
    found = endings([belief(number) for number in range(9)], capacity=None, since=NOON, until=NOON + timedelta(days=30))
    assert (found.ends, found.refused) == ((), {})


@pytest.mark.parametrize(("confidence", "confirmations"), [(0.0, 0), (0.4, 0), (0.41, 0), (1.0, 0), (0.7, 50)])
def test_no_lesson_withers_before_a_half_life_has_gone_by(confidence: float, confirmations: int) -> None:
    one = belief(confidence=confidence, confirmations=confirmations)
    assert lapse_of(one).at >= NOON + half_life(Kind.GOTCHA)


def looks_at_now_only(beliefs: Sequence[Belief], *, capacity: int | None, since: datetime, until: datetime) -> Endings:
    """A deliberately wrong rule: what has lapsed by now ends, and of the others the lowest of now, whatever was before."""
    left = [one for one in beliefs if not lapsed(one, at=until)]
    lapses = tuple(lapse_of(one) for one in beliefs if lapsed(one, at=until))
    free = sorted((one for one in left if one.free_at <= until), key=lambda one: shown_confidence(one, at=until))
    excess = 0 if capacity is None else max(0, len(left) - capacity)
    evicted = tuple(End(lesson_id=one.lesson_id, cause=EndCause.CAPACITY, at=until) for one in free[:excess])
    return Endings(ends=lapses + evicted)


@pytest.mark.parametrize("rule", [endings, looks_at_now_only])
def test_a_rule_that_looks_at_now_only_depends_on_when_it_is_applied(rule: Rule) -> None:
    """The control of the property above: it tells a rule that forgets the past from one that does not."""
    beliefs = [
        belief(1, confidence=1.0, valid_until=NOON + timedelta(days=5)),
        belief(2, confidence=0.5),
        belief(3, kind=Kind.ENTITY_FACT, confidence=0.8),
    ]
    daily = [NOON + timedelta(days=day) for day in range(1, 91)]
    alike = applied_at(rule, beliefs, daily, 2) == applied_at(rule, beliefs, [LAST], 2)
    assert alike is (rule is endings)
