"""Evidence files: announced, sent, fetched."""

from __future__ import annotations

from collections.abc import Mapping

from tributary.contract import evidence as contract
from tributary.core.evidence import EvidenceFile, Upload, check_sha256, disposition
from tributary.edges.lambda_http.body import read_bytes
from tributary.edges.lambda_http.operations.ask import Ask, Operation
from tributary.edges.lambda_http.reply import HttpReply, of_model


def _announce(ask: Ask) -> HttpReply:
    ask.query()
    request, principal = ask.body(contract.AnnounceEvidenceRequest), ask.principal
    file = EvidenceFile(sha256=request.sha256, size=request.bytes, content_type=request.content_type, name=request.name)
    file.check()
    registered = ask.memory.files.announce(principal, file)
    return of_model(_told(registered.file, registered.upload))


def _put(ask: Ask) -> HttpReply:
    ask.query()
    sha256, principal = _sha256(ask), ask.principal
    content = read_bytes(ask.event, most_bytes=ask.route.body_bytes)
    return of_model(_told(ask.memory.files.keep(principal, sha256, content), None))


def _fetch(ask: Ask) -> HttpReply:
    ask.query()
    sha256, principal = _sha256(ask), ask.principal
    served = ask.memory.files.serve(principal, sha256)
    if served.content is None:
        return HttpReply(status=307, body="", content_type="text/plain", headers={"Location": str(served.url)})
    headers = {"Content-Disposition": disposition(served.file), "Content-Security-Policy": "default-src 'none'; sandbox"}
    return HttpReply(status=200, body=served.content, content_type=served.file.content_type, headers=headers)


def _sha256(ask: Ask) -> str:
    sha256 = ask.path["sha256"]
    check_sha256("sha256", sha256)
    return sha256


def _told(file: EvidenceFile, upload: Upload | None) -> contract.AnnounceEvidenceReply:
    told = None if upload is None else contract.UploadReply(method=upload.method, url=upload.url, headers=dict(upload.headers))
    return contract.AnnounceEvidenceReply(
        id=file.ref, bytes=file.size, content_type=file.content_type, name=file.name, upload=told
    )


EVIDENCE: Mapping[str, Operation] = {"announce_evidence": _announce, "put_evidence": _put, "evidence": _fetch}
