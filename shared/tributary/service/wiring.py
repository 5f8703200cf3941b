"""From settings to a working Memory or Operator."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from tributary.access import Admission, Agents, Bookkeeper, Ledger, Pace, Sessions, Timekeeper, Turns, Usage
from tributary.actions import Actions
from tributary.core.clock import Now, utc_now
from tributary.core.costs import Budget
from tributary.core.errors import BadSetting
from tributary.core.evidence import EvidenceStore
from tributary.core.ports import Distiller, Embedder, Judge, LanguageModel, PendingNotice, Screen
from tributary.curate import Curator, Desk, check_words
from tributary.evidence import Files
from tributary.garden import Gardener, Keeping
from tributary.learn import Decider, Distilling, Learner, Telling
from tributary.recall import Chronicler, Comparer, Historian, Prober, Reader, Recaller, Signer, Statistician, Verifier, citations
from tributary.service.databases import Databases
from tributary.service.evidence import evidence_store
from tributary.service.logins import Logins, logins_of
from tributary.service.memory import Memory, ModelsUsed
from tributary.service.models import Models
from tributary.service.notices import pending_notice
from tributary.service.responding import Responding, ceilings_of, live_systems
from tributary.service.settings import Settings
from tributary.spaces import Choice, Embedders, Profiles
from tributary.store import Database, Reading, Target

if TYPE_CHECKING:
    from tributary.service.operator import Operator
    from tributary.store.embedded import EmbeddedPostgres

EMBEDDED_DATABASE = "tributary"


@dataclass(frozen=True, kw_only=True)
class Adapters:
    """Adapters to use instead of those that the settings name; for evals and tests that must steer one."""

    embedder: Embedder | None = None
    next_embedder: Embedder | None = None
    judge: Judge | None = None
    screen: Screen | None = None
    distiller: Distiller | None = None
    responder: LanguageModel | None = None
    notice: PendingNotice | None = None
    evidence: EvidenceStore | None = None
    now: Now = utc_now


def open_memory(settings: Settings, *, adapters: Adapters | None = None, models: Models | None = None) -> Memory:
    """Returns a Memory over the database and models that `settings` name.

    Nothing is connected or loaded until it is used, but for the embedded server, which is joined (or started) at once, and the
    client of the pending queue, which is made in the background: whoever needs it first has no time to wait for that. Of several
    cells it is the own one's alone (`cells.open_cells` has them all); `models` are theirs, to be shared. Raises BadSetting.
    """
    given = adapters or Adapters()
    models = models or Models(settings)
    server = _Server(settings)
    server.logins.serving()  # what was not set up is told at the start
    databases = Databases.of(server.target, server.logins.replica, limit=settings.connections, cell=settings.cell)
    database = databases.writer
    embedders = _embedders(settings, given, models, databases.current)
    profiles = Profiles(databases.current, embedders)
    signer = Signer(databases.current)
    screen = given.screen or models.screen
    pace = Pace(writes_per_minute=settings.writes_per_minute, writes_per_day=settings.writes_per_day)
    admission = Admission(database=database, pace=pace, now=given.now)
    timekeeper = Timekeeper(database, now=given.now)
    decider = Decider(
        database=database,
        judge=given.judge or models.judge,
        screen=screen,
        profiles=profiles,
        exact_limit=settings.exact_limit,
        on_judged=timekeeper.judged,
    )
    budget = Budget(calls_per_day=settings.budget_calls_per_day, usd_per_day=settings.budget_usd_per_day)
    ledger = Ledger(database, budget, now=given.now)
    learner = Learner(
        database=database,
        admission=admission,
        decider=decider,
        cite=partial(citations, signer),
        telling=Telling(notice=given.notice or pending_notice(settings)),
        now=given.now,
    )
    recaller = Recaller(
        database=databases.reading,
        profiles=profiles,
        signer=signer,
        now=given.now,
        exact_limit=settings.exact_limit,
        scan_budget_ms=settings.scan_budget_ms,
    )
    store = given.evidence or evidence_store(settings)
    return Memory(
        cell=settings.cell,
        databases=databases,
        learner=learner,
        distilling=Distilling(admission=admission, distiller=given.distiller or models.distiller, now=given.now),
        curate=Curator(database=database, admission=admission, learner=learner, screen=screen, ledger=ledger, now=given.now),
        desk=Desk(database=database, signer=signer, now=given.now),
        actions=Actions(
            database=database,
            reading=databases.current,
            admission=admission,
            learner=learner,
            check_words=partial(check_words, screen),
            signer=signer,
            ledger=ledger,
            now=given.now,
        ),
        gardener=Gardener(
            database=database,
            learner=learner,
            exact_limit=settings.exact_limit,
            ledger=ledger,
            keeping=Keeping(replies=timedelta(days=settings.idempotency_days)),
            evidence=store,
            now=given.now,
        ),
        files=Files(
            database=database,
            reading=databases.current,
            admission=admission,
            store=store,
            most_bytes=settings.evidence_mb * 1_000_000,
            now=given.now,
        ),
        agents=Agents(database=database, now=given.now, cell=settings.cell),
        sessions=Sessions(database=database, now=given.now, cell=settings.cell),
        signer=signer,
        recaller=recaller,
        verifier=Verifier(recaller=recaller, signer=signer),
        history=Historian(database=database, signer=signer, longest_wait_s=settings.changes_wait_s or 0, now=given.now),
        reader=Reader(database=databases.reading, signer=signer, now=given.now),
        comparer=Comparer(database=databases.reading, signer=signer, now=given.now),
        usage=Usage(database, now=given.now),
        timekeeper=timekeeper,
        ledger=ledger,
        responding=Responding(
            model=given.responder or models.responder,
            turns=Turns(database=database, ceilings=ceilings_of(settings), now=given.now),
            live=live_systems(settings),
            charged=lambda principal: ledger.on(principal.tribe_id, principal.agent_id),
        ),
        bookkeeper=Bookkeeper(database=databases.current, budget=budget, now=given.now),
        statistician=Statistician(database=databases.reading, now=given.now),
        chronicler=Chronicler(database=databases.reading, now=given.now),
        prober=Prober(
            writer=database,
            replica=databases.replica,
            reading=databases.reading,
            recaller=recaller,
            embedder=embedders.first,
            exact_limit=settings.exact_limit,
            gardened_every=timedelta(seconds=settings.garden_every_s),
        ),
        warm_up=_warm_up(embedders.first),
        used=lambda: _used(given, models),
        on_close=server.leave,
    )


def open_operator(settings: Settings, *, adapters: Adapters | None = None) -> Operator:
    """Returns the operator's side; joins the embedded server when the settings name no database. Raises BadSetting."""
    from tributary.service.operator import Operator

    given = adapters or Adapters()
    server = _Server(settings)
    owner = server.logins.owner()
    database = Database(owner, limit=1)
    return Operator(
        owner=owner,
        login=server.logins.migrating(),
        database=database,
        embedders=_embedders(settings, given, Models(settings), database),
        exact_limit=settings.exact_limit,
        cell=settings.cell,
        evidence=given.evidence or evidence_store(settings),
        now=given.now,
        on_close=server.leave,
    )


