"""What stands in for the model behind a fake provider: a function that makes the answer of what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tests.providers.server import Reply, Route
from tributary.core.ports import LanguageModel

Brain = Callable[[str, str, Mapping[str, object]], Mapping[str, object]]
"""(instructions, material, schema) -> answer. The schema is empty where it went in words."""

Routes = Sequence[tuple[str, str, Route]]

INPUT_TOKENS = 120
OUTPUT_TOKENS = 30


def agreeing(instructions: str, material: str, schema: Mapping[str, object]) -> Mapping[str, object]:
    """Answers what can be told apart, whatever is asked."""
    return {"said": "yes", "of": len(material)}


class Wire(Protocol):
    """One provider as the conformance suite sees it: the adapter under test, and the provider's replies in its own form."""

    name: str
    version: str

    def routes(self, brain: Brain) -> Routes: ...

    def model(
        self,
        url: str,
        folder: Path,
        *,
        timeout_s: float = 20.0,
        attempts: int = 3,
        max_output_tokens: int = 2048,
        sleep: Callable[[float], None] = ...,
    ) -> LanguageModel: ...

    def answered(self, answer: object) -> Reply:
        """The model answers with this value, in the way that is asked for first."""
        ...

    def said(self, text: str) -> Reply:
        """The model says this text."""
        ...

    def declined(self) -> Reply: ...

    def cut_off(self) -> Reply:
        """The answer reached the most tokens that it may have."""
        ...

    def throttled(self, reset_s: float | None) -> Reply: ...

    def away(self) -> Reply:
        """The provider fails, in a way that may pass."""
        ...

    def expired(self) -> Reply:
        """The credentials are no longer good."""
        ...

    def asked(self, body: object, headers: Mapping[str, str]) -> tuple[str, str, Mapping[str, object]]:
        """Returns instructions, material and schema as they came over the wire."""
        ...


def compact(document: object) -> str:
    return json.dumps(document, separators=(",", ":"))
