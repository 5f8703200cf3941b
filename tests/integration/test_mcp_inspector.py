"""The MCP inspector's command line, an official client in TypeScript, against `tributary mcp` and the server over HTTP.

It is installed once, with the Node that it needs, by npm under build/; hence `system`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.npm import npm_install
from tests.talking import PATIENCE_S, command, surroundings
from tests.tribes import Tribal
from tributary.core.agent import Role
from tributary.edges.gateway import running

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
PACKAGE = Path(__file__).parent / "inspector.json"
FOLDER = ROOT / "build" / "inspector"


@pytest.fixture(scope="module")
def inspector() -> list[str]:
    """Returns the command that runs the inspector, installed anew when the versions of inspector.json changed."""
    installed = FOLDER / "package.json"
    modules = FOLDER / "node_modules"
    if not (modules.is_dir() and installed.exists() and installed.read_bytes() == PACKAGE.read_bytes()):
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        shutil.copyfile(PACKAGE, installed)
        npm_install(FOLDER)
    return [str(modules / ".bin" / "node"), str(modules / ".bin" / "mcp-inspector"), "--cli"]


@pytest.fixture
def environment(database_url: str) -> Iterator[dict[str, str]]:
    with surroundings(TRIBUTARY_DATABASE_URL=database_url) as given:
        yield given


def ran(inspector: Sequence[str], environment: dict[str, str], *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [*inspector, *arguments],
        env={**environment, "npm_config_update_notifier": "false"},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def over_stdio(folder: Path, environment: dict[str, str]) -> list[str]:
    """Returns the options by which the inspector starts `tributary mcp`, from a file as clients have it."""
    program, *rest = command("mcp", "--agent", "inspector")
    entry = {"type": "stdio", "command": program, "args": rest, "env": environment}
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"tributary": entry}}))
    return ["--config", os.fspath(file), "--server", "tributary"]


def test_it_lists_and_calls_tools_over_stdio(inspector: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    server = over_stdio(tmp_path, environment)
    listed = ran(inspector, environment, *server, "--method", "tools/list")
    assert {"tribal_recall", "tribal_learn"} <= {tool["name"] for tool in listed["tools"]}
    said = ("text=it listens on 80", "situation=operating the cache", "how=observed")
    taught = ran(
        inspector, environment, *server, "--method", "tools/call", "--tool-name", "tribal_learn",
        *(word for one in said for word in ("--tool-arg", one)),
    )  # fmt: skip
    assert taught["structuredContent"]["outcome"] == "learned"


def test_it_lists_the_tools_of_a_reader_and_recalls_over_http(inspector: list[str], tribal: Tribal) -> None:
    token = tribal.token("reader", Role.READER)
    with running(tribal.memory) as started, surroundings() as environment:
        server = [f"{started.url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {token}"]
        listed = ran(inspector, environment, *server, "--method", "tools/list")
        names = {tool["name"] for tool in listed["tools"]}
        assert "tribal_recall" in names
        assert "tribal_learn" not in names
        found = ran(
            inspector, environment, *server, "--method", "tools/call", "--tool-name", "tribal_recall", "--tool-arg", "query=cache"
        )
    assert found["structuredContent"]["receipt"]["may_assert_absence"] is True
