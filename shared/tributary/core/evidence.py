"""Evidence files: what lessons refer to by hash. A file is what its SHA-256 says, so it never changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote
from uuid import UUID

from tributary.core.errors import InvalidRequest
from tributary.core.limits import EVIDENCE_BYTES, EVIDENCE_NAME_CHARACTERS, check_short

REF_PREFIX = "sha256:"
"""Begins the `ref` of a lesson's evidence that is such a file; the hash in hexadecimal follows."""
CONTENT_TYPES = frozenset(
    {
        "application/gzip",
        "application/json",
        "application/octet-stream",
        "application/pdf",
        "application/x-ndjson",
        "application/zip",
        "image/gif",
        "image/jpeg",
        "image/png",
        "image/webp",
        "text/csv",
        "text/markdown",
        "text/plain",
    }
)
"""What a file may be kept as: nothing that a browser would run."""

_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class EvidenceFile:
    """A file as it was announced. `sha256` is in lower-case hexadecimal; `stored` tells that its bytes have come."""

    sha256: str
    size: int
    content_type: str
    name: str | None = None
    stored: bool = False

    @property
    def ref(self) -> str:
        return f"{REF_PREFIX}{self.sha256}"

    def check(self) -> None:
        """Raises InvalidRequest naming the first field that breaks a rule."""
        check_sha256("sha256", self.sha256)
        if not 1 <= self.size <= EVIDENCE_BYTES:
            raise InvalidRequest("bytes", f"must be from 1 to {EVIDENCE_BYTES}; a file may not be larger")
        if self.content_type not in CONTENT_TYPES:
            raise InvalidRequest("content_type", f"must be one of {', '.join(sorted(CONTENT_TYPES))}")
        if self.name is not None:
            check_short("name", self.name, EVIDENCE_NAME_CHARACTERS)
            if not self.name.isprintable() or re.search(r'[/\\"]', self.name):
                raise InvalidRequest("name", "must be a file's name: printable, without a slash, backslash or quotation mark")


@dataclass(frozen=True, kw_only=True)
class Upload:
    """Where the bytes of a file are to be sent, and how. A `url` that begins with a slash is the API's own."""

    method: str
    url: str
    headers: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Registered:
    """A file that was announced. `upload` is None when its bytes are there already."""

    file: EvidenceFile
    upload: Upload | None


@dataclass(frozen=True, kw_only=True)
class Served:
    """A file as it is handed out: its bytes, or for a short while an address to fetch them from."""

    file: EvidenceFile
    content: bytes | None
    url: str | None


class EvidenceStore(Protocol):
    """Keeps the bytes of files, each tribe's apart. Raises Unavailable when it cannot be reached, Corrupt for damaged bytes."""

    def upload(self, tribe_id: UUID, file: EvidenceFile) -> Upload:
        """Returns where the bytes of exactly this file are to be sent."""
        ...

    def put(self, tribe_id: UUID, file: EvidenceFile, content: bytes) -> None:
        """Keeps bytes that were checked; raises WrongStanding where they are sent to the store itself."""
        ...

    def has(self, tribe_id: UUID, file: EvidenceFile) -> bool: ...

    def get(self, tribe_id: UUID, file: EvidenceFile) -> bytes | str | None:
        """Returns the bytes, or the address that they can be fetched from for a short while; None when they are gone."""
        ...

    def delete(self, tribe_id: UUID, sha256: str) -> None:
        """Removes a file; one that is not there is no error."""
        ...


def disposition(file: EvidenceFile) -> str:
    """Returns the Content-Disposition of a file: always to be saved, never to be shown (RFC 6266)."""
    return f"attachment; filename*=UTF-8''{quote(file.name or file.sha256, safe='')}"


def check_sha256(field: str, value: str) -> None:
    """Raises InvalidRequest unless `value` is a SHA-256 in lower-case hexadecimal."""
    if not _SHA256.fullmatch(value):
        raise InvalidRequest(field, "must be a SHA-256: 64 hexadecimal digits in lower case")
