"""What functions stand on: the network, the database, and each one's own way to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from infra.config import Config
from infra.constructs.database import NAME, Database
from infra.constructs.network import Network
from infra.constructs.proxy import Proxy
from infra.table import FunctionSpec

CERTIFICATES = "/opt/certs/rds.pem"
"""Where the layer has them."""


_RESUME_S = 25
"""For connecting to a cluster that may be paused: it takes 15 seconds or more to answer."""
_AWAKE_S = 5


@dataclass(frozen=True, kw_only=True)
class Door:
    """One login: what the code is told of it, and what its role must be allowed."""

    environment: Mapping[str, str]
    login_arn: str


@dataclass(frozen=True, kw_only=True)
class Ground:
    """`proxy` is None where functions connect to the cluster itself."""

    config: Config
    network: Network
    database: Database
    proxy: Proxy | None

    def environment(self, spec: FunctionSpec, *, connections: int, certificates: str = CERTIFICATES) -> dict[str, str]:
        """Returns what code of ours is told wherever it runs: its models, its way to the database, where more settings are.

        And how often the gardener is due, so that whoever is asked how all stands knows when it is overdue.
        """
        given = {
            "TRIBUTARY_CONNECTIONS": str(connections),
            "TRIBUTARY_GARDEN_EVERY_S": str(60 * self.config.garden_minutes),
            **self.config.models,
            **self.door(spec, certificates=certificates).environment,
        }
        if self.config.secret_arn:
            given["TRIBUTARY_SECRET_ARN"] = self.config.secret_arn
        if self.config.restart:
            given["RESTART"] = self.config.restart
        return given

    def door(self, spec: FunctionSpec, *, certificates: str = CERTIFICATES) -> Door:
        """Returns how a function gets to the database: as a user of its own, by IAM."""
        user = spec.database_user
        writer = self.database.cluster.cluster_endpoint.hostname

        def url(host: str) -> str:
            patience = min(spec.patience_s, _RESUME_S if self.config.min_acu == 0 else _AWAKE_S)
            given = f"sslmode=verify-full&sslrootcert={certificates}&connect_timeout={patience}"
            return f"postgresql://{user}@{host}:5432/{NAME}?{given}"

        given = {"TRIBUTARY_DATABASE_AUTH": "iam"}
        if spec.door == "writer":
            given["TRIBUTARY_OWNER_URL"] = url(writer)
            return Door(environment=given, login_arn=self.database.login_arn(user))
        if self.proxy is None:
            given["TRIBUTARY_DATABASE_URL"] = url(writer)
            return Door(environment=given, login_arn=self.database.login_arn(user))
        given["TRIBUTARY_DATABASE_URL"] = url(self.proxy.proxy.endpoint)
        if spec.reads_replica and self.proxy.reader_endpoint:
            given["TRIBUTARY_READER_URL"] = url(self.proxy.reader_endpoint)
        return Door(environment=given, login_arn=self.proxy.login_arn(user))
