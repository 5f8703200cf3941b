"""What looks like a secret, and what only speaks of one."""

from __future__ import annotations

import pytest

from tributary.core.secrets import SecretKind, secrets_in


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE", SecretKind.PRIVATE_KEY),
        ("use AKIAIOSFODNN7EXAMPLE for it", SecretKind.CLOUD_KEY),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", SecretKind.CLOUD_KEY),
        ("ghp_0123456789abcdefghijABCDEFGHIJ012345", SecretKind.TOKEN),
        ("xoxb-123456789012-abcdefghijkl", SecretKind.TOKEN),
        ("trb_" + "a1" * 16, SecretKind.TOKEN),
        ("trs_" + "a1" * 16, SecretKind.TOKEN),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", SecretKind.TOKEN),
        ("Authorization: Bearer 0a1b2c3d4e5f60718293a4b5", SecretKind.TOKEN),
        ('"password": "hunter2hunter2"', SecretKind.PASSWORD),
        ("the password is tr0ub4dor&3", SecretKind.PASSWORD),
        ("API_KEY=9f8e7d6c5b4a", SecretKind.PASSWORD),
        ("postgresql://app:s3cr3t-99@db.internal/orders", SecretKind.LOGIN_IN_URL),
    ],
)
def test_a_secret_is_known_by_its_form(text: str, kind: SecretKind) -> None:
    assert secrets_in(text) == (kind,)


@pytest.mark.parametrize(
    "text",
    [
        "Rotate the password every 90 days.",
        "password=${DB_PASSWORD}",
        "postgresql://app:<password>@db.internal/orders",
        "postgresql://app@db.internal/orders",
        "set API_KEY to your own key",
        "the secret is mounted at /run/secrets/db",
        "Send 'Authorization: Bearer <token>'.",
        "X-Batch: true",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_advice_about_secrets_is_none(text: str) -> None:
    assert secrets_in(text) == ()
