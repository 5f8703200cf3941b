"""The HTTP API: routes by the description, callers by tokens or IAM, throttled, and logged without what they send."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as api
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_certificatemanager as certificates
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_route53_targets as aliases
from constructs import Construct

from infra.acknowledged import acknowledge
from infra.config import Config
from infra.constructs.functions import Functions
from infra.constructs.stage import logged_stage
from infra.routes import api_routes

CACHED_S = 60
"""For so long API Gateway keeps what the authorizer said of a token: a revoked one works no longer than that."""

_ALL_BUT_OPTIONS = (
    api.HttpMethod.GET,
    api.HttpMethod.HEAD,
    api.HttpMethod.POST,
    api.HttpMethod.PUT,
    api.HttpMethod.PATCH,
    api.HttpMethod.DELETE,
)


class Api(Construct):
    """`url` is where it answers."""

    def __init__(self, scope: Construct, id_: str, config: Config, functions: Functions) -> None:
        super().__init__(scope, id_)
        self.http = api.HttpApi(
            self,
            "Http",
            api_name=config.prefix,
            description="Tributary: shared memory for AI agents",
            create_default_stage=False,
            cors_preflight=_cors(config),
        )
        self.stage = logged_stage(self, config, self.http, per_second=config.requests_per_second)
        self._routes(config, functions)
        self.url = self.http.api_endpoint
        self.domain_target: str | None = None
        """What a DNS record of the domain's name must point to, where no hosted zone was given."""
        if config.domain_name:
            self._domain(config, config.domain_name)

    def _routes(self, config: Config, functions: Functions) -> None:
        known = self._authorizer(config, functions)
        served = [route for route in api_routes() if route.function in functions.live]
        doors = {
            name: integrations.HttpLambdaIntegration(name.capitalize(), functions.live[name], scope_permission_to_route=False)
            for name in sorted({route.function for route in served})
        }
        for route in served:
            made = self.http.add_routes(
                path=route.path,
                methods=[api.HttpMethod[route.method]],
                integration=doors[route.function],
                authorizer=api.HttpNoneAuthorizer() if route.is_open else known,
            )
            if route.is_open:
                acknowledge(made[0], {"APIG4": "Open by design: health and the API's description hold nothing of any tribe"})
        # so that a wrong path or method is answered in our words too; OPTIONS is left to API Gateway, which answers preflights
        for one in self.http.add_routes(
            path="/{rest+}", methods=list(_ALL_BUT_OPTIONS), integration=doors["recall"], authorizer=api.HttpNoneAuthorizer()
        ):
            acknowledge(one, {"APIG4": "It leads nowhere: whoever asks for what is no route is told so"})

    def _authorizer(self, config: Config, functions: Functions) -> api.IHttpRouteAuthorizer:
        if config.authorization == "iam":
            return authorizers.HttpIamAuthorizer()
        return authorizers.HttpLambdaAuthorizer(
            "Tokens",
            functions.live["authorizer"],
            response_types=[authorizers.HttpLambdaResponseType.SIMPLE],
            identity_source=["$request.header.Authorization"],
            results_cache_ttl=Duration.seconds(CACHED_S),
        )

    def _domain(self, config: Config, name: str) -> None:
        certificate = certificates.Certificate.from_certificate_arn(self, "Certificate", str(config.certificate_arn))
        domain = api.DomainName(
            self,
            "Domain",
            domain_name=name,
            certificate=certificate,
            security_policy=api.SecurityPolicy.TLS_1_2,
        )
        api.ApiMapping(self, "Mapping", api=self.http, domain_name=domain, stage=self.stage)
        self.url = f"https://{name}"
        self.domain_target = domain.regional_domain_name
        if config.hosted_zone_id and config.hosted_zone_name:
            zone = route53.HostedZone.from_hosted_zone_attributes(
                self, "Zone", hosted_zone_id=config.hosted_zone_id, zone_name=config.hosted_zone_name
            )
            target = aliases.ApiGatewayv2DomainProperties(domain.regional_domain_name, domain.regional_hosted_zone_id)
            route53.ARecord(self, "Alias", zone=zone, record_name=name, target=route53.RecordTarget.from_alias(target))


def _cors(config: Config) -> api.CorsPreflightOptions | None:
    if not config.cors_origins:
        return None
    return api.CorsPreflightOptions(
        allow_origins=list(config.cors_origins),
        allow_methods=[api.CorsHttpMethod.GET, api.CorsHttpMethod.POST, api.CorsHttpMethod.PUT],
        allow_headers=["authorization", "content-type", "idempotency-key"],
        expose_headers=["x-operation-id", "retry-after"],
        max_age=Duration.minutes(10),
    )
