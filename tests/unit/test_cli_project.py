"""What a project is called, whatever lies in its folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tributary.edges.cli.mcp_place import name_of_folder
from tributary.edges.cli.project import names_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "checkout"
    made.mkdir()
    return made


@pytest.mark.parametrize(
    "remote",
    ["git@github.com:acme/payments.git", "https://github.com/acme/payments", "ssh://git@host.example:22/acme/payments.git/"],
)
def test_the_remote_repository_names_it_from_any_folder_in_it(folder: Path, remote: str) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "remote", "add", "origin", remote], check=True)
    inner = folder / "src" / "deep"
    inner.mkdir(parents=True)
    assert names_of(inner) == ["acme/payments", "checkout"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", '[project]\nname = "payments"'),
        ("pyproject.toml", '[tool.poetry]\nname = "payments"'),
        ("package.json", '{"name": "payments"}'),
        ("Cargo.toml", '[package]\nname = "payments"'),
        ("go.mod", "module payments\n\ngo 1.24\n"),
    ],
)
def test_a_package_names_it(folder: Path, file: str, text: str) -> None:
    (folder / file).write_text(text)
    assert names_of(folder) == ["payments", "checkout"]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"name": 7}', "[project", "[" * 100_000, "name = '\x00'"])
def test_what_is_no_package_leaves_the_folders_name(folder: Path, text: str) -> None:
    for file in ("pyproject.toml", "package.json", "Cargo.toml", "go.mod"):
        (folder / file).write_text(text)
    (folder / "setup.bin").write_bytes(b"\xff\xfe")
    assert names_of(folder) == ["checkout"]


def test_names_are_few_and_short(folder: Path) -> None:
    (folder / "package.json").write_text('{"name": "%s"}' % ("x" * 5000))
    assert max(map(len, names_of(folder))) == 100


@pytest.mark.parametrize(
    ("name", "agent"),
    [("payments", "mcp:payments"), ("my project (2)", "mcp:my-project-2"), ("äöü", "mcp:agent"), ("", "mcp:agent")],
)
def test_an_agent_is_named_for_its_folder(name: str, agent: str) -> None:
    assert name_of_folder(Path("/somewhere") / name if name else Path("/")) == agent
