"""A later release of the product, as a tree of its own beside the one under test: its code, its statements, its migration."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tributary
from tributary.store.level import BASELINE

SOURCES = Path(tributary.__file__).parent
REVISION = "0002_later"
_TOO_LARGE = ("__pycache__", "all_minilm_l6_v2")
_VERSION = f'''
from tributary.store.migrate import run_sql

revision = "{REVISION}"
down_revision = "{BASELINE}"


def upgrade() -> None:
    run_sql("{REVISION}")
'''
_MIGRATES = """
import sys
import alembic.command
import sqlalchemy.dialects.postgresql
from tributary.core.errors import TributaryError
from tributary.store import Target
from tributary.store.migrate import migrate

print("ready", flush=True)
sys.stdin.readline()
try:
    print(migrate(Target(url=sys.argv[1])))
except TributaryError as error:
    print(f"{error.code}: {error.detail}", file=sys.stderr)
    sys.exit(1)
"""
_RECALLS = """
import sys
from tributary.core.errors import TributaryError
from tributary.core.requests import Question
from tributary.models.embedders import HashedEmbedder
from tributary.service import Settings, open_memory
from tributary.service.wiring import Adapters

settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": sys.argv[1]})
try:
    with open_memory(settings, adapters=Adapters(embedder=HashedEmbedder())) as memory:
        found = memory.recall(memory.authenticate(sys.argv[2]), Question(query=sys.argv[3]))
        print(found.receipt.coverage.value, len(found.hits))
except TributaryError as error:
    print(error.code)
"""


class Migration:
    """A process that migrates once it is told to."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def begins(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def runs(self) -> bool:
        return self._process.poll() is None

    def ends(self) -> tuple[int, str]:
        """Returns the exit code, and the revision that it came to or what it complained of."""
        said, complained = self._process.communicate(timeout=60)
        return self._process.returncode, (said or complained).strip()


@dataclass(frozen=True, kw_only=True)
class Release:
    """`folder` holds the package."""

    folder: Path

    def migration(self, url: str) -> Migration:
        """Returns a migration with this release's code, which is loaded and waits for its beginning."""
        process = self._started(_MIGRATES, url)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()
        return Migration(process)

    def recalls(self, url: str, token: str, query: str) -> str:
        """Returns the coverage and the number of hits that a process of this release is answered with, or the error's code."""
        said, complained = self._started(_RECALLS, url, token, query).communicate(timeout=60)
        assert said, complained
        return said.strip()

    def _started(self, program: str, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", program, *words],
            env={**os.environ, "PYTHONPATH": os.fspath(self.folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def later_release(folder: Path, migration: Sequence[str], *, calls: tuple[str, str] | None = None) -> Release:
    """Makes a release in `folder` whose migration runs these scripts one after another.

    `calls` is a function that its code calls no more, and the one that it calls instead.
    """
    tree = folder / "tributary"
    shutil.copytree(SOURCES, tree, ignore=shutil.ignore_patterns(*_TOO_LARGE))
    (tree / "store" / "alembic" / "versions" / f"{REVISION}.py").write_text(_VERSION)
    scripts = tree / "store" / "sql" / "migrations" / REVISION
    scripts.mkdir()
    for number, script in enumerate(migration):
        (scripts / f"{number}0_step.sql").write_text(script)
    if calls is not None:
        for path in (tree / "store" / "sql").glob("*.sql"):
            path.write_text(path.read_text().replace(f"tributary.{calls[0]}(", f"tributary.{calls[1]}("))
    return Release(folder=folder)
