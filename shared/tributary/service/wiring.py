"""From settings to a working Memory or Operator."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from tributary.access import Admission, Agents, Pace, Usage
from tributary.core.clock import Now, utc_now
from tributary.core.errors import BadSetting
from tributary.core.ports import Distiller, Embedder, Judge, Screen
from tributary.curate import Curator, Desk
from tributary.garden import Gardener, Keeping
from tributary.learn import Decider, Distilling, Learner
from tributary.recall import Historian, Prober, Reader, Recaller, Signer, Statistician, Verifier, citations
from tributary.service.databases import READER_TIMEOUT_S, Databases
from tributary.service.memory import Memory
from tributary.service.settings import Settings
from tributary.spaces import FIRST, NEXT, Choice, Embedders, Profiles
from tributary.store import OWNER, RUNTIME, Database, Reading, Target

if TYPE_CHECKING:
    from tributary.service.operator import Operator
    from tributary.store.embedded import EmbeddedPostgres

EMBEDDED_DATABASE = "tributary"


@dataclass(frozen=True, kw_only=True)
class Adapters:
    """Models to use instead of those that the settings name; for evals and tests that must steer one."""

    embedder: Embedder | None = None
    next_embedder: Embedder | None = None
    judge: Judge | None = None
    screen: Screen | None = None
    distiller: Distiller | None = None
    now: Now = utc_now


def open_memory(settings: Settings, *, adapters: Adapters | None = None) -> Memory:
    """Returns a Memory over the database and models that `settings` name.

    Nothing is connected or loaded until it is used, but for the embedded server, which is joined (or started) at once.
    Raises BadSetting.
    """
    given = adapters or Adapters()
    server = _Server(settings)
    databases = Databases.of(server.target, server.replica, limit=settings.connections)
    database = databases.writer
    embedders = _embedders(settings, given, databases.current)
    profiles = Profiles(databases.current, embedders)
    signer = Signer(databases.current)
    screen = given.screen or _screen()
    pace = Pace(writes_per_minute=settings.writes_per_minute, writes_per_day=settings.writes_per_day)
    admission = Admission(database=database, pace=pace, now=given.now)
    decider = Decider(
        database=database,
        judge=given.judge or _judge(),
        screen=screen,
        profiles=profiles,
        exact_limit=settings.exact_limit,
    )
    learner = Learner(database=database, admission=admission, decider=decider, cite=partial(citations, signer), now=given.now)
    recaller = Recaller(
        database=databases.reading,
        profiles=profiles,
        signer=signer,
        now=given.now,
        exact_limit=settings.exact_limit,
        scan_budget_ms=settings.scan_budget_ms,
    )
    return Memory(
        databases=databases,
        learner=learner,
        distilling=Distilling(admission=admission, distiller=given.distiller, now=given.now),
        curate=Curator(database=database, admission=admission, learner=learner, screen=screen, now=given.now),
        desk=Desk(database=database, signer=signer, now=given.now),
        gardener=Gardener(
            database=database,
            learner=learner,
            exact_limit=settings.exact_limit,
            keeping=Keeping(replies=timedelta(days=settings.idempotency_days)),
            now=given.now,
        ),
        agents=Agents(database=database, now=given.now),
        signer=signer,
        recaller=recaller,
        verifier=Verifier(recaller=recaller, signer=signer),
        history=Historian(database=database, signer=signer, longest_wait_s=settings.changes_wait_s or 0, now=given.now),
        reader=Reader(database=databases.reading, signer=signer, now=given.now),
        usage=Usage(database, now=given.now),
        statistician=Statistician(database=databases.reading, now=given.now),
        prober=Prober(
            writer=database,
            replica=databases.replica,
            reading=databases.reading,
            recaller=recaller,
            embedder=embedders.first,
            exact_limit=settings.exact_limit,
        ),
        warm_up=_warm_up(embedders.first),
        on_close=server.leave,
    )


def open_operator(settings: Settings, *, adapters: Adapters | None = None) -> Operator:
    """Returns the operator's side; joins the embedded server when the settings name no database. Raises BadSetting."""
    from tributary.service.operator import Operator

    given = adapters or Adapters()
    server = _Server(settings)
    database = Database(server.owner, limit=1)
    return Operator(
        owner=server.owner,
        login=server.login,
        database=database,
        embedders=_embedders(settings, given, database),
        exact_limit=settings.exact_limit,
        now=given.now,
        on_close=server.leave,
    )


