"""RDS Proxy: IAM from the function to the proxy and from the proxy to the database, TLS on both ways."""

from __future__ import annotations

from aws_cdk import Duration, Fn
from aws_cdk import aws_iam as iam
from aws_cdk import aws_rds as rds
from constructs import Construct

from infra.config import Config
from infra.constructs.database import Database
from infra.constructs.network import Network
from infra.resources import login_arn
from infra.table import FUNCTIONS


class Proxy(Construct):
    """A pool of sessions that functions share, and a second endpoint that leads to the readers."""

    def __init__(self, scope: Construct, id_: str, config: Config, network: Network, database: Database) -> None:
        super().__init__(scope, id_)
        users = sorted({spec.database_user for spec in FUNCTIONS if spec.door == "proxy"})
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("rds.amazonaws.com"))
        role.add_to_policy(
            iam.PolicyStatement(actions=["rds-db:connect"], resources=[database.login_arn(user) for user in users])
        )
        self.proxy = rds.DatabaseProxy(
            self,
            "Proxy",
            proxy_target=rds.ProxyTarget.from_cluster(database.cluster),
            db_proxy_name=config.prefix,
            default_auth_scheme=rds.DefaultAuthScheme.IAM_AUTH,
            role=role,
            vpc=network.vpc,
            vpc_subnets=network.storage,
            security_groups=[network.proxy],
            require_tls=True,
            borrow_timeout=Duration.seconds(5),
            idle_client_timeout=Duration.minutes(30),
            max_connections_percent=90,
            max_idle_connections_percent=50,
        )
        self.reader_endpoint: str | None = None
        if config.readers:
            reader = self.proxy.add_endpoint(
                "Reader",
                vpc=network.vpc,
                vpc_subnets=network.storage,
                security_groups=[network.proxy],
                target_role=rds.ProxyEndpointTargetRole.READ_ONLY,
            )
            self.reader_endpoint = reader.endpoint

    def login_arn(self, user: str) -> str:
        """Returns the resource of `rds-db:connect` by which a user logs in to the proxy."""
        return login_arn(self, Fn.select(6, Fn.split(":", self.proxy.db_proxy_arn)), user)
