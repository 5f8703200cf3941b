"""The terms of a text: identifiers whole, their parts too, and nothing that any text could break."""

from __future__ import annotations

import sys
import unicodedata
from types import FrameType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tributary.core.limits import TEXT_BYTES
from tributary.core.terms import TERM_CHARACTERS, TERMS_PER_LESSON, terms_of

ANY_TEXT = st.text(max_size=300) | st.text(alphabet="aZ9_-./:@+=$# \n日本é\u0301\u0345", max_size=300)


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("db_url_v2", {"db", "url", "v2"}),
        ("ORA-00942", {"ora", "00942"}),
        ("--no-cache", {"cache"}),
        ("X-Batch", {"batch"}),
        ("us-east-1", {"east"}),
        ("-v", set()),
        ("/var/log/syslog", {"var", "log", "syslog"}),
        (".gitignore", {"gitignore"}),
        ("@team", {"team"}),
        ("$HOME", {"home"}),
        ("10.0.0.1", {"10"}),
        ("a=b", set()),
        ("user@example.org", {"user", "example", "org"}),
        ("deploy::payments", {"deploy", "payments"}),
    ],
)
@pytest.mark.parametrize("around", ["{}", "the {} of", "({}),", '"{}"!', "if {}: it", "{}.", "{}\n{}"])
def test_an_identifier_stays_one_term_and_gives_its_parts(identifier: str, parts: set[str], around: str) -> None:
    assert set(terms_of(around.replace("{}", identifier))) == {identifier.casefold(), *parts}


def test_an_identifier_stays_whole_where_a_script_without_spaces_touches_it() -> None:
    assert terms_of("db_url_v2を設定") == ("db_url_v2", "db", "url", "v2", "を設", "設定")
    assert terms_of("請用--no-cache参数") == ("請用", "--no-cache", "cache", "参数")


def test_a_script_without_spaces_gives_pairs_of_neighbours() -> None:
    assert terms_of("東京都") == ("東京", "京都")
    assert terms_of("都") == ("都",)
    assert terms_of("人々") == ("人々",)
    assert terms_of("データ・ベース") == ("デー", "ータ", "ベー", "ース")
    assert terms_of("배포 실패") == ("배포", "실패")
    assert terms_of("\U00020000\U00020001\U00020002") == ("\U00020000\U00020001", "\U00020001\U00020002")


def test_terms_are_folded_distinct_and_in_order_of_first_appearance() -> None:
    assert terms_of("Port PORT port 5432 Straße STRASSE ﬁle") == ("port", "5432", "strasse", "file")


def test_words_that_tell_nothing_and_single_letters_are_left_out_but_digits_stay() -> None:
    assert terms_of("it is the x of a 7") == ("7",)


@pytest.mark.parametrize(
    "text", ["", " ", "_", "____", "-", "--", "---", "/", ".", "@", "$", "=_=", "_ _", "...", "://", "\u0301"]
)
def test_underscores_and_punctuation_alone_are_no_terms(text: str) -> None:
    assert terms_of(text) == ()


@settings(deadline=None)
@given(ANY_TEXT)
@example("\ufdfa" * 100)
@example("İ" * 50)
def test_any_text_gives_few_short_distinct_terms_the_same_each_time(text: str) -> None:
    terms = terms_of(text)
    assert terms == terms_of(text)
    assert len(terms) == len(set(terms)) <= TERMS_PER_LESSON
    assert all(0 < len(term) <= TERM_CHARACTERS for term in terms)
    assert all(any(letter.isalnum() for letter in term) for term in terms)


@settings(deadline=None)
@given(ANY_TEXT)
def test_case_and_compatible_spelling_make_no_difference(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    assert terms_of(unicodedata.normalize("NFKD", text)) == terms_of(text)
    assert terms_of(composed.casefold()) == terms_of(text)


@settings(deadline=None)
@given(st.lists(st.from_regex(r"[a-z]{2,8}[0-9]{1,3}", fullmatch=True), min_size=1, max_size=20))
def test_every_word_of_a_text_finds_it(words: list[str]) -> None:
    assert set(words) == set(terms_of(" ".join(words)))


def test_a_text_of_many_words_is_cut_at_the_bound_and_keeps_the_first() -> None:
    words = [f"w{number}" for number in range(TERMS_PER_LESSON + 50)]
    assert terms_of(" ".join(words)) == tuple(words[:TERMS_PER_LESSON])


def test_a_word_that_is_too_long_is_left_out_but_its_parts_stay() -> None:
    assert terms_of("x" * TERM_CHARACTERS) == ("x" * TERM_CHARACTERS,)
    assert terms_of("x" * (TERM_CHARACTERS + 1)) == ()
    assert terms_of("arn:" + "part1-" * 20 + "end") == ("arn", "part1", "end")


HOSTILE = {
    "joiners": "a" + "." * (TEXT_BYTES - 1),
    "alternating": "a." * (TEXT_BYTES // 2),
    "dashes": "-" * TEXT_BYTES,
    "one word": "a" * TEXT_BYTES,
    "underscores": "_" * TEXT_BYTES,
    "words then joiners": ("ab" * 20 + "-=" * 20) * (TEXT_BYTES // 80),
    "no space": "本" * (TEXT_BYTES // 3),
}


def _steps(text: str) -> int:
    """Returns how often Python code of the tokenizer was entered or resumed while `text` was read."""
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename.endswith("terms.py")

    sys.setprofile(count)
    try:
        terms_of(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", HOSTILE)
def test_the_longest_hostile_text_is_read_in_no_more_steps_than_it_has_characters(name: str) -> None:
    text = HOSTILE[name]
    assert _steps(text) <= 2 * len(text) + 10
    assert len(terms_of(text)) <= TERMS_PER_LESSON
