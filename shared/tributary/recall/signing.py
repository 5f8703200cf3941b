"""Signatures of receipts: HMAC-SHA-256 over their canonical JSON."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from dataclasses import replace
from typing import cast

from tributary.core.errors import NotMigrated
from tributary.core.receipt import Receipt
from tributary.store import Database, statement


def canonical(receipt: Receipt) -> bytes:
    """Returns the bytes that are signed: the receipt's document as JSON with sorted keys and no blanks, in UTF-8."""
    return json.dumps(receipt.document(), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


class Signer:
    """Signs with the newest key, read once a process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._key: tuple[str, bytes] | None = None
        self._lock = threading.Lock()

    def sign(self, receipt: Receipt) -> Receipt:
        """Returns the receipt with its key's id and signature."""
        key_id, secret = self._newest()
        named = replace(receipt, key=key_id)
        return replace(named, signature=hmac.digest(secret, canonical(named), hashlib.sha256).hex())

    def _newest(self) -> tuple[str, bytes]:
        with self._lock:
            if self._key is None:
                found = self._database.rows(statement("recall", "signing_key"), {})
                if not found:
                    raise NotMigrated("the database holds no key to sign receipts with; run 'tributary migrate'")
                self._key = cast(tuple[str, bytes], found[0])
            return self._key
