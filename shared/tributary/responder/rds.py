"""Tools for Amazon RDS: verbs that look and verbs that change something, with arguments that a schema checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from tributary.core.errors import BadSetting, Unavailable
from tributary.core.responding import IDENTIFIER_PATTERN, Change
from tributary.responder.acting import NotHappened, Unsure

CONNECT_S = 3.0
READ_S = 7.0
EFFECT_S = CONNECT_S + READ_S
"""Nothing is begun that could outlast its turn."""
_RECORDS = 20

# boto3 takes identifiers in any case; RDS does not tell them apart, and neither may the key of an action
Identifier = Annotated[str, StringConstraints(pattern=rf"^{IDENTIFIER_PATTERN}$", to_lower=True)]


class Arguments(BaseModel):
    """Named and typed as boto3 has them; what is no argument is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def parameters(self) -> dict[str, object]:
        """Returns what boto3 is given."""
        return self.model_dump(exclude_none=True)

    def unfit(self, standing: Mapping[str, Any]) -> str | None:
        """Returns why the target, as it stands, may not be changed like this; None when it may."""
        del standing
        return None


class DescribeInstances(Arguments):
    DBInstanceIdentifier: Identifier | None = Field(default=None, description="One instance; all of them when left out.")


class DescribeClusters(Arguments):
    DBClusterIdentifier: Identifier | None = Field(default=None, description="One cluster; all of them when left out.")


class DescribeEvents(Arguments):
    SourceIdentifier: Identifier | None = None
    SourceType: Literal["db-instance", "db-cluster", "db-snapshot", "db-parameter-group"] | None = Field(
        default=None, description="Needed with SourceIdentifier."
    )
    Duration: Annotated[int, Field(ge=1, le=20_160)] = Field(default=60, description="Minutes to look back.")


class DescribeLogFiles(Arguments):
    DBInstanceIdentifier: Identifier


class DescribeMaintenance(Arguments):
    pass


class RebootInstance(Arguments):
    DBInstanceIdentifier: Identifier
    ForceFailover: bool | None = Field(default=None, description="Of a Multi-AZ instance: reboot through a failover.")


class FailoverCluster(Arguments):
    DBClusterIdentifier: Identifier
    TargetDBInstanceIdentifier: Identifier | None = Field(default=None, description="The reader that becomes the writer.")


class ModifyInstance(Arguments):
    """What can be changed without losing anything: room is only added, and protection only switched on."""

    DBInstanceIdentifier: Identifier
    AllocatedStorage: Annotated[int, Field(ge=20, le=65_536)] | None = Field(default=None, description="GiB; more than now.")
    MaxAllocatedStorage: Annotated[int, Field(ge=20, le=65_536)] | None = Field(
        default=None, description="GiB up to which storage grows by itself."
    )
    DeletionProtection: Literal[True] | None = None
    ApplyImmediately: bool = True

    @model_validator(mode="after")
    def _changes_something(self) -> ModifyInstance:
        if self.AllocatedStorage is self.MaxAllocatedStorage is self.DeletionProtection is None:
            raise ValueError("must say what to change: AllocatedStorage, MaxAllocatedStorage or DeletionProtection")
        return self

    def unfit(self, standing: Mapping[str, Any]) -> str | None:
        room, most = int(standing.get("AllocatedStorage") or 0), int(standing.get("MaxAllocatedStorage") or 0)
        if self.AllocatedStorage is not None and self.AllocatedStorage <= room:
            return f"AllocatedStorage is {room} GiB now, and is only added to"
        if self.MaxAllocatedStorage is not None and self.MaxAllocatedStorage <= max(room, most):
            return f"MaxAllocatedStorage is {most or 'not set'} now, of {room} GiB in use, and is only raised"
        if self.ApplyImmediately and (pending := standing.get("PendingModifiedValues")):
            # RDS makes those at once too, and a waiting change of class or engine is an outage
            return f"other changes wait for the maintenance window and would be made with it: {', '.join(sorted(pending))}"
        return None


