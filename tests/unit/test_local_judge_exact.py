"""What case and exponents tell apart is never called the same."""

from __future__ import annotations

import pytest

from tributary.core.decision import VerdictKind
from tributary.core.ids import new_id
from tributary.core.ports import JudgedText
from tributary.models.judges import LocalJudge


def _kind(new: str, old: str) -> VerdictKind:
    def lesson(text: str) -> JudgedText:
        return JudgedText(lesson_id=new_id(), text=text, situation="operating the archive", subject=None)

    return LocalJudge().judge(lesson(new), [lesson(old)], timeout_s=None)[0].kind


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The limit is 10⁵ rows", "The limit is 105 rows"),
        ("Pass -c to the archiver", "Pass -C to the archiver"),
        ("grep -v hides matching lines", "grep -V hides matching lines"),
        ("Run chmod u+s on the helper", "Run chmod u+S on the helper"),
        ("The uplink carries 5 Mb", "The uplink carries 5 MB"),
    ],
)
def test_case_of_options_modes_and_units_and_exponents_tell_apart(one: str, other: str) -> None:
    assert _kind(one, other) is not VerdictKind.SAME
    assert _kind(other, one) is not VerdictKind.SAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pass -c to the archiver", "pass -c to the Archiver"),
        ("The timeout is 90 s", "The timeout is 90 seconds"),
        ("The limit is 10⁵ rows", "the limit is 10⁵ rows"),
    ],
)
def test_case_elsewhere_and_spelled_out_units_do_not(one: str, other: str) -> None:
    assert _kind(one, other) is VerdictKind.SAME
