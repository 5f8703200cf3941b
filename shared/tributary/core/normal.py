"""Normal forms: when two texts or subjects count as the same."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import unicodedata

from tributary.core.lesson import Draft

_SPACE = re.compile(r"\s+")
_SUBJECT_JOINERS = re.compile(r"[\s_\-]+")


def folded(text: str) -> str:
    """Returns `text` in NFKC and without case, the same for every spelling that Unicode calls compatible."""
    # Folding takes some characters apart (the Greek iota with dialytika and tonos), so they are put together once more.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def normal_text(text: str) -> str:
    """Returns `text` folded, with runs of white space as one blank."""
    return _SPACE.sub(" ", folded(text)).strip()


def exact_text(text: str) -> str:
    """Returns `text` in NFC with runs of white space as one blank; case and exponents stay: -c is not -C, nor 10⁵ 105."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def subject_key(subject: str | None) -> str | None:
    """Returns the key under which equal subjects meet: 'Deploy API', 'deploy_api' and 'deploy-api' are one."""
    if subject is None:
        return None
    return _SUBJECT_JOINERS.sub("-", normal_text(subject)).strip("-") or normal_text(subject)


def content_hash(draft: Draft, *, secret: bytes) -> bytes:
    """Returns HMAC-SHA-256 over normalised situation, subject, kind and text (32 bytes).

    Keyed with the tribe's secret, so that a tombstone's hash tells nobody outside what the erased text was.
    """
    parts = [exact_text(draft.situation), subject_key(draft.subject), draft.kind.value, exact_text(draft.text)]
    return hmac.digest(secret, json.dumps(parts, ensure_ascii=False).encode(), hashlib.sha256)


def text_hash(draft: Draft, *, secret: bytes) -> bytes:
    """Returns HMAC-SHA-256 over the normalised text alone (32 bytes): the same words, in whatever situation they are said."""
    return hmac.digest(secret, exact_text(draft.text).encode(), hashlib.sha256)
