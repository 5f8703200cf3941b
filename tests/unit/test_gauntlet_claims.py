"""The demo's claims fail when what they claim is not so."""

from __future__ import annotations

from typing import Any

import pytest

from evals.gauntlet.claims import check_claims, check_ways
from evals.gauntlet.results import AgentReport, CitationReport, LessonReport

TRAPS = ["linker", "deprecated key", "quota", "migration"]
IDS = [f"les_{number}" for number in range(4)]
LEARNED = [LessonReport(lesson=lesson, outcome="learned", text="t") for lesson in IDS]
WORKED = [CitationReport(lesson=lesson, text="t", ran="r", worked=True, before=0.7, after=0.8) for lesson in IDS]
REFUTED = [CitationReport(lesson="les_x", text="t", ran="r", worked=False, before=0.7, after=0.7)]


def agent(name: str, **changed: Any) -> AgentReport:
    plain: dict[str, Any] = {
        "agent": name,
        "steps": 40,
        "memory_calls": 8,
        "traps_hit": TRAPS,
        "done": True,
        "recalled": [],
        "citations": [],
        "learned": [],
        "seconds": 0.1,
    }
    return AgentReport(**{**plain, **changed})


def failing(**changed: dict[str, Any]) -> list[str]:
    agents = {
        "first": agent("a", **{"learned": LEARNED, **changed.get("first", {})}),
        "second": agent("b", **{"steps": 8, "traps_hit": [], "recalled": IDS, "citations": WORKED, **changed.get("second", {})}),
        "without_recall": agent("off", **changed.get("without_recall", {})),
        "with_strange_memory": agent(
            "strange", **{"steps": 44, "recalled": ["les_x"], "citations": REFUTED, **changed.get("with_strange_memory", {})}
        ),
    }
    return [claim.claim for claim in check_claims(**agents) if not claim.holds]


def test_every_claim_holds_when_all_went_as_claimed() -> None:
    assert failing() == []


@pytest.mark.parametrize(
    ("who", "changed", "claim"),
    [
        ("first", {"done": False}, "every agent rolls the service out"),
        ("first", {"traps_hit": TRAPS[:3]}, "agent-a, with an empty memory, walks into every trap"),
        ("first", {"recalled": ["les_x"]}, "agent-a, with an empty memory, walks into every trap"),
        ("first", {"learned": LEARNED[:3]}, "agent-a learns a lesson at each"),
        (
            "first",
            {"learned": [*LEARNED[:3], LessonReport(lesson=IDS[3], outcome="quarantined", text="t")]},
            "agent-a learns a lesson at each",
        ),
        ("second", {"traps_hit": ["quota"]}, "agent-b, with agent-a's lessons, walks into none"),
        ("second", {"steps": 40}, "agent-b takes fewer steps than agent-a"),
        ("second", {"citations": WORKED[:3]}, "agent-b cites each of agent-a's lessons, and each one worked"),
        (
            "second",
            {"citations": [*WORKED[:3], WORKED[3].model_copy(update={"worked": False})]},
            "agent-b cites each of agent-a's lessons, and each one worked",
        ),
        (
            "second",
            {"citations": [*WORKED[:3], WORKED[3].model_copy(update={"after": 0.7})]},
            "the confidence in each cited lesson rises",
        ),
        ("without_recall", {"traps_hit": TRAPS[:3]}, "control: with recall switched off there is no gain"),
        ("without_recall", {"steps": 39}, "control: with recall switched off there is no gain"),
        (
            "with_strange_memory",
            {"traps_hit": TRAPS[:3]},
            "control: another world's lessons are recalled and tried, and there is no gain",
        ),
        (
            "with_strange_memory",
            {"steps": 39},
            "control: another world's lessons are recalled and tried, and there is no gain",
        ),
        (
            "with_strange_memory",
            {"citations": []},
            "control: another world's lessons are recalled and tried, and there is no gain",
        ),
        (
            "with_strange_memory",
            {"citations": WORKED[:1]},
            "control: another world's lessons are recalled and tried, and there is no gain",
        ),
    ],
)
def test_a_claim_fails_when_it_is_not_so(who: str, changed: dict[str, Any], claim: str) -> None:
    assert claim in failing(**{who: changed})


def test_claims_tell_their_figures() -> None:
    agents = [agent(name) for name in "abcd"]
    figures = {claim.claim: claim.figures for claim in check_claims(*agents)}
    assert figures["agent-b takes fewer steps than agent-a"] == "40 against 40"
    assert figures["control: with recall switched off there is no gain"] == "4 traps against 4, 40 steps against 40"


@pytest.mark.parametrize(
    ("who", "changed", "claim"),
    [
        (None, {}, None),
        ("late", {"done": False}, "however the memory is held"),
        ("in_prompt", {"traps_hit": ["quota"]}, "agent-c, which finds the lessons in its prompt"),
        ("in_prompt", {"memory_calls": 8}, "agent-c, which finds the lessons in its prompt"),
        ("late", {"traps_hit": []}, "agent-d, which asks only after a failure"),
        ("late", {"citations": WORKED[:3]}, "agent-d, which asks only after a failure"),
        ("late", {"steps": 40}, "agent-d, which asks only after a failure"),
        ("strange_prompt", {"steps": 8}, "control: another world's lessons in the prompt"),
        ("strange_prompt", {"citations": []}, "control: another world's lessons in the prompt"),
        ("strange_prompt", {"citations": WORKED}, "control: another world's lessons in the prompt"),
    ],
)
def test_a_claim_about_a_way_to_hold_the_memory_fails_when_it_is_not_so(
    who: str | None, changed: dict[str, Any], claim: str | None
) -> None:
    held = {"recalled": IDS, "citations": WORKED}
    agents = {
        "first": agent("a", learned=LEARNED),
        "tool": agent("b", steps=8, traps_hit=[], **held),
        "in_prompt": agent("c", steps=8, traps_hit=[], memory_calls=5, **held),
        "late": agent("d", steps=13, **held),
        "strange_prompt": agent("s", steps=44, memory_calls=1, citations=REFUTED),
    }
    if who is not None:
        agents[who] = agents[who].model_copy(update=changed)
    failed = [one.claim for one in check_ways(**agents) if not one.holds]
    assert [one.startswith(claim or "") for one in failed] == ([] if claim is None else [True])
