"""The operator's function: an event that names an operation in, its result or the error that it ended in out.

    read -> open -> do -> reply

Only IAM lets anybody in, so an error says all that our own errors say; what nobody foresaw is told to the log alone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from tributary.contract import limits
from tributary.contract import operator as contract
from tributary.contract.agents import NewTokenReply, TokenReply
from tributary.contract.models import Reply, Request
from tributary.contract.operator import OPERATIONS, Invocation, Operation
from tributary.contract.problems import PROBLEMS
from tributary.core import ids
from tributary.core.agent import Agent, Role
from tributary.core.errors import TributaryError
from tributary.edges.lambda_http import agent_words
from tributary.edges.lambda_http.port import Context
from tributary.edges.lambda_http.problems import Refused, code_of, invalid, invalid_field
from tributary.edges.lambda_http.rules import explain
from tributary.telemetry import Event, log

if TYPE_CHECKING:
    from tributary.core.space import TribeSpace
    from tributary.service.operator import Operator, Tribe

MARGIN_S = 10.0
"""Kept back of the function's time: what is cancelled then ends, and the reply is sent."""

Arguments = TypeVar("Arguments", bound=Request)
Result = TypeVar("Result", bound=Reply)
OpenOperator = Callable[[str | None], AbstractContextManager["Operator"]]
"""Opens the operator's side of a cell's database, of the own one for None; raises NotFound for an unknown one."""
Does = Callable[["Operator", Arguments, float], Result]
"""Does one operation, given the seconds that it may take."""

DOES: dict[str, Does[Any, Any]] = {}


def operated(event: object, context: Context, open_operator: OpenOperator) -> dict[str, Any]:
    """Does what the event asks for and returns `{"result": ...}` or `{"error": {"code", "detail"}}`; raises nothing."""
    began = time.perf_counter()
    name: str | None = None
    tribe: str | None = None
    agent: str | None = None
    failure: Exception | None = None
    reply: dict[str, Any]
    with log.operation() as operation_id:
        try:
            operation, arguments, cell = _read(event)
            name = operation.name
            tribe, agent = _about(arguments)
            budget_s = max(0.0, context.get_remaining_time_in_millis() / 1000 - MARGIN_S)
            with open_operator(cell) as operator:
                reply = {"result": _sendable(DOES[name](operator, arguments, budget_s))}
        except Exception as error:
            failure = error
            reply = {"error": _failure(error, operation_id).model_dump()}
        log.event(
            Event.OPERATED,
            level=_level(failure),
            error=failure,
            asked=name,
            tribe=tribe,
            agent=agent,
            code=None if failure is None else code_of(failure),
            ms=round((time.perf_counter() - began) * 1000, 1),
        )
    return reply


def _read(event: object) -> tuple[Operation[Any, Any], Request, str | None]:
    """Returns the operation that an event names, its checked arguments and the cell; raises Refused."""
    asked = _checked(Invocation, event, path="")
    if asked.operation == "migrate":
        raise invalid_field("operation", "must be another: the function 'migrate' migrates, at each deployment")
    operation = OPERATIONS.get(asked.operation)
    if operation is None:
        raise invalid_field("operation", f"must be one of {', '.join(sorted(OPERATIONS))}")
    return operation, _checked(operation.arguments, asked.arguments, path="arguments."), asked.cell


def _checked(model: type[Arguments], document: object, *, path: str) -> Arguments:
    try:
        return model.model_validate(document)
    except ValidationError as error:
        found = explain(error.errors(include_input=False, include_url=False), document)
        raise invalid(*(one.model_copy(update={"field": path + one.field}) for one in found)) from None


def _sendable(result: Reply) -> dict[str, Any]:
    text = result.model_dump_json()
    if len(text.encode()) > limits.EVENT_BYTES - 1024:  # Lambda's limit, less what is around it
        raise Refused("too_large", "the reply is larger than the 6 MB that a Lambda function can send; ask the database directly")
    return result.model_dump(mode="json")


