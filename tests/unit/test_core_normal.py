"""When two texts, subjects or lessons count as the same."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.unit.core_made import draft
from tributary.core.lesson import Draft, Evidence, How, Kind, Source
from tributary.core.normal import content_hash, folded, normal_text, subject_key

SECRET = b"\x01" * 32
ANY_TEXT = st.text(max_size=60) | st.text(alphabet="aA ßẞſİıΐΰǰŉ\u0301\u0345\u0308ﬁ\u2009\n\u00a8_-", max_size=20)


@pytest.mark.parametrize(
    "spelling",
    [
        "Deploy API",
        "deploy_api",
        "deploy-api",
        "DEPLOY  api",
        " deploy\tAPI ",
        "-deploy__api-",
        "ｄｅｐｌｏｙ－ａｐｉ",
        "deploy -_ api",
    ],
)
def test_spellings_of_one_subject_meet(spelling: str) -> None:
    assert subject_key(spelling) == "deploy-api"


@pytest.mark.parametrize("other", ["deploy", "deployapi", "deploy api 2", "deploy/api", "api deploy", "deploy.api"])
def test_other_subjects_do_not_meet_it(other: str) -> None:
    assert subject_key(other) != "deploy-api"


def test_no_subject_has_no_key_and_one_of_joiners_alone_keeps_itself() -> None:
    assert subject_key(None) is None
    assert subject_key("___") == "___"
    assert subject_key("- -") == "- -"


@settings(deadline=None)
@given(ANY_TEXT)
@example("ΐ")
@example("\u0345\u0301a")
@example("ǰ ŉ")
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    once = normal_text(text)
    assert normal_text(once) == once
    assert folded(folded(text)) == folded(text)


@settings(deadline=None)
@given(ANY_TEXT)
def test_the_key_of_a_subjects_key_is_itself(text: str) -> None:
    key = subject_key(text)
    assert subject_key(key) == key


@settings(deadline=None)
@given(ANY_TEXT)
@example("ΐ")
def test_compatible_spelling_and_case_make_no_difference(text: str) -> None:
    assert normal_text(unicodedata.normalize("NFD", text)) == normal_text(text)
    assert normal_text(unicodedata.normalize("NFKC", text)) == normal_text(text)
    assert normal_text(unicodedata.normalize("NFC", text).casefold()) == normal_text(text)


@pytest.mark.parametrize("letter", "ΐΰῒῗßéÅςǆ")
def test_a_letter_meets_its_capital_whether_or_not_unicode_has_that_in_one_piece(letter: str) -> None:
    assert normal_text(letter.upper()) == normal_text(letter) == normal_text(letter.title())


def test_runs_of_any_white_space_are_one_blank() -> None:
    assert normal_text(" a\u2003\u00a0\r\n\tb\u3000") == "a b"


def _hash(one: Draft, secret: bytes = SECRET) -> bytes:
    return content_hash(one, secret=secret)


@pytest.mark.parametrize(
    "other",
    [
        draft(text="needs X-Batch too"),
        draft(situation="releasing"),
        draft(kind=Kind.OBSERVATION),
        draft(subject="deploy-api"),
        draft(text="deploying", situation="needs X-Batch"),
    ],
)
def test_situation_subject_kind_and_text_each_make_another_lesson(other: Draft) -> None:
    assert _hash(other) != _hash(draft())


def test_the_same_words_divided_otherwise_are_another_lesson() -> None:
    assert _hash(draft(text="b c", situation="a")) != _hash(draft(text="c", situation="a b"))
    assert _hash(draft(text='b", "c', situation="a")) != _hash(draft(text="c", situation='a", "b'))
    assert _hash(draft(subject="null")) != _hash(draft(subject=None))


def test_another_tribes_secret_gives_another_hash() -> None:
    assert _hash(draft(), b"\x02" * 32) != _hash(draft())


def test_white_space_and_the_spelling_of_the_subject_make_no_other_lesson() -> None:
    spaced = draft(text=f"  {draft().text.replace(' ', chr(10))} ", situation=f"{draft().situation}  ", subject="Deploy API")
    assert _hash(spaced) == _hash(draft(subject="deploy_api"))


@pytest.mark.parametrize(("one", "other"), [("pass -c", "pass -C"), ("10⁵ rows", "105 rows"), ("5 Mb", "5 MB")])
def test_case_and_exponents_make_another_lesson(one: str, other: str) -> None:
    assert _hash(draft(text=one)) != _hash(draft(text=other))


def test_what_is_said_besides_makes_no_other_lesson() -> None:
    besides = draft(
        source=Source(how=How.TOLD, ref="mail"),
        tags={"env": "prod"},
        evidence=(Evidence(type="log", ref="r"),),
        rationale="why",
        confidence=0.1,
    )
    assert _hash(besides) == _hash(draft())


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
)
def test_any_text_has_a_hash_of_32_bytes_that_tells_texts_apart(one: str, other: str) -> None:
    first, second = _hash(draft(text=one)), _hash(draft(text=other))
    assert len(first) == 32
    assert (first == second) == (normal_text(one) == normal_text(other))
