"""Whether an agent uses memory where it should, and leaves it alone where it should not, in labelled situations.

Offline the scripted policy decides (`evals.discipline`), live the language model that the settings choose, through a JSON schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evals import discipline
from evals.bench import Bench, Tier
from evals.figures import Confusion, Measured, Metric, Wrong, share, shares_by_tag, skipped
from tributary.core.errors import ModelFailed
from tributary.core.evaluation import Better
from tributary.core.ports import LanguageModel, Prompt
from tributary.core.spending import Purpose
from tributary.models.fence import RULE, fenced

NAME = "tool-discipline"
CASES = Path(__file__).parents[1] / "data" / "tool_discipline.jsonl"
CHOICES = {
    "before": ("recall", "go_ahead"),
    "after": ("learn", "let_go"),
    "absence": ("say_absent", "say_unknown"),
}
_DECIDED = {"before": "decisions before a task", "after": "decisions after what was seen", "absence": "decisions on a receipt"}
NONE = "no answer"
_MEANING = {
    "before": (
        "A task was given to you. Answer `recall` to ask the memory before you act on it, `go_ahead` where the memory can't help."
    ),
    "after": (
        "This is what you saw at work. Answer `learn` if other agents need it later, `let_go` if they don't, or if it must not be"
        " shared."
    ),
    "absence": (
        "You asked the memory, and this is its receipt. Answer `say_absent` if you may tell the asker that nothing is known,"
        " `say_unknown` if the search does not show that."
    ),
}
_INSTRUCTIONS = "You are an agent in operations, and share a memory of lessons with other agents."


@dataclass(frozen=True, kw_only=True)
class Case:
    id: str
    asks: str
    text: str
    receipt: Mapping[str, object] | None
    label: str
    tags: tuple[str, ...]
    split: str


@dataclass(frozen=True, kw_only=True)
class Decided:
    case: Case
    answer: str

    @property
    def right(self) -> bool:
        return self.answer == self.case.label


class Policy(Protocol):
    def decide(self, case: Case) -> str:
        """Returns one of the case's choices; raises ModelFailed."""
        ...


class Scripted:
    """The gauntlet's policy, put as rules."""

    def decide(self, case: Case) -> str:
        if case.asks == "before":
            return discipline.before(case.text)
        if case.asks == "after":
            return discipline.after(case.text)
        assert case.receipt is not None
        return discipline.absence(case.receipt)


class Asked:
    """A language model that is told nothing but what the choices mean."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def decide(self, case: Case) -> str:
        material = {"text": case.text} | ({"receipt": dict(case.receipt)} if case.receipt is not None else {})
        choices = CHOICES[case.asks]
        prompt = Prompt(
            purpose=Purpose.GRADE,
            name="use_of_memory",
            instructions=f"{_INSTRUCTIONS} {_MEANING[case.asks]} {RULE}",
            material=fenced(material),
            schema={
                "type": "object",
                "properties": {"decision": {"type": "string", "enum": list(choices)}},
                "required": ["decision"],
                "additionalProperties": False,
            },
        )
        decision = self._model.answer(prompt, timeout_s=None).get("decision")
        return str(decision) if decision in choices else NONE


def load_cases(path: Path = CASES) -> list[Case]:
    """Returns the labelled cases, in file order."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [
        Case(
            id=row["id"],
            asks=row["asks"],
            text=row["text"],
            receipt=row.get("receipt"),
            label=row["label"],
            tags=tuple(row["tags"]),
            split=row["split"],
        )
        for row in rows
    ]


def run(bench: Bench) -> Measured:
    policy = _policy(bench)
    if policy is None:
        return skipped(NAME, "no language model is set up to decide")
    cases = bench.some(load_cases(), lambda case: f"{case.asks} {case.label}")
    decided = [_decided(policy, case) for case in bench.each(cases, "deciding on the use of memory")]
    return Measured(
        suite=NAME,
        metrics=tuple(_metrics(decided)),
        confusions=tuple(_confusion(asks, [one for one in decided if one.case.asks == asks]) for asks in CHOICES),
        sheets=(shares_by_tag("By tag", [(f"{one.case.label}/{tag}", one.right) for one in decided for tag in one.case.tags]),),
        wrong=tuple(
            Wrong(id=one.case.id, split=one.case.split, said=f"{one.case.label} -> {one.answer}: {one.case.text}")
            for one in decided
            if not one.right
        ),
    )


def _policy(bench: Bench) -> Policy | None:
    if bench.tier is Tier.OFFLINE:
        return Scripted()
    return None if bench.models.language_model is None else Asked(bench.models.language_model)


def _decided(policy: Policy, case: Case) -> Decided:
    try:
        return Decided(case=case, answer=policy.decide(case))
    except ModelFailed:
        return Decided(case=case, answer=NONE)


def _metrics(decided: Sequence[Decided]) -> list[Metric]:
    metrics = [share("right", sum(one.right for one in decided), len(decided))]
    for asks in CHOICES:
        of = [one for one in decided if one.case.asks == asks]
        metrics.append(share(f"right_{asks}", sum(one.right for one in of), len(of), tolerance=0.0))
    for name, harm in (
        ("needless_recalls", "recall"),
        ("needless_lessons", "learn"),
        ("absence_wrongly_claimed", "say_absent"),
    ):
        asks = next(asks for asks, choices in CHOICES.items() if harm in choices)
        of = [one for one in decided if one.case.asks == asks and one.case.label != harm]
        metrics.append(share(name, sum(one.answer == harm for one in of), len(of), better=Better.LOWER, tolerance=0.0))
    return metrics


def _confusion(asks: str, decided: Sequence[Decided]) -> Confusion:
    answers = (*CHOICES[asks], *([NONE] if any(one.answer == NONE for one in decided) else []))
    return Confusion.of(_DECIDED[asks], CHOICES[asks], answers, [(one.case.label, one.answer) for one in decided])
