"""The operator's function: its event, its operations with their arguments and results, and its reply.

One table, OPERATIONS: the function serves each of its rows, and `tributary --via lambda` calls them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from tributary.contract.agents import AgentReply, Days, NewTokenReply, TokenReply
from tributary.contract.models import Reply, Request
from tributary.contract.route import Role
from tributary.contract.values import Filled, Name, TokenId

SpaceName = Annotated[Filled, Field(max_length=2000, description="A space's name or number.")]
SpaceStateName = Literal["building", "serving", "retired", "dropping"]


class Invocation(Request):
    """The function's event."""

    operation: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    cell: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,15}$")] | None = None


class Failure(BaseModel):
    """What an operation ended in: a code of docs/errors.md, and what to do. Never a traceback."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    code: str
    detail: str


class NoArguments(Request):
    """Takes none."""


class TribeArguments(Request):
    tribe: Name


class AgentArguments(Request):
    tribe: Name
    name: Name


class BindArguments(AgentArguments):
    principal: Annotated[str, Field(min_length=1, max_length=2048, description="The ARN of an IAM role or user.")]


class CreateTribeArguments(Request):
    name: Name
    curator: Name = "curator"
    days: Days = 365


class CreateAgentArguments(Request):
    tribe: Name
    name: Name
    role: Role
    days: Days = 365


class RotateArguments(Request):
    tribe: Name
    name: Name
    days: Days = 365
    keep_others: bool = False


class RevokeTokenArguments(Request):
    tribe: Name
    token: TokenId


class SpaceArguments(Request):
    """`space` is the one that is being built when null."""

    tribe: Name
    space: SpaceName | None = None


class SwitchSpaceArguments(SpaceArguments):
    exact: bool = False


class DropSpaceArguments(Request):
    tribe: Name
    space: SpaceName


class AfterRestoreArguments(Request):
    tribe: Name
    ticks: Annotated[int, Field(ge=1, le=10**12, description="At least as many ticks as were lost.")] = 1_000_000


class TribeReply(Reply):
    id: UUID
    name: str
    tick: int
    created_at: datetime


class NewTribeReply(Reply):
    """A tribe with its first curator's token, whose secret is shown this once."""

    tribe: TribeReply
    curator: NewTokenReply


class TribesReply(Reply):
    tribes: list[TribeReply]


class OperatorsAgentReply(AgentReply):
    """An agent, with the IAM principals that act as it."""

    principals: list[str]


class TribeAgentsReply(Reply):
    agents: list[OperatorsAgentReply]


class AgentTokensReply(Reply):
    tokens: list[TokenReply]


class HasCuratorReply(Reply):
    has_curator: bool


class IndexReply(Reply):
    indexed: bool = Field(description="Whether the tribe has an index of its own now.")


class IndexFailure(Reply):
    tribe: str
    code: str


class IndexesReply(Reply):
    """What one run came to. `left` are tribes that it had no time for, and that the next one begins with."""

    built: list[str]
    failed: list[IndexFailure]
    left: list[str]


class SigningKeyReply(Reply):
    key: str


class MigrationSqlReply(Reply):
    sql: str


class SpaceReply(Reply):
    number: int
    space: str
    dimension: int
    state: SpaceStateName
    vectors: int
    missing: int
    indexed: bool


class SpacesReply(Reply):
    spaces: list[SpaceReply]


class SpaceBuiltReply(Reply):
    """What one call made, and how much is left. Unless it `finished`, its time was up: call again, to go on."""

    space: str
    made: int
    left: int
    indexed: bool
    finished: bool


class SpaceSwitchedReply(Reply):
    before: str
    after: str
    tick: int


class SpaceDroppedReply(Reply):
    space: str
    vectors: int
    forgotten: bool


class SteppedBackReply(Reply):
    tribe: str
    before: int = Field(description="The tick of the backup.")
    tick: int = Field(description="The one that the tribe goes on from.")
    in_doubt: int = Field(description="Actions that were under way.")
    sessions: int = Field(description="Of the dashboard, that were ended.")


Arguments = TypeVar("Arguments", bound=Request)
Result = TypeVar("Result", bound=Reply)


@dataclass(frozen=True, kw_only=True)
class Operation(Generic[Arguments, Result]):
    """One thing that the function does, with what it takes and gives."""

    name: str
    arguments: type[Arguments]
    result: type[Result]


CREATE_TRIBE = Operation(name="create_tribe", arguments=CreateTribeArguments, result=NewTribeReply)
TRIBES = Operation(name="tribes", arguments=NoArguments, result=TribesReply)
CREATE_AGENT = Operation(name="create_agent", arguments=CreateAgentArguments, result=NewTokenReply)
AGENTS = Operation(name="agents", arguments=TribeArguments, result=TribeAgentsReply)
REVOKE_AGENT = Operation(name="revoke_agent", arguments=AgentArguments, result=OperatorsAgentReply)
BIND = Operation(name="bind", arguments=BindArguments, result=OperatorsAgentReply)
UNBIND = Operation(name="unbind", arguments=BindArguments, result=OperatorsAgentReply)
TOKENS_OF = Operation(name="tokens_of", arguments=AgentArguments, result=AgentTokensReply)
ROTATE = Operation(name="rotate", arguments=RotateArguments, result=NewTokenReply)
REVOKE_TOKEN = Operation(name="revoke_token", arguments=RevokeTokenArguments, result=TokenReply)
HAS_CURATOR = Operation(name="has_curator", arguments=TribeArguments, result=HasCuratorReply)
BUILD_INDEX = Operation(name="build_index", arguments=TribeArguments, result=IndexReply)
BUILD_INDEXES = Operation(name="build_indexes", arguments=NoArguments, result=IndexesReply)
ROTATE_SIGNING_KEY = Operation(name="rotate_signing_key", arguments=NoArguments, result=SigningKeyReply)
MIGRATION_SQL = Operation(name="migration_sql", arguments=NoArguments, result=MigrationSqlReply)
SPACES = Operation(name="spaces", arguments=TribeArguments, result=SpacesReply)
CREATE_SPACE = Operation(name="create_space", arguments=TribeArguments, result=SpaceReply)
BUILD_SPACE = Operation(name="build_space", arguments=SpaceArguments, result=SpaceBuiltReply)
SWITCH_SPACE = Operation(name="switch_space", arguments=SwitchSpaceArguments, result=SpaceSwitchedReply)
DROP_SPACE = Operation(name="drop_space", arguments=DropSpaceArguments, result=SpaceDroppedReply)
AFTER_RESTORE = Operation(name="after_restore", arguments=AfterRestoreArguments, result=SteppedBackReply)

OPERATIONS: dict[str, Operation[Any, Any]] = {
    one.name: one
    for one in (
        *(CREATE_TRIBE, TRIBES, CREATE_AGENT, AGENTS, REVOKE_AGENT, TOKENS_OF, ROTATE, REVOKE_TOKEN, HAS_CURATOR),
        *(BIND, UNBIND),
        *(BUILD_INDEX, BUILD_INDEXES, ROTATE_SIGNING_KEY, MIGRATION_SQL),
        *(SPACES, CREATE_SPACE, BUILD_SPACE, SWITCH_SPACE, DROP_SPACE),
        AFTER_RESTORE,
    )
}
