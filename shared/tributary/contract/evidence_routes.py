"""Routes of evidence files."""

from __future__ import annotations

from http import HTTPStatus

from tributary.contract import evidence, limits
from tributary.contract.route import Route

EVIDENCE: tuple[Route, ...] = (
    Route(
        operation="announce_evidence",
        method="POST",
        path="/v1/evidence",
        function="learn",
        role="writer",
        summary="Announce a file, and find out where its bytes are to be sent",
        request=evidence.AnnounceEvidenceRequest,
        reply=evidence.AnnounceEvidenceReply,
        paced=True,
        of_files=True,
    ),
    Route(
        operation="put_evidence",
        method="PUT",
        path="/v1/evidence/{sha256}",
        function="learn",
        role="writer",
        summary="Send the bytes of an announced file, where they are kept beside the server",
        reply=evidence.AnnounceEvidenceReply,
        body_bytes=limits.EVIDENCE_BYTES,
        of_files=True,
        takes_bytes=True,
    ),
    Route(
        operation="evidence",
        method="GET",
        path="/v1/evidence/{sha256}",
        function="recall",
        role="reader",
        summary="Fetch a file of the tribe",
        reply=None,
        also=(HTTPStatus.TEMPORARY_REDIRECT,),
        of_files=True,
    ),
)