class _Server:
    """Where the database is: the URLs given, or the embedded server."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedded: EmbeddedPostgres | None = None
        self._lock = threading.Lock()
        self.replica: Target | None = None
        if settings.database_url is not None:
            url = settings.database_url
            owner = settings.owner_url or url
            # with an owner's login of its own, the database URL is the runtime's: a pooler lets no role be assumed
            assume = None if settings.owner_url else RUNTIME
            self._runtime = Target(url=url, assume=assume)
            if settings.reader_url is not None:
                self.replica = Target(url=settings.reader_url, assume=assume, read_only=True, connect_timeout_s=READER_TIMEOUT_S)
        elif settings.reader_url is not None:
            raise BadSetting("TRIBUTARY_READER_URL: is set without TRIBUTARY_DATABASE_URL; set both")
        elif settings.owner_url is not None:
            raise BadSetting("TRIBUTARY_OWNER_URL: is set without TRIBUTARY_DATABASE_URL; set both")
        else:
            self._embedded = _join(settings)
            owner = url = self._embedded.url(database=EMBEDDED_DATABASE)
            self._runtime = Target(url=url, assume=RUNTIME)
        self.login = Target(url=owner)
        self.owner = Target(url=owner, assume=OWNER, statement_timeout_s=0)

    def target(self) -> Target:
        """Returns where to open the next connection; an embedded server that was killed meanwhile is started again first."""
        with self._lock:
            if self._embedded is not None:
                # joining a running server is cheap, and connections are seldom opened
                again = _join(self._settings)
                self._embedded.close()
                self._embedded = again
        return self._runtime

    def leave(self) -> None:
        with self._lock:
            if self._embedded is not None:
                self._embedded.close()
                self._embedded = None


def _join(settings: Settings) -> EmbeddedPostgres:
    import psycopg
    from psycopg import sql

    from tributary.store.embedded import EmbeddedPostgres

    if settings.home is None:
        raise BadSetting("TRIBUTARY_HOME: is needed for the embedded database; set it, or TRIBUTARY_DATABASE_URL")
    server = EmbeddedPostgres.join(settings.home, major=int(settings.postgres_major))
    made_before = suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation)
    with psycopg.connect(server.url(), autocommit=True) as connection, made_before:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(EMBEDDED_DATABASE)))
    return server


def _embedders(settings: Settings, given: Adapters, database: Reading) -> Embedders:
    """Returns the embedders that the settings, or a test, set up. None is loaded yet; raises BadSetting."""
    first = given.embedder or _embedder(
        FIRST, settings.embedder, model=settings.embedder_model, threads=settings.embedder_threads
    )
    following = given.next_embedder
    if following is None and settings.next_embedder is not None:
        following = _embedder(
            NEXT, settings.next_embedder, model=settings.next_embedder_model, threads=settings.next_embedder_threads
        )
    elif settings.next_embedder_model is not None:
        raise BadSetting(f"{NEXT}_MODEL: is set without {NEXT}; set both")
    return Embedders(
        database,
        Choice(value=settings.embedder, embedder=first),
        None if following is None else Choice(value=settings.next_embedder or "given", embedder=following),
    )


def _embedder(variable: str, chosen: str, *, model: str | None, threads: int) -> Embedder:
    if chosen == "minilm":
        from tributary.models.embedders import MiniLmEmbedder

        return MiniLmEmbedder(threads=threads)
    if chosen == "sentence-transformers":
        from tributary.models.embedders import SentenceTransformersEmbedder

        if model is None:
            raise BadSetting(f"{variable}_MODEL: must name a model or folder when {variable}=sentence-transformers")
        return SentenceTransformersEmbedder(model=model)
    raise BadSetting(f"{variable}: 'hash' is for tests only; use minilm or sentence-transformers")


def _judge() -> Judge:
    from tributary.models.judges import LocalJudge

    return LocalJudge()


def _screen() -> Screen:
    from tributary.models.screens import LocalScreen

    return LocalScreen()


def _warm_up(embedder: Embedder) -> Callable[[], None]:
    def warm() -> None:
        embedder.embed(["warm"])

    return warm
