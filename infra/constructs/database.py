"""Aurora PostgreSQL Serverless v2, reached by IAM alone: no password of it exists."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_rds as rds
from constructs import Construct

from infra.acknowledged import acknowledge
from infra.config import Config
from infra.constructs.network import Network
from infra.log_groups import log_group
from infra.resources import login_arn, resource_of
from infra.table import MASTER

NAME = "tributary"
"""Of the database in the cluster."""
_ENGINE = rds.DatabaseClusterEngine.aurora_postgres(version=rds.AuroraPostgresEngineVersion.VER_17_7)


class Database(Construct):
    """A writer, `readers` that scale with it, encrypted, backed up, and kept when its stack goes (prod)."""

    def __init__(self, scope: Construct, id_: str, config: Config, network: Network) -> None:
        super().__init__(scope, id_)
        keep = config.deletion_protection
        # made here, before RDS would make it without an end
        log = log_group(self, "Log", config, name=f"/aws/rds/cluster/{config.prefix}/postgresql")
        self.cluster = rds.DatabaseCluster(
            self,
            "Cluster",
            engine=_ENGINE,
            default_database_name=NAME,
            credentials=rds.Credentials.from_username(MASTER),
            manage_master_user_password=True,  # so that no secret is made here; taken out again below
            iam_authentication=True,
            writer=rds.ClusterInstance.serverless_v2("Writer", enable_performance_insights=True, publicly_accessible=False),
            readers=[
                rds.ClusterInstance.serverless_v2(
                    f"Reader{number}", scale_with_writer=True, enable_performance_insights=True, publicly_accessible=False
                )
                for number in range(1, config.readers + 1)
            ],
            serverless_v2_min_capacity=config.min_acu,
            serverless_v2_max_capacity=config.max_acu,
            serverless_v2_auto_pause_duration=Duration.minutes(10) if config.min_acu == 0 else None,
            vpc=network.vpc,
            vpc_subnets=network.storage,
            security_groups=[network.database],
            storage_encrypted=True,
            backup=rds.BackupProps(retention=Duration.days(config.backup_days)),
            copy_tags_to_snapshot=True,
            deletion_protection=keep,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE if keep else RemovalPolicy.SNAPSHOT,
            cloudwatch_logs_exports=["postgresql"],
            cluster_identifier=config.prefix,
            parameter_group=rds.ParameterGroup(
                self,
                "Parameters",
                engine=_ENGINE,
                description="Tributary: TLS for everybody, slow statements logged without their values",
                parameters={
                    "rds.force_ssl": "1",
                    "log_min_duration_statement": "1000",
                    # values of statements are lesson texts, which no log may hold
                    "log_parameter_max_length": "0",
                    "log_parameter_max_length_on_error": "0",
                },
            ),
        )
        self.cluster.node.add_dependency(log)
        self._log_in_by_iam()
        self._copy_of(config)
        reasons = {"RDS11": "5432 is what tools expect; nothing outside of the pairs of security groups reaches it at any port"}
        if not keep:
            reasons["RDS10"] = "A cluster for trying things out, which 'make destroy' must be able to remove; a snapshot stays"
        acknowledge(self, reasons)

    def _log_in_by_iam(self) -> None:
        resource = resource_of(self.cluster, rds.CfnDBCluster)
        resource.manage_master_user_password = None
        resource.master_user_authentication_type = "iam-db-auth"

    def _copy_of(self, config: Config) -> None:
        """Has the cluster begin as a copy; master, name and encryption are then those of what is copied, and may not be given."""
        if not (config.restore_from or config.restore_snapshot):
            return
        resource = resource_of(self.cluster, rds.CfnDBCluster)
        resource.source_db_cluster_identifier = config.restore_from
        resource.restore_to_time = config.restore_to
        resource.use_latest_restorable_time = True if config.restore_from and not config.restore_to else None
        resource.snapshot_identifier = config.restore_snapshot
        resource.master_username = None
        resource.master_user_authentication_type = None
        resource.database_name = None
        if config.restore_from:
            resource.storage_encrypted = None
            acknowledge(self, {"RDS2": "A copy is encrypted as what it is a copy of, and may not say so"})

    def login_arn(self, user: str) -> str:
        """Returns the resource of `rds-db:connect` by which a user logs in to the cluster itself."""
        return login_arn(self, self.cluster.cluster_resource_identifier, user)
