"""The page about the SDK: its examples run, from top to bottom, against a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.docs_check.blocks import blocks
from tests.tribes import Tribal
from tributary.client import Memory
from tributary.core.agent import Role
from tributary.edges.gateway import running

PAGE = Path(__file__).parents[2] / "docs" / "sdk.md"


def test_every_example_of_the_page_runs(
    tribal: Tribal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    with running(tribal.memory) as gateway, Memory(gateway.url, tribal.token("agent-b", Role.WRITER), environment={}) as writer:
        monkeypatch.setenv("TRIBUTARY_URL", gateway.url)
        monkeypatch.setenv("TRIBUTARY_TOKEN", tribal.curator_token)
        known: dict[str, Any] = {"__name__": "page", "server_url": gateway.url, "token": tribal.curator_token, "writer": writer}
        examples = [one for one in blocks("docs/sdk.md", text) if one.language == "python"]
        for one in examples:
            lines = "\n" * one.line  # so that a failure names the line of the page
            exec(compile(lines + one.text, str(PAGE), "exec"), known)
        known["memory"].close()
    printed = capsys.readouterr().out
    assert len(examples) >= 12
    for words in (
        "Recalled from the shared memory",
        "learned",
        "agrees",
        "Warm the cache first",
        "No header is needed at all",
        "query",
    ):
        assert words in printed, words
