"""Identifiers: UUIDv7 inside, a three-letter prefix at the edges (`les_0199...`)."""

from __future__ import annotations

import os
import re
import time
import uuid
from enum import StrEnum

from tributary.core.errors import InvalidRequest

_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{32}")


class Prefix(StrEnum):
    LESSON = "les"
    DECISION = "dec"
    RECEIPT = "rcp"
    DISPUTE = "dis"
    ACTION = "act"
    AGENT = "agt"
    TOKEN = "tok"  # noqa: S105  (a prefix, no secret)
    REVIEW = "rev"
    AUDIT = "aud"


def new_id() -> uuid.UUID:
    """Returns a UUIDv7: 48 bits of Unix milliseconds, then 74 random bits (RFC 9562, section 5.7)."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return uuid.UUID(int=value)


def show(prefix: Prefix, value: uuid.UUID) -> str:
    """Returns the identifier as users see it."""
    return f"{prefix}_{value.hex}"


def parse(prefix: Prefix, text: str, *, field: str) -> uuid.UUID:
    """Returns the UUID in a shown identifier; raises InvalidRequest naming `field` when it is not one."""
    if not is_shown(prefix, text):
        raise InvalidRequest(field, f"must look like {prefix}_ and 32 hexadecimal digits")
    return uuid.UUID(hex=text.removeprefix(f"{prefix}_"))


def is_shown(prefix: Prefix, text: str) -> bool:
    """Tells whether a text is an identifier as users see it."""
    head, _, tail = text.partition("_")
    # UUID() alone takes 0x, signs, underscores and other scripts' digits
    return head == prefix and _HEXADECIMAL.fullmatch(tail) is not None
