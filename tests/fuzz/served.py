"""What the fuzz is sent to: the real gateway on a socket, over a real memory, with all set up that needs no model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.doubles import RuledJudge, within_a_subject
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Role
from tributary.core.curation import Mistake
from tributary.core.ports import Prompt
from tributary.edges.gateway import running
from tributary.models.distillers import AskedDistiller
from tributary.service import Memory, open_memory

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "docs" / "examples" / "responder.jsonl"


@dataclass(frozen=True, kw_only=True)
class Served:
    """`tokens` are by role."""

    url: str
    host: str
    port: int
    tribal: Tribal
    tokens: Mapping[str, str]


@dataclass
class _Quoting:
    """Stands in for a distiller's model: proposes one lesson, with the same quotation for whatever transcript."""

    version: str = "quoting/1"

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        found = {"turn": 2, "quote": "HTTP 429 Too Many Requests"}
        lesson = {"text": "Send X-Batch: true", "situation": "deploying", "confidence": 0.8, "evidence": [found]}
        return {"lessons": [lesson]}


@contextmanager
def _distilling(tribal: Tribal) -> Iterator[Memory]:
    with open_memory(tribal.settings, adapters=replace(tribal.adapters, distiller=AskedDistiller(_Quoting()))) as memory:
        yield memory


def _live(tribal: Tribal) -> None:
    """Has something of every kind happen, so that lists have what can be gone on from."""
    first, second = tribal.agent("first"), tribal.agent("second")
    for number in range(6):
        learned = tribal.learn(first, f"Wait {number} s", subject=f"pause {number}")
        tribal.learn(second, f"Never wait {number} s", subject=f"pause {number}")
        tribal.learn(second, f"HIJACK {number}")
        tribal.memory.curate.report(second, learned.decision_id, Mistake.HARMFUL)


@contextmanager
def served(database_url: str, folder: Path) -> Iterator[Served]:
    """Serves a new tribe with an agent of each role; evidence files are kept in `folder`, and the incident
    agent follows a script."""
    setup: dict[str, Any] = {
        "evidence": "folder",
        "evidence_folder": folder,
        "evidence_mb": 1_000,
        "responder": "scripted",
        "responder_script": SCRIPT,
        "responder_turns_per_minute": 10_000,
        "responder_turns_per_day": 1_000_000,
        "connections": 16,
    }
    judge = RuledJudge(within_a_subject)
    with open_tribal(database_url, judge=judge, **setup) as tribal, _distilling(tribal) as memory, running(memory) as gateway:
        tokens = {role.value: tribal.token(f"fuzz-{role}", role) for role in (Role.READER, Role.WRITER)}
        tokens["curator"] = tribal.curator_token
        _live(tribal)
        yield Served(url=gateway.url, host=gateway.host, port=gateway.port, tribal=tribal, tokens=tokens)