class _Server:
    """Where the database is: the URLs given, or the embedded server."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedded: EmbeddedPostgres | None = None
        self._lock = threading.Lock()
        given = logins_of(settings)
        if given is None:
            self._embedded = join_embedded(settings)
            given = Logins.in_one(self._embedded.url(database=EMBEDDED_DATABASE))
        self.logins = given

    def target(self) -> Target:
        """Returns where to open the next connection; an embedded server that was killed meanwhile is started again first."""
        with self._lock:
            if self._embedded is not None:
                # joining a running server is cheap, and connections are seldom opened
                again = join_embedded(self._settings)
                self._embedded.close()
                self._embedded = again
        return self.logins.serving()

    def leave(self) -> None:
        with self._lock:
            if self._embedded is not None:
                self._embedded.close()
                self._embedded = None


def join_embedded(settings: Settings) -> EmbeddedPostgres:
    """Returns a membership in the embedded server of the settings' home, with the database in it; raises BadSetting."""
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


def _embedders(settings: Settings, given: Adapters, models: Models, database: Reading) -> Embedders:
    """Returns the embedders that the settings, or a test, set up. None is loaded yet; raises BadSetting."""
    following = given.next_embedder or models.next_embedder
    return Embedders(
        database,
        Choice(value=settings.embedder, embedder=given.embedder or models.embedder),
        None if following is None else Choice(value=settings.next_embedder or "given", embedder=following),
    )


def _used(given: Adapters, models: Models) -> ModelsUsed:
    strong = models.strong_judge if given.judge is None else None
    distiller = given.distiller or models.distiller
    return ModelsUsed(
        judge=(given.judge or models.cheap_judge).version,
        strong_judge=None if strong is None else strong.version,
        screen=(given.screen or models.screen).version,
        embedder=(given.embedder or models.embedder).space.name,
        distiller=None if distiller is None else distiller.version,
    )


def _warm_up(embedder: Embedder) -> Callable[[], None]:
    def warm() -> None:
        embedder.embed(["warm"])

    return warm
