"""Evidence files, for tests of the HTTP edge: there is one, and whatever is announced is to be sent to the API itself."""

from __future__ import annotations

import hashlib
from typing import Protocol

from tributary.core.agent import Principal
from tributary.core.errors import NotFound
from tributary.core.evidence import EvidenceFile, Registered, Served, Upload
from tributary.evidence import Files

CONTENT = b"HTTP 429 Too Many Requests\n"
FILE = EvidenceFile(
    sha256=hashlib.sha256(CONTENT).hexdigest(), size=len(CONTENT), content_type="text/plain", name="deploy.log", stored=True
)


class Note(Protocol):
    def __call__(self, name: str, **given: object) -> None: ...


class StandInFiles(Files):
    def __init__(self, note: Note) -> None:
        object.__setattr__(self, "note", note)

    note: Note

    def announce(self, principal: Principal, file: EvidenceFile) -> Registered:
        self.note("announce", principal=principal, file=file)
        return Registered(
            file=file, upload=Upload(method="PUT", url=f"/v1/evidence/{file.sha256}", headers={"Content-Type": "x"})
        )

    def keep(self, principal: Principal, sha256: str, content: bytes) -> EvidenceFile:
        self.note("keep", principal=principal, sha256=sha256, content=content)
        return FILE

    def serve(self, principal: Principal, sha256: str) -> Served:
        self.note("serve", principal=principal, sha256=sha256)
        if sha256 != FILE.sha256:
            raise NotFound("the tribe has no such file")
        return Served(file=FILE, content=CONTENT, url=None)
