"""The operator's side through its Lambda function, for who can invoke it and cannot reach the database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self
from uuid import UUID

from tributary.contract import operator as contract
from tributary.contract.agents import AgentReply, NewTokenReply, TokenReply
from tributary.core import ids
from tributary.core.agent import Agent, NewToken, Role, Token
from tributary.core.space import SpaceBuilt, SpaceDropped, SpaceState, SpaceSwitched, TribeSpace
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.invoking import OperatorFunction
from tributary.service.operator import LOST_TICKS, NewTribe, SteppedBack, Tribe


class RemoteOperator:
    """Speaks for the operator; each call is one invocation, but for `build_space`, which goes on until nothing is left.

    Raises CommandFailed, with the codes that the operator's own errors have.
    """

    def __init__(self, function: OperatorFunction) -> None:
        self._call = function.call

    def migrate(self) -> NoReturn:
        raise CommandFailed(
            "not_configured",
            "the operator's function does not migrate: the function 'migrate' does, at each deployment, and when it is invoked",
        )

    def migration_sql(self) -> str:
        return self._call(contract.MIGRATION_SQL).sql

    def create_tribe(self, name: str, *, curator: str = "curator", days: int = 365) -> NewTribe:
        made = self._call(contract.CREATE_TRIBE, name=name, curator=curator, days=days)
        return NewTribe(tribe=_tribe(made.tribe), token=_new_token(made.curator))

    def tribes(self) -> Sequence[Tribe]:
        return [_tribe(one) for one in self._call(contract.TRIBES).tribes]

    def create_agent(self, tribe: str, name: str, role: Role, *, days: int = 365) -> NewToken:
        return _new_token(self._call(contract.CREATE_AGENT, tribe=tribe, name=name, role=role.value, days=days))

    def agents(self, tribe: str) -> Sequence[Agent]:
        return [_operators_agent(one) for one in self._call(contract.AGENTS, tribe=tribe).agents]

    def revoke_agent(self, tribe: str, name: str) -> Agent:
        return _operators_agent(self._call(contract.REVOKE_AGENT, tribe=tribe, name=name))

    def bind(self, tribe: str, name: str, principal: str) -> Agent:
        return _operators_agent(self._call(contract.BIND, tribe=tribe, name=name, principal=principal))

    def unbind(self, tribe: str, name: str, principal: str) -> Agent:
        return _operators_agent(self._call(contract.UNBIND, tribe=tribe, name=name, principal=principal))

    def tokens_of(self, tribe: str, name: str) -> Sequence[Token]:
        return [_token(one) for one in self._call(contract.TOKENS_OF, tribe=tribe, name=name).tokens]

    def rotate(self, tribe: str, name: str, *, days: int = 365, keep_others: bool = False) -> NewToken:
        return _new_token(self._call(contract.ROTATE, tribe=tribe, name=name, days=days, keep_others=keep_others))

    def revoke_token(self, tribe: str, token_id: UUID) -> Token:
        return _token(self._call(contract.REVOKE_TOKEN, tribe=tribe, token=ids.show(ids.Prefix.TOKEN, token_id)))

    def has_curator(self, tribe: str) -> bool:
        return self._call(contract.HAS_CURATOR, tribe=tribe).has_curator

    def build_index(self, tribe: str) -> bool:
        return self._call(contract.BUILD_INDEX, tribe=tribe).indexed

    def rotate_signing_key(self) -> str:
        return self._call(contract.ROTATE_SIGNING_KEY).key

    def spaces(self, tribe: str) -> Sequence[TribeSpace]:
        return [_space(one) for one in self._call(contract.SPACES, tribe=tribe).spaces]

    def create_space(self, tribe: str) -> TribeSpace:
        return _space(self._call(contract.CREATE_SPACE, tribe=tribe))

    def build_space(self, tribe: str, name: str | None = None, *, progress: Callable[[int, int], None]) -> SpaceBuilt:
        """Has the space built, call after call, until one finishes or makes nothing."""
        made = 0
        while True:
            done = self._call(contract.BUILD_SPACE, tribe=tribe, space=name)
            made += done.made
            progress(made, done.left)
            if done.finished or not done.made:
                return SpaceBuilt(space=done.space, made=made, left=done.left, indexed=done.indexed, finished=done.finished)

    def switch_space(self, tribe: str, name: str | None = None, *, exact: bool = False) -> SpaceSwitched:
        done = self._call(contract.SWITCH_SPACE, tribe=tribe, space=name, exact=exact)
        return SpaceSwitched(before=done.before, after=done.after, tick=done.tick)

    def drop_space(self, tribe: str, name: str) -> SpaceDropped:
        done = self._call(contract.DROP_SPACE, tribe=tribe, space=name)
        return SpaceDropped(space=done.space, vectors=done.vectors, forgotten=done.forgotten)

    def export(self, tribe: str, write: Callable[[bytes], object], *, progress: Callable[[str, int], None]) -> NoReturn:
        del tribe, write, progress
        raise _too_large()

    def restore(self, lines: Iterable[bytes], *, name: str | None = None, progress: Callable[[str, int], None]) -> NoReturn:
        del lines, name, progress
        raise _too_large()

    def export_evidence(self, tribe: str, folder: Path) -> NoReturn:
        del tribe, folder
        raise _too_large()

    def restore_evidence(self, tribe: str, folder: Path) -> NoReturn:
        del tribe, folder
        raise _too_large()

    def after_restore(self, tribe: str, *, ticks: int = LOST_TICKS) -> SteppedBack:
        done = self._call(contract.AFTER_RESTORE, tribe=tribe, ticks=ticks)
        return SteppedBack(tribe=done.tribe, before=done.before, tick=done.tick, in_doubt=done.in_doubt, sessions=done.sessions)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leaves nothing open: an invocation is a request of its own."""


def _too_large() -> CommandFailed:
    return CommandFailed(
        "not_configured",
        "a tribe is larger than what a function may be sent or send back; leave --via out, where the database can be reached",
    )


def _tribe(one: contract.TribeReply) -> Tribe:
    return Tribe(tribe_id=one.id, name=one.name, clock=one.tick, created_at=one.created_at)


def _agent(one: AgentReply) -> Agent:
    return Agent(
        agent_id=ids.parse(ids.Prefix.AGENT, one.id, field="agent"),
        name=one.name,
        role=Role(one.role),
        created_at=one.created_at,
        revoked_at=one.revoked_at,
        last_used_at=one.last_used_at,
    )


def _operators_agent(one: contract.OperatorsAgentReply) -> Agent:
    return replace(_agent(one), principals=tuple(one.principals))


def _token(one: TokenReply) -> Token:
    return Token(
        token_id=ids.parse(ids.Prefix.TOKEN, one.id, field="token"),
        agent_id=ids.parse(ids.Prefix.AGENT, one.agent, field="agent"),
        created_at=one.created_at,
        expires_at=one.expires_at,
        revoked_at=one.revoked_at,
        last_used_at=one.last_used_at,
    )


def _new_token(made: NewTokenReply) -> NewToken:
    return NewToken(
        agent=_agent(made.agent),
        token_id=ids.parse(ids.Prefix.TOKEN, made.id, field="token"),
        secret=made.token,
        expires_at=made.expires_at,
    )


def _space(one: contract.SpaceReply) -> TribeSpace:
    return TribeSpace(
        number=one.number,
        name=one.space,
        dimension=one.dimension,
        state=SpaceState(one.state),
        vectors=one.vectors,
        missing=one.missing,
        indexed=one.indexed,
    )
