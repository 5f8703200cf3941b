"""Templates of deployments, synthesised once a session: with the real code, and a layer folder that is all but empty."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

Resources = dict[str, dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """The templates of one set of options, and what cdk-nag says of them."""

    data: dict[str, Any]
    app: dict[str, Any]
    findings: list[str]
    images: list[dict[str, Any]]
    """How each image of a container is made."""

    def of_type(self, kind: str) -> Resources:
        """Returns the resources of a type in both stacks, by logical id."""
        both = {**self.data["Resources"], **self.app["Resources"]}
        return {name: one for name, one in both.items() if one["Type"] == kind}

    def only(self, kind: str) -> dict[str, Any]:
        """Returns the properties of the one resource of a type."""
        (found,) = self.of_type(kind).values()
        properties: dict[str, Any] = found["Properties"]
        return properties

    def function(self, name: str) -> dict[str, Any]:
        """Returns the properties of a function by the end of its name."""
        (found,) = (
            one["Properties"]
            for one in self.of_type("AWS::Lambda::Function").values()
            if str(one["Properties"].get("FunctionName", "")).endswith(f"-{name}")
        )
        properties: dict[str, Any] = found
        return properties

    def statements(self, name: str) -> list[dict[str, Any]]:
        """Returns what a function is allowed and denied."""
        return self.statements_of(self.function(name)["Role"]["Fn::GetAtt"][0])

    def statements_of(self, role: str) -> list[dict[str, Any]]:
        """Returns what a role is allowed and denied, by its logical id."""
        found: list[dict[str, Any]] = []
        for policy in self.of_type("AWS::IAM::Policy").values():
            if {"Ref": role} in policy["Properties"]["Roles"]:
                found += policy["Properties"]["PolicyDocument"]["Statement"]
        return found


class Synthesiser:
    """Synthesises each set of options once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, Deployment] = {}
        for name in ("layer", "layer-local", "layer-dashboard", "layer-mcp"):
            (folder / name / "python").mkdir(parents=True)
            (folder / name / "python" / "library.py").write_text("")

    def __call__(self, **options: object) -> Deployment:
        key = json.dumps(options, sort_keys=True)
        if key not in self._made:
            self._made[key] = self._synthesise(options)
        return self._made[key]

    def _synthesise(self, options: Mapping[str, object]) -> Deployment:
        from aws_cdk import App

        from infra.app import build, config_of

        out = self._folder / f"out{len(self._made)}"
        given = {"layer": str(self._folder / "layer"), "local_layer": str(self._folder / "layer-local"), **options}
        for beside in ("dashboard", "mcp"):
            given.setdefault(f"{beside}_layer", str(self._folder / f"layer-{beside}"))
        app = App(context={**flags(), **given}, outdir=str(out))
        stacks = build(app, config_of(app))
        app.synth()
        templates = [json.loads((out / f"{stack.stack_name}.template.json").read_text()) for stack in stacks]
        report = json.loads((out / "validation-report.json").read_text())
        findings = [
            f"{violation['ruleName']} {one['constructPath']}"
            for plugin in report["pluginReports"]
            for violation in plugin["violations"]
            for one in violation["violatingConstructs"]
        ]
        assets = [json.loads((out / f"{stack.stack_name}.assets.json").read_text()) for stack in stacks]
        images = [image["source"] for one in assets for image in one.get("dockerImages", {}).values()]
        return Deployment(data=templates[0], app=templates[1], findings=findings, images=images)


@cache
def flags() -> dict[str, Any]:
    context: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]
    return context


@pytest.fixture(scope="session")
def synthesise(tmp_path_factory: pytest.TempPathFactory) -> Synthesiser:
    return Synthesiser(tmp_path_factory.mktemp("synth"))


@pytest.fixture(scope="session")
def prod(synthesise: Synthesiser) -> Deployment:
    return synthesise(profile="prod", dashboard="none")


@pytest.fixture(scope="session")
def dev(synthesise: Synthesiser) -> Deployment:
    return synthesise(profile="dev")


@pytest.fixture(scope="session")
def local(synthesise: Synthesiser) -> Deployment:
    """One that embeds by itself."""
    return synthesise(profile="dev", dashboard="apprunner", settings='{"TRIBUTARY_EMBEDDER": "minilm"}')


EVERYTHING: dict[str, object] = {
    "profile": "prod",
    "dashboard": "apprunner",
    "dashboard_public": "read",
    "egress": "nat",
    "account": "123456789012",
    "region": "eu-central-1",
    "authorization": "iam",
    "cors_origins": '["https://app.example.org"]',
    "domain_name": "memory.example.org",
    "certificate_arn": "arn:aws:acm:eu-central-1:123456789012:certificate/11111111-2222-3333-4444-555555555555",
    "hosted_zone_id": "Z0123456789",
    "hosted_zone_name": "example.org",
    "alarm_email": "oncall@example.org",
    "snap_start": "true",
    "reserved_concurrency": '{"recall": 50}',
    "secret_arn": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:tributary-AbCdEf",
    "settings": json.dumps(
        {
            "TRIBUTARY_STRONG_JUDGE": "bedrock",
            "TRIBUTARY_STRONG_JUDGE_MODEL": "eu.anthropic.claude-haiku-4-5-20251001-v1:0",
            "TRIBUTARY_SCREEN": "guardrails",
            "TRIBUTARY_GUARDRAIL_ID": "ab12cd34ef56",
            "TRIBUTARY_GUARDRAIL_VERSION": "3",
            "TRIBUTARY_DISTILLER": "openai",
            "TRIBUTARY_DISTILLER_MODEL": "gpt-4.1-mini",
            "TRIBUTARY_RESPONDER": "openai",
            "TRIBUTARY_RESPONDER_MODEL": "gpt-4.1",
            "TRIBUTARY_RESPONDER_RDS": "on",
            "TRIBUTARY_RESPONDER_ALLOW": "reboot_db_instance:orders-*,failover_db_cluster:orders",
        }
    ),
}


@pytest.fixture(scope="session")
def everything(synthesise: Synthesiser) -> Deployment:
    """Every option turned on that can be together."""
    return synthesise(**EVERYTHING)
