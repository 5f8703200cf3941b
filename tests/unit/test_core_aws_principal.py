"""Whom an ARN stands for."""

from __future__ import annotations

import pytest

from tributary.core.aws_principal import principal_of

ACCOUNT = "123456789012"


@pytest.mark.parametrize(
    ("arn", "principal"),
    [
        ("arn:aws:sts::123456789012:assumed-role/agent/session", "arn:aws:iam::123456789012:role/agent"),
        ("arn:aws:sts::123456789012:assumed-role/agent/a@b.example", "arn:aws:iam::123456789012:role/agent"),
        ("arn:aws-cn:sts::123456789012:assumed-role/agent/s", "arn:aws-cn:iam::123456789012:role/agent"),
        ("arn:aws-us-gov:iam::123456789012:role/agent", "arn:aws-us-gov:iam::123456789012:role/agent"),
        ("arn:aws:iam::123456789012:role/agent", "arn:aws:iam::123456789012:role/agent"),
        ("arn:aws:iam::123456789012:role/team/on-call/agent", "arn:aws:iam::123456789012:role/agent"),
        (
            "arn:aws:sts::123456789012:assumed-role/AWSReservedSSO_Ops_0123456789abcdef/jo@b.example",
            "arn:aws:iam::123456789012:role/AWSReservedSSO_Ops_0123456789abcdef",
        ),
        ("arn:aws:iam::123456789012:user/agents/scribe", "arn:aws:iam::123456789012:user/agents/scribe"),
        ("arn:aws-cn:iam::123456789012:user/scribe", "arn:aws-cn:iam::123456789012:user/scribe"),
    ],
)
def test_a_role_a_session_of_it_and_a_user_stand_for_somebody(arn: str, principal: str) -> None:
    assert principal_of(arn) == principal
    assert principal_of(principal) == principal


@pytest.mark.parametrize(
    "arn",
    [
        "",
        "agent",
        "arn:aws:iam::123456789012:root",
        "arn:aws:sts::123456789012:federated-user/jo",
        "arn:aws:iam::123456789012:group/agents",
        "arn:aws:iam::123456789012:role/",
        "arn:aws:iam::123456789012:role//agent",
        "arn:aws:iam::123456789012:assumed-role/agent/session",
        "arn:aws:sts::123456789012:role/agent",
        "arn:aws:sts::123456789012:user/agent",
        "arn:aws:sts::123456789012:assumed-role/agent",
        "arn:aws:sts::123456789012:assumed-role/path/agent/session",
        "arn:aws:sts::12345678901:assumed-role/agent/session",
        "arn:evil:sts::123456789012:assumed-role/agent/session",
        "arn:aws:sts:eu-central-1:123456789012:assumed-role/agent/session",
        " arn:aws:iam::123456789012:role/agent",
        "arn:aws:iam::123456789012:role/agent\n",
        "arn:aws:iam::123456789012:role/ag\u0435nt",
        "arn:aws:iam::\u0661\u0662\u0663456789012:role/agent",
        f"arn:aws:iam::123456789012:user/{'p' * 700}/x",
        f"arn:aws:iam::123456789012:role/{'a/' * 300}",
    ],
    ids=lambda arn: repr(arn)[:60],
)
def test_whatever_else_stands_for_nobody(arn: str) -> None:
    assert principal_of(arn) is None
