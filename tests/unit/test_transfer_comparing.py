"""What a file says now, beside what is held of it."""

from __future__ import annotations

from itertools import count

from tributary.core.lesson import Status
from tributary.transfer.documents import Change, Comparison, Held, Item, Place

FILE = "a.md"
_numbers = count(1)


def item(text: str, anchor: str = "A", *, line: int = 1, alone: bool = True, situation: str = "s", **more: object) -> Item:
    return Item(place=Place(file=FILE, anchor=anchor, line=line, alone=alone), text=text, situation=situation, more=more)


def held(one: Item, status: Status = Status.ACTIVE) -> Held:
    known = f"les_{next(_numbers)}"
    return Held(
        lesson_id=known,
        ref=one.ref,
        key=one.place.key if not one.elsewhere else one.ref,
        digest=one.digest,
        words=one.words,
        start=one.text,
        status=status,
        author="me",
    )


def changes(before: list[Held], *items: Item) -> list[tuple[str, list[str]]]:
    return [(one.change.value, [two.start for two in one.held]) for one in Comparison(before).of(items)]


def test_what_only_moved_is_the_same() -> None:
    comparison = Comparison([held(item("x", line=3))])
    (one,) = comparison.of([item("x", line=30)])
    assert one.change is Change.SAME
    assert not comparison.gone()


def test_changed_words_and_tags_replace_what_stood_in_their_place() -> None:
    assert changes([held(item("x"))], item("y")) == [("changed", ["x"])]
    assert changes([held(item("x"))], Item(place=item("x").place, text="x", situation="s", tags={"a": "b"})) == [
        ("changed", ["x"])
    ]


def test_a_numbered_heading_that_moves_up_is_the_same_and_what_comes_before_it_is_new() -> None:
    before = [held(item("x", "A")), held(item("y", "A (2)"))]
    assert changes(before, item("z", "A"), item("x", "A (2)"), item("y", "A (3)")) == [
        ("new", []),
        ("same", ["x"]),
        ("same", ["y"]),
    ]


def test_entries_of_a_list_are_paired_by_their_words() -> None:
    before = [held(item(text, alone=False)) for text in ("Use tabs everywhere.", "Run make check first.")]
    now = [item(text, alone=False) for text in ("Never force-push.", "Run make check before a push.")]
    assert changes(before, *now) == [("new", []), ("changed", ["Run make check first."])]
    assert [one.start for one in _gone(before, now)] == ["Use tabs everywhere."]


def _gone(before: list[Held], now: list[Item]) -> list[Held]:
    comparison = Comparison(before)
    comparison.of(now)
    return comparison.gone()


def test_the_same_twice_in_a_file_is_said_once() -> None:
    assert changes([], item("x"), item("x", "B")) == [("new", []), ("same", [])]
    assert changes([held(item("x"))], item("x"), item("x", "B")) == [("same", ["x"]), ("same", ["x"])]


def test_what_a_screen_holds_back_is_known_and_never_gone() -> None:
    before = [held(item("x"), Status.QUARANTINED)]
    assert changes(before, item("x")) == [("same", ["x"])]
    assert _gone(before, []) == []


def test_what_ended_comes_anew_unless_another_lesson_took_its_place() -> None:
    assert changes([held(item("x"), Status.RETIRED)], item("x")) == [("new", [])]
    assert changes([held(item("x"), Status.SUPERSEDED)], item("x")) == [("same", [])]
    back = [held(item("x"), Status.SUPERSEDED), held(item("y"))]
    assert changes(back, item("x")) == [("changed", ["y"])]


def test_a_lesson_with_a_source_of_its_own_is_compared_by_that_alone() -> None:
    own = item("x", source={"how": "observed", "ref": "run:1"})
    comparison = Comparison([])
    assert [one.change for one in comparison.of([own], beside=[held(own)])] == [Change.SAME]
    other = item("y", source={"how": "observed", "ref": "run:1"})
    assert [one.change for one in Comparison([]).of([other], beside=[held(own)])] == [Change.NEW]


def test_words_that_moved_take_the_place_of_the_lesson_that_said_them() -> None:
    before = [held(item("x", "A", situation="A")), held(item("y", "B", situation="B"))]
    swapped = (item("y", "A", situation="A"), item("x", "B", situation="B"))
    assert changes(before, *swapped) == [("changed", ["y"]), ("changed", ["x"])]
    moved = [item("z", "A", situation="A"), item("x", "C", situation="C")]
    assert changes(before, *moved) == [("new", []), ("changed", ["x"])]
    assert [one.start for one in _gone(before, moved)] == ["y"]