def _failure(error: Exception, operation_id: str) -> contract.Failure:
    code = code_of(error)
    if isinstance(error, (Refused, TributaryError)) and code != "internal":
        return contract.Failure(code=code, detail=error.detail)
    detail = f"{PROBLEMS[code].title}; the function's log tells more under the operation {operation_id}"
    return contract.Failure(code=code, detail=detail)


def _level(failure: Exception | None) -> int:
    if failure is None:
        return logging.INFO
    return logging.ERROR if code_of(failure) in ("internal", "corrupt") else logging.WARNING


def _about(arguments: Request) -> tuple[str | None, str | None]:
    """Returns the names of the tribe and of the agent that an operation is about."""
    if isinstance(arguments, contract.CreateTribeArguments):
        return arguments.name, arguments.curator
    return getattr(arguments, "tribe", None), getattr(arguments, "name", None)


def _does(operation: Operation[Arguments, Result], does: Does[Arguments, Result]) -> None:
    DOES[operation.name] = does


def _tribe(one: Tribe) -> contract.TribeReply:
    return contract.TribeReply(id=one.tribe_id, name=one.name, tick=one.clock, created_at=one.created_at)


def _agent(one: Agent) -> contract.OperatorsAgentReply:
    return contract.OperatorsAgentReply(**agent_words.agent(one).model_dump(), principals=list(one.principals))


def _space(one: TribeSpace) -> contract.SpaceReply:
    return contract.SpaceReply.model_validate(one.document())


def _create_tribe(operator: Operator, asked: contract.CreateTribeArguments, _: float) -> contract.NewTribeReply:
    made = operator.create_tribe(asked.name, curator=asked.curator, days=asked.days)
    return contract.NewTribeReply(tribe=_tribe(made.tribe), curator=agent_words.new_token(made.token))


def _tribes(operator: Operator, _: contract.NoArguments, __: float) -> contract.TribesReply:
    return contract.TribesReply(tribes=[_tribe(one) for one in operator.tribes()])


def _create_agent(operator: Operator, asked: contract.CreateAgentArguments, _: float) -> NewTokenReply:
    return agent_words.new_token(operator.create_agent(asked.tribe, asked.name, Role(asked.role), days=asked.days))


def _agents(operator: Operator, asked: contract.TribeArguments, _: float) -> contract.TribeAgentsReply:
    return contract.TribeAgentsReply(agents=[_agent(one) for one in operator.agents(asked.tribe)])


def _revoke_agent(operator: Operator, asked: contract.AgentArguments, _: float) -> contract.OperatorsAgentReply:
    return _agent(operator.revoke_agent(asked.tribe, asked.name))


def _bind(operator: Operator, asked: contract.BindArguments, _: float) -> contract.OperatorsAgentReply:
    return _agent(operator.bind(asked.tribe, asked.name, asked.principal))


def _unbind(operator: Operator, asked: contract.BindArguments, _: float) -> contract.OperatorsAgentReply:
    return _agent(operator.unbind(asked.tribe, asked.name, asked.principal))


def _tokens_of(operator: Operator, asked: contract.AgentArguments, _: float) -> contract.AgentTokensReply:
    return contract.AgentTokensReply(tokens=[agent_words.token(one) for one in operator.tokens_of(asked.tribe, asked.name)])


def _rotate(operator: Operator, asked: contract.RotateArguments, _: float) -> NewTokenReply:
    return agent_words.new_token(operator.rotate(asked.tribe, asked.name, days=asked.days, keep_others=asked.keep_others))


def _revoke_token(operator: Operator, asked: contract.RevokeTokenArguments, _: float) -> TokenReply:
    return agent_words.token(operator.revoke_token(asked.tribe, ids.parse(ids.Prefix.TOKEN, asked.token, field="token")))


