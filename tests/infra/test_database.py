"""The database of a deployment: nobody outside reaches it, nothing of it is in the clear, and it survives its stack."""

from __future__ import annotations

from typing import Any

from tests.infra.conftest import Deployment, Synthesiser


def test_every_login_is_by_iam_and_no_password_of_the_database_exists(prod: Deployment, dev: Deployment) -> None:
    for deployment in (prod, dev):
        cluster = deployment.only("AWS::RDS::DBCluster")
        assert cluster["EnableIAMDatabaseAuthentication"] is True
        assert cluster["MasterUserAuthenticationType"] == "iam-db-auth"
        assert cluster["MasterUsername"] == "tributary_admin"
        assert not {"MasterUserPassword", "ManageMasterUserPassword"} & set(cluster)
        assert not deployment.of_type("AWS::SecretsManager::Secret")


def test_the_cluster_is_aurora_17_encrypted_logged_and_backed_up(prod: Deployment, dev: Deployment) -> None:
    for deployment, days in ((prod, 14), (dev, 1)):
        cluster = deployment.only("AWS::RDS::DBCluster")
        assert cluster["Engine"] == "aurora-postgresql"
        assert cluster["EngineVersion"].startswith("17.")
        assert cluster["StorageEncrypted"] is True
        assert cluster["BackupRetentionPeriod"] == days
        assert cluster["EnableCloudwatchLogsExports"] == ["postgresql"]
        parameters = deployment.only("AWS::RDS::DBClusterParameterGroup")["Parameters"]
        assert parameters["rds.force_ssl"] == "1"
        assert parameters["log_parameter_max_length"] == "0"


def test_no_instance_is_public(prod: Deployment, dev: Deployment) -> None:
    for deployment, instances in ((prod, 2), (dev, 1)):
        found = deployment.of_type("AWS::RDS::DBInstance").values()
        assert [one["Properties"]["PubliclyAccessible"] for one in found] == [False] * instances


def test_production_cannot_be_deleted_by_mistake_and_a_trial_can(prod: Deployment, dev: Deployment) -> None:
    (kept,) = prod.of_type("AWS::RDS::DBCluster").values()
    assert kept["DeletionPolicy"] == "RetainExceptOnCreate"
    assert kept["Properties"]["DeletionProtection"] is True
    (tried,) = dev.of_type("AWS::RDS::DBCluster").values()
    assert tried["DeletionPolicy"] == "Snapshot"
    assert tried["Properties"]["DeletionProtection"] is False


def test_a_trial_sleeps_when_nobody_asks_and_production_does_not(prod: Deployment, dev: Deployment) -> None:
    awake = prod.only("AWS::RDS::DBCluster")["ServerlessV2ScalingConfiguration"]
    assert awake == {"MinCapacity": 0.5, "MaxCapacity": 16}
    asleep = dev.only("AWS::RDS::DBCluster")["ServerlessV2ScalingConfiguration"]
    assert asleep == {"MinCapacity": 0, "MaxCapacity": 2, "SecondsUntilAutoPause": 600}


def test_a_copy_of_another_cluster_says_nothing_of_what_it_inherits(synthesise: Synthesiser) -> None:
    copied = synthesise(
        profile="prod",
        dashboard="none",
        name="copy",
        restore_from="tributary-prod",
        restore_to="2026-11-30T09:00:00Z",
        restart="2026-11-30",
    )
    cluster = copied.only("AWS::RDS::DBCluster")
    assert cluster["SourceDBClusterIdentifier"] == "tributary-prod"
    assert cluster["RestoreToTime"] == "2026-11-30T09:00:00Z"
    inherited = {"MasterUsername", "MasterUserAuthenticationType", "DatabaseName", "StorageEncrypted", "UseLatestRestorableTime"}
    assert not inherited & set(cluster)
    assert cluster["EnableIAMDatabaseAuthentication"] is True
    assert cluster["DBClusterIdentifier"] == "copy-prod"
    assert copied.findings == []