@dataclass(frozen=True, kw_only=True)
class Look:
    """A verb that reads. `within` is the list in the reply, `fields` what is told of each of its items; none: all."""

    verb: str
    purpose: str
    arguments: type[Arguments]
    within: str
    fields: frozenset[str] = frozenset()
    pages: bool = True


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A verb that changes its target, which the argument `target` names, and `standing` shows."""

    change: Change
    standing: Look
    purpose: str
    arguments: type[Arguments]
    target: str
    within: str
    fields: frozenset[str]


_INSTANCE = frozenset(
    "DBInstanceIdentifier DBInstanceClass Engine EngineVersion DBInstanceStatus Endpoint AllocatedStorage MaxAllocatedStorage"
    " StorageType Iops MultiAZ AvailabilityZone SecondaryAvailabilityZone ReadReplicaSourceDBInstanceIdentifier"
    " ReadReplicaDBInstanceIdentifiers StatusInfos PendingModifiedValues LatestRestorableTime DBClusterIdentifier"
    " DBParameterGroups BackupRetentionPeriod DeletionProtection InstanceCreateTime".split()
)
_CLUSTER = frozenset(
    "DBClusterIdentifier Status Engine EngineVersion MultiAZ Endpoint ReaderEndpoint DBClusterMembers AvailabilityZones"
    " PendingModifiedValues LatestRestorableTime ServerlessV2ScalingConfiguration Capacity DeletionProtection".split()
)
_INSTANCES = Look(
    verb="describe_db_instances",
    purpose="How instances stand: status, class, storage, replication.",
    arguments=DescribeInstances,
    within="DBInstances",
    fields=_INSTANCE,
)
_CLUSTERS = Look(
    verb="describe_db_clusters",
    purpose="How Aurora clusters stand: status, members, who is the writer.",
    arguments=DescribeClusters,
    within="DBClusters",
    fields=_CLUSTER,
)
LOOKS: Sequence[Look] = (
    _INSTANCES,
    _CLUSTERS,
    Look(verb="describe_events", purpose="What RDS did of late.", arguments=DescribeEvents, within="Events"),
    Look(
        verb="describe_db_log_files",
        purpose="Which log files an instance has.",
        arguments=DescribeLogFiles,
        within="DescribeDBLogFiles",
    ),
    Look(
        verb="describe_pending_maintenance_actions",
        purpose="Which maintenance RDS is about to do.",
        arguments=DescribeMaintenance,
        within="PendingMaintenanceActions",
    ),
)
MUTATIONS: Sequence[Mutation] = (
    Mutation(
        change=Change.REBOOT_DB_INSTANCE,
        standing=_INSTANCES,
        purpose="Reboot an instance. Its connections are lost.",
        arguments=RebootInstance,
        target="DBInstanceIdentifier",
        within="DBInstance",
        fields=_INSTANCE,
    ),
    Mutation(
        change=Change.FAILOVER_DB_CLUSTER,
        standing=_CLUSTERS,
        purpose="Make a reader of an Aurora cluster its writer.",
        arguments=FailoverCluster,
        target="DBClusterIdentifier",
        within="DBCluster",
        fields=_CLUSTER,
    ),
    Mutation(
        change=Change.MODIFY_DB_INSTANCE,
        standing=_INSTANCES,
        purpose="Give an instance more storage, or protect it from deletion.",
        arguments=ModifyInstance,
        target="DBInstanceIdentifier",
        within="DBInstance",
        fields=_INSTANCE,
    ),
)


@cache
def rds_client(region: str, url: str | None) -> Any:
    """Returns the client of a region, made once: it may be shared by threads, and never sends a request a second time by itself.

    Raises BadSetting.
    """
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ModuleNotFoundError:
        raise BadSetting(
            "TRIBUTARY_RESPONDER_RDS: needs boto3, which is not installed: pip install 'tributary-memory[aws]'"
        ) from None
    config = Config(
        connect_timeout=CONNECT_S,
        read_timeout=READ_S,
        retries={"total_max_attempts": 1, "mode": "standard"},
        tcp_keepalive=True,
    )
    try:
        return boto3.session.Session().client("rds", region_name=region, endpoint_url=url, config=config)
    except (BotoCoreError, ValueError) as error:
        raise BadSetting(
            f"TRIBUTARY_RESPONDER_RDS: the region, the URL or the AWS profile at hand is of no use ({type(error).__name__})"
        ) from None


@dataclass(frozen=True, kw_only=True)
class Rds:
    """Amazon RDS in one region. `own` names the instances and clusters that the memory itself stands on: never changed."""

    region: str
    url: str | None = None
    own: frozenset[str] = frozenset()

    def look(self, look: Look, arguments: Arguments) -> Mapping[str, object]:
        """Returns what is there; raises Unavailable, with AWS's code for the reason and no more of what it says."""
        given = arguments.parameters()
        if look.pages:
            given["MaxRecords"] = _RECORDS
        try:
            reply = getattr(rds_client(self.region, self.url), look.verb)(**given)
        except Exception as error:
            raise Unavailable(f"RDS gave no answer to {look.verb} ({_code(error)})") from None
        found = reply.get(look.within, [])
        return {look.within: [_kept(one, look.fields) for one in found], "more": bool(reply.get("Marker"))}

    def check(self, mutation: Mutation, arguments: Arguments) -> None:
        """Looks at what is to be changed; raises NotHappened when it cannot be seen, is the memory's own, or does not fit."""
        target = getattr(arguments, mutation.target)
        try:
            seen = self.look(mutation.standing, mutation.standing.arguments.model_validate({mutation.target: target}))
        except Unavailable as error:
            raise NotHappened(f"{mutation.change}: not asked for, since {error.detail}") from None
        found: Any = seen[mutation.standing.within]
        if len(found) != 1:
            raise NotHappened(f"{mutation.change}: not asked for, since RDS shows no {target}")
        if not self.own.isdisjoint(_names(found[0])):
            raise NotHappened(f"{mutation.change}: not asked for, since the memory itself stands on {target}")
        if unfit := arguments.unfit(found[0]):
            raise NotHappened(f"{mutation.change}: not asked for: {unfit}")

    def change(self, mutation: Mutation, arguments: Arguments) -> Mapping[str, object]:
        """Has the change begin; raises NotHappened where RDS refused it or never heard of it, else Unsure."""
        try:
            client = rds_client(self.region, self.url)
            reply = getattr(client, mutation.change.value)(**arguments.parameters())
        except Exception as error:
            said = f"{mutation.change}: {_code(error)}"
            raise (NotHappened(said) if _certainly_not(error) else Unsure(said)) from None
        return _kept(reply.get(mutation.within, {}), mutation.fields)


def _names(item: Mapping[str, Any]) -> Iterator[str]:
    """Yields what an instance, its cluster, or a cluster and its members are called."""
    for one in (item, *item.get("DBClusterMembers", ())):
        for name in ("DBInstanceIdentifier", "DBClusterIdentifier"):
            if one.get(name):
                yield str(one[name]).lower()


def _kept(item: Any, fields: frozenset[str]) -> dict[str, object]:
    if not isinstance(item, Mapping):
        return {}
    return {str(name): value for name, value in item.items() if not fields or name in fields}


def _code(error: Exception) -> str:
    response = getattr(error, "response", None)
    code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    return str(code or type(error).__name__)


def _certainly_not(error: Exception) -> bool:
    """Tells whether a request that failed with `error` cannot have had an effect."""
    from botocore import exceptions as aws

    response = getattr(error, "response", None)
    if isinstance(response, dict):
        return 400 <= int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) < 500
    unsent = (
        aws.ParamValidationError,
        aws.NoCredentialsError,
        aws.PartialCredentialsError,
        aws.CredentialRetrievalError,
        aws.EndpointConnectionError,
        aws.ConnectTimeoutError,
        BadSetting,
    )
    return isinstance(error, unsent)
