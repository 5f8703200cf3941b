"""The bytes of a tribe's evidence files, from one place that keeps them to another. Each is checked by its hash on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast
from uuid import UUID

import psycopg

from tributary.core.errors import Corrupt, Unavailable
from tributary.core.evidence import EvidenceFile, EvidenceStore, Upload
from tributary.store import statement


@dataclass(frozen=True, kw_only=True)
class Carried:
    """How many files came over and how many were there before; `lost` are the hashes of those that have no whole bytes."""

    files: int
    size: int
    there: int
    lost: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Wire:
    """How bytes go where a place gives addresses only: `fetch` gets from one, `send` puts to one. Both raise Unavailable."""

    fetch: Callable[[str], bytes | None]
    send: Callable[[Upload, bytes], None]


def files_of(connection: psycopg.Connection, tribe_id: UUID) -> list[EvidenceFile]:
    """Returns the files whose bytes the tribe was given and has not released, in the order of their hashes."""
    rows = connection.execute(statement("transfer", "files"), {"tribe_id": tribe_id}).fetchall()
    return [
        EvidenceFile(sha256=sha256, size=size, content_type=content_type, name=name, stored=True)
        for sha256, size, content_type, name in cast(list[tuple[str, int, str, str | None]], rows)
    ]


def carry(tribe_id: UUID, files: list[EvidenceFile], source: EvidenceStore, target: EvidenceStore, wire: Wire) -> Carried:
    """Has `target` keep what `source` does, one file in memory at a time. Safe to kill and to repeat: what is there stays.

    A file that is lost or damaged is told, and keeps no other from coming over. Raises Unavailable.
    """
    carried, size, there = 0, 0, 0
    lost: list[str] = []
    for file in files:
        if _is_whole(tribe_id, file, target):
            there += 1
            continue
        content = _content(tribe_id, file, source, wire)
        if content is None:
            lost.append(file.sha256)
            continue
        upload = target.upload(tribe_id, file)
        if upload.url.startswith("/"):
            target.put(tribe_id, file, content)
        else:
            wire.send(upload, content)
        carried, size = carried + 1, size + len(content)
    return Carried(files=carried, size=size, there=there, lost=tuple(lost))


def _is_whole(tribe_id: UUID, file: EvidenceFile, store: EvidenceStore) -> bool:
    if not store.has(tribe_id, file):
        return False
    try:
        return store.get(tribe_id, file) is not None
    except Corrupt:
        return False


def _content(tribe_id: UUID, file: EvidenceFile, source: EvidenceStore, wire: Wire) -> bytes | None:
    """Returns the bytes of a file, None when they are not there or not the file's."""
    try:
        found = source.get(tribe_id, file)
    except Corrupt:
        return None
    content = wire.fetch(found) if isinstance(found, str) else found
    return content if content is not None and hashlib.sha256(content).hexdigest() == file.sha256 else None


def unreachable(what: str) -> Unavailable:
    """Returns the error of a wire that did not carry."""
    return Unavailable(f"the place of evidence files cannot be used now: {what}")
