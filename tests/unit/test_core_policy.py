"""A tribe's policy as it is stored: what was written is read back, and what is malformed is told as corrupt data."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tributary.core.errors import Corrupt
from tributary.core.lesson import How
from tributary.core.policy import Equals, Policy, Precedence

RULE: dict[str, Any] = {"how": "observed", "with_evidence": True, "over": ["told"]}
POLICIES = st.builds(
    Policy,
    version=st.integers(1, 1000),
    precedence=st.lists(
        st.builds(
            Precedence,
            how=st.sampled_from(How),
            with_evidence=st.booleans(),
            over=st.frozensets(st.sampled_from(How)),
        ),
        max_size=4,
    ).map(tuple),
    equals=st.sampled_from(Equals),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["observed", "told", "dispute"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["precedence", "equals", "how", "with_evidence", "over", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def stored(policy: Policy) -> dict[str, Any]:
    """Returns the document that a tribe's row holds for `policy`."""
    rules = [
        {"how": rule.how.value, "with_evidence": rule.with_evidence, "over": sorted(rule.over)} for rule in policy.precedence
    ]
    return {"precedence": rules, "equals": policy.equals.value}


@given(POLICIES)
def test_what_was_stored_is_read_back(policy: Policy) -> None:
    assert Policy.from_document(policy.version, json.loads(json.dumps(stored(policy)))) == policy


def test_an_empty_document_is_the_default_and_each_part_may_be_left_out() -> None:
    default = Policy(version=3)
    assert Policy.from_document(3, {}) == default
    assert Policy.from_document(3, {"equals": "newest_observation"}) == Policy(version=3, equals=Equals.NEWEST_OBSERVATION)
    assert Policy.from_document(3, {"precedence": []}) == Policy(version=3, precedence=())


def test_the_default_lets_only_evident_observations_outrank() -> None:
    assert stored(Policy()) == {
        "precedence": [{"how": "observed", "with_evidence": True, "over": ["imported", "told"]}],
        "equals": "dispute",
    }


@pytest.mark.parametrize(
    "document",
    [
        [],
        "dispute",
        {"precedence": {}},
        {"precedence": "observed"},
        {"precedence": [1]},
        {"precedence": [[]]},
        {"precedence": [{}]},
        {"precedence": [{**RULE, "how": "seen"}]},
        {"precedence": [{**RULE, "how": None}]},
        {"precedence": [{**RULE, "with_evidence": "false"}]},
        {"precedence": [{**RULE, "with_evidence": 0}]},
        {"precedence": [{**RULE, "over": "told"}]},
        {"precedence": [{**RULE, "over": ["nobody"]}]},
        {"precedence": [{**RULE, "over": [None]}]},
        {"precedence": [{**RULE, "over": [["told"]]}]},
        {"precedence": [RULE, {"how": "told"}]},
        {"equals": "oldest"},
        {"equals": None},
        {"equals": ["dispute"]},
    ],
)
def test_a_malformed_policy_is_corrupt_and_nothing_is_guessed(document: Any) -> None:
    with pytest.raises(Corrupt, match="stored policy"):
        Policy.from_document(1, document)


@settings(deadline=None)
@given(JSON)
@example({"precedence": [RULE], "equals": "dispute"})
def test_any_document_is_a_policy_or_corrupt(document: Any) -> None:
    try:
        policy = Policy.from_document(1, document)
    except Corrupt:
        return
    assert Policy.from_document(1, stored(policy)) == policy
