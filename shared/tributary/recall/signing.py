"""Signatures of receipts: HMAC-SHA-256 over their canonical JSON."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from tributary.core.errors import NotMigrated
from tributary.core.receipt import Receipt
from tributary.store import Reading, statement


def canonical(document: Mapping[str, object]) -> bytes:
    """Returns the bytes that are signed: the receipt's document as JSON with sorted keys and no blanks, in UTF-8.

    Whole numbers are written without a fraction: on its way through a caller's JSON library 1.0 may have become 1.
    """
    return json.dumps(_plain(document), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _plain(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


_KEY_ID = re.compile(r"k[0-9]{1,9}", re.ASCII)
REREAD_S = 60.0
"""After so long the newest key is looked for again: a rotation reaches every process."""


class Signer:
    """Signs with the newest key, and knows receipts by any key that there is."""

    def __init__(self, database: Reading, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._key: tuple[str, bytes] | None = None
        self._read_at = 0.0
        self._known: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def sign(self, receipt: Receipt) -> Receipt:
        """Returns the receipt with its key's id and signature."""
        key_id, secret = self._newest()
        named = replace(receipt, key=key_id)
        return replace(named, signature=hmac.digest(secret, canonical(named.document()), hashlib.sha256).hex())

    def signed(self, document: Mapping[str, object]) -> bool:
        """Tells whether this is a receipt as it was signed, by a key that is in use or was retired since."""
        unsigned = {name: value for name, value in document.items() if name != "signature"}
        key_id, signature = document.get("key"), document.get("signature")
        if not isinstance(key_id, str) or not isinstance(signature, str) or _KEY_ID.fullmatch(key_id) is None:
            return False
        secret = self._named(key_id)
        if secret is None:
            return False
        try:
            expected = hmac.digest(secret, canonical(unsigned), hashlib.sha256).hex()
        except (TypeError, ValueError, RecursionError):  # no JSON that a receipt could be
            return False
        return hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))

    def _named(self, key_id: str) -> bytes | None:
        """Returns a key, read once a process, so that many receipts cost one look; None when there is none such."""
        with self._lock:
            known = self._known.get(key_id)
        if known is None and (found := self._database.rows(statement("recall", "signing_key_named"), {"key_id": key_id})):
            (known,) = cast(tuple[bytes], found[0])
            with self._lock:
                self._known[key_id] = known
        return known

    def _newest(self) -> tuple[str, bytes]:
        with self._lock:
            if self._key is None or self._clock() - self._read_at > REREAD_S:
                found = self._database.rows(statement("recall", "signing_key"), {})
                if not found:
                    raise NotMigrated("the database holds no key to sign receipts with; run 'tributary migrate'")
                self._key = cast(tuple[str, bytes], found[0])
                self._read_at = self._clock()
            return self._key
