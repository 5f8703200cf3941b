"""The golden sets: each row has the form that its suite reads, ids are unique, and nothing of `test` is known from `tune`."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from evals.suites import classification, coverage, redteam, tool_discipline
from tributary.core.limits import QUERY_BYTES, SUBJECT_CHARACTERS, TEXT_BYTES
from tributary.core.receipt import Cause, Coverage

DATA = Path(classification.PAIRS).parent
SPLITS = {"tune", "test"}
NEAR = 0.9
"""Share of words that two rows may not have in common across the splits."""
KEYS = {
    "judge_pairs": {"id", "old", "new", "label", "tags", "split"},
    "screen_cases": {"id", "label", "reason", "tags", "text", "split"},
    "coverage_cases": {"id", "situation", "question", "coverage", "causes", "may_assert_absence", "tags"},
    "tool_discipline": {"id", "asks", "text", "label", "tags", "split"},
}
MAY = {"coverage_cases": {"filters"}, "tool_discipline": {"receipt"}}


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", KEYS)
def test_each_row_has_its_keys_and_an_id_of_its_own(name: str) -> None:
    found = rows(name)
    assert [row["id"] for row in found if not KEYS[name] <= set(row) <= KEYS[name] | MAY.get(name, set())] == []
    assert [one for one, count in Counter(row["id"] for row in found).items() if count > 1] == []
    for row in found:
        assert row["tags"], row["id"]
        assert all(isinstance(tag, str) and tag.strip() == tag for tag in row["tags"]), row["id"]
        assert row.get("split", "test") in SPLITS, row["id"]


def test_pairs_are_lessons_with_known_labels_enough_of_each() -> None:
    found = rows("judge_pairs")
    for row in found:
        assert row["label"] in classification.LABELS, row["id"]
        for side in (row["old"], row["new"]):
            assert {"situation", "text"} <= set(side) <= {"situation", "text", "subject"}, row["id"]
            assert 0 < len(side["text"].encode()) <= TEXT_BYTES, row["id"]
            assert side["situation"].strip(), row["id"]
            assert len(side.get("subject") or "") <= SUBJECT_CHARACTERS, row["id"]
    assert len(found) >= 300
    labels = Counter((row["split"], row["label"]) for row in found)
    assert all(labels[split, label] >= 50 for split in SPLITS for label in classification.LABELS)


def test_screen_cases_are_attacks_of_known_classes_or_benign_enough_of_each() -> None:
    found = rows("screen_cases")
    for row in found:
        assert row["label"] == ("benign" if row["reason"] is None else "attack"), row["id"]
        assert row["reason"] is None or row["reason"] in redteam.REASONS, row["id"]
        assert row["text"].strip(), row["id"]
    attacks = Counter(row["split"] for row in found if row["label"] == "attack")
    benign = Counter(row["split"] for row in found if row["label"] == "benign")
    assert attacks["test"] >= 80
    assert sum(benign.values()) >= 100
    assert set(redteam.REASONS) == {row["reason"] for row in found if row["split"] == "test"} - {None}


def test_the_live_only_set_where_there_is_one_has_nothing_that_another_set_knows() -> None:
    found = rows("screen_live_only") if redteam.LIVE_ONLY.is_file() else []
    known = {row["text"] for row in rows("screen_cases")}
    assert all(row["text"] not in known for row in found)
    assert not {row["id"] for row in found} & {row["id"] for row in rows("screen_cases")}


def test_coverage_cases_name_situations_that_can_be_brought_about_and_all_of_them() -> None:
    found = rows("coverage_cases")
    assert {row["situation"] for row in found} == set(coverage.SITUATIONS)
    for row in found:
        assert row["coverage"] in set(Coverage), row["id"]
        assert set(row["causes"]) <= set(Cause), row["id"]
        assert (row["coverage"] == "complete") == (not row["causes"]), row["id"]
        assert not row["may_assert_absence"] or row["coverage"] == "complete", row["id"]
        assert set(row.get("filters", {})) <= {"subject", "kinds", "tags", "as_of", "min_confidence"}, row["id"]
        assert 0 < len(row["question"].encode()) <= QUERY_BYTES, row["id"]
    assert {row["coverage"] for row in found} == {one.value for one in Coverage}
    assert Counter(row["may_assert_absence"] for row in found)[True] >= 20
    assert Counter(row["may_assert_absence"] for row in found)[False] >= 20


def test_cases_of_tool_discipline_have_choices_of_their_own_enough_of_each() -> None:
    found = rows("tool_discipline")
    for row in found:
        assert row["label"] in tool_discipline.CHOICES[row["asks"]], row["id"]
        assert ("receipt" in row) == (row["asks"] == "absence"), row["id"]
        if "receipt" in row:
            assert set(row["receipt"]) == {"coverage", "returned", "excluded"}, row["id"]
            assert row["receipt"]["coverage"] in set(Coverage), row["id"]
    assert len(found) >= 40
    labels = Counter(row["label"] for row in found)
    assert all(labels[choice] >= 4 for choices in tool_discipline.CHOICES.values() for choice in choices)
    assert len({row["text"] for row in found if row["asks"] != "absence"}) == sum(row["asks"] != "absence" for row in found)


def words(row: dict[str, Any]) -> frozenset[str]:
    """Returns the words of a row as they are written, since a disguise makes another case of them.

    The sides of a pair are told apart: a pair whose sides are swapped is another one.
    """
    sides = {side: row[side]["text"] for side in ("old", "new")} if "old" in row else {"": row["text"]}
    return frozenset(f"{side}:{word}" for side, text in sides.items() for word in re.findall(r"\w+", text.casefold()))


def near_across_splits(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Returns pairs of rows of one label and of different splits that say nearly the same, by shared terms (Jaccard)."""
    near = []
    keyed = sorted(found, key=lambda row: str(row["label"]))
    for _, group in groupby(keyed, key=lambda row: str(row["label"])):
        of = [(row["id"], row["split"], words(row)) for row in group]
        tune = [(one, terms) for one, split, terms in of if split == "tune" and terms]
        for one, split, terms in of:
            if split == "test" and terms:
                near += [(one, other) for other, known in tune if len(terms & known) >= NEAR * len(terms | known)]
    return near


@pytest.mark.parametrize("name", ["judge_pairs", "screen_cases", "tool_discipline"])
def test_nothing_of_the_split_test_nearly_stands_in_tune(name: str) -> None:
    assert near_across_splits(rows(name)) == []


def test_a_row_that_was_copied_across_the_splits_is_noticed() -> None:
    """Control for the one above."""
    (first, *_) = [row for row in rows("screen_cases") if row["split"] == "tune" and len(words(row)) > 4]
    copied = first | {"id": "copy", "split": "test", "text": first["text"].upper() + "!"}
    assert near_across_splits([first, copied]) == [("copy", first["id"])]
