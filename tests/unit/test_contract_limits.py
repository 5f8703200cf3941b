"""The contract and the core state the same limits, and take and refuse the same drafts and questions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_args

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tributary.contract import actions, distilling, evidence, models, responding
from tributary.contract import limits as stated
from tributary.core import limits as enforced
from tributary.core.action import ActionState, BeginOutcome, Doubt
from tributary.core.decision import Outcome
from tributary.core.errors import InvalidRequest
from tributary.core.evidence import CONTENT_TYPES
from tributary.core.lesson import Draft, Evidence, How, Kind, Source, Status
from tributary.core.receipt import Coverage
from tributary.core.requests import Question, Require
from tributary.core.responding import Stop
from tributary.core.transcript import Drop, TurnRole

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOUND = {"text": "t", "situation": "s", "source": {"how": "told", "ref": None}}


def constants(module: object) -> dict[str, int]:
    return {name: value for name, value in vars(module).items() if name.isupper() and isinstance(value, int)}


def test_every_limit_that_the_core_enforces_is_stated_alike() -> None:
    both = constants(enforced)
    assert len(both) > 10
    assert both == {name: constants(stated).get(name) for name in both}


def test_only_the_limits_of_the_transport_are_stated_alone() -> None:
    assert set(constants(stated)) - set(constants(enforced)) == {
        "BODY_BYTES",
        "BATCH_BYTES",
        "VERIFY_BYTES",
        "DISTILL_BYTES",
        "REQUEST_BYTES",
        "EVENT_BYTES",
        "TIMEOUT_S",
    }


def test_files_of_the_same_types_are_taken_and_kept() -> None:
    assert set(get_args(evidence.ContentType)) == CONTENT_TYPES


@pytest.mark.parametrize(
    ("literal", "words"),
    [
        (models.Kind, Kind),
        (models.Status, Status),
        (models.How, How),
        (models.Outcome, Outcome),
        (models.CoverageValue, Coverage),
        (distilling.TurnRole, TurnRole),
        (distilling.DropName, Drop),
        (models.RecallRequest.model_fields["require"].annotation, Require),
        (actions.ActionState, ActionState),
        (actions.BeginOutcome, BeginOutcome),
        (actions.DoubtName, Doubt),
        (responding.StopName, Stop),
    ],
)
def test_the_contracts_words_are_the_cores(literal: Any, words: Any) -> None:
    assert literal.__args__ == tuple(one.value for one in words)


def test_defaults_of_the_contract_are_the_cores() -> None:
    draft = Draft(text="t", situation="s", source=Source(how=How.TOLD))
    asked = models.LearnRequest.model_validate(SOUND)
    for name in ("kind", "subject", "rationale", "confidence", "valid_from", "valid_until", "keep_until"):
        assert getattr(asked, name) == getattr(draft, name), name
    question, wanted = Question(query="q"), models.RecallRequest(query="q")
    for name in ("limit", "subject", "min_confidence", "as_of", "at_least", "include_stale", "require"):
        assert getattr(wanted, name) == getattr(question, name), name


def strings(most: int, letters: tuple[str, ...] = ("x", "é", "🚒")) -> st.SearchStrategy[str]:
    """Gives texts around the limit, and any that a user, a bug or an attacker might send."""
    around = st.builds(
        lambda letter, size: letter * max(0, size // (len(letter.encode()) if most > 2000 else 1)),
        st.sampled_from(letters),
        st.integers(most - 4, most + 4),
    )
    odd = st.sampled_from(["", " ", "\n\t", "\u3000", "\u200b", "a\x00b", "\x00", "\ud800", "a\udfff", "\x1f", "\u2028 "])
    return around | odd | st.text(st.characters(), max_size=8)


MOMENTS = st.none() | st.one_of(
    st.datetimes(timezones=st.none()),
    st.datetimes(timezones=st.timezones()),
    st.builds(
        lambda moment, hours: moment.replace(tzinfo=timezone(timedelta(hours=hours))),
        st.sampled_from([datetime.min, datetime(2, 1, 1), datetime(9998, 12, 31), datetime.max]),  # noqa: DTZ001, DTZ901  (zoned)
        st.integers(-23, 23),
    ),
)
UNITS = st.floats() | st.sampled_from([0.0, -0.0, 1.0, 0.5, 1.0000001])
TAGS = st.dictionaries(strings(64), strings(200), max_size=3) | st.integers(30, 34).map(
    lambda number: {f"k{index}": "v" for index in range(number)}
)
EVIDENCE = st.fixed_dictionaries({"type": strings(64), "ref": strings(2000), "note": st.none() | strings(2000)})
SOUND_EVIDENCE = {"type": "log", "ref": "r", "note": None}
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "text": strings(8192),
    "situation": strings(2048),
    "source": st.fixed_dictionaries({"how": st.sampled_from([one.value for one in How]), "ref": st.none() | strings(2000)}),
    "kind": st.sampled_from([one.value for one in Kind]),
    "subject": st.none() | strings(200),
    "tags": TAGS,
    "evidence": st.lists(EVIDENCE, max_size=2) | st.integers(15, 18).map(lambda number: [SOUND_EVIDENCE] * number),
    "rationale": st.none() | strings(8192),
    "confidence": UNITS,
    "valid_from": MOMENTS,
    "valid_until": MOMENTS,
    "keep_until": MOMENTS,
}


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Gives a sound draft with one to three fields that may break a rule."""
    chosen = draw(st.lists(st.sampled_from(sorted(FIELDS)), min_size=1, max_size=3, unique=True))
    return {**SOUND, **{name: draw(FIELDS[name]) for name in chosen}}


