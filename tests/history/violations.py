"""What a checker finds, by the rule that is broken."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """What must hold of every history. The value says what is wrong where it does not."""

    TICKS = "ticks have gaps, or their times do not rise"
    EVENTS = "an event is none that the state machine has"
    STATE = "the tables are not what their own events come to"
    AS_OF = "the past is shown otherwise than it was"
    DERIVED = "a decision is not what its verdicts come to in the state before it"
    CANDIDATES = "a decision did not see what it had to see"
    VERDICTS = "a verdict is not the judge's"
    RIVALS = "two lessons that contradict each other were believed at once"
    CONTENT = "two lessons of equal content were believed at once"
    REPLIES = "a reply is not what was done"
    KEYS = "one key was answered twice over"
    RECALLS = "a recall shows a state that no tick had"
    AGAIN = "the same past, asked for twice, was shown in two ways"
    COUNTERS = "a counter is not the number of what it counts"
    ERASED = "erased words are still kept"
    APART = "one tribe reached into another"
    REFUSED = "a call failed otherwise than by an expected refusal"
    LEFT = "a pending lesson was never settled"


@dataclass(frozen=True, kw_only=True)
class Violation:
    rule: Rule
    tick: int
    detail: str

    def __str__(self) -> str:
        return f"tick {self.tick}: {self.rule}: {self.detail}"
