"""Options of a deployment: what makes no sense is refused before anything is made, by name, with what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from infra.config import BadOption, config_from
from tests.infra.conftest import ROOT


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "-c profile=prod or -c profile=dev is needed"),
        ({"profile": "staging"}, "it is 'staging'"),
        ({"profile": "dev", "dashbord": "none"}, "-c dashbord: is no option; did you mean dashboard?"),
        ({"profile": "dev", "dashboard": "ecs"}, "-c dashboard: "),
        ({"profile": "dev", "log_days": "8"}, "-c log_days: "),
        ({"profile": "dev", "max_acu": "0.7"}, "-c max_acu: "),
        ({"profile": "dev", "max_acu": "nan"}, "-c max_acu: "),
        ({"profile": "dev", "min_acu": "4"}, "min_acu (4.0) is above max_acu (2.0)"),
        ({"profile": "dev", "proxy": "true"}, "a cluster behind RDS Proxy never pauses"),
        ({"profile": "dev", "readers": "1"}, "readers need proxy=true"),
        ({"profile": "dev", "account": "12"}, "-c account: "),
        ({"profile": "dev", "region": "Frankfurt"}, "-c region: "),
        ({"profile": "dev", "cors_origins": '["*"]'}, "'*' is no exact origin"),
        ({"profile": "dev", "domain_name": "m.example.org"}, "domain_name and certificate_arn go together"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_JUDGE": "openai"}'}, "TRIBUTARY_JUDGE=openai: cannot be reached"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_TRACES": "otlp"}'}, "TRIBUTARY_TRACES=otlp: cannot be reached"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_SCREEN": "claude"}'}, "is a program, which no Lambda function has"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_EMBEDDER": "sentence-transformers"}'}, "more than a Lambda layer holds"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_JUGDE": "bedrock"}'}, "is no setting; did you mean TRIBUTARY_JUDGE?"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_DATABASE_URL": "x"}'}, "is set by the stack itself"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_OPENAI_API_KEY": "sk-1"}'}, "put it into the secret (secret_arn)"),
        ({"profile": "dev", "settings": '{"TRIBUTARY_JUDGE": '}, "-c settings: "),
        ({"profile": "dev", "secret_arn": "tributary"}, "-c secret_arn: "),
        ({"profile": "dev", "reserved_concurrency": '{"recall": 0}'}, "-c reserved_concurrency.recall: "),
    ],
)
def test_mistake_is_named_with_its_option(options: dict[str, str], said: str) -> None:
    with pytest.raises(BadOption) as refused:
        config_from(options)
    assert said in str(refused.value)
    assert "sk-1" not in str(refused.value)


def test_model_outside_of_aws_may_be_used_where_there_is_a_way_out() -> None:
    config = config_from({"profile": "dev", "egress": "nat", "settings": '{"TRIBUTARY_JUDGE": "openai"}'})
    assert config.models == {"TRIBUTARY_EMBEDDER": "bedrock", "TRIBUTARY_JUDGE": "openai"}


def test_contexts_of_cdk_itself_are_no_options_of_ours() -> None:
    assert config_from({"profile": "dev", "aws:cdk:bundling-stacks": [], "@aws-cdk/x": True}).profile == "dev"


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ('{"profile": "dev", "layer": "/nowhere"}', "tributary: the layer in /nowhere is not there yet: run 'make layer' first"),
        ("{}", "tributary: -c profile=prod or -c profile=dev is needed"),
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
