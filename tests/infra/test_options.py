"""Options of a deployment: what makes no sense is refused before anything is made, by name, with what to do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from infra.config import BadOption, config_from
from tests.infra.conftest import ROOT

RESPONDER = {"TRIBUTARY_RESPONDER": "bedrock", "TRIBUTARY_RESPONDER_MODEL": "m", "TRIBUTARY_RESPONDER_RDS": "on"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "-c profile=prod or -c profile=dev is needed"),
        ({"profile": "staging"}, "it is 'staging'"),
        ({"profile": "dev", "dashbord": "none"}, "-c dashbord: is no option; did you mean dashboard?"),
        ({"profile": "dev", "dashboard": "ecs"}, "-c dashboard: "),
        ({"profile": "dev", "dashboard_public": "write"}, "-c dashboard_public: "),
        ({"profile": "dev", "dashboard_public": "read"}, "dashboard_public needs secret_arn, a secret with a reader's token"),
        ({"profile": "dev", "dashboard_public": "read", "dashboard": "none"}, "dashboard_public has no use with dashboard=none"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_DASHBOARD_PUBLIC": "read"}'}, "is set by the stack itself"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_DASHBOARD_TOKEN": "sk-1"}'}, "put it into the secret (secret_arn)"),
        ({"profile": "dev", "log_days": "8"}, "-c log_days: "),
        ({"profile": "dev", "max_acu": "0.7"}, "-c max_acu: "),
        ({"profile": "dev", "max_acu": "nan"}, "-c max_acu: "),
        ({"profile": "dev", "min_acu": "4"}, "min_acu (4.0) is above max_acu (2.0)"),
        ({"profile": "dev", "proxy": "true"}, "a cluster behind RDS Proxy never pauses"),
        ({"profile": "dev", "readers": "1"}, "readers need proxy=true"),
        ({"profile": "dev", "account": "12"}, "-c account: must look like 123456789012 (it is '12')"),
        ({"profile": "dev", "region": "Frankfurt"}, "-c region: must look like eu-central-1 (it is 'Frankfurt')"),
        ({"profile": "dev", "name": "my-"}, "-c name: must look like tributary or team-memory"),
        ({"profile": "dev", "cidr": "999.0.0.0/99"}, "-c cidr: must be a network such as 10.20.0.0/16"),
        ({"profile": "dev", "cidr": "10.0.0.0/30"}, "-c cidr: must be a private network of the size /16 to /18"),
        ({"profile": "dev", "alarm_email": "x"}, "-c alarm_email: must look like oncall@example.org"),
        ({"profile": "dev", "certificate_arn": "x"}, "-c certificate_arn: must look like arn:aws:acm:..."),
        ({"profile": "dev", "restore_to": "2026-11-30T09:00:00Z"}, "restore_to needs restore_from"),
        (
            {"profile": "dev", "restore_to": "yesterday", "restore_from": "x1"},
            "-c restore_to: must look like 2026-11-30T09:00:00Z",
        ),
        ({"profile": "prod", "restore_from": "tributary-prod"}, "is this deployment itself"),
        ({"profile": "dev", "settings": "{TRIBUTARY_JUDGE:local}"}, "must be JSON, which shells and make take the quotes from"),
        ({"profile": "dev", "settings": "@nowhere.json"}, "-c settings: must be JSON"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_STRONG_JUDGE": "bedrock"}'}, "needs TRIBUTARY_STRONG_JUDGE_MODEL"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_SCREEN": "guardrails"}'}, "needs TRIBUTARY_GUARDRAIL_ID"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_RESPONDER": "bedrock"}'}, "needs TRIBUTARY_RESPONDER_MODEL"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_RESPONDER": "scripted"}'}, "follows a file"),
        (
            {"profile": "dev", "settings": '{"TRIBUTARY_RESPONDER_RDS": "on"}'},
            "TRIBUTARY_RESPONDER_RDS=on needs TRIBUTARY_RESPONDER",
        ),
        (
            {"profile": "dev", "settings": json.dumps({**RESPONDER, "TRIBUTARY_RESPONDER_ALLOW": "delete_db_instance:x"})},
            "'delete_db_instance:x' must be one of reboot_db_instance",
        ),
        (
            {"profile": "dev", "settings": json.dumps(RESPONDER)},
            "TRIBUTARY_RESPONDER_RDS=on: cannot be reached from isolated subnets",
        ),
        ({"profile": "dev", "settings": '{"TRIBUTARY_CELLS": "eu=postgresql://x"}'}, "a deployment serves one database"),
        ({"profile": "dev", "cors_origins": '["*"]'}, "'*' is no exact origin"),
        ({"profile": "dev", "domain_name": "m.example.org"}, "domain_name and certificate_arn go together"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_JUDGE": "openai"}'}, "needs TRIBUTARY_JUDGE_MODEL"),
        (
            {"profile": "dev", "settings": '{"TRIBUTARY_JUDGE": "openai", "TRIBUTARY_JUDGE_MODEL": "gpt-4.1-mini"}'},
            "TRIBUTARY_JUDGE=openai: cannot be reached",
        ),
        ({"profile": "dev", "settings": '{"TRIBUTARY_TRACES": "otlp"}'}, "TRIBUTARY_TRACES=otlp: cannot be reached"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_SCREEN": "claude"}'}, "is a program, which no Lambda function has"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_EMBEDDER": "sentence-transformers"}'}, "more than a Lambda layer holds"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_JUGDE": "bedrock"}'}, "is no setting; did you mean TRIBUTARY_JUDGE?"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_DATABASE_URL": "x"}'}, "is set by the stack itself"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_OPENAI_API_KEY": "sk-1"}'}, "put it into the secret (secret_arn)"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_JUDGE": '}, "-c settings: "),
        ({"profile": "dev", "secret_arn": "tributary"}, "-c secret_arn: must look like"),
        (
            {"profile": "dev", "secret_arn": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:*"},
            "-c secret_arn: must look",
        ),
        ({"profile": "dev", "name": "a-1"}, "-c name: must look like"),
        ({"profile": "dev", "settings": '{"AWS_REGION": "x"}'}, "AWS_REGION is set by the stack itself"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_OPENAI_URL": "https://u:p@h/v1"}'}, "has a user or password in its URL"),
        (
            {"profile": "dev", "settings": '{"TRIBUTARY_JUDGE": "bedrock", "TRIBUTARY_JUDGE_MODEL": "*"}'},
            "must be one model's or guardrail's id or ARN (it is '*')",
        ),
        ({"profile": "dev", "settings": "[" * 100_000}, "-c settings: must be JSON"),
        ({"profile": "dev", "reserved_concurrency": '{"recall": 0}'}, "-c reserved_concurrency.recall: "),
    ],
)
def test_mistake_is_named_with_its_option(options: dict[str, str], said: str) -> None:
    with pytest.raises(BadOption) as refused:
        config_from(options)
    assert said in str(refused.value)
    assert "sk-1" not in str(refused.value)


def test_model_outside_of_aws_may_be_used_where_there_is_a_way_out() -> None:
    chosen = {"TRIBUTARY_JUDGE": "openai", "TRIBUTARY_JUDGE_MODEL": "gpt-4.1-mini"}
    config = config_from({"profile": "dev", "egress": "nat", "settings": chosen})
    assert config.models == {"TRIBUTARY_EMBEDDER": "bedrock", **chosen}


@pytest.mark.parametrize("profile", ["prod", "dev"])
def test_every_option_may_be_given_as_the_text_that_a_command_line_gives(profile: str) -> None:
    whole = config_from({"profile": profile})
    given = {name: value for name, value in whole.model_dump(mode="json", exclude_none=True).items() if value not in ("", {}, [])}
    as_text = {name: json.dumps(value) if isinstance(value, bool) else str(value) for name, value in given.items()}
    assert config_from(as_text) == whole


def test_json_may_be_in_a_file_that_no_shell_takes_quotes_from(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"TRIBUTARY_LOG_LEVEL": "DEBUG"}')
    assert config_from({"profile": "dev", "settings": f"@{file}"}).settings == {"TRIBUTARY_LOG_LEVEL": "DEBUG"}


def test_contexts_of_cdk_itself_are_no_options_of_ours() -> None:
    assert config_from({"profile": "dev", "aws:cdk:bundling-stacks": [], "@aws-cdk/x": True}).profile == "dev"


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ('{"profile": "dev", "layer": "/nowhere"}', "tributary: the layer in /nowhere is not there yet: run 'make layer' first"),
        ("{}", "tributary: -c profile=prod or -c profile=dev is needed"),
        (
            '{"profile": "dev", "settings": {"TRIBUTARY_LOG_LEVEL": "NONSENSE"}}',
            "tributary: TRIBUTARY_LOG_LEVEL: input should be 'DEBUG', 'INFO', 'WARNING' or 'ERROR' (it is 'NONSENSE')",
        ),
    ],
)
def test_app_ends_with_one_line_and_no_traceback(tmp_path: Path, context: str, said: str) -> None:
    ended = subprocess.run(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env={"CDK_CONTEXT_JSON": context, "CDK_OUTDIR": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
