"""The functions of a deployment: one entry of a table each, allowed what they need and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.table import BY_NAME, FUNCTIONS
from tests.infra.conftest import ROOT, Deployment
from tributary.service import load_settings
from tributary.service.logins import logins_of

NAMES = [spec.name for spec in FUNCTIONS]
ALWAYS = [spec.name for spec in FUNCTIONS if not spec.when_responder]
"""Those that need no model for the incident agent."""


def test_each_folder_of_code_is_in_the_table_and_each_entry_has_code() -> None:
    folders = {path.parent.name for path in (ROOT / "functions").glob("*/handler.py")}
    assert {spec.folder for spec in FUNCTIONS} == folders


@pytest.mark.parametrize("name", ALWAYS)
def test_function_is_built_as_the_layer_is_and_logs_for_a_while(dev: Deployment, name: str) -> None:
    function = dev.function(name)
    assert (function["Runtime"], function["Architectures"]) == ("python3.13", ["arm64"])
    assert function["Handler"] == "handler.handler"
    assert len(function["Layers"]) == (2 if BY_NAME[name].layer else 1)
    assert function["TracingConfig"] == {"Mode": "Active"}
    assert function["VpcConfig"]["SubnetIds"]
    log = dev.app["Resources"][function["LoggingConfig"]["LogGroup"]["Ref"]]
    assert log["Properties"]["RetentionInDays"] == 14
    assert log["Properties"]["LogGroupName"] == f"/aws/lambda/tributary-dev-{name}"


def test_every_log_group_forgets_in_the_end(prod: Deployment, everything: Deployment) -> None:
    for deployment in (prod, everything):
        assert all(one["Properties"].get("RetentionInDays") == 90 for one in deployment.of_type("AWS::Logs::LogGroup").values())


@pytest.mark.parametrize("name", [name for name in ALWAYS if name != "dashboard"])
def test_function_logs_in_to_the_database_as_itself(prod: Deployment, name: str) -> None:
    user = "tributary_admin" if name == "migrate" else f"tributary_{BY_NAME[name].folder}"
    variables = prod.function(name)["Environment"]["Variables"]
    owner = name in {"migrate", "operator"}
    assert variables["TRIBUTARY_DATABASE_AUTH"] == "iam"
    assert ("TRIBUTARY_OWNER_URL" in variables, "TRIBUTARY_DATABASE_URL" in variables) == (owner, not owner)
    url = text(variables["TRIBUTARY_OWNER_URL" if owner else "TRIBUTARY_DATABASE_URL"])
    assert url.startswith(f"postgresql://{user}@")
    assert "sslmode=verify-full&sslrootcert=/opt/certs/rds.pem" in url
    assert url.endswith("&connect_timeout=3" if name == "authorizer" else "&connect_timeout=5")
    assert ("TRIBUTARY_READER_URL" in variables) == (name in {"recall", "mcp"})
    (login,) = [one for one in prod.statements(name) if one["Action"] == "rds-db:connect"]
    assert text(login["Resource"]).endswith(f"/{user}")


def test_each_function_may_do_exactly_what_its_code_does(prod: Deployment) -> None:
    expected = {
        "recall": {"bedrock:InvokeModel", "s3:GetObject"},
        "learn": {"bedrock:InvokeModel", "sqs:SendMessage", "s3:GetObject", "s3:PutObject"},
        "settler": {"bedrock:InvokeModel", "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility",
                    "sqs:GetQueueAttributes", "sqs:GetQueueUrl"},
        "curate": {"bedrock:InvokeModel", "sqs:SendMessage"},
        "mcp": {"bedrock:InvokeModel", "sqs:SendMessage"},
        "authorizer": set(),
        "gardener": {"bedrock:InvokeModel", "sqs:SendMessage", "s3:DeleteObject"},  # to its dead-letter queue
        "operator": {"bedrock:InvokeModel", "sqs:SendMessage"},
        "migrate": set(),
    }  # fmt: skip
    for name, own in expected.items():
        allowed = {action for one in prod.statements(name) if one["Effect"] == "Allow" for action in listed(one["Action"])}
        assert allowed == own | _EVERYBODYS, name


_EVERYBODYS = {
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
    "logs:CreateLogStream",
    "logs:PutLogEvents",
    "rds-db:connect",
    "xray:PutTelemetryRecords",
    "xray:PutTraceSegments",
}


def test_no_role_may_do_anything_by_a_star(prod: Deployment, dev: Deployment, everything: Deployment) -> None:
    for deployment in (prod, dev, everything):
        for policy in deployment.of_type("AWS::IAM::Policy").values():
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
                actions = listed(statement["Action"])
                assert not [action for action in actions if "*" in action]
                if statement["Effect"] == "Allow" and "*" in listed(statement["Resource"]):
                    assert set(actions) <= _WITHOUT_RESOURCES, actions


_LOOKS = {
    "rds:DescribeDBClusters",
    "rds:DescribeDBInstances",
    "rds:DescribeDBLogFiles",
    "rds:DescribeEvents",
    "rds:DescribePendingMaintenanceActions",
}
_WITHOUT_RESOURCES = {one for one in _EVERYBODYS if one.startswith(("ec2:", "xray:"))} | {"ecr:GetAuthorizationToken"} | _LOOKS


def test_the_incident_agent_is_there_only_with_a_model_and_may_change_only_what_the_settings_allow(
    prod: Deployment, everything: Deployment
) -> None:
    with pytest.raises(ValueError, match="not enough values"):
        prod.function("responder")
    function = everything.function("responder")
    assert function["Timeout"] == 65
    rights = {
        (action, text(one["Resource"]).partition(":rds:")[2])
        for one in everything.statements("responder")
        for action in listed(one["Action"])
        if action.startswith("rds:") and action not in _LOOKS and one["Effect"] == "Allow"
    }
    assert rights == {
        ("rds:RebootDBInstance", "eu-central-1:123456789012:db:orders-*"),
        ("rds:FailoverDBCluster", "eu-central-1:123456789012:cluster:orders"),
    }
    others = {name for name in NAMES if name not in ("responder", "dashboard")}
    for name in others:
        assert not [
            one for one in everything.statements(name) if any(action.startswith("rds:") for action in listed(one["Action"]))
        ]


def test_the_incident_agent_may_not_change_what_the_memory_itself_stands_on(everything: Deployment) -> None:
    (denied,) = [
        one
        for one in everything.statements("responder")
        if one["Effect"] == "Deny" and listed(one["Action"])[0].startswith("rds:")
    ]
    assert set(denied["Action"]) == {"rds:RebootDBInstance", "rds:FailoverDBCluster", "rds:ModifyDBInstance"}
    assert (denied["Resource"], denied["Condition"]) == ("*", {"StringEquals": {"aws:ResourceTag/application": "tributary-prod"}})
    own = [*everything.of_type("AWS::RDS::DBInstance").values(), *everything.of_type("AWS::RDS::DBCluster").values()]
    assert own
    assert all({"Key": "application", "Value": "tributary-prod"} in one["Properties"]["Tags"] for one in own)


def test_code_in_a_function_may_not_touch_network_interfaces(prod: Deployment) -> None:
    (denied,) = [one for one in prod.statements("recall") if one["Effect"] == "Deny"]
    assert all(action.startswith("ec2:") for action in denied["Action"])
    assert text(denied["Condition"]["ArnEquals"]["lambda:SourceFunctionArn"]).endswith(":function:tributary-prod-recall")


def test_models_are_allowed_by_id_and_a_profile_with_the_models_behind_it(everything: Deployment) -> None:
    def models(name: str) -> list[str]:
        return [
            text(arn)
            for one in everything.statements(name)
            if one["Action"] == "bedrock:InvokeModel"
            for arn in listed(one["Resource"])
        ]

    titan = ":bedrock:eu-central-1::foundation-model/amazon.titan-embed-text-v2:0"
    assert [arn.removeprefix("arn:").split(":", 1)[1] for arn in models("recall")] == [titan[1:]]
    assert sorted(arn.split(":bedrock:")[1] for arn in models("learn")) == [
        "*::foundation-model/anthropic.claude-haiku-4-5-20251001-v1:0",
        "eu-central-1:123456789012:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0",
        "eu-central-1::foundation-model/amazon.titan-embed-text-v2:0",
    ]
    (applied,) = [one for one in everything.statements("learn") if one["Action"] == "bedrock:ApplyGuardrail"]
    assert text(applied["Resource"]).endswith(":guardrail/ab12cd34ef56")
    (secret,) = [one for one in everything.statements("learn") if one["Action"] == "secretsmanager:GetSecretValue"]
    assert secret["Resource"].endswith(":secret:tributary-AbCdEf")


def test_what_nobody_waits_for_has_a_dead_letter_queue_that_is_encrypted_and_takes_tls_alone(prod: Deployment) -> None:
    for name in ("gardener", "operator"):
        assert "TargetArn" in prod.function(name)["DeadLetterConfig"]
    queues = prod.of_type("AWS::SQS::Queue")
    policies = prod.of_type("AWS::SQS::QueuePolicy").values()
    secured = {
        one["Properties"]["Queues"][0]["Ref"]
        for one in policies
        for statement in one["Properties"]["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny" and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    }
    assert secured == set(queues)
    assert all(one["Properties"]["SqsManagedSseEnabled"] for one in queues.values())


def test_pending_lessons_are_settled_from_the_queue_message_by_message(prod: Deployment) -> None:
    source = prod.only("AWS::Lambda::EventSourceMapping")
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    (queue,) = [one["Properties"] for one in prod.of_type("AWS::SQS::Queue").values() if "RedrivePolicy" in one["Properties"]]
    assert queue["RedrivePolicy"]["maxReceiveCount"] == 8
    assert prod.function("settler")["Timeout"] < queue["VisibilityTimeout"] <= 300
    for name in ("learn", "curate", "mcp"):
        assert "TRIBUTARY_PENDING_QUEUE_URL" in prod.function(name)["Environment"]["Variables"]


def test_files_of_evidence_are_closed_to_the_world_encrypted_and_outlive_the_stack(prod: Deployment) -> None:
    ((name, bucket),) = prod.of_type("AWS::S3::Bucket").items()
    assert bucket["DeletionPolicy"] == "Retain"
    assert set(bucket["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}
    assert "BucketEncryption" in bucket["Properties"]
    (policy,) = prod.of_type("AWS::S3::BucketPolicy").values()
    denied = [one["Condition"] for one in policy["Properties"]["PolicyDocument"]["Statement"] if one["Effect"] == "Deny"]
    assert {"Bool": {"aws:SecureTransport": "false"}} in denied
    assert all(one["Effect"] == "Deny" for one in policy["Properties"]["PolicyDocument"]["Statement"])
    for function in ("learn", "recall", "gardener"):
        assert prod.function(function)["Environment"]["Variables"]["TRIBUTARY_EVIDENCE_BUCKET"] == {"Ref": name}
    assert "TRIBUTARY_EVIDENCE" not in prod.function("curate")["Environment"]["Variables"]
    gateways = [
        one["Properties"] for one in prod.of_type("AWS::EC2::VPCEndpoint").values() if "RouteTableIds" in one["Properties"]
    ]
    (statement,) = gateways[0]["PolicyDocument"]["Statement"]
    assert "aws:ResourceAccount" in statement["Condition"]["StringEquals"]


def test_schedules_wake_the_gardener_and_build_indexes_with_tries_and_a_dead_letter_queue(
    prod: Deployment, dev: Deployment
) -> None:
    for deployment, rates in ((prod, {"rate(15 minutes)", "rate(1 hour)"}), (dev, {"rate(1 day)"})):
        schedules = [one["Properties"] for one in deployment.of_type("AWS::Scheduler::Schedule").values()]
        assert {one["ScheduleExpression"] for one in schedules} == rates
        for one in schedules:
            assert one["Target"]["RetryPolicy"]["MaximumRetryAttempts"] == 2
            assert "Arn" in one["Target"]["DeadLetterConfig"]
    events = [json.loads(one["Target"]["Input"]) for one in schedules if "Input" in one["Target"]]
    assert {"operation": "build_indexes", "arguments": {}} in events


def test_a_migration_that_fails_leaves_the_old_code_serving(prod: Deployment) -> None:
    """Since every other function is changed after the trigger only, and its alias after the function."""
    (trigger,) = prod.of_type("Custom::Trigger")
    after = {
        one["Properties"]["FunctionName"]
        for one in prod.of_type("AWS::Lambda::Function").values()
        if trigger in one.get("DependsOn", []) and "FunctionName" in one["Properties"]
    }
    assert after == {f"tributary-prod-{name}" for name in ALWAYS if name not in {"migrate", "dashboard"}}


def test_the_container_waits_for_the_schema_too(everything: Deployment) -> None:
    (trigger,) = everything.of_type("Custom::Trigger")
    (service,) = everything.of_type("AWS::AppRunner::Service").values()
    assert trigger in service["DependsOn"]
    image = service["Properties"]["SourceConfiguration"]["ImageRepository"]["ImageConfiguration"]
    given = {one["Name"] for one in image["RuntimeEnvironmentVariables"]}
    assert {"TRIBUTARY_DATABASE_URL", "TRIBUTARY_DATABASE_AUTH", "TRIBUTARY_SECRET_ARN", "AWS_REGION"} <= given


def test_options_reach_the_functions_that_they_are_for(everything: Deployment, prod: Deployment) -> None:
    assert everything.function("recall")["SnapStart"] == {"ApplyOn": "PublishedVersions"}
    assert "SnapStart" not in everything.function("gardener")
    assert "SnapStart" not in prod.function("recall")
    assert everything.function("recall")["ReservedConcurrentExecutions"] == 50
    assert "ReservedConcurrentExecutions" not in everything.function("learn")


def test_versions_stay_so_that_an_alias_can_go_back(prod: Deployment) -> None:
    assert {one["DeletionPolicy"] for one in prod.of_type("AWS::Lambda::Version").values()} == {"Retain"}


def test_a_word_starts_every_function_anew(synthesise: Any) -> None:
    """Since it changes what a version is made of: so that a changed secret is read."""
    word = "2026-11-30"
    again = synthesise(
        profile="prod",
        dashboard="none",
        name="copy",
        restore_from="tributary-prod",
        restore_to="2026-11-30T09:00:00Z",
        restart=word,
    )
    assert {again.function(name)["Environment"]["Variables"]["RESTART"] for name in ALWAYS if name != "dashboard"} == {word}


def test_local_embedder_brings_the_second_layer(local: Deployment) -> None:
    assert len(local.function("recall")["Layers"]) == 2
    assert not [one for one in local.statements("recall") if "bedrock:InvokeModel" in listed(one["Action"])]


def listed(value: Any) -> list[Any]:
    """Returns what is one or several as a list."""
    return value if isinstance(value, list) else [value]


def text(value: Any) -> str:
    """Returns a joined value as text, with its references left out."""
    if isinstance(value, dict):
        parts = value.get("Fn::Join", ["", []])[1]
        return "".join(part for part in parts if isinstance(part, str))
    return str(value)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_function_is_told_are_settings_that_it_takes(
    everything: Deployment, dev: Deployment, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    deployment = dev if name == "dashboard" else everything
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    for variable, value in deployment.function(name)["Environment"]["Variables"].items():
        if variable != "TRIBUTARY_SECRET_ARN":  # what it holds is asked for elsewhere
            monkeypatch.setenv(variable, resolved(value))
    settings = load_settings()
    logins = logins_of(settings)
    assert logins is not None
    assert (logins.owners is not None) == (name in {"migrate", "operator"})
    assert (logins.runtime is not None) == (name not in {"migrate", "operator"})


def resolved(value: Any) -> str:
    """Returns a value with something of the right form in place of each reference."""
    if isinstance(value, dict) and "Fn::Join" in value:
        return "".join(resolved(part) for part in value["Fn::Join"][1])
    if isinstance(value, dict):
        return "https://sqs.eu-central-1.amazonaws.com/123456789012/pending" if "PendingQueue" in str(value) else "db.example.org"
    return str(value)
