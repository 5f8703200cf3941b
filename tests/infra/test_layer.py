"""The layer: what the lock says, how large it is, and that the same inputs give the same bytes."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from layers.memory import lock
from layers.memory.build import (
    LIBRARY,
    PAGES,
    TOOLS,
    build,
    build_dashboard,
    build_local,
    digest,
    identity,
    replacing,
    size,
)
from layers.memory.recipe import (
    BOTOCORE_SERVICES,
    DASHBOARD,
    DASHBOARD_LOCK,
    LOCAL,
    LOCAL_LOCK,
    LOCK,
    MCP,
    MCP_LOCK,
    MOST_BYTES,
    MOST_BYTES_OF_PAGES,
    MOST_BYTES_WITH_LOCAL,
    PYTHONS,
    RUNTIME_PYTHON,
    Target,
    belongs,
)
from tests.infra.lambda_kit import built_layer, kit

ARM = Target()


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The layer as it is deployed."""
    out = tmp_path_factory.mktemp("one") / "layer"
    build(ARM, out)
    return out


@pytest.fixture(scope="module")
def local_layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("local") / "layer"
    build_local(ARM, out)
    return out


@pytest.fixture(scope="module")
def pages_layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pages") / "layer"
    build_dashboard(ARM, out)
    return out


def test_lock_names_what_is_required_at_the_versions_that_are_tested_together() -> None:
    pins = lock.pinned()
    again = "run 'make layer-lock'"
    assert lock.locked(LOCK) == {name: pins[name] for name in lock.needed()}, again
    assert lock.locked(LOCAL_LOCK) == {name: pins[name] for name in LOCAL}, again
    assert lock.locked(DASHBOARD_LOCK) == {name: pins[name] for name in lock.needed_beside(DASHBOARD)}, again
    assert lock.locked(MCP_LOCK) == {name: pins[name] for name in lock.needed_beside(MCP)}, again


@pytest.mark.parametrize("file", [LOCK, LOCAL_LOCK, DASHBOARD_LOCK, MCP_LOCK], ids=lambda file: file.stem)
def test_lock_has_hashes_for_each_distribution_and_names_no_place(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert all("--hash=sha256:" in entry for entry in text.split(" \\\n")[1:])
    assert "://" not in text
    assert "--index" not in text


def test_layer_is_the_same_in_every_byte_wherever_it_is_built(layer: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "another" / "place" / "layer"
    build(ARM, elsewhere)
    assert digest(elsewhere) == digest(layer)


def test_digest_sees_a_changed_byte_mode_or_time(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a")
    seen = [digest(tmp_path)]
    file.chmod(0o600)
    seen.append(digest(tmp_path))
    file.write_text("b")
    seen.append(digest(tmp_path))
    assert len(set(seen)) == 3


def test_folders_that_are_replaced_by_several_at_once_are_each_whole(tmp_path: Path) -> None:
    out = tmp_path / "layer"

    def replace(number: int) -> None:
        for _ in range(40):
            with replacing(out) as folder:
                for name in range(20):
                    (folder / str(name)).write_text(str(number))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(replace, range(4)))
    assert len({path.read_text() for path in out.iterdir()}) == 1
    assert len(list(out.iterdir())) == 20
    assert [path.name for path in tmp_path.iterdir()] == ["layer"], "nothing is left over"
    assert out.stat().st_mode & 0o777 == 0o755, "whoever runs a function may look into it"


def test_layer_is_small_enough_and_so_are_the_others(layer: Path, local_layer: Path, pages_layer: Path) -> None:
    assert size(layer) < MOST_BYTES
    assert size(pages_layer) < MOST_BYTES_OF_PAGES
    assert size(layer) + size(local_layer) < MOST_BYTES_WITH_LOCAL


def test_layer_names_no_place_of_the_computer_that_built_it(layer: Path) -> None:
    places = [str(Path(lock.__file__).parents[2]).encode(), str(layer).encode()]
    files = [path for path in layer.rglob("*") if path.is_file()]
    assert [path for path in files if any(place in path.read_bytes() for place in places)] == []


def test_layer_is_for_lambdas_machine(layer: Path, local_layer: Path) -> None:
    programs = [path for folder in (layer, local_layer) for path in folder.rglob("*.so*")]
    assert len(programs) > 20
    arm64 = (183).to_bytes(2, "little")
    assert {path.read_bytes()[18:20] for path in programs} == {arm64}


def test_layer_says_what_it_is(layer: Path) -> None:
    document = json.loads((layer / "python/tributary/build.json").read_text())
    assert document == {**identity(ARM), "compiled": document["compiled"]}
    assert (document["python"], document["platform"]) == (RUNTIME_PYTHON, "arm64")
    assert bool(document["compiled"]) == bool(list(layer.rglob("*.pyc")))


def test_layer_has_the_library_and_the_certificates_and_no_leavings(layer: Path) -> None:
    python = layer / "python"
    assert (python / "tributary/store/sql/migrations/0001_baseline").is_dir()
    assert (layer / "certs/rds.pem").read_bytes().count(b"BEGIN CERTIFICATE") > 80
    assert not [path for path in layer.rglob("*") if path.is_file() and path.suffix != ".pyc" and not belongs_in(python, path)]
    assert {path.name for path in (python / "botocore/data").iterdir() if path.is_dir()} == BOTOCORE_SERVICES
    assert not list(python.rglob("tokenizer.json"))


def test_pages_are_whole_in_the_dashboards_layer_and_nobody_else_carries_what_one_function_alone_has(
    layer: Path, pages_layer: Path
) -> None:
    def files(folder: Path) -> set[str]:
        found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {path.relative_to(folder).as_posix() for path in found}

    own = files(pages_layer / "python/tributary")
    assert own == {f"{PAGES}/{file}" for file in files(LIBRARY / PAGES)}, "a kind of file that is not packed, or too much"
    assert not [part for part in (PAGES, TOOLS) if (layer / "python/tributary" / part).exists()]


def belongs_in(python: Path, path: Path) -> bool:
    return not path.is_relative_to(python) or belongs(path.relative_to(python).as_posix())


CLIENTS = """
import boto3, sys
for service in sys.argv[1:]:
    boto3.session.Session().client(service, region_name="us-east-1")
import alembic.command, psycopg, sqlalchemy.dialects.postgresql.psycopg
import opentelemetry.exporter.otlp.proto.http.trace_exporter
assert all("/layer" in sys.modules[name].__file__ for name in ("boto3", "psycopg"))
"""


def test_clients_of_all_services_that_stayed_are_made_from_the_layer_alone() -> None:
    command = [str(kit().python), "-S", "-c", CLIENTS, *sorted(BOTOCORE_SERVICES)]
    environment = {"PYTHONPATH": str(built_layer() / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_wheels_are_taken_for_each_python_that_may_run_the_tests() -> None:
    assert kit().target.python in PYTHONS
    assert {"--abi=cp313", "--platform=manylinux_2_28_aarch64"} <= set(ARM.for_pip())
