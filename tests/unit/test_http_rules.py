"""pydantic's findings in words for a caller of the API."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pydantic import ValidationError

from tributary.contract import models
from tributary.edges.lambda_http.rules import MOST_PROBLEMS, dotted, explain

LESSON: dict[str, Any] = {"text": "t", "situation": "s", "source": {"how": "told"}}


def found(document: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(ValidationError) as caught:
        models.LearnRequest.model_validate_json(json.dumps(document))
    problems = explain(caught.value.errors(include_input=False), document)
    return {problem.field: problem.rule for problem in problems}


def test_field_inside_a_list_is_named_by_its_place() -> None:
    evidence = [{"type": "log", "ref": "r"}, {"type": "log", "ref": 3}]
    assert found({**LESSON, "evidence": evidence}) == {"evidence.1.ref": "must be text"}


def test_marker_of_a_dictionary_key_is_no_part_of_the_name() -> None:
    assert found({**LESSON, "tags": {" ": "x"}}) == {"tags. ": "must not be empty or white space"}


def test_two_rules_of_a_union_become_one() -> None:
    with pytest.raises(ValidationError) as caught:
        models.RecallRequest.model_validate_json('{"query": "q", "as_of": true}')
    (problem,) = explain(caught.value.errors(include_input=False), {"query": "q", "as_of": True})
    assert problem.field == "as_of"
    assert problem.rule == "must be a whole number, or an RFC 3339 time with an offset, such as 2026-03-01T12:00:00Z"


def test_rule_about_two_fields_is_told_at_the_one_to_change() -> None:
    document = {**LESSON, "valid_from": "2026-03-02T00:00:00Z", "valid_until": "2026-03-01T00:00:00Z"}
    assert found(document) == {"valid_until": "must be later than valid_from"}


def test_field_named_like_a_union_member_is_still_found() -> None:
    assert found({**LESSON, "constrained-int": 1}) == {"constrained-int": "is no known field"}


def test_no_more_than_so_many_fields_are_named() -> None:
    assert len(found({**LESSON, **{f"f{number}": 1 for number in range(100)}})) == MOST_PROBLEMS


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ((), "body"),
        (("evidence", 0, "ref"), "evidence.0.ref"),
        (("a\nb\x00\ud800",), "a\N{REPLACEMENT CHARACTER}b" + "\N{REPLACEMENT CHARACTER}" * 2),
        (("x" * 100,), "x" * 64),
    ],
)
def test_path_is_printable_and_short_whatever_names_it_has(path: tuple[object, ...], shown: str) -> None:
    assert dotted(path) == shown
    shown.encode("utf-8")


def test_no_rule_of_the_contract_is_left_in_pydantics_own_words() -> None:
    """Each way in which a field can be wrong, for each type of field that the requests have."""
    wrong: list[object] = [None, True, 0, -5, 1.5, 10**30, "", "x" * 9000, "\x00", [], [1], {}, {"a": 1}, {"": "x"}]
    wrong += ["2026-01-01T00:00:00", [{"type": 1}], ["x"] * 40, {str(n): "x" for n in range(40)}]
    seen: set[str] = set()
    for model, sound in ((models.LearnRequest, LESSON), (models.RecallRequest, {"query": "q"})):
        for name in model.model_fields:
            for value in wrong:
                document = {**sound, name: value}
                try:
                    model.model_validate(document)
                except ValidationError as error:
                    seen |= {problem.rule for problem in explain(error.errors(include_input=False), document)}
    assert len(seen) > 20
    assert [rule for rule in seen if re.search(r"[Ii]nput|[Vv]alue|valid |pydantic|class", rule)] == []
    assert all(re.match(r"must |is ", rule) for rule in seen), seen
