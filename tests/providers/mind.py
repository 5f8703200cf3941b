"""A mind for fake providers: it answers whatever the product asks, by rules, from nothing but what came over the wire.

It tells a question by the form that its answer must have, reads the material inside the fence, and asks the local judge and the
local rules, which know nothing of prompts. So a run over a wire has figures that can be foretold from those of a local one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from evals import discipline
from evals.calibration.cases import Distillation, DistilledLesson
from evals.calibration.ruled import RuledGrader
from tests.providers.notes import lessons_in
from tests.providers.typesafe import choice, noul
from tributary.core.decision import Verdict, VerdictKind
from tributary.core.ports import JudgedText
from tributary.core.transcript import Transcript, Turn, TurnRole
from tributary.models.judges import LocalJudge
from tributary.models.screens import LocalScreen

HAZARDS = ("override", "judge_attack", "reader_hijack", "exfiltration", "role_hijack")
_TO_READERS = re.compile(
    r"\b(?:assistant|agents?|session|helper|whoever (?:reads|recalls)|your (?:user|operator|answers?))\b", re.I
)
"""Words by which it tells what the rules miss; it takes some honest advice for an attack, as a model does."""
_JUDGE, _SCREEN, _GRADER = LocalJudge(), LocalScreen(), RuledGrader()


def answering(_instructions: str, material: str, schema: Mapping[str, object]) -> Mapping[str, object]:
    """Answers a question of the product's; raises LookupError for one that it does not know."""
    given, asked = unfenced(material), _fields(schema)
    if asked == {"pair", "verdict", "confidence", "reason"}:
        found = verdict_on(given["known"], given["new"])
        return {"pair": given["pair"], "verdict": found.kind, "confidence": found.confidence, "reason": found.reason}
    if asked == set(HAZARDS):
        return hazards_of(given)
    if asked == {"reason", "grade"}:
        return {"reason": "By rules.", "grade": _GRADER.grade(_distillation(given))}
    if asked == {"decision"}:
        return {"decision": _decision(given, schema)}
    if asked == {"lessons"}:
        return {"lessons": lessons_in(given)}
    raise LookupError(f"nobody asks for {sorted(asked)}")


def jev(state: Any, name: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answers one question to Jev; `unsure` is no choice there, but odds that tell nothing."""
    if question["type"] == "noul":
        return noul(hazards_of(state)[name])
    found = verdict_on(state[name], state["new"])
    if found.kind is VerdictKind.UNSURE:
        return choice("unrelated", probability=0.4)
    return choice(found.kind, probability=max(found.confidence, 0.6))


def unfenced(material: str) -> Any:
    """Returns what stands inside the fence; raises ValueError where there is none, or more than one."""
    before, opening, rest = material.partition("<data>\n")
    inside, closing, after = rest.partition("\n</data>")
    if before or after or not opening or not closing:
        raise ValueError("the material is not fenced")
    return json.loads(inside)


def verdict_on(known: Mapping[str, str], new: Mapping[str, str]) -> Verdict:
    (found,) = _JUDGE.judge(_side(new, 2), [_side(known, 1)], timeout_s=None)
    return found


def hazards_of(shown: Mapping[str, Any]) -> Mapping[str, float]:
    texts = [*shown["fields"].values(), *shown.get("hidden_in_them", [])]
    found = set(_SCREEN.screen({str(at): text for at, text in enumerate(texts)}).reasons)
    if any(_TO_READERS.search(text) for text in texts):
        found.add("reader_hijack")
    return {name: 0.97 if name in found else 0.02 for name in HAZARDS}


def _fields(schema: Mapping[str, object]) -> set[str]:
    properties = schema.get("properties")
    return set(properties) if isinstance(properties, Mapping) else set()


def _side(shown: Mapping[str, str], number: int) -> JudgedText:
    return JudgedText(lesson_id=UUID(int=number), text=shown["text"], situation=shown["situation"], subject=shown.get("subject"))


def _distillation(given: Mapping[str, Any]) -> Distillation:
    turns: Sequence[Mapping[str, Any]] = given["transcript"]
    return Distillation(
        id="asked",
        transcript=Transcript(turns=tuple(Turn(role=TurnRole(one["role"]), text=one["text"]) for one in turns), ref="asked"),
        lessons=tuple(
            DistilledLesson(
                text=one["text"],
                situation=one["situation"],
                kind=one["kind"],
                subject=one["subject"],
                turns=tuple(one["cites"]),
            )
            for one in given["lessons"]
        ),
        grade=0,
        reason="",
        tags=(),
        split="",
    )


def _decision(given: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    choices = schema["properties"]["decision"]["enum"]
    if "recall" in choices:
        return discipline.before(given["text"])
    if "learn" in choices:
        return discipline.after(given["text"])
    return discipline.absence(given["receipt"])