def test_the_proxy_takes_iam_and_tls_alone_and_logs_in_as_the_functions_users(prod: Deployment, dev: Deployment) -> None:
    assert not dev.of_type("AWS::RDS::DBProxy")
    proxy = prod.only("AWS::RDS::DBProxy")
    assert proxy["DefaultAuthScheme"] == "IAM_AUTH"
    assert proxy["RequireTLS"] is True
    assert "Auth" not in proxy
    assert prod.only("AWS::RDS::DBProxyEndpoint")["TargetRole"] == "READ_ONLY"
    role = proxy["RoleArn"]["Fn::GetAtt"][0]
    (policy,) = (one for one in prod.of_type("AWS::IAM::Policy").values() if {"Ref": role} in one["Properties"]["Roles"])
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Action"] == "rds-db:connect"
    assert {_last(arn) for arn in statement["Resource"]} == {
        f"tributary_{name}" for name in ("recall", "learn", "curate", "gardener", "authorizer", "dashboard", "mcp", "responder")
    }


def test_rules_go_from_group_to_group_and_no_address_is_let_in(prod: Deployment, dev: Deployment, everything: Deployment) -> None:
    for deployment in (prod, dev, everything):
        for one in deployment.of_type("AWS::EC2::SecurityGroupIngress").values():
            assert "SourceSecurityGroupId" in one["Properties"]
            assert not {"CidrIp", "CidrIpv6"} & set(one["Properties"])
        for one in deployment.of_type("AWS::EC2::SecurityGroup").values():
            assert not one["Properties"].get("SecurityGroupIngress")


def test_nothing_has_a_way_out_unless_it_was_asked_for(prod: Deployment, dev: Deployment, everything: Deployment) -> None:
    for deployment in (prod, dev):
        for kind in ("NatGateway", "InternetGateway", "EIP"):
            assert not deployment.of_type(f"AWS::EC2::{kind}")
        # S3 has no address to name; where no route is, such a rule leads to the gateway endpoint and nowhere else
        assert [one["Description"] for one in _open_to_the_world(deployment)] == ["S3, by its gateway endpoint alone"]
        assert not deployment.of_type("AWS::EC2::Route")
    assert len(everything.of_type("AWS::EC2::NatGateway")) == 2
    assert [(one["IpProtocol"], one["FromPort"], one["ToPort"]) for one in _open_to_the_world(everything)] == [
        ("tcp", 443, 443)
    ] * 2


def test_endpoints_are_those_that_the_code_needs(prod: Deployment, dev: Deployment, everything: Deployment) -> None:
    assert _endpoints(prod) == {"bedrock-runtime": 2, "sqs": 2, "s3": 2}
    assert _endpoints(dev) == {"bedrock-runtime": 1, "sqs": 1, "s3": 2}
    assert _endpoints(everything) == {"bedrock-runtime": 2, "sqs": 2, "s3": 2}  # secrets go out by the gateway


def _endpoints(deployment: Deployment) -> dict[str, int]:
    """Returns the zones of each endpoint by its service."""
    return {
        str(
            one["Properties"]["ServiceName"]["Fn::Join"][1][-1]
            if isinstance(one["Properties"]["ServiceName"], dict)
            else one["Properties"]["ServiceName"]
        )
        .split(".", 3)[-1]
        .lstrip("."): len(one["Properties"].get("SubnetIds") or one["Properties"]["RouteTableIds"])
        for one in deployment.of_type("AWS::EC2::VPCEndpoint").values()
    }


def _open_to_the_world(deployment: Deployment) -> list[dict[str, Any]]:
    rules = [one["Properties"] for one in deployment.of_type("AWS::EC2::SecurityGroupEgress").values()]
    for group in deployment.of_type("AWS::EC2::SecurityGroup").values():
        rules += group["Properties"].get("SecurityGroupEgress", [])
    # a group without rules has one that matches nothing
    return [rule for rule in rules if rule.get("CidrIp", rule.get("CidrIpv6")) not in {None, "255.255.255.255/32"}]


def _last(arn: dict[str, Any]) -> str:
    """Returns the database user at the end of a joined ARN."""
    return str(arn["Fn::Join"][1][-1]).rsplit("/", 1)[-1]
