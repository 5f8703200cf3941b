"""The functions of the table, each with a role, a log group, a version that is live, and nothing that it does not need."""

from __future__ import annotations

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Stack, Token, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra import responder
from infra.acknowledged import acknowledge
from infra.config import ROOT, BadOption, Config
from infra.constructs.layers import ARCHITECTURE, RUNTIME, Layers
from infra.constructs.provision import Provision, allow
from infra.constructs.queues import dead_letters
from infra.log_groups import log_group
from infra.table import BY_NAME, FunctionSpec


class Functions(Construct):
    """`live` holds the alias that is to be invoked of each."""

    def __init__(self, scope: Construct, id_: str, config: Config, *, provision: Provision, layers: Layers) -> None:
        super().__init__(scope, id_)
        for name in config.reserved_concurrency:
            if name not in BY_NAME:
                raise BadOption(f"-c reserved_concurrency: there is no function '{name}'")
        self._config = config
        self._provision = provision
        self._layers = layers
        self.dead: dict[str, sqs.Queue] = {}
        self.functions = {spec.name: self._function(spec) for spec in config.functions}
        self.live = {name: function.add_alias("live") for name, function in self.functions.items()}
        at_once = min(5, config.reserved_concurrency.get("settler", 5))
        if at_once < 2:
            raise BadOption("-c reserved_concurrency: the settler needs at least 2, the least that SQS invokes it with")
        self.live["settler"].add_event_source(
            sources.SqsEventSource(
                provision.pending.queue, batch_size=10, max_concurrency=at_once, report_batch_item_failures=True
            )
        )

    def function_name(self, spec: FunctionSpec) -> str:
        return f"{self._config.prefix}-{spec.name}"

    def _function(self, spec: FunctionSpec) -> lambda_.Function:
        config = self._config
        room = Construct(self, spec.name.capitalize())
        if spec.asynchronous:
            self.dead[spec.name] = dead_letters(room, "Dead")
        log = log_group(room, "Log", config, name=f"/aws/lambda/{self.function_name(spec)}")
        snapshot = config.snap_start and spec.snap_start
        function = lambda_.Function(
            room,
            "Function",
            function_name=self.function_name(spec),
            description=f"Tributary: {spec.purpose}",
            code=lambda_.Code.from_asset(str(ROOT / "functions" / spec.folder), exclude=["**/__pycache__"]),
            handler="handler.handler",
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            layers=[*self._layers.all, *([self._layers.beside[spec.layer]] if spec.layer else [])],
            memory_size=spec.memory_mb,
            timeout=Duration.seconds(spec.timeout_s),
            environment=self._provision.environment(spec, connections=2),
            role=self._role(room, spec, log),
            log_group=log,
            tracing=lambda_.Tracing.ACTIVE,
            vpc=self._provision.ground.network.vpc,
            vpc_subnets=self._provision.ground.network.compute,
            security_groups=[self._group(spec)],
            dead_letter_queue=self.dead.get(spec.name),
            reserved_concurrent_executions=config.reserved_concurrency.get(spec.name),
            current_version_options=lambda_.VersionOptions(removal_policy=RemovalPolicy.RETAIN),  # to go back to in an emergency
            snap_start=lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS if snapshot else None,
        )
        acknowledge(
            room,
            {
                "IAM5[Resource::*]": "What Lambda does to put it into the VPC, and sending traces, have no resource to name",
                "L1": "Python 3.13 is what the layer is built for and tested on",
            },
        )
        if snapshot:
            rule = "Annotation::@aws-cdk/aws-lambda:snapStartRequirePublish"
            Validations.of(function).acknowledge(
                Acknowledgment(id=rule, reason="The alias that serves is of a published version")
            )
        return function

    def _group(self, spec: FunctionSpec) -> ec2.SecurityGroup:
        network = self._provision.ground.network
        return network.owners if spec.door == "writer" else network.functions

    def _role(self, room: Construct, spec: FunctionSpec, log: logs.LogGroup) -> iam.Role:
        stack = Stack.of(self)
        role = iam.Role(room, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        function = f"arn:{stack.partition}:lambda:{stack.region}:{stack.account}:function:{self.function_name(spec)}"
        allow(role, ["logs:CreateLogStream", "logs:PutLogEvents"], [log.log_group_arn])
        allow(role, list(_INTERFACES), ["*"])
        # Lambda itself needs those; the code that runs in the function does not
        role.add_to_policy(
            iam.PolicyStatement(
                effect=iam.Effect.DENY,
                actions=list(_INTERFACES),
                resources=["*"],
                conditions={"ArnEquals": {"lambda:SourceFunctionArn": function}},
            )
        )
        self._provision.allow(role, spec)
        if spec.when_responder and responder.uses_rds(self._config.models):
            self._allow_rds(stack, role)
        return role

    def _allow_rds(self, stack: Stack, role: iam.Role) -> None:
        """Lets the incident agent look, which has no resource to name, and change what is allowed, but nothing of its own."""
        allow(role, list(responder.LOOKS), ["*"])
        role.add_to_policy(
            iam.PolicyStatement(
                effect=iam.Effect.DENY,
                actions=list(responder.CHANGES),
                resources=["*"],
                conditions={"StringEquals": {"aws:ResourceTag/application": self._config.prefix}},
            )
        )
        own = {"partition": stack.partition, "region": stack.region, "account": stack.account}
        for right in responder.changes(self._config.models, **own):
            allow(role, [right.action], [right.resource])
            if "*" in right.resource:
                reported = right.resource
                for name, said in (("partition", "Partition"), ("region", "Region"), ("account", "AccountId")):
                    if Token.is_unresolved(own[name]):
                        reported = reported.replace(own[name], f"<AWS::{said}>")
                acknowledge(role, {f"IAM5[Resource::{reported}]": "The targets that the operator named by a pattern"})


_INTERFACES = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)
"""What Lambda needs to put a function into a VPC."""
