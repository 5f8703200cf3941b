"""What a rule is, and the vocabulary that the rules share.

Gaps between words are bounded and stop at the end of a sentence, so that a text is read in linear time and two innocent
sentences don't make one guilty one. Ordinary operations advice is full of imperatives; what tells an attack is whom it
addresses (what the reader was told, the judge, whoever reads it) rather than how it sounds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a text is held back; the values are stable."""

    OVERRIDE = "override"
    ROLE_HIJACK = "role_hijack"
    FENCE_ESCAPE = "fence_escape"
    JUDGE_ATTACK = "judge_attack"
    READER_HIJACK = "reader_hijack"
    EXFILTRATION = "exfiltration"
    MARKUP_SCRIPT = "markup_script"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A pattern that a view of a text (see `views`) must not hold.

    The view must hold one of `hints` before the pattern is tried, which spares most texts most patterns; none means always.
    """

    reason: Reason
    view: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]


_FOLD = re.compile(r"\n\s*")


def rule(reason: Reason, pattern: str, *, hints: str = "", view: str = "words") -> Rule:
    """Makes a rule. Line breaks in `pattern` with the indent after them are layout; `hints` are parted by bars."""
    return Rule(
        reason=reason,
        view=view,
        pattern=re.compile(_FOLD.sub("", pattern.strip())),
        hints=tuple(hints.split("|")) if hints else (),
    )


GAP = r"[^.!?;]{0,40}?"
NEGATED = r"(?<!not )(?<!never )(?<!nor )"

# What a model was told, and what any document may hold, which counts only when it is the earlier one.
TOLD = r"(?:instructions?|prompts?|directives?|guidelines?|directions|guardrails?|programming|system messages?)"
WRITTEN = (
    r"(?:rules?|commands?|orders|messages?|(?<!-)context(?! (?:with|in|of|name|menu|switch)\b)|text|constraints?|training|"
    r"policies|guidance)"
)
EARLIER = r"(?:previous(?:ly)?|prior|above|earlier|preceding|former|foregoing|original|initial|preexisting|existing|came before)"
EARLIER_HINTS = "previous|prior|above|earlier|preceding|former|foregoing|original|initial|existing|came before"
REJECT = (
    r"(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|forget(?:ting)?|overrid(?:e|es|ing)|bypass(?:ing)?|discard(?:ing)?|neglect|"
    r"abandon|overrule|nullify|cancel|erase|drop|set aside|throw (?:away|out)|pay no (?:attention|heed) to|"
    r"(?:do not|never|stop|cease|must not|should not|no longer|need not) (?:follow(?:ing)?|obey(?:ing)?|heed(?:ing)?|"
    r"listen(?:ing)? to|comply(?:ing)? with|adher(?:e|ing) to|respect(?:ing)?))"
)
VOID = r"(?:void|null|obsolete|cancell?ed|invalid|revoked|suspended|superseded|deleted|gone)"

MODEL = r"(?:ais?|llms?|agents?|assistants?|(?:language |ai )?models?|chatbots?|bots?|copilots?|readers?)"
# "this", alone or with a word for the text itself: who reads "this file" or uses "this plugin" is nobody special.
_HERE = r"(?:lesson|memory|note|text|message|entry|instruction|prompt|sentence|line|document|paragraph)s?"
THIS = (
    rf"(?:(?:this|these|the (?:above|following|present)) {_HERE}|the (?:lesson|memory)|"
    r"this(?= ?(?:must|should|shall|has to|have to|needs?|will|would|is |are |may|can|first|now|[,.:;!?]|$)))"
)
LABEL = r"(?:same|conflicts?|unrelated|unsure)"
LABEL_HINTS = "same|conflict|unrelated|unsure"
# What may follow a label that is meant as one; "the same value" is no verdict.
AFTER_LABEL = r"(?= ?(?:[.,;:!?]|$|whatever|regardless|no matter|always|for|in|when|to|as|with|from))"
