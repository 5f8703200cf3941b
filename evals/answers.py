"""Which models of a suite answered at all: what no model said anything about is no result."""

from __future__ import annotations

import threading
from enum import StrEnum


class Part(StrEnum):
    """What a suite has models for. Both judges are one part: where one is away, the other answers."""

    JUDGE = "judge"
    SCREEN = "screen"
    EMBEDDER = "embedder"
    LANGUAGE_MODEL = "language model"


class Answers:
    """Hears of each answer and failure since it was last cleared. Thread-safe."""

    def __init__(self) -> None:
        self._answered: set[Part] = set()
        self._first_failures: dict[Part, str] = {}
        self._lock = threading.Lock()

    def clear(self) -> None:
        with self._lock:
            self._answered.clear()
            self._first_failures.clear()

    def answered(self, part: Part) -> None:
        with self._lock:
            self._answered.add(part)

    def failed(self, part: Part, message: str) -> None:
        with self._lock:
            self._first_failures.setdefault(part, message)

    def missing(self) -> str | None:
        """Returns what the first failure of a part said of which no model ever answered; None where every part answered."""
        with self._lock:
            return next((said for part, said in self._first_failures.items() if part not in self._answered), None)
