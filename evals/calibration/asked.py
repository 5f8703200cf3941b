"""A grader that asks a language model, with the rubric that people graded by."""

from __future__ import annotations

from evals.calibration.cases import GRADES, RUBRIC, Distillation
from tributary.core.errors import ModelMalformed
from tributary.core.ports import LanguageModel, Prompt
from tributary.core.spending import Purpose
from tributary.models.fence import RULE, fenced

TIMEOUT_S = 60.0
_INSTRUCTIONS = f"""You grade how good the lessons are that were distilled from the transcript of an agent's work.

{RULE}

{RUBRIC}

Look for what would make it a 1 first: compare each claim, figure and name with the turns that are cited. Give the reason in one
sentence, then the grade as a whole number."""
_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "description": "One sentence."},
        "grade": {"type": "integer", "enum": list(GRADES)},
    },
    "required": ["reason", "grade"],
    "additionalProperties": False,
}


class AskedGrader:
    """Grades with a language model: one question a distillation."""

    def __init__(self, model: LanguageModel, *, timeout_s: float = TIMEOUT_S) -> None:
        self._model = model
        self._timeout_s = timeout_s

    @property
    def version(self) -> str:
        return self._model.version

    def grade(self, case: Distillation) -> int:
        turns = [{"turn": n, "role": turn.role.value, "text": turn.text} for n, turn in enumerate(case.transcript.turns, 1)]
        lessons = [
            {"text": one.text, "situation": one.situation, "kind": one.kind, "subject": one.subject, "cites": one.turns}
            for one in case.lessons
        ]
        prompt = Prompt(
            purpose=Purpose.GRADE,
            name="grade",
            instructions=_INSTRUCTIONS,
            material=fenced({"transcript": turns, "lessons": lessons}),
            schema=_SCHEMA,
        )
        grade = self._model.answer(prompt, timeout_s=self._timeout_s).get("grade")
        if type(grade) is not int or grade not in GRADES:
            raise ModelMalformed("the grade is none from 1 to 5")
        return grade
