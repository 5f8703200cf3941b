"""The status panel: from observations of the databases to lamps, each with a cause and what to do. Pure, and of no tribe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tributary.core.status import About, Observation, State, Unseen

_NAMES = {About.WRITER: "Database", About.READER: "Read replica"}
_FAILING = {
    "server_version": "server_too_old",
    "pgvector_version": "pgvector_too_old",
    "schema_revision": "not_migrated",
    "oldest_code": "code_too_old",
    "lag_s": "replica_behind",
}
"""What is wrong when a check's value breaks its rule."""
_NOWHERE_RECORDED = (Unseen.NOT_RECORDED, "never_gardened")


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What a cause means, and what to do about it."""

    means: str
    to_do: str


ADVICE: Mapping[str, Advice] = {
    "bad_setting": Advice(
        means="A setting is missing or malformed, so nothing could be looked at.",
        to_do="Look the setting up in this service's log, put it right, and deploy again.",
    ),
    "unavailable": Advice(
        means="The secret with the settings cannot be read now, so nothing could be looked at.",
        to_do="Look at the log; can this service's network reach Secrets Manager?",
    ),
    "unreachable": Advice(
        means="No connection to it could be opened.",
        to_do="Is it running, and does its security group let this service in? One that sleeps when idle takes half a minute.",
    ),
    "timed_out": Advice(
        means="It did not answer in time.", to_do="Look again; if it stays so, look at its load and connections."
    ),
    "no_answer": Advice(means="Nothing can be told while it does not answer.", to_do="See to that first."),
    "not_permitted": Advice(
        means="The login of this service may not look.", to_do="Run the migration of this version: it grants what is needed."
    ),
    "not_migrated": Advice(
        means="It has no schema that this version can use.",
        to_do="Invoke the function 'migrate', or run: tributary migrate",
    ),
    "code_too_old": Advice(
        means="Its schema serves newer code only.", to_do="Deploy the newest version of this service, or roll none back so far."
    ),
    "server_too_old": Advice(means="PostgreSQL 15 or newer is needed.", to_do="Upgrade the database's engine."),
    "pgvector_too_old": Advice(
        means="pgvector 0.8 or newer is needed.", to_do="Upgrade the engine if need be, then: ALTER EXTENSION vector UPDATE"
    ),
    "takes_no_writes": Advice(
        means="What should take writes is a replica.",
        to_do="After a failover, the address of the writer must lead to the new one; look at the database URL.",
    ),
    "no_replica": Advice(
        means="What should be a replica takes writes itself.",
        to_do="Was it promoted? Then its answers may contradict the writer's: unset the reader URL.",
    ),
    "replica_behind": Advice(
        means="It is more than a minute behind the writer; recalls that need more go to the writer.",
        to_do="Look at its load and at long transactions.",
    ),
    "not_recorded": Advice(
        means="The database itself does not say it.",
        to_do="On Aurora, look at the metric AuroraReplicaLag.",
    ),
    "no_vector_search": Advice(
        means="Recalls are answered by terms and subjects alone, and their receipts say so.",
        to_do="See to the model and its space first.",
    ),
    "recall_failed": Advice(
        means="A recall that was tried just now ended in an error.",
        to_do="Look at this service's log: it tells which.",
    ),
    "embedder_failed": Advice(
        means="The model that makes vectors gives none, so recalls find by terms and subjects alone.",
        to_do="Look at its settings, and at this service's log.",
    ),
    "other_space": Advice(
        means="The tribe is searched in another space than the one that the model here makes vectors for.",
        to_do="Set the model of the tribe's space, or move the tribe: docs/spaces.md tells how.",
    ),
    "no_serving_space": Advice(
        means="The tribe is served from no space, so nothing is found by vector.",
        to_do="Make one, and switch to it: docs/spaces.md tells how.",
    ),
    "no_tribe": Advice(
        means="The database that was asked knows no such tribe.",
        to_do="Is a replica far behind, or does the setting of the database lead elsewhere?",
    ),
    "without_vector": Advice(
        means="Some believed lessons have no vector in the space that serves: by vector they are not found.",
        to_do="The gardener embeds them; if it stays so, does it run, and does the model answer it?",
    ),
    "no_index": Advice(
        means="The tribe outgrew exact search and has no valid index of its own: it is still searched exactly, and slower.",
        to_do="Have it built by whoever owns the database: tributary tribe index",
    ),
    "index_unused": Advice(
        means="The database does not plan recalls with the tribe's index, so that path cannot be used.",
        to_do="Run ANALYZE on tributary.lesson_vector, and look again.",
    ),
    "clock_ahead": Advice(
        means="The tribe's clock is ahead of the wall clock, as it is after a host's clock was wrong.",
        to_do="Nothing is lost: it waits until the wall clock has caught up. See to the host's clock.",
    ),
    "never_gardened": Advice(
        means="The gardener has ended no run in this tribe yet.",
        to_do="Wait for its next one; if none comes, is it scheduled? docs/runbook.md tells where to look.",
    ),
    "gardener_absent": Advice(
        means="The gardener has ended no run in this tribe for two of its periods: pending lessons, retries and evictions wait.",
        to_do="Is its schedule on, or 'tributary serve' running? See gardener-absent in docs/runbook.md.",
    ),
    "gardener_failing": Advice(
        means="Something failed in the gardener's last run in this tribe; the table below says which rule, and with which code.",
        to_do="It is tried again at the next run; if it stays so, look the code up in docs/errors.md, and at the gardener's log.",
    ),
    "not_asked": Advice(
        means="The memory could not be asked, so nothing can be told of the tribe.",
        to_do="Look again in a moment; what the databases' lamps say comes first.",
    ),
    "failed": Advice(means="The database refused the question.", to_do="Look at its log."),
    "internal": Advice(means="Looking failed in a way that nobody foresaw.", to_do="Report the traceback in this service's log."),
}
"""Every cause that a lamp can have."""


@dataclass(frozen=True, kw_only=True)
class Lamp:
    """One thing that an operator can rely on, or not. `cause` is None exactly when it is ok."""

    title: str
    state: State
    cause: str | None = None

    @property
    def advice(self) -> Advice | None:
        return None if self.cause is None else ADVICE[self.cause]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """All lamps. `serves` tells whether any database was reached whose schema serves this code."""

    lamps: tuple[Lamp, ...]
    serves: bool
    has_replica: bool = False

    @property
    def state(self) -> State:
        """The worst of its lamps; what no database has recorded yet makes nothing worse."""
        states = {lamp.state for lamp in self.lamps if lamp.cause not in _NOWHERE_RECORDED}
        return next((state for state in (State.NOT_OK, State.UNKNOWN) if state in states), State.OK)

    @property
    def causes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(lamp.cause for lamp in self.lamps if lamp.cause and lamp.state is not State.OK))


def panel_of(observations: Sequence[Observation]) -> Panel:
    """Returns the panel for what was seen of the writer and, where one is set up, of its replica."""
    lamps: list[Lamp] = []
    serves = False
    has_replica = any(seen.about is About.READER for seen in observations)
    for about in (About.WRITER, About.READER) if has_replica else (About.WRITER,):
        seen = {one.check: one for one in observations if one.about is about}
        reached, schema = _reached(about, seen), _lamp(about, "schema fits", seen, ("schema_revision", "oldest_code"))
        serves = serves or (reached.state is State.OK and schema.state is State.OK)
        role = "takes writes" if about is About.WRITER else "is a replica"
        versions = _lamp(about, "versions fit", seen, ("server_version", "pgvector_version"))
        others = [versions, _lamp(about, role, seen, ("recovery",)), schema]
        if about is About.READER:
            others.append(_lamp(about, "keeps up", seen, ("lag_s",)))
        if reached.cause is not None:  # said once, and of the one thing that is to be done something about
            others = [replace(lamp, state=State.UNKNOWN, cause="no_answer") for lamp in others]
        lamps += [reached, *others]
    return Panel(lamps=tuple(lamps), serves=serves, has_replica=has_replica)


def blind(cause: str, *, state: State = State.NOT_OK) -> Panel:
    """Returns the panel for when nothing could be looked at."""
    known = cause if cause in ADVICE else "internal"
    return Panel(lamps=(Lamp(title="Looking at the database", state=state, cause=known),), serves=False)


def _reached(about: About, seen: Mapping[str, Observation]) -> Lamp:
    """A database that answers anything, be it a refusal, was reached."""
    causes = {one.cause for one in seen.values()}
    title = f"{_NAMES[about]} answers"
    for cause, state in ((Unseen.UNREACHABLE, State.NOT_OK), (Unseen.TIMED_OUT, State.UNKNOWN)):
        if causes == {cause}:
            return Lamp(title=title, state=state, cause=cause.value)
    return Lamp(title=title, state=State.OK)


def _lamp(about: About, what: str, seen: Mapping[str, Observation], checks: Sequence[str]) -> Lamp:
    title = f"{_NAMES[about]}: {what}"
    found = [seen[check] for check in checks]
    for one in found:
        if one.state is State.NOT_OK:
            wrong = "takes_no_writes" if about is About.WRITER else "no_replica"
            return Lamp(title=title, state=State.NOT_OK, cause=_FAILING.get(one.check, wrong))
    for one in found:
        if one.cause is not None:
            state = State.NOT_OK if one.cause is Unseen.NOT_MIGRATED else State.UNKNOWN
            return Lamp(title=title, state=state, cause=one.cause.value)
    return Lamp(title=title, state=State.OK)
