"""Evidence files in a local folder: `<folder>/<tribe>/<first two digits>/<hash>`."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from tributary.core.errors import Corrupt, Unavailable
from tributary.core.evidence import EvidenceFile, Upload
from tributary.core.ids import new_id


class FolderStore:
    """An `EvidenceStore` that writes each file whole or not at all. Threads and processes may share a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def upload(self, tribe_id: UUID, file: EvidenceFile) -> Upload:
        """Returns the API's own route, which hands the bytes to `put`."""
        del tribe_id
        return Upload(method="PUT", url=f"/v1/evidence/{file.sha256}", headers={"Content-Type": file.content_type})

    def put(self, tribe_id: UUID, file: EvidenceFile, content: bytes) -> None:
        place = self._place(tribe_id, file.sha256)
        part = place.with_name(f".{place.name}.{new_id().hex}")
        try:
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(opened.fileno())
            part.replace(place)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            raise Unavailable(f"the folder of evidence files cannot be written: {error.strerror}") from error

    def has(self, tribe_id: UUID, file: EvidenceFile) -> bool:
        try:
            return self._place(tribe_id, file.sha256).stat().st_size == file.size
        except FileNotFoundError:
            return False
        except OSError as error:
            raise Unavailable(f"the folder of evidence files cannot be read: {error.strerror}") from error

    def get(self, tribe_id: UUID, file: EvidenceFile) -> bytes | None:
        try:
            content = self._place(tribe_id, file.sha256).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unavailable(f"the folder of evidence files cannot be read: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise Corrupt("the bytes of this evidence file are not those that were kept")
        return content

    def delete(self, tribe_id: UUID, sha256: str) -> None:
        try:
            self._place(tribe_id, sha256).unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable(f"the folder of evidence files cannot be written: {error.strerror}") from error

    def _place(self, tribe_id: UUID, sha256: str) -> Path:
        return self._folder / str(tribe_id) / sha256[:2] / sha256
