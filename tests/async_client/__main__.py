"""Writes the asynchronous modules anew, and takes away those that nothing makes any more."""

from __future__ import annotations

from pathlib import Path

import tributary.client
from tests.async_client.reading import FOLDER, MARK
from tests.async_client.writing import made

if __name__ == "__main__":
    source = Path(tributary.client.__file__).parent
    texts = made(source)
    for path in (source / FOLDER).glob("*.py"):
        if path.stem not in texts and path.read_text(encoding="utf-8").startswith(MARK):
            path.unlink()
    for name, text in texts.items():
        (source / FOLDER / f"{name}.py").write_text(text, encoding="utf-8")
