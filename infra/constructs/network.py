"""The network: isolated subnets, one security group a party, and rules by pair."""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.config import Config
from infra.log_groups import log_group

POSTGRES = ec2.Port.tcp(5432)
HTTPS = ec2.Port.tcp(443)


class Network(Construct):
    """Two zones. Nothing in it can be reached from outside; without `egress=nat` nothing reaches out but to endpoints."""

    def __init__(self, scope: Construct, id_: str, config: Config) -> None:
        super().__init__(scope, id_)
        nat = config.egress == "nat"
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_addresses=ec2.IpAddresses.cidr(config.cidr),
            max_azs=2,
            nat_gateways=(2 if config.profile == "prod" else 1) if nat else 0,
            restrict_default_security_group=False,
            subnet_configuration=_subnets(nat=nat),
            flow_logs={
                "all": ec2.FlowLogOptions(
                    destination=ec2.FlowLogDestination.to_cloud_watch_logs(log_group(self, "FlowLog", config))
                )
            },
        )
        kind = ec2.SubnetType.PRIVATE_WITH_EGRESS if nat else ec2.SubnetType.PRIVATE_ISOLATED
        self.compute = ec2.SubnetSelection(subnet_type=kind)
        """Where functions run."""
        self.storage = ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
        """Where the database and its proxy are: without a way out in any case."""
        self.functions = self._group("Functions", "functions that serve requests")
        self.owners = self._group("Owners", "functions that act as the owner of the schema: migrate, operator")
        self.proxy = self._group("Proxy", "RDS Proxy")
        self.database = self._group("Database", "Aurora")
        self.endpoints = self._group("Endpoints", "interface endpoints of AWS services")
        self._rules(config)
        self._endpoints(config)

    def _group(self, id_: str, of: str) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(self, id_, vpc=self.vpc, description=f"Tributary: {of}", allow_all_outbound=False)

    def _rules(self, config: Config) -> None:
        if config.proxy:
            _allow(self.functions, self.proxy, POSTGRES)
            _allow(self.proxy, self.database, POSTGRES)
        else:
            _allow(self.functions, self.database, POSTGRES)
        _allow(self.owners, self.database, POSTGRES)
        for caller in (self.functions, self.owners):
            _allow(caller, self.endpoints, HTTPS)
            if config.egress == "nat":
                caller.add_egress_rule(ec2.Peer.any_ipv4(), HTTPS, "models and tools outside of AWS's endpoints")
        if config.egress == "none":
            # S3 is known by a list of addresses whose id differs from region to region; no route leads anywhere else
            self.functions.add_egress_rule(ec2.Peer.any_ipv4(), HTTPS, "S3, by its gateway endpoint alone")

    def _endpoints(self, config: Config) -> None:
        services = {"Sqs": ec2.InterfaceVpcEndpointAwsService.SQS}
        if config.needs.bedrock:
            services["BedrockRuntime"] = ec2.InterfaceVpcEndpointAwsService.BEDROCK_RUNTIME
        if config.secret_arn and config.egress == "none":
            services["SecretsManager"] = ec2.InterfaceVpcEndpointAwsService.SECRETS_MANAGER
        self._endpoint_of_files()
        zones = None if config.profile == "prod" else self.vpc.availability_zones[:1]  # each zone is billed by the hour
        for name, service in services.items():
            self.vpc.add_interface_endpoint(
                name,
                service=service,
                open=False,
                security_groups=[self.endpoints],
                subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, availability_zones=zones),
            )

    def _endpoint_of_files(self) -> None:
        """Leads to S3, free of charge, and to buckets of this account alone."""
        endpoint = self.vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3, subnets=[self.compute])
        endpoint.add_to_policy(
            iam.PolicyStatement(
                principals=[iam.AnyPrincipal()],
                actions=["s3:GetObject", "s3:DeleteObject"],
                resources=["*"],
                conditions={"StringEquals": {"aws:ResourceAccount": Stack.of(self).account}},
            )
        )


def _subnets(*, nat: bool) -> list[ec2.SubnetConfiguration]:
    isolated = ec2.SubnetConfiguration(name="isolated", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=22)
    if not nat:
        return [isolated]
    return [
        isolated,
        ec2.SubnetConfiguration(name="egress", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS, cidr_mask=22),
        ec2.SubnetConfiguration(name="public", subnet_type=ec2.SubnetType.PUBLIC, cidr_mask=26, map_public_ip_on_launch=False),
    ]


def _allow(caller: ec2.SecurityGroup, called: ec2.SecurityGroup, port: ec2.Port) -> None:
    caller.add_egress_rule(called, port)
    called.add_ingress_rule(caller, port)
