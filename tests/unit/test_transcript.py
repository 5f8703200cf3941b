"""Transcripts: what a turn is, what may be handed in, and whose word makes how an agent knows."""

from __future__ import annotations

from datetime import datetime

import pytest

from tributary.core import limits
from tributary.core.errors import InvalidRequest
from tributary.core.lesson import How
from tributary.core.transcript import Transcript, Turn, TurnRole, turns_of


def test_a_text_with_speakers_is_cut_at_them() -> None:
    text = "seen on Monday\nUser: deploy it\nnow\nAssistant: done\nTool : 429\nuser:\nthanks"
    assert [(turn.role.value, turn.text) for turn in turns_of(text)] == [
        ("text", "seen on Monday"),
        ("user", "deploy it\nnow"),
        ("assistant", "done"),
        ("tool", "429"),
        ("user", "thanks"),
    ]


def test_a_text_without_speakers_is_cut_at_blank_lines() -> None:
    assert [turn.text for turn in turns_of("one\nstill one\n\n \n\ntwo\n")] == ["one\nstill one", "two"]
    assert {turn.role for turn in turns_of("one\n\ntwo")} == {TurnRole.TEXT}


def test_a_text_of_many_paragraphs_keeps_them_all_in_as_many_turns_as_there_may_be() -> None:
    turns = turns_of("\n\n".join(f"p{number}" for number in range(limits.TRANSCRIPT_TURNS + 10)))
    assert len(turns) == limits.TRANSCRIPT_TURNS
    assert turns[-1].text.endswith(f"p{limits.TRANSCRIPT_TURNS + 9}")


def test_only_what_a_tool_gave_back_was_observed() -> None:
    assert {role.value: role.how for role in TurnRole} == {
        "user": How.TOLD,
        "assistant": How.DERIVED,
        "tool": How.OBSERVED,
        "system": How.TOLD,
        "text": How.TOLD,
    }


@pytest.mark.parametrize(
    ("transcript", "field"),
    [
        (Transcript(turns=()), "transcript"),
        (Transcript(turns=(Turn(role=TurnRole.USER, text="  \n"),)), "transcript"),
        (Transcript(turns=(Turn(role=TurnRole.USER, text="a"),) * (limits.TRANSCRIPT_TURNS + 1)), "transcript"),
        (Transcript(turns=(Turn(role=TurnRole.USER, text="ä" * (limits.TRANSCRIPT_BYTES // 2 + 1)),)), "transcript"),
        (Transcript(turns=(Turn(role=TurnRole.USER, text="a\x00"),)), "transcript.0.text"),
        (Transcript(turns=(Turn(role=TurnRole.USER, text="a", at=datetime(2026, 3, 1)),)), "transcript.0.at"),  # noqa: DTZ001
        (Transcript(turns=(Turn(role=TurnRole.USER, text="a", ref=" "),)), "transcript.0.ref"),
        (Transcript(turns=(Turn(role=TurnRole.USER, text="a"),), ref="r" * limits.REF_CHARACTERS), "ref"),
    ],
)
def test_what_breaks_a_rule_is_refused_by_its_field(transcript: Transcript, field: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        transcript.check()
    assert refused.value.field == field


def test_the_longest_reference_leaves_room_for_a_turns_number() -> None:
    transcript = Transcript(
        turns=(Turn(role=TurnRole.USER, text="a"),) * limits.TRANSCRIPT_TURNS, ref="r" * limits.TRANSCRIPT_REF_CHARACTERS
    )
    transcript.check()
    assert len(transcript.place(limits.TRANSCRIPT_TURNS)) <= limits.REF_CHARACTERS


def test_a_turn_is_looked_up_at_its_own_reference_else_at_the_transcripts() -> None:
    turns = (Turn(role=TurnRole.USER, text="a", ref="log:7"), Turn(role=TurnRole.USER, text="b"))
    assert [Transcript(turns=turns, ref="run:88").place(number) for number in (1, 2)] == ["log:7", "run:88#turn-2"]
    assert Transcript(turns=turns).place(2) == "transcript#turn-2"
    assert Transcript(turns=turns).turn(0) is None
    assert Transcript(turns=turns).turn(3) is None
