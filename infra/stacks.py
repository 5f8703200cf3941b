"""The two stacks: what must outlive every deployment, and what each deployment replaces. They only compose."""

from __future__ import annotations

from aws_cdk import CfnOutput, Environment, Stack
from constructs import Construct

from infra.alarms import Watched
from infra.config import Config
from infra.constructs.api import Api
from infra.constructs.dashboard_service import AppRunnerDashboard, dashboard_service
from infra.constructs.database import Database
from infra.constructs.evidence import EvidenceBucket
from infra.constructs.functions import Functions
from infra.constructs.ground import Ground
from infra.constructs.layers import Layers
from infra.constructs.migration import Migration
from infra.constructs.network import Network
from infra.constructs.observability import Observability
from infra.constructs.provision import Provision
from infra.constructs.proxy import Proxy
from infra.constructs.queues import PendingQueue
from infra.constructs.schedules import Schedules


class DataStack(Stack):
    """The network and the database."""

    def __init__(self, scope: Construct, config: Config) -> None:
        super().__init__(
            scope,
            f"{config.stack_prefix}Data",
            env=_environment(config),
            description="Tributary: network and database",
            termination_protection=config.deletion_protection,
        )
        network = Network(self, "Network", config)
        database = Database(self, "Database", config, network)
        proxy = Proxy(self, "Proxy", config, network, database) if config.proxy else None
        self.ground = Ground(config=config, network=network, database=database, proxy=proxy)


class AppStack(Stack):
    """Everything that runs code."""

    def __init__(self, scope: Construct, config: Config, ground: Ground) -> None:
        super().__init__(
            scope,
            f"{config.stack_prefix}App",
            env=_environment(config),
            description="Tributary: functions, API, schedules, alarms",
        )
        pending = PendingQueue(self, "Pending")
        layers, evidence = Layers(self, "Layers", config), EvidenceBucket(self, "Evidence")
        provision = Provision(ground=ground, pending=pending, evidence=evidence)
        functions = Functions(self, "Functions", config, provision=provision, layers=layers)
        api = Api(self, "Api", config, functions)
        schedules = Schedules(self, "Schedules", config, functions)
        pages = dashboard_service(self, config, provision=provision, functions=functions)
        container = pages.container if isinstance(pages, AppRunnerDashboard) else None
        Migration(self, "Migration", functions, besides=[container] if container else [])
        watched = Watched(ground=ground, functions=functions, api=api, pending=pending, schedules=schedules)
        board = Observability(self, "Observability", config, watched)
        operator = functions.functions["operator"].function_name
        for name, value, description in (
            ("Url", api.url, "TRIBUTARY_URL of every agent"),
            ("Operator", operator, "TRIBUTARY_OPERATOR_FUNCTION of operators"),
            ("Board", board.url, "The CloudWatch dashboard"),
            ("Dashboard", pages.url if pages else None, "Where people sign in and look"),
            ("DomainTarget", api.domain_target, "What the DNS record of the domain's name points to"),
        ):
            if value is not None:
                CfnOutput(self, f"{name}Output", value=value, description=description).override_logical_id(name)


def _environment(config: Config) -> Environment | None:
    if config.account is None and config.region is None:
        return None
    return Environment(account=config.account, region=config.region)
