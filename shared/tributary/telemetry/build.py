"""Which build of the product this is: what the layer's build wrote down beside the code, or that there is none."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from pathlib import Path

from tributary import __version__

FILE = Path(__file__).parents[1] / "build.json"
SOURCE = "source"
"""The build of a checkout."""
UNREADABLE = "unreadable"


@dataclass(frozen=True, kw_only=True)
class Build:
    """`python` is what runs now. `platform` and `lock` are what it was built for and from, None in a checkout."""

    version: str
    build: str
    python: str
    platform: str | None = None
    lock: str | None = None

    def document(self) -> dict[str, str | None]:
        return {
            "version": self.version,
            "build": self.build,
            "python": self.python,
            "platform": self.platform,
            "lock": self.lock,
        }


def this_build(file: Path = FILE) -> Build:
    """Returns what this is a build of; a file that cannot be read is told as such, and stops nothing."""
    python = platform.python_version()
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return Build(
            version=str(found["version"]),
            build=str(found["build"]),
            python=python,
            platform=str(found["platform"]),
            lock=str(found["lock"]),
        )
    except FileNotFoundError:
        return Build(version=__version__, build=SOURCE, python=python)
    except (OSError, ValueError, LookupError, TypeError):
        return Build(version=__version__, build=UNREADABLE, python=python)
