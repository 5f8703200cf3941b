"""Which AWS principal stands behind a caller: the role or user whose ARN agents are bound to."""

from __future__ import annotations

import re

PRINCIPAL_RULE = (
    "must be the ARN of an IAM role or user, such as arn:aws:iam::123456789012:role/incident-agent;"
    " no root user, no federated user"
)

_ACCOUNT = r"arn:(?P<partition>aws[a-z-]{0,20}):(?P<service>iam|sts)::(?P<account>[0-9]{12}):"
_NAME = r"[A-Za-z0-9_+=,.@-]{1,64}"
_PATH = r"(?:[!-.0-~]{1,512}/){0,64}"
_SESSION = re.compile(rf"{_ACCOUNT}assumed-role/(?P<name>{_NAME})/{_NAME}")
_ROLE = re.compile(rf"{_ACCOUNT}role/{_PATH}(?P<name>{_NAME})")
_USER = re.compile(rf"{_ACCOUNT}user/{_PATH}{_NAME}")
_MOST_CHARACTERS = 700


def principal_of(arn: str) -> str | None:
    """Returns the ARN that agents are bound to, None for what is neither a role, a session of one, nor a user.

    A session's ARN names its role without the path, so a role's is told without its path; within an account the name of a role
    is its own whatever the path (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html). A user's stays as
    it is.
    """
    if len(arn) > _MOST_CHARACTERS:
        return None
    session, role, user = _SESSION.fullmatch(arn), _ROLE.fullmatch(arn), _USER.fullmatch(arn)
    found = session if session and session["service"] == "sts" else role if role and role["service"] == "iam" else None
    if found:
        return f"arn:{found['partition']}:iam::{found['account']}:role/{found['name']}"
    return arn if user and user["service"] == "iam" else None
