"""What the pages of curators are made of: words that differ, sides of a dispute, reasons of a screen, and text laid bare."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.client_fakes import ONE, TWO, lesson
from tests.unit.curation_fakes import dispute
from tributary.contract.curation import DisputeReply
from tributary.core.decision import Unscreened
from tributary.core.wording import COMPARED_WORDS, Piece, compare
from tributary.edges.dashboard.telling.inert import fields_of
from tributary.edges.dashboard.telling.reasons import explained
from tributary.edges.dashboard.telling.sides import COMPARED, Side, pairs_of
from tributary.models.screens import guardrails, rules

TEXT = st.text(alphabet="ab .-\u202e\n", max_size=40)


@given(TEXT, TEXT)
def test_pieces_are_the_text_again_and_what_is_not_apart_is_the_same_in_words(one: str, other: str) -> None:
    ours, theirs = compare(one, other)
    assert ("".join(piece.text for piece in ours), "".join(piece.text for piece in theirs)) == (one, other)
    if any(piece.apart for piece in (*ours, *theirs)):
        assert _alike(ours) == _alike(theirs)


def test_a_stretch_that_is_too_long_to_compare_differs_as_a_whole_between_what_is_alike() -> None:
    alike = " ".join(f"same{number}" for number in range(3 * COMPARED_WORDS))
    one = " ".join(f"one{number} shared" for number in range(COMPARED_WORDS))
    other = " ".join(f"other{number} shared" for number in range(COMPARED_WORDS))
    ours, theirs = compare(f"{alike} {one} end", f"{alike} {other} end")
    assert [piece.apart for piece in ours] == [piece.apart for piece in theirs] == [False, True, False]
    assert ours[1].text == one.removesuffix(" shared"), "the last word is alike, too"


def test_texts_that_are_made_to_be_slow_to_compare_differ_as_a_whole_and_those_that_people_write_word_by_word() -> None:
    circle = [f"word{number % 100}" for number in range(COMPARED_WORDS)]
    between = [word for number in range(COMPARED_WORDS // 2) for word in (circle[number], f"between{number}")]
    ours, theirs = compare(" ".join(["alike"] * 900 + circle), " ".join(["alike"] * 900 + between))
    assert [piece.apart for piece in (*ours, *theirs)] == [False, True, False, True]
    written = [f"word{number * number % 700}" for number in range(1400)]
    ours, theirs = compare(" ".join(written), " ".join("new" if number % 50 == 25 else w for number, w in enumerate(written)))
    assert sum(piece.apart for piece in ours) == sum(piece.apart for piece in theirs) == 28


def test_every_reason_of_ours_has_words_and_a_strange_one_is_shown_as_it_is() -> None:
    codes = [reason.value for reason in rules.Reason] + [code for code, _ in guardrails._POLICIES.values()]
    codes += [guardrails.INTERVENED, *(one.value for one in Unscreened)]
    assert [one.code for one in explained(codes) if one.means is None] == []
    assert [(one.code, one.means) for one in explained(["new_code"])] == [("new_code", None)]


@pytest.mark.parametrize(
    ("inputs", "shown"),
    [
        ({"text": "a\u200db\tc\nd", "subject": None}, [("text", "a\\u200db\\tc\nd")]),
        ({"tags": {"env": "prod", "x": "\u202e"}}, [("tags", "env=prod\nx=\\u202e")]),
        ({"evidence": [{"type": "log", "ref": "s3://x", "note": None}]}, [("evidence", "log: s3://x")]),
        ({"evidence": [], "tags": {}}, []),
        ({"strange": [1, "two", None]}, [("strange", "1\ntwo")]),
    ],
)
def test_text_that_is_to_be_judged_is_laid_bare(inputs: dict[str, object], shown: list[tuple[str, str]]) -> None:
    assert [(one.name, one.text) for one in fields_of(inputs)] == shown


def test_sides_tell_each_field_apart_and_put_what_is_believed_first() -> None:
    contender = lesson(TWO, text="it is 81", kind="observation", subject="port", tags={"env": "prod", "a": "b"})
    gone = lesson("les_" + "7" * 32, status="superseded")
    other = lesson(ONE, text="it is 80", kind="gotcha", subject=None, tags={"env": "prod"})
    (first, second) = pairs_of(DisputeReply.model_validate(dispute(contender=contender, about=[gone, other])))
    assert (first.other.lesson.id, second.other.lesson.id) == (ONE, gone["id"])
    assert first.verdict is not None
    assert second.verdict is None
    assert _apart(first.contender) == {"says": ["81"], "about": ["port"], "kind": ["observation"], "tags": ["a=b"]}
    assert _apart(first.other) == {"says": ["80"], "kind": ["gotcha"]}


def test_texts_with_hardly_a_word_in_common_differ_throughout_and_many_rivals_are_not_all_compared() -> None:
    about = [lesson(f"les_{number:032x}", text="zebras are striped") for number in range(COMPARED + 1)]
    pairs = pairs_of(DisputeReply.model_validate(dispute(about=about)))
    says = [next(field for field in pair.contender.fields if field.name == "says") for pair in pairs]
    assert (says[0].throughout, says[0].differs, [pair.compared for pair in pairs].count(False)) == (True, True, 1)
    assert not says[-1].differs


def _alike(pieces: tuple[Piece, ...]) -> str:
    return "".join("".join(piece.text for piece in pieces if not piece.apart).split())


def _apart(side: Side) -> dict[str, list[str]]:
    found = {field.name: [piece.text for piece in field.pieces if piece.apart] for field in side.fields}
    return {name: pieces for name, pieces in found.items() if pieces}
