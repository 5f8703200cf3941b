"""The operator's side: tribes, agents and their first tokens, made over the owner's own connection."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self, cast
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from tributary.access import DAYS, Ledger, check_principal
from tributary.core.agent import Agent, NewToken, Role, Token
from tributary.core.clock import Now, utc_now
from tributary.core.errors import BadSetting, InvalidRequest, NotFound, TributaryError, WrongStanding
from tributary.core.evaluation import EvaluationRun
from tributary.core.evidence import EvidenceFile, EvidenceStore
from tributary.core.ids import new_id
from tributary.core.limits import check_agent_name, check_name
from tributary.core.space import IndexesBuilt, SpaceBuilt, SpaceDropped, SpaceState, SpaceSwitched, TribeSpace
from tributary.service.evidence_carrying import carry_in, carry_out
from tributary.service.members import Members
from tributary.service.owner_link import OwnerLink
from tributary.service.until import Until
from tributary.spaces import (
    NEXT,
    Embedders,
    Progress,
    begin,
    build_index,
    definition,
    drop,
    fill,
    outgrown,
    space_named,
    spaces_of,
    switch,
)
from tributary.store import Database, Target, rows, statement
from tributary.store.migrate import migrate, migration_sql
from tributary.transfer.evidence import Carried, files_of
from tributary.transfer.tribes import Progress as TransferProgress
from tributary.transfer.tribes import Summary, export_tribe, restore_tribe

_NO_TIME = (
    "there was not time enough to build the index, and nothing of it is kept; ask again, or build it from where the database can"
    " be reached for as long as it takes: tributary tribe index NAME"
)


Carrying = Callable[[UUID, list[EvidenceFile], EvidenceStore | None, Path], Carried]


@dataclass(frozen=True, kw_only=True)
class Tribe:
    tribe_id: UUID
    name: str
    clock: int
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class NewTribe:
    tribe: Tribe
    token: NewToken
    """Of its first curator."""


@dataclass(frozen=True, kw_only=True)
class SteppedBack:
    """A tribe of a restored database: the tick of the backup, the one that it goes on from, and what was ended."""

    tribe: str
    before: int
    tick: int
    in_doubt: int
    """Actions that were under way: whether their effect happened may be what was lost."""
    sessions: int


LOST_TICKS = 1_000_000
"""So many ticks are taken to be lost unless the operator knows better: more than a tribe commits between two backups."""
MOST_LOST_TICKS = 10**12


class Operator:
    """Acts as the owner of the schema; nothing here is reachable by a token. Not thread-safe."""

    def __init__(
        self,
        *,
        owner: Target,
        login: Target,
        database: Database,
        embedders: Embedders,
        exact_limit: int,
        cell: str | None = None,
        evidence: EvidenceStore | None = None,
        now: Now = utc_now,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        """`owner` acts as the owner role; `login` is the user that migrates; `database` is for what is done in
        many small steps, as the owner too; the first of `embedders` gives the space that new tribes serve from;
        new tokens carry the name of `cell`; `evidence` keeps the files that lessons refer to.
        """
        self._link = OwnerLink(owner)
        self._on_close = on_close
        self._login = login
        self._database = database
        self._embedders = embedders
        self._exact_limit = exact_limit
        self._cell = cell
        self._evidence = evidence
        self._now = now

    def migrate(self) -> str:
        """Brings the schema to the newest revision and returns its name."""
        return migrate(self._login)

    def migration_sql(self) -> str:
        return migration_sql()

    def create_tribe(self, name: str, *, curator: str = "curator", days: int = DAYS) -> NewTribe:
        """Makes a tribe with its first curator, wholly or not at all; raises WrongStanding when the name is taken."""
        check_name("name", name)
        check_agent_name("name", curator)
        with self._link.transaction() as connection:
            row = connection.execute(
                statement("access", "create_tribe"), {"tribe_id": new_id(), "name": name, "secret": secrets.token_bytes(32)}
            ).fetchone()
            if row is None:
                raise WrongStanding(f"there is a tribe named '{name}' already")
            tribe = _tribe(row)
            made = connection.execute(statement("spaces", "ensure"), definition(self._embedders.first.space)).fetchone()
            space_id = cast(tuple[int], made)[0]
            connection.execute(statement("spaces", "serve_from"), {"tribe_id": tribe.tribe_id, "space_id": space_id})
            token = self._members(connection, tribe).make(curator, Role.CURATOR, days)
        return NewTribe(tribe=tribe, token=token)

    def tribes(self) -> tuple[Tribe, ...]:
        """Returns all tribes by name."""
        with self._link.transaction() as connection:
            return tuple(_tribe(row) for row in connection.execute(statement("access", "tribes")).fetchall())

    def create_agent(self, tribe: str, name: str, role: Role, *, days: int = DAYS, system: bool = False) -> NewToken:
        """Makes an agent and its token, whose secret is given this once; raises WrongStanding when the name is taken.

        One of the memory's own is a `system` agent, whose name alone may begin with 'system:'.
        """
        (check_name if system else check_agent_name)("name", name)
        with self._link.transaction() as connection:
            return self._members(connection, self._locked(connection, tribe)).make(name, role, days)

    def agents(self, tribe: str) -> tuple[Agent, ...]:
        """Returns the agents of a tribe, oldest first, the revoked ones too."""
        with self._link.transaction() as connection:
            found = self._tribe(connection, tribe)
            return self._members(connection, found).all()

    def revoke_agent(self, tribe: str, name: str) -> Agent:
        """Ends an agent and all its tokens; what it taught stays. Unlike a curator's it may take the last curator."""
        with self._link.transaction() as connection:
            found = self._locked(connection, tribe)
            agent = self._members(connection, found).named(name)
            connection.execute(statement("access", "revoke_agent"), {"tribe_id": found.tribe_id, "agent_id": agent.agent_id})
            return self._members(connection, found).named(name)

    def bind(self, tribe: str, name: str, principal: str) -> Agent:
        """Lets whoever acts as an IAM role or user act as an agent; raises WrongStanding when it is bound to another one."""
        arn = check_principal(principal)
        with self._link.transaction() as connection:
            found = self._locked(connection, tribe)
            which = {"tribe_id": found.tribe_id, "agent_id": self._members(connection, found).named(name).agent_id}
            connection.execute(statement("access", "bind_principal"), {**which, "principal": arn})
            return self._members(connection, found).named(name)

    def unbind(self, tribe: str, name: str, principal: str) -> Agent:
        """Ends that a role or user acts as an agent; raises NotFound when it does not."""
        arn = check_principal(principal)
        with self._link.transaction() as connection:
            found = self._locked(connection, tribe)
            which = {"tribe_id": found.tribe_id, "agent_id": self._members(connection, found).named(name).agent_id}
            if connection.execute(statement("access", "unbind_principal"), {**which, "principal": arn}).fetchone() is None:
                raise NotFound(f"'{arn}' is not bound to the agent '{name}'")
            return self._members(connection, found).named(name)

    def tokens_of(self, tribe: str, name: str) -> tuple[Token, ...]:
        """Returns the tokens of an agent, newest first, those that are not let in any more too."""
        with self._link.transaction() as connection:
            found = self._tribe(connection, tribe)
            agent_id = self._members(connection, found).named(name).agent_id
            return self._members(connection, found).tokens(agent_id=agent_id)

    def rotate(self, tribe: str, name: str, *, days: int = DAYS, keep_others: bool = False) -> NewToken:
        """Gives an agent a new token in place of those that it has, or beside them; the secret is given this once.

        Raises WrongStanding when the agent is revoked, or would have too many tokens.
        """
        with self._link.transaction() as connection:
            found = self._locked(connection, tribe)
            agent = self._members(connection, found).named(name)
            if not keep_others:
                connection.execute(
                    statement("access", "revoke_tokens"),
                    {"tribe_id": found.tribe_id, "agent_id": agent.agent_id, "token_id": None},
                )
            return self._members(connection, found).new_token(agent, days)

    def revoke_token(self, tribe: str, token_id: UUID) -> Token:
        """Ends one token of a tribe; keeps the first time when it was revoked before."""
        with self._link.transaction() as connection:
            found = self._locked(connection, tribe)
            connection.execute(
                statement("access", "revoke_tokens"), {"tribe_id": found.tribe_id, "agent_id": None, "token_id": token_id}
            )
            ended = self._members(connection, found).tokens(token_id=token_id)
        if not ended:
            raise NotFound(f"the tribe '{tribe}' has no such token")
        return ended[0]

    def has_curator(self, tribe: str) -> bool:
        """Tells whether a tribe has a curator who can act: one that is not revoked, with a token that is let in."""
        with self._link.transaction() as connection:
            found = self._tribe(connection, tribe)
            row = connection.execute(
                statement("access", "has_curator"), {"tribe_id": found.tribe_id, "now": self._now()}
            ).fetchone()
        return row == (True,)

    def build_index(self, tribe: str, *, budget_s: float | None = None) -> bool:
        """Gives the tribe its own vector index if it has outgrown exact search; tells whether it has one now.

        Raises Overloaded when it takes longer than `budget_s`; what was begun is then begun again by the next call.
        """
        with self._link.connection() as connection, Until(budget_s).cancelling(connection, detail=_NO_TIME):
            return build_index(connection, self._tribe(connection, tribe).tribe_id, exact_limit=self._exact_limit)

    def build_indexes(self, *, budget_s: float | None = None) -> IndexesBuilt:
        """Gives every tribe that has outgrown exact search its index, one after the other, for as long as `budget_s` lasts."""
        until = Until(budget_s)
        with self._link.connection() as connection:
            waiting = outgrown(connection, exact_limit=self._exact_limit)
        built: list[str] = []
        failed: list[tuple[str, str]] = []
        left: list[str] = []
        for tribe in waiting:
            if until.passed():
                left.append(tribe)
                continue
            try:
                self.build_index(tribe, budget_s=until.left_s)
                built.append(tribe)
            except TributaryError as error:
                if until.passed():
                    left.append(tribe)
                else:
                    failed.append((tribe, error.code))
        return IndexesBuilt(built=tuple(built), failed=tuple(failed), left=tuple(left))

    def rotate_signing_key(self) -> str:
        """Makes the key that receipts are signed with from now on, and returns its id. Older receipts can still be verified.

        Running processes take it within `recall.signing.REREAD_S` seconds.
        """
        with self._link.transaction() as connection:
            connection.execute(statement("access", "lock_signing_keys"))
            connection.execute(statement("access", "retire_signing_keys"))
            made = connection.execute(statement("access", "create_signing_key"), {"secret": secrets.token_bytes(32)}).fetchone()
        return str(cast(tuple[object, ...], made)[0])

    def spaces(self, tribe: str) -> tuple[TribeSpace, ...]:
        """Returns the embedding spaces of a tribe, in the order of their numbers."""
        with self._link.connection() as connection:
            return spaces_of(connection, self._tribe(connection, tribe).tribe_id)

    def create_space(self, tribe: str) -> TribeSpace:
        """Has a tribe build the space of the embedder that is to follow; learn fills it from now on where it can.

        Raises BadSetting when no second embedder is set up, and WrongStanding when the tribe has its space otherwise.
        """
        space = self._embedders.following.space
        with self._link.connection() as connection:
            found = self._tribe(connection, tribe)
            begin(connection, found.tribe_id, space)
            return space_named(connection, found.tribe_id, space.name)

    def build_space(
        self,
        tribe: str,
        name: str | None = None,
        *,
        progress: Progress = lambda _made, _left: None,
        budget_s: float | None = None,
    ) -> SpaceBuilt:
        """Embeds what lacks a vector in a space, then gives it its index if it needs one. Safe to kill and to repeat.

        `name` is the space's name or number, the one that is being built when None; a retired one is being built from then on.
        When `budget_s` is over, what is left waits for the next call; an index that takes longer raises Overloaded.
        Raises NotFound, WrongStanding for a space that is being dropped or while another one is built, BadSetting when no
        embedder here gives it, ModelFailed.
        """
        until = Until(budget_s)
        with self._link.connection() as connection:
            found = self._tribe(connection, tribe)
            space = space_named(connection, found.tribe_id, name)
            embedder = self._embedders.giving(space.name)
            if embedder is None:
                raise BadSetting(f"{NEXT}: no embedder set up here gives the space '{space.name}'; set it to the one that does")
            if space.state is not SpaceState.SERVING:
                begin(connection, found.tribe_id, embedder.space)  # learn fills it from now on, so that it can catch up
            with Ledger(self._database, now=self._now).on(found.tribe_id):
                made, left = fill(self._database, embedder, found.tribe_id, space.number, progress=progress, stop=until.passed)
            if until.passed():
                return SpaceBuilt(space=space.name, made=made, left=left, indexed=space.indexed, finished=False)
            with until.cancelling(connection, detail=_NO_TIME):
                indexed = build_index(connection, found.tribe_id, exact_limit=self._exact_limit, space_id=space.number)
        return SpaceBuilt(space=space.name, made=made, left=left, indexed=indexed)

    def switch_space(self, tribe: str, name: str | None = None, *, exact: bool = False) -> SpaceSwitched:
        """Has a tribe serve from another of its spaces, in one tick (`spaces.switch`)."""
        with self._link.connection() as connection:
            found = self._tribe(connection, tribe)
            space = space_named(connection, found.tribe_id, name)
            return switch(connection, found.tribe_id, space, exact_limit=self._exact_limit, exact=exact)

    def drop_space(self, tribe: str, name: str) -> SpaceDropped:
        """Removes a space from a tribe, never the one that it serves from (`spaces.drop`)."""
        with self._link.connection() as connection:
            found = self._tribe(connection, tribe)
            return drop(connection, found.tribe_id, space_named(connection, found.tribe_id, name))

    def export(
        self, tribe: str, write: Callable[[bytes], object], *, progress: TransferProgress = lambda _table, _rows: None
    ) -> Summary:
        """Writes a tribe with its whole history, as one snapshot has it, line by line (`transfer.form`).

        What is written is as secret as the database: all that the tribe knows, and the key of its content hashes. It holds no
        token. Raises NotFound, and what `write` raises.
        """
        with self._link.own_connection() as connection:
            return export_tribe(connection, tribe, write, progress=progress)

    def restore(
        self,
        lines: Iterable[bytes],
        *,
        name: str | None = None,
        progress: TransferProgress = lambda _table, _rows: None,
    ) -> Summary:
        """Makes the tribe that an export holds, as `name` if that is given, wholly or not at all; its agents have no tokens then.

        Raises InvalidRequest, naming the line, for a file that is none, is not whole or breaks a rule, and WrongStanding when the
        tribe, or its name, is there already or the export does not fit this database.
        """
        with self._link.own_connection() as connection:
            return restore_tribe(connection, lines, name=name, progress=progress)

    def export_evidence(self, tribe: str, folder: Path) -> Carried:
        """Keeps the bytes of a tribe's evidence files in a folder. Safe to kill and to repeat: what is there and whole stays."""
        return self._carried(tribe, folder, carry_out)

    def restore_evidence(self, tribe: str, folder: Path) -> Carried:
        """Keeps the bytes that a folder holds of a tribe's evidence files where they belong here. Safe to kill and to repeat."""
        return self._carried(tribe, folder, carry_in)

    def _carried(self, tribe: str, folder: Path, carry: Carrying) -> Carried:
        with self._link.transaction() as connection:
            tribe_id = self._tribe(connection, tribe).tribe_id
            files = files_of(connection, tribe_id)
        return carry(tribe_id, files, self._evidence, folder)

    def after_restore(self, tribe: str, *, ticks: int = LOST_TICKS) -> SteppedBack:
        """Has a tribe of a database that was restored from a backup go on from a tick that nobody was given before.

        `ticks` is at least as many as were lost. No other commit gets them: whoever asks for one is told that it was lost, and a
        receipt of one is `unknown`. Actions that were under way are in doubt; people sign in anew. Safe to repeat.
        """
        if not 1 <= ticks <= MOST_LOST_TICKS:
            raise InvalidRequest("ticks", f"must be from 1 to {MOST_LOST_TICKS}")
        with self._link.transaction() as connection:
            found = self._tribe(connection, tribe)
            row = connection.execute(
                statement("access", "after_restore"), {"tribe_id": found.tribe_id, "ticks": ticks}
            ).fetchone()
        before, tick, in_doubt, sessions = cast(tuple[int, int, int, int], row)
        return SteppedBack(tribe=found.name, before=before, tick=tick, in_doubt=in_doubt, sessions=sessions)

    def record_evaluation(self, run: EvaluationRun) -> None:
        """Keeps what a run of the evals found; the same run again changes nothing."""
        parameters = {"run_id": run.run_id, "at": run.at, "commit": run.commit, "tier": run.tier}
        found = [asdict(one) for one in run.found]
        with self._link.transaction() as connection:
            connection.execute(
                statement("evaluations", "record"), parameters | {"models": Jsonb(dict(run.models)), "found": Jsonb(found)}
            )

    def evaluations(self, *, limit: int = 20) -> tuple[EvaluationRun, ...]:
        """Returns the newest runs of the evals, newest first."""
        with self._link.transaction() as connection:
            row = connection.execute(statement("evaluations", "latest"), {"limit": limit}).fetchone()
        return rows.evaluation_runs(cast(tuple[object], row)[0])

    def close(self) -> None:
        self._link.close()
        self._database.close()
        self._on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _members(self, connection: psycopg.Connection, tribe: Tribe) -> Members:
        return Members(connection=connection, tribe_id=tribe.tribe_id, tribe=tribe.name, now=self._now, cell=self._cell)

    def _locked(self, connection: psycopg.Connection, name: str) -> Tribe:
        """Returns a tribe that no curator manages until the transaction ends: what is counted stays so."""
        self._tribe(connection, name)
        row = connection.execute(statement("access", "lock_tribe"), {"name": name}).fetchone()
        return _tribe(cast(tuple[object, ...], row))

    def _tribe(self, connection: psycopg.Connection, name: str) -> Tribe:
        row = connection.execute(statement("access", "tribe"), {"name": name}).fetchone()
        if row is None:
            raise NotFound(f"there is no tribe named '{name}'; 'tributary tribe list' shows those that there are")
        return _tribe(row)


def _tribe(row: tuple[object, ...]) -> Tribe:
    tribe_id, name, clock, created_at = cast(tuple[UUID, str, int, datetime], row)
    return Tribe(tribe_id=tribe_id, name=name, clock=clock, created_at=created_at)
