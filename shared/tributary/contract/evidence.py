"""Evidence files, which lessons refer to by hash: `{"type": "file", "ref": "sha256:<hex>"}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from tributary.contract import limits
from tributary.contract.models import Reply, Request

ContentType = Literal[
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
]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the bytes, in lower-case hexadecimal.")]


class AnnounceEvidenceRequest(Request):
    """A file that is to be kept as evidence."""

    sha256: Sha256
    bytes: Annotated[int, Field(ge=1, le=limits.EVIDENCE_BYTES, strict=True)]
    content_type: ContentType
    name: Annotated[str, Field(min_length=1, max_length=limits.EVIDENCE_NAME_CHARACTERS)] | None = None


class UploadReply(Reply):
    """Where the bytes are to be sent, exactly so. A `url` that begins with a slash is this API's, and takes the token."""

    method: str
    url: str
    headers: Mapping[str, str]


class AnnounceEvidenceReply(Reply):
    """`id` is the `ref` by which lessons refer to the file; `upload` is null once its bytes are there."""

    id: str
    bytes: int
    content_type: str
    name: str | None
    upload: UploadReply | None
