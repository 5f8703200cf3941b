"""Vectors on their way to the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgvector import HalfVector

from tributary.core.ports import Vector


@dataclass(frozen=True, kw_only=True)
class Placed:
    """An embedding in pgvector's text form, and the number of the space that it means something in."""

    space_id: int
    embedding: str


def embedded_text(*, situation: str, text: str) -> str:
    """Returns what a lesson is found by: its situation, then its text."""
    return f"{situation}\n{text}"


def as_text(vector: Vector) -> str:
    """Returns pgvector's text form of `vector` at half precision, as it will be stored and compared.

    Text needs no type registered on the connection (four catalogue queries each) and is bound on the server's side.
    """
    return str(HalfVector(list(vector)).to_text())


def from_text(written: str) -> Sequence[float]:
    """Returns the vector that pgvector wrote as text."""
    return [float(one) for one in written.strip("[]").split(",")]