def _has_curator(operator: Operator, asked: contract.TribeArguments, _: float) -> contract.HasCuratorReply:
    return contract.HasCuratorReply(has_curator=operator.has_curator(asked.tribe))


def _build_index(operator: Operator, asked: contract.TribeArguments, budget_s: float) -> contract.IndexReply:
    return contract.IndexReply(indexed=operator.build_index(asked.tribe, budget_s=budget_s))


def _build_indexes(operator: Operator, _: contract.NoArguments, budget_s: float) -> contract.IndexesReply:
    done = operator.build_indexes(budget_s=budget_s)
    failed = [contract.IndexFailure(tribe=tribe, code=code) for tribe, code in done.failed]
    return contract.IndexesReply(built=list(done.built), failed=failed, left=list(done.left))


def _rotate_signing_key(operator: Operator, _: contract.NoArguments, __: float) -> contract.SigningKeyReply:
    return contract.SigningKeyReply(key=operator.rotate_signing_key())


def _migration_sql(operator: Operator, _: contract.NoArguments, __: float) -> contract.MigrationSqlReply:
    return contract.MigrationSqlReply(sql=operator.migration_sql())


def _spaces(operator: Operator, asked: contract.TribeArguments, _: float) -> contract.SpacesReply:
    return contract.SpacesReply(spaces=[_space(one) for one in operator.spaces(asked.tribe)])


def _create_space(operator: Operator, asked: contract.TribeArguments, _: float) -> contract.SpaceReply:
    return _space(operator.create_space(asked.tribe))


def _build_space(operator: Operator, asked: contract.SpaceArguments, budget_s: float) -> contract.SpaceBuiltReply:
    done = operator.build_space(asked.tribe, asked.space, budget_s=budget_s)
    return contract.SpaceBuiltReply(
        space=done.space, made=done.made, left=done.left, indexed=done.indexed, finished=done.finished
    )


def _switch_space(operator: Operator, asked: contract.SwitchSpaceArguments, _: float) -> contract.SpaceSwitchedReply:
    done = operator.switch_space(asked.tribe, asked.space, exact=asked.exact)
    return contract.SpaceSwitchedReply(before=done.before, after=done.after, tick=done.tick)


def _drop_space(operator: Operator, asked: contract.DropSpaceArguments, _: float) -> contract.SpaceDroppedReply:
    done = operator.drop_space(asked.tribe, asked.space)
    return contract.SpaceDroppedReply(space=done.space, vectors=done.vectors, forgotten=done.forgotten)


def _after_restore(operator: Operator, asked: contract.AfterRestoreArguments, _: float) -> contract.SteppedBackReply:
    return contract.SteppedBackReply(**asdict(operator.after_restore(asked.tribe, ticks=asked.ticks)))


_does(contract.CREATE_TRIBE, _create_tribe)
_does(contract.TRIBES, _tribes)
_does(contract.CREATE_AGENT, _create_agent)
_does(contract.AGENTS, _agents)
_does(contract.REVOKE_AGENT, _revoke_agent)
_does(contract.BIND, _bind)
_does(contract.UNBIND, _unbind)
_does(contract.TOKENS_OF, _tokens_of)
_does(contract.ROTATE, _rotate)
_does(contract.REVOKE_TOKEN, _revoke_token)
_does(contract.HAS_CURATOR, _has_curator)
_does(contract.BUILD_INDEX, _build_index)
_does(contract.BUILD_INDEXES, _build_indexes)
_does(contract.ROTATE_SIGNING_KEY, _rotate_signing_key)
_does(contract.MIGRATION_SQL, _migration_sql)
_does(contract.SPACES, _spaces)
_does(contract.CREATE_SPACE, _create_space)
_does(contract.BUILD_SPACE, _build_space)
_does(contract.SWITCH_SPACE, _switch_space)
_does(contract.DROP_SPACE, _drop_space)
_does(contract.AFTER_RESTORE, _after_restore)
