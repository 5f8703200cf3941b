"""What looks like a secret: it belongs into no lesson, no golden file and no log.

Rules for the forms that credentials come in. They know no secret that looks like ordinary words.
"""

from __future__ import annotations

import re
from enum import StrEnum


class SecretKind(StrEnum):
    """What a secret seems to be."""

    PRIVATE_KEY = "private_key"
    CLOUD_KEY = "cloud_key"
    TOKEN = "token"  # noqa: S105  (the name of a kind)
    PASSWORD = "password"  # noqa: S105  (as above)
    LOGIN_IN_URL = "login_in_url"


_PLACEHOLDER = r"(?![<$\[{*x.]|your|example|changeme|redacted|secret\b|none\b|null\b|true\b|false\b|env\b|os\.)"

_RULES: tuple[tuple[SecretKind, re.Pattern[str]], ...] = (
    (SecretKind.PRIVATE_KEY, re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")),
    (SecretKind.CLOUD_KEY, re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{35}\b")),
    (SecretKind.CLOUD_KEY, re.compile(r"(?i)\baws_?secret_?access_?key\b\W{0,5}[0-9a-z/+]{40}\b")),
    (SecretKind.TOKEN, re.compile(r"\b(?:gh[pousr]_[0-9A-Za-z]{20,}|github_pat_\w{22,}|glpat-[\w-]{20,}|npm_[0-9A-Za-z]{30,})")),
    (SecretKind.TOKEN, re.compile(r"\b(?:xox[abprs]-[0-9A-Za-z-]{10,}|sk-[0-9A-Za-z_-]{20,}|[rs]k_live_[0-9A-Za-z]{10,})")),
    (SecretKind.TOKEN, re.compile(r"\btr[bs]_[0-9A-Za-z_-]{20,}")),
    (SecretKind.TOKEN, re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")),
    (SecretKind.TOKEN, re.compile(r"(?i)\bbearer\s+(?=[\w.~+/-]*\d)[\w.~+/-]{20,}")),
    (
        SecretKind.PASSWORD,
        re.compile(
            rf"(?i)(?:password|passwd|pwd|secret|api[_-]?key|auth[_-]?token|access[_-]?token)[\"']?\s{{0,3}}(?:=|:|\bis\b)\s{{0,3}}"
            rf"[\"']?{_PLACEHOLDER}(?=[^\s\"',;]*\d)(?=[^\s\"',;]*[a-z])[^\s\"',;]{{8,}}"
        ),
    ),
    (SecretKind.LOGIN_IN_URL, re.compile(rf"(?i)\b[a-z][a-z0-9+.-]{{1,20}}://[^\s/:@]{{1,64}}:{_PLACEHOLDER}[^\s/@]{{3,128}}@")),
)


def secrets_in(text: str) -> tuple[SecretKind, ...]:
    """Returns the kinds of secrets that `text` seems to hold, each once, in the order of SecretKind."""
    found = {kind for kind, pattern in _RULES if pattern.search(text)}
    return tuple(kind for kind in SecretKind if kind in found)
