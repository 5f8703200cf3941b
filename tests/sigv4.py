"""Signature Version 4 of AWS, worked out from its description and not by the library that signs (IAM User Guide)."""

from __future__ import annotations

import hashlib
import hmac
import posixpath
from collections.abc import Mapping
from urllib.parse import quote, unquote

ALGORITHM = "AWS4-HMAC-SHA256"


def canonical_path(raw_path: str) -> str:
    """Returns the canonical form of a path as it is on the wire: normalised, and encoded once more, as by all but S3."""
    path = posixpath.normpath(raw_path or "/").replace("//", "/")
    closed = path if path.endswith("/") or not raw_path.endswith("/") else f"{path}/"
    return quote(closed, safe="/-_.~")


def canonical_query(raw_query: str) -> str:
    """Returns the canonical form of a query as it is on the wire: each name and value encoded anew, then sorted."""
    pairs = [piece.partition("=")[::2] for piece in raw_query.split("&") if piece]
    again = sorted((quote(unquote(name), safe="-_.~"), quote(unquote(value), safe="-_.~")) for name, value in pairs)
    return "&".join(f"{name}={value}" for name, value in again)


def canonical_request(method: str, raw_target: str, headers: Mapping[str, str], names: str, body: bytes) -> str:
    """Returns the canonical request; `names` are those of the signed headers, in order, with `;` between them."""
    path, _, query = raw_target.partition("?")
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in names.split(";"))
    digest = hashlib.sha256(body).hexdigest()
    return f"{method}\n{canonical_path(path)}\n{canonical_query(query)}\n{lines}\n{names}\n{digest}"


def signature(canonical: str, *, date: str, scope: str, secret: str) -> str:
    """Returns the signature of a canonical request; `date` is as in X-Amz-Date, `scope` the credential's without its key."""
    text = f"{ALGORITHM}\n{date}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()
