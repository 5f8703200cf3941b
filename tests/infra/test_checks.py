"""cdk-nag has nothing to say of any deployment; where there is something, it says it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.infra.conftest import EVERYTHING, Synthesiser, flags


@pytest.mark.parametrize(
    "options",
    [
        {"profile": "prod", "dashboard": "none"},
        {"profile": "prod", "dashboard": "lambda"},
        {"profile": "dev"},
        {"profile": "dev", "dashboard": "apprunner"},
        EVERYTHING,
    ],
    ids=["prod", "prod-lambda", "dev-lambda", "dev-apprunner", "everything"],
)
def test_no_finding_is_left_unexplained(synthesise: Synthesiser, options: dict[str, object]) -> None:
    assert synthesise(**options).findings == []


def test_what_is_wrong_and_not_explained_stops_the_synthesis(tmp_path: Path) -> None:
    """The control: the same checks find a role that may do anything."""
    from aws_cdk import App, Stack, Validations
    from aws_cdk import aws_iam as iam
    from cdk_nag import AwsSolutionsChecks

    app = App(context=flags(), outdir=str(tmp_path))
    role = iam.Role(Stack(app, "Wrong"), "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    role.add_to_policy(iam.PolicyStatement(actions=["sqs:*"], resources=["*"]))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    report = json.loads((tmp_path / "validation-report.json").read_text())
    assert "AwsSolutions-IAM5[Action::sqs:*]" in {one["ruleName"] for one in report["pluginReports"][0]["violations"]}
