"""A model that follows a script: for trying out what asks a model, where there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tributary.core.errors import BadSetting, ModelFailed
from tributary.core.ports import Prompt
from tributary.models.llms.answers import object_in

_MATERIAL = re.compile(r"<data>\n(.*)\n</data>", re.DOTALL)
_CONDITIONS = frozenset({"message", "round", "seen"})


@dataclass(frozen=True, kw_only=True)
class _Line:
    """What is answered where all that is given fits: the round, and patterns in the message and in the newest step."""

    answer: Mapping[str, object]
    message: re.Pattern[str] | None
    seen: re.Pattern[str] | None
    round: int | None

    def fits(self, message: str, steps: list[object]) -> bool:
        newest = json.dumps(steps[-1], ensure_ascii=False) if steps else ""
        return (
            (self.round is None or self.round == len(steps))
            and (self.message is None or self.message.search(message) is not None)
            and (self.seen is None or self.seen.search(newest) is not None)
        )


class ScriptedModel:
    """Answers each question with the first line of a script that fits. Keeps no state, so it can be shared and asked again.

    A line is a JSON object: `answer`, and any of `message` and `seen` (regular expressions, for the message and the newest
    step) and `round` (1 is the first question of a turn).
    """

    def __init__(self, file: Path, *, setting: str) -> None:
        """Raises BadSetting, naming `setting`, for a file that is none or a line that breaks a rule."""
        try:
            written = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise BadSetting(f"{setting}: there is no file '{file}' that can be read as UTF-8") from None
        lines = enumerate(written.splitlines(), 1)
        self._lines = [_line(number, text, setting) for number, text in lines if text.strip() and not text.startswith("#")]
        self.version = f"scripted:{file.name}"

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        """Returns the answer of the first line that fits; raises ModelFailed when none does."""
        message, steps = _read(prompt.material)
        for line in self._lines:
            if line.fits(message, steps):
                return line.answer
        raise ModelFailed("no line of the script fits")


def _read(material: str) -> tuple[str, list[object]]:
    found = _MATERIAL.fullmatch(material.strip())
    document = object_in(found[1]) if found else {}
    steps = document.get("steps")
    return str(document.get("message", "")), steps if isinstance(steps, list) else []


def _line(number: int, text: str, setting: str) -> _Line:
    try:
        return _read_line(json.loads(text))
    except (ValueError, RecursionError, re.error) as error:
        raise BadSetting(f"{setting}: line {number} is no line of a script: {error}") from None


def _read_line(given: Any) -> _Line:
    if not isinstance(given, dict) or not isinstance(given.get("answer"), dict) or set(given) - _CONDITIONS - {"answer"}:
        raise ValueError("needs an answer, an object, and may have message, round and seen")
    if given.get("round") is not None and type(given["round"]) is not int:
        raise ValueError("its round must be a whole number")
    return _Line(
        answer=given["answer"],
        message=_pattern(given, "message"),
        seen=_pattern(given, "seen"),
        round=given.get("round"),
    )


def _pattern(given: Mapping[str, Any], name: str) -> re.Pattern[str] | None:
    pattern = given.get(name)
    if pattern is None:
        return None
    if not isinstance(pattern, str):
        raise ValueError(f"its {name} must be a regular expression")  # noqa: TRY004  (as json's own: one kind of bad line)
    return re.compile(pattern, re.IGNORECASE)
