"""Findings of cdk-nag that stay, each with its reason, beside what it is about."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct


def acknowledge(about: IConstruct, reasons: Mapping[str, str]) -> None:
    """Accepts findings of AwsSolutions about a construct and what is in it: by rule, such as `IAM5[Resource::*]`, the reason."""
    Validations.of(about).acknowledge(
        *(Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}", reason=reason) for rule, reason in reasons.items())
    )
