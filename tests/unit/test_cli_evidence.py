"""`tributary evidence`: through the real SDK to a gateway with files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.contract.stand_in import StandIn
from tests.contract.stand_in_files import CONTENT, FILE
from tests.unit.cli_fakes import Surroundings
from tributary.client import Memory
from tributary.core.agent import Principal
from tributary.core.evidence import EvidenceFile, Registered
from tributary.edges.cli.app import app
from tributary.edges.gateway import running
from tributary.evidence import Files


class There(StandIn):
    """Has whatever is announced already."""

    @property
    def files(self) -> Files:  # type: ignore[override]  # the stand-in's own, a little richer
        kept = super().files

        def announce(_: Principal, file: EvidenceFile) -> Registered:
            return Registered(file=replace(file, stored=True), upload=None)

        object.__setattr__(kept, "announce", announce)
        return kept


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running(There()) as started:
        yield started.url


def run(url: str, *words: str) -> Result:
    doors = replace(Surroundings(environment={}).doors(), open_client=lambda: Memory(url, "writer", environment={}))
    return CliRunner().invoke(app, ["evidence", *words], obj=doors)


def test_a_file_is_handed_in_and_its_reference_is_the_first_line(url: str, tmp_path: Path) -> None:
    file = tmp_path / "deploy.log"
    file.write_bytes(b"some log")
    done = run(url, "put", str(file))
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == f"sha256:{hashlib.sha256(b'some log').hexdigest()}"
    refused = run(url, "put", str(file), "--type", "text/html")
    assert (refused.exit_code, "must be one of" in refused.stderr) == (3, True)
    assert run(url, "put", str(tmp_path / "gone")).exit_code == 3


def test_a_file_is_fetched_to_standard_output_or_to_a_new_file(url: str, tmp_path: Path) -> None:
    assert run(url, "get", FILE.ref).stdout_bytes == CONTENT
    to = tmp_path / "fetched"
    assert run(url, "get", FILE.sha256, "--output", str(to)).exit_code == 0
    assert to.read_bytes() == CONTENT
    assert run(url, "get", FILE.ref, "--output", str(to)).exit_code == 5
    assert run(url, "get", "sha256:" + "0" * 64).exit_code == 5
    assert run(url, "get", "deploy.log").exit_code == 3
