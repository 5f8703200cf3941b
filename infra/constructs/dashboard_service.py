"""Where the dashboard runs: App Runner, a Lambda function for accounts without it, or nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk import Stack
from aws_cdk import aws_apigatewayv2 as api
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_apprunner as apprunner
from aws_cdk import aws_ecr_assets as images
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.acknowledged import acknowledge
from infra.config import ROOT, Config
from infra.constructs.functions import Functions
from infra.constructs.provision import Provision
from infra.constructs.stage import logged_stage
from infra.table import BY_NAME

_PORT = "8080"
_IN_THE_IMAGE = "/app/certs/rds.pem"
EXTRAS = "server,aws,traces,openai,jev,dashboard"
"""What the Dockerfile installs unless told otherwise: all that the settings may choose, but for the local embedder."""
_CONNECTIONS = 8
"""A page asks a handful of short questions one after the other, and fifty viewers rarely ask at once."""
_BEFORE_THE_CONTAINER = "169.254.0.0/16"
"""Where App Runner's own proxy speaks to the container from: who the viewer is, is believed of nobody else."""


@dataclass(frozen=True, kw_only=True)
class _Size:
    """Of an instance, in App Runner's units, which it has in certain pairs only."""

    cpu: str
    memory_gb: str


_ASKS_OTHERS = _Size(cpu="0.5", memory_gb="1")
_EMBEDS_ITSELF = _Size(cpu="1", memory_gb="2")


def dashboard_service(
    scope: Construct, config: Config, *, provision: Provision, functions: Functions
) -> AppRunnerDashboard | LambdaDashboard | None:
    """Makes what the option asks for."""
    if config.dashboard == "apprunner":
        return AppRunnerDashboard(scope, "Dashboard", config, provision)
    if config.dashboard == "lambda":
        return LambdaDashboard(scope, "Dashboard", config, functions)
    return None


class AppRunnerDashboard(Construct):
    """The container, with a way into the VPC. Accounts that did not use App Runner before 2026-04-30 cannot have it."""

    def __init__(self, scope: Construct, id_: str, config: Config, provision: Provision) -> None:
        super().__init__(scope, id_)
        spec, network = BY_NAME["dashboard"], provision.ground.network
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("tasks.apprunner.amazonaws.com"))
        provision.allow(role, spec)
        size = _EMBEDS_ITSELF if config.needs.local_layer else _ASKS_OTHERS
        connector = apprunner.CfnVpcConnector(
            self,
            "Connector",
            subnets=network.vpc.select_subnets(subnet_type=network.compute.subnet_type).subnet_ids,
            security_groups=[network.functions.security_group_id],
        )
        scaling = apprunner.CfnAutoScalingConfiguration(self, "Scaling", min_size=1, max_size=2, max_concurrency=50)
        given = provision.environment(spec, connections=_CONNECTIONS, certificates=_IN_THE_IMAGE)
        given |= {"AWS_REGION": Stack.of(self).region, "FORWARDED_ALLOW_IPS": _BEFORE_THE_CONTAINER}
        source = self._image(config, given)
        self.container = service = apprunner.CfnService(
            self,
            "Service",
            service_name=f"{config.prefix}-dashboard",
            auto_scaling_configuration_arn=scaling.attr_auto_scaling_configuration_arn,
            source_configuration=source,
            instance_configuration=apprunner.CfnService.InstanceConfigurationProperty(
                cpu=f"{size.cpu} vCPU", memory=f"{size.memory_gb} GB", instance_role_arn=role.role_arn
            ),
            health_check_configuration=_health_check(config),
            network_configuration=apprunner.CfnService.NetworkConfigurationProperty(
                egress_configuration=apprunner.CfnService.EgressConfigurationProperty(
                    egress_type="VPC", vpc_connector_arn=connector.attr_vpc_connector_arn
                )
            ),
        )
        service.node.add_dependency(self.node.find_child("Puller"))
        self.url = f"https://{service.attr_service_url}"

    def _image(self, config: Config, given: Mapping[str, str]) -> apprunner.CfnService.SourceConfigurationProperty:
        """Has the image made, and returns how App Runner comes by it and what it is told."""
        image = images.DockerImageAsset(
            self,
            "Image",
            directory=str(ROOT),
            file="functions/dashboard/Dockerfile",
            platform=images.Platform.LINUX_AMD64,  # App Runner has no other
            build_args={"EXTRAS": f"{EXTRAS},minilm"} if config.needs.local_layer else None,
        )
        puller = iam.Role(self, "Puller", assumed_by=iam.ServicePrincipal("build.apprunner.amazonaws.com"))
        image.repository.grant_pull(puller)
        acknowledge(
            puller, {"IAM5[Resource::*]": "The token to pull images has no resource; the pull itself is of one repository"}
        )
        told = [apprunner.CfnService.KeyValuePairProperty(name=name, value=value) for name, value in sorted(given.items())]
        return apprunner.CfnService.SourceConfigurationProperty(
            authentication_configuration=apprunner.CfnService.AuthenticationConfigurationProperty(
                access_role_arn=puller.role_arn
            ),
            image_repository=apprunner.CfnService.ImageRepositoryProperty(
                image_identifier=image.image_uri,
                image_repository_type="ECR",
                image_configuration=apprunner.CfnService.ImageConfigurationProperty(
                    port=_PORT, runtime_environment_variables=told
                ),
            ),
        )


def _health_check(config: Config) -> apprunner.CfnService.HealthCheckConfigurationProperty:
    asks = config.min_acu > 0  # /health asks the database, which would never pause for it
    return apprunner.CfnService.HealthCheckConfigurationProperty(
        protocol="HTTP" if asks else "TCP",
        path="/health" if asks else None,
        timeout=10,
        interval=20,
        healthy_threshold=1,
        unhealthy_threshold=6,
    )


_PAGES_PER_SECOND = 50
"""For people, with all that a page is made of. What strangers ask for beyond it starts no function."""


class LambdaDashboard(Construct):
    """The same app, from a function behind an address of its own."""

    def __init__(self, scope: Construct, id_: str, config: Config, functions: Functions) -> None:
        super().__init__(scope, id_)
        http = api.HttpApi(
            self,
            "Http",
            api_name=f"{config.prefix}-dashboard",
            description="Tributary: the dashboard",
            create_default_stage=False,
        )
        logged_stage(self, config, http, per_second=min(_PAGES_PER_SECOND, config.requests_per_second))
        door = integrations.HttpLambdaIntegration("Pages", functions.live["dashboard"], scope_permission_to_route=False)
        for route in http.add_routes(path="/{page+}", methods=[api.HttpMethod.ANY], integration=door) + http.add_routes(
            path="/", methods=[api.HttpMethod.ANY], integration=door
        ):
            acknowledge(
                route, {"APIG4": "The pages sign people in by themselves; to others they show what was made public alone"}
            )
        self.url = http.api_endpoint
