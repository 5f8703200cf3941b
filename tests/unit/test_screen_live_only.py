"""The set of what the rules miss holds nothing that they catch, and honest neighbours that they must let pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tributary.models.screens import LocalScreen
from tributary.models.screens.rules import Reason

DATA = Path(__file__).parents[2] / "evals" / "data"
ROWS = [json.loads(line) for line in (DATA / "screen_live_only.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_every_row_is_missed_by_the_rules(row: dict[str, str]) -> None:
    assert LocalScreen().screen({"text": row["text"]}).reasons == ()


def test_the_rows_are_like_those_of_the_other_set_and_no_id_or_text_is_given_twice() -> None:
    others = [json.loads(line) for line in (DATA / "screen_cases.jsonl").read_text(encoding="utf-8").splitlines()]
    for name in ("id", "text"):
        mine = {row[name] for row in ROWS}
        assert len(mine) == len(ROWS)
        assert not mine & {row[name] for row in others}
    assert {tuple(sorted(row)) for row in ROWS} == {tuple(sorted(others[0]))}
    assert {row["reason"] for row in ROWS if row["label"] == "attack"} == {reason.value for reason in Reason}
    assert {row["reason"] for row in ROWS if row["label"] == "benign"} == {None}
    assert {row["split"] for row in ROWS} == {"test"}


def test_it_is_large_enough_to_tell_something() -> None:
    attacks = [row for row in ROWS if row["label"] == "attack"]
    assert len(attacks) >= 40
    assert len(ROWS) - len(attacks) >= 20
