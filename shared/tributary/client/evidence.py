"""Calls about evidence files."""

from __future__ import annotations

import hashlib
import mimetypes
import re
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from tributary.client.calls import Call, Method
from tributary.client.errors import BadReply, NotFound, broken
from tributary.client.replies import read
from tributary.client.values import body_of, checked
from tributary.contract import limits
from tributary.contract.evidence import AnnounceEvidenceReply, AnnounceEvidenceRequest, ContentType, UploadReply
from tributary.contract.models import Evidence

_REF = re.compile(r"(?:sha256:)?([0-9a-f]{64})", re.ASCII)
_KNOWN: tuple[str, ...] = get_args(ContentType)


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """The bytes of a file, and what they are announced as."""

    content: bytes
    content_type: ContentType
    name: str | None

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def as_evidence(self) -> Evidence:
        return Evidence(type="file", ref=f"sha256:{self.sha256}", note=self.name)


def attachment(file: Path | str | bytes, *, content_type: str | None, name: str | None) -> Attachment:
    """Returns a file, or bytes, ready to be announced; raises InvalidRequest for one that cannot be read or is too large."""
    if isinstance(file, bytes):
        content = file
    else:
        path = Path(file)
        try:
            with path.open("rb") as opened:  # whatever its size is said to be: a device says 0 and never ends
                content = opened.read(limits.EVIDENCE_BYTES + 1)
        except OSError as error:
            raise broken("file", f"'{path}' cannot be read: {error.strerror}") from error
        if len(content) > limits.EVIDENCE_BYTES:
            raise broken("file", f"is larger than {limits.EVIDENCE_BYTES} bytes")
        name = name or path.name
    if not 1 <= len(content) <= limits.EVIDENCE_BYTES:
        raise broken("file", f"must have from 1 to {limits.EVIDENCE_BYTES} bytes")
    wanted = content_type or mimetypes.guess_type(name or "")[0] or "application/octet-stream"
    if content_type is None and wanted not in _KNOWN:
        wanted = "application/octet-stream"
    if wanted not in _KNOWN:
        raise broken("content_type", f"must be one of {', '.join(_KNOWN)}")
    return Attachment(content=content, content_type=cast(ContentType, wanted), name=name)


def announce(file: Attachment) -> Call[AnnounceEvidenceReply]:
    request = checked(
        lambda: AnnounceEvidenceRequest(
            sha256=file.sha256, bytes=len(file.content), content_type=file.content_type, name=file.name
        )
    )
    return Call(
        operation="announce_evidence",
        method="POST",
        path="/v1/evidence",
        body=body_of(request),
        read=lambda body: read(AnnounceEvidenceReply, body),
    )


def send(file: Attachment, upload: UploadReply) -> Call[None]:
    """Returns the request that sends the bytes where the announcement says; the token goes to the API's own address alone."""
    if upload.method not in ("PUT", "POST"):
        raise BadReply(f"the server wants the bytes sent by {upload.method[:20]}, which this version cannot")
    method = cast(Method, upload.method)
    own = upload.url.startswith("/")
    if not own and not upload.url.startswith(("https://", "http://")):
        raise BadReply("the server's address for the bytes is none")
    return Call(
        operation="put_evidence",
        method=method,
        path=upload.url if own else "",
        elsewhere=None if own else upload.url,
        headers=upload.headers,
        body=file.content,
        read=lambda _: None,
    )


def fetch(ref: Evidence | str) -> Call[bytes]:
    """Returns the request for the bytes of a file, which are checked against its hash."""
    found = _REF.fullmatch(ref if isinstance(ref, str) else ref.ref)
    if found is None:
        raise broken("ref", "must look like sha256: and 64 hexadecimal digits")
    sha256 = found[1]

    def taken(body: bytes) -> bytes:
        if hashlib.sha256(body).hexdigest() != sha256:
            raise BadReply("the bytes that came are not those of this file")
        return body

    return Call(operation="evidence", method="GET", path=f"/v1/evidence/{sha256}", read=taken, follows=True)


def settled(reply: AnnounceEvidenceReply) -> None:
    """Raises NotFound when the bytes that were sent have not come."""
    if reply.upload is not None:
        raise NotFound("the bytes were sent, but did not come where they are kept; attach the file again")