def _draft(document: dict[str, Any]) -> Draft:
    source = document["source"]
    fields = {
        **document,
        "source": Source(how=How(source["how"]), ref=source["ref"]),
        "kind": Kind(document.get("kind", "gotcha")),
        "evidence": tuple(Evidence(**one) for one in document.get("evidence", ())),
    }
    return Draft(**fields)


def _core_takes(check: Any, *arguments: Any) -> bool:
    try:
        check(*arguments)
    except InvalidRequest:
        return False
    return True


def _contract_takes(model: Any, document: dict[str, Any]) -> bool:
    try:
        model.model_validate(document)
    except ValidationError:
        return False
    return True


@settings(deadline=None, max_examples=600)
@given(documents())
@example({**SOUND, "valid_until": datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))})
@example({**SOUND, "valid_from": NOON, "valid_until": NOON})
@example({**SOUND, "text": "\u200b"})
def test_contract_and_core_take_and_refuse_the_same_drafts(document: dict[str, Any]) -> None:
    taken = _core_takes(enforced.check_draft, _draft(document))
    event("taken" if taken else "refused")
    assert _contract_takes(models.LearnRequest, document) is taken


@settings(deadline=None, max_examples=300)
@given(
    st.fixed_dictionaries(
        {"query": strings(8192)},
        optional={
            "limit": st.integers(-1, 102),
            "min_confidence": UNITS,
            "as_of": st.none() | st.integers(-2, 2) | st.sampled_from([2**63 - 1, 2**63]) | MOMENTS,
            "include_stale": st.booleans(),
        },
    )
)
def test_contract_and_core_take_and_refuse_the_same_questions(document: dict[str, Any]) -> None:
    assert _contract_takes(models.RecallRequest, document) is _core_takes(Question(**document).check)


@settings(deadline=None, max_examples=300)
@given(strings(200), TAGS)
def test_whatever_filters_the_contract_takes_the_core_takes(subject: str, tags: dict[str, str]) -> None:
    if _contract_takes(models.RecallRequest, {"query": "q", "subject": subject, "tags": tags}):
        Question(query="q", subject=subject, tags=tags).check()
