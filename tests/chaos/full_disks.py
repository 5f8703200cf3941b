"""A disk that is small enough to be filled: a file system in memory, mounted for a test."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

BLOCK = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Disk:
    """A file system of its own."""

    folder: Path

    @property
    def _ballast(self) -> Path:
        return self.folder / "ballast"

    @contextmanager
    def full(self) -> Iterator[None]:
        """Fills it to the last byte, by a file that is gone when the block ends."""
        with self._ballast.open("ab", buffering=0) as ballast:
            for size in (BLOCK, 4096, 512, 1):
                _fill(ballast.fileno(), b"\0" * size)
        try:
            yield
        finally:
            self._ballast.unlink()


def _fill(descriptor: int, block: bytes) -> None:
    while True:
        try:
            os.write(descriptor, block)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            return


@contextmanager
def small_disk(megabytes: int) -> Iterator[Disk]:
    """Mounts one; skips the test where that is not allowed."""
    with tempfile.TemporaryDirectory(prefix="trb-disk-", ignore_cleanup_errors=True) as name:
        options = f"size={megabytes}M,mode=755"
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", name], capture_output=True, text=True, check=False
        )
        if mounted.returncode != 0:
            pytest.skip(f"whoever runs this may mount no file system, so no disk can be filled: {mounted.stderr.strip()}")
        try:
            yield Disk(folder=Path(name))
        finally:
            subprocess.run(["umount", "--lazy", name], check=True)
