"""Where the dashboard runs: App Runner, a Lambda function for accounts without it, or nowhere."""

from __future__ import annotations

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
from infra.constructs.ground import Ground
from infra.constructs.stage import logged_stage
from infra.table import BY_NAME

_PORT = "8080"
_IN_THE_IMAGE = "/app/certs/rds.pem"


def dashboard_service(
    scope: Construct, config: Config, *, ground: Ground, functions: Functions
) -> AppRunnerDashboard | LambdaDashboard | None:
    """Makes what the option asks for."""
    if config.dashboard == "apprunner":
        return AppRunnerDashboard(scope, "Dashboard", config, ground)
    if config.dashboard == "lambda":
        return LambdaDashboard(scope, "Dashboard", config, functions)
    return None


class AppRunnerDashboard(Construct):
    """The container, with a way into the VPC. Accounts that did not use App Runner before 2026-04-30 cannot have it."""

    def __init__(self, scope: Construct, id_: str, config: Config, ground: Ground) -> None:
        super().__init__(scope, id_)
        image = images.DockerImageAsset(
            self,
            "Image",
            directory=str(ROOT),
            file="functions/dashboard/Dockerfile",
            platform=images.Platform.LINUX_AMD64,  # App Runner has no other
        )
        puller = iam.Role(self, "Puller", assumed_by=iam.ServicePrincipal("build.apprunner.amazonaws.com"))
        image.repository.grant_pull(puller)
        acknowledge(
            puller, {"IAM5[Resource::*]": "The token to pull images has no resource; the pull itself is of one repository"}
        )
        spec = BY_NAME["dashboard"]
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("tasks.apprunner.amazonaws.com"))
        role.add_to_policy(iam.PolicyStatement(actions=["rds-db:connect"], resources=[ground.door(spec).login_arn]))
        if config.secret_arn:
            role.add_to_policy(iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=[config.secret_arn]))
        connector = apprunner.CfnVpcConnector(
            self,
            "Connector",
            subnets=ground.network.vpc.select_subnets(subnet_type=ground.network.compute.subnet_type).subnet_ids,
            security_groups=[ground.network.functions.security_group_id],
        )
        scaling = apprunner.CfnAutoScalingConfiguration(self, "Scaling", min_size=1, max_size=2, max_concurrency=50)
        given = ground.environment(spec, connections=4, certificates=_IN_THE_IMAGE) | {"AWS_REGION": Stack.of(self).region}
        self.container = service = apprunner.CfnService(
            self,
            "Service",
            service_name=f"{config.prefix}-dashboard",
            auto_scaling_configuration_arn=scaling.attr_auto_scaling_configuration_arn,
            source_configuration=apprunner.CfnService.SourceConfigurationProperty(
                authentication_configuration=apprunner.CfnService.AuthenticationConfigurationProperty(
                    access_role_arn=puller.role_arn
                ),
                image_repository=apprunner.CfnService.ImageRepositoryProperty(
                    image_identifier=image.image_uri,
                    image_repository_type="ECR",
                    image_configuration=apprunner.CfnService.ImageConfigurationProperty(
                        port=_PORT,
                        runtime_environment_variables=[
                            apprunner.CfnService.KeyValuePairProperty(name=name, value=value)
                            for name, value in sorted(given.items())
                        ],
                    ),
                ),
            ),
            instance_configuration=apprunner.CfnService.InstanceConfigurationProperty(
                cpu="0.25 vCPU", memory="0.5 GB", instance_role_arn=role.role_arn
            ),
            health_check_configuration=_health_check(config),
            network_configuration=apprunner.CfnService.NetworkConfigurationProperty(
                egress_configuration=apprunner.CfnService.EgressConfigurationProperty(
                    egress_type="VPC", vpc_connector_arn=connector.attr_vpc_connector_arn
                )
            ),
        )
        service.node.add_dependency(puller)
        self.url = f"https://{service.attr_service_url}"


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
        logged_stage(self, config, http)
        door = integrations.HttpLambdaIntegration("Pages", functions.live["dashboard"], scope_permission_to_route=False)
        for route in http.add_routes(path="/{page+}", methods=[api.HttpMethod.ANY], integration=door) + http.add_routes(
            path="/", methods=[api.HttpMethod.ANY], integration=door
        ):
            acknowledge(route, {"APIG4": "The pages sign people in by themselves; what is open shows nothing of any tribe"})
        self.url = http.api_endpoint
