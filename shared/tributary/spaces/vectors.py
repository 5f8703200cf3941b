"""Vectors on their way to the database."""

from __future__ import annotations

from pgvector import HalfVector

from tributary.core.ports import Vector


def as_text(vector: Vector) -> str:
    """Returns pgvector's text form of `vector` at half precision, as it will be stored and compared.

    Text needs no type registered on the connection (four catalogue queries each) and is bound on the server's side.
    """
    return str(HalfVector(list(vector)).to_text())
