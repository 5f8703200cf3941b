"""Evidence files of a tribe into a folder and back, over HTTP where the place that keeps them gives addresses only."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import httpx

from tributary.core.errors import NotSetUp
from tributary.core.evidence import EvidenceFile, EvidenceStore, Upload
from tributary.transfer.evidence import Carried, Wire, carry, unreachable

_TIMEOUT_S = 60.0
_GONE = frozenset({403, 404})
"""How S3 answers about a file that is not there: the first to those who may not list the bucket."""


def carry_out(tribe_id: UUID, files: list[EvidenceFile], store: EvidenceStore | None, folder: Path) -> Carried:
    """Keeps in `folder` what the tribe's files are; raises NotSetUp where none are kept, Unavailable."""
    return _carry(tribe_id, files, _set_up(store), _folder(folder))


def carry_in(tribe_id: UUID, files: list[EvidenceFile], store: EvidenceStore | None, folder: Path) -> Carried:
    """Keeps where the tribe's files belong what `folder` holds of them; raises as `carry_out`."""
    return _carry(tribe_id, files, _folder(folder), _set_up(store))


def _folder(folder: Path) -> EvidenceStore:
    from tributary.files.folder import FolderStore

    return FolderStore(folder)


def _set_up(store: EvidenceStore | None) -> EvidenceStore:
    if store is None:
        raise NotSetUp("no place for evidence files is set up; choose the one that the servers use: TRIBUTARY_EVIDENCE")
    return store


def _carry(tribe_id: UUID, files: list[EvidenceFile], source: EvidenceStore, target: EvidenceStore) -> Carried:
    with httpx.Client(timeout=_TIMEOUT_S) as client:

        def fetch(url: str) -> bytes | None:
            answer = _answered(client, "GET", url)
            return None if answer.status_code in _GONE else _well(answer).content

        def send(upload: Upload, content: bytes) -> None:
            _well(_answered(client, upload.method, upload.url, headers=dict(upload.headers), content=content))

        return carry(tribe_id, files, source, target, Wire(fetch=fetch, send=send))


def _answered(
    client: httpx.Client, method: str, url: str, *, headers: dict[str, str] | None = None, content: bytes | None = None
) -> httpx.Response:
    try:
        return client.request(method, url, headers=headers, content=content)
    except httpx.HTTPError as error:
        raise unreachable(type(error).__name__) from error


def _well(answer: httpx.Response) -> httpx.Response:
    if not answer.is_success:
        raise unreachable(f"it answered {answer.status_code}")
    return answer
