"""Evidence files as agents use them: announce -> send the bytes -> announce again -> refer to it from a lesson.

The first announcement says where the bytes are to be sent; the second, the same request, finds out that they are there.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from tributary.access import Admission
from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.errors import InvalidRequest, NotFound, NotSetUp
from tributary.core.evidence import EvidenceFile, EvidenceStore, Registered, Served, check_sha256
from tributary.store import Database, Reading, rows, statement

GRACE = timedelta(hours=24)
"""For how long a file may wait for a lesson that refers to it."""


@dataclass(frozen=True, kw_only=True)
class Files:
    """The evidence files of tribes. `store` is None where none is set up: then every call raises NotSetUp."""

    database: Database
    reading: Reading
    admission: Admission
    store: EvidenceStore | None
    most_bytes: int
    """What the files of one tribe may come to."""
    now: Now = utc_now

    def announce(self, principal: Principal, file: EvidenceFile) -> Registered:
        """Tells where the bytes of a file are to be sent, unless they are there: what the store has lost is sent again.

        To repeat it is harmless, and lets the file wait for a lesson as long as a new one.

        Raises InvalidRequest, RateLimited, and WrongStanding when the tribe has no room for it.
        """
        principal.require(Role.WRITER)
        file.check()
        store = self._store()
        self.admission.admit(principal, "evidence", {"sha256": file.sha256}, None)
        found = self.database.value(
            statement("evidence", "announce"),
            {
                **self._which(principal.tribe_id, file.sha256),
                "agent_id": principal.agent_id,
                "bytes": file.size,
                "content_type": file.content_type,
                "name": file.name,
                "most": self.most_bytes,
                "now": self.now(),
            },
        )
        known = _file(file.sha256, found)
        there = store.has(principal.tribe_id, known)  # a tribe that was restored has its files noted, and maybe not here
        if there and not known.stored:
            known = self._stored(principal, known)
        upload = None if there else store.upload(principal.tribe_id, known)
        return Registered(file=replace(known, stored=there), upload=upload)

    def keep(self, principal: Principal, sha256: str, content: bytes) -> EvidenceFile:
        """Keeps the bytes of an announced file; the same ones again change nothing.

        Raises NotFound for one that was not announced, InvalidRequest for bytes that are not its, and WrongStanding where bytes
        are sent to the store itself.
        """
        principal.require(Role.WRITER)
        store = self._store()
        file = self._known(self.database, principal, sha256)
        if len(content) != file.size:
            raise InvalidRequest("body", f"has {len(content)} bytes; {file.size} were announced")
        if hashlib.sha256(content).hexdigest() != sha256:
            raise InvalidRequest("body", "has another SHA-256 than was announced")
        if not (file.stored and store.has(principal.tribe_id, file)):
            store.put(principal.tribe_id, file, content)
        return self._stored(principal, file)

    def serve(self, principal: Principal, sha256: str) -> Served:
        """Hands a file out to an agent of its tribe; raises NotFound for any other, and for one whose bytes have not come."""
        principal.require(Role.READER)
        store = self._store()
        file = self._known(self.reading, principal, sha256)
        found = store.get(principal.tribe_id, file) if file.stored else None
        if found is None:
            raise NotFound("the tribe has no such file, or its bytes have not come")
        content, url = (found, None) if isinstance(found, bytes) else (None, found)
        return Served(file=file, content=content, url=url)

    def _known(self, reading: Reading, principal: Principal, sha256: str) -> EvidenceFile:
        check_sha256("sha256", sha256)
        found = reading.value(statement("evidence", "file"), self._which(principal.tribe_id, sha256))
        if found is None:
            raise NotFound("the tribe has no such file; announce it first")
        return _file(sha256, found)

    def _stored(self, principal: Principal, file: EvidenceFile) -> EvidenceFile:
        noted = self.database.value(
            statement("evidence", "store"), {**self._which(principal.tribe_id, file.sha256), "now": self.now()}
        )
        if not noted:
            raise NotFound("the file was removed meanwhile")
        return replace(file, stored=True)

    def _store(self) -> EvidenceStore:
        if self.store is None:
            raise NotSetUp("no place for evidence files is set up; whoever runs the server can choose one: TRIBUTARY_EVIDENCE")
        return self.store

    @staticmethod
    def _which(tribe_id: UUID, sha256: str) -> dict[str, object]:
        return {"tribe_id": tribe_id, "sha256": bytes.fromhex(sha256)}


def _file(sha256: str, found: object) -> EvidenceFile:
    document = cast(dict[str, Any], rows.document(found))
    return EvidenceFile(
        sha256=sha256,
        size=document["bytes"],
        content_type=document["content_type"],
        name=document["name"],
        stored=document["stored"],
    )
