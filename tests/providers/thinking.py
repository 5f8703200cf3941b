"""Language models that tests steer: real implementations of the port, which answer in this process."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tributary.core.clock import utc_now
from tributary.core.ports import Prompt
from tributary.core.spending import CallEnd, ModelCall, account

Brain = Callable[[Prompt], object]


@dataclass
class Thinking:
    """Answers what `brain` says, after `delay_s`, charges each call to the account at hand and keeps what it was asked.

    What a brain returns need not fit the schema, or be an object at all; what it raises is raised.
    """

    brain: Brain
    version: str = "thinking:model-1"
    delay_s: float = 0.0
    asked: list[Prompt] = field(default_factory=list)
    timeouts_s: list[float | None] = field(default_factory=list)
    most_at_once: int = 0
    _running: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        with self._lock:
            self.asked.append(prompt)
            self.timeouts_s.append(timeout_s)
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
        try:
            if self.delay_s:
                time.sleep(self.delay_s)
            answer = self.brain(prompt)
        finally:
            with self._lock:
                self._running -= 1
            account().charge(ModelCall(purpose=prompt.purpose, model=self.version, at=utc_now(), ms=1.0, end=CallEnd.ANSWERED))
        return answer  # type: ignore[return-value]  # a model need not keep the form that it was asked for


def material_of(prompt: Prompt) -> dict[str, object]:
    """Returns what stands inside the fence, as the model reads it."""
    opening, closing = "<data>\n", "\n</data>"
    assert prompt.material.startswith(opening)
    assert prompt.material.endswith(closing)
    found = json.loads(prompt.material[len(opening) : -len(closing)])
    assert isinstance(found, dict)
    return found


def verdict(kind: str, *, confidence: object = 0.9, **others: object) -> Brain:
    """Answers every question about a pair with this verdict; `others` are more fields, or other ones."""

    def answered(prompt: Prompt) -> object:
        return {
            "pair": material_of(prompt)["pair"],
            "verdict": kind,
            "confidence": confidence,
            "reason": "as the test says",
            **others,
        }

    return answered


def hazards(**probable: object) -> Brain:
    """Answers every question about hazards with these probabilities, and 0.01 for the others."""
    names = ("override", "judge_attack", "reader_hijack", "exfiltration", "role_hijack")
    return lambda _prompt: {name: probable.get(name, 0.01) for name in names}


def refusing(error: Exception) -> Brain:
    """Raises `error` for every question."""

    def raised(_prompt: Prompt) -> object:
        raise error

    return raised
