"""The table of benches: what each tells, what it needs, how long it takes, and in which target it is run.

They are run in this order. Those that share a database stand together, and `narrowed` comes last of its own, since it ends
lessons.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from benchmarks import footprint, growth, learn, million, narrowed, pages, recall, serializable, writers
from benchmarks.figures import Measured
from benchmarks.running import Bench
from benchmarks.stage import Stage

TOWN, GROWN = "town", "grown"


def _apart(module: str) -> Callable[[Stage], Measured]:
    """Returns a bench that takes nothing of the stage. Its module is imported when it is run: what it needs may not be there."""

    def measure(stage: Stage) -> Measured:
        measured: Measured = importlib.import_module(f"benchmarks.{module}").measure(stage.progress)
        return measured

    return measure


def _footprint(stage: Stage) -> Measured:
    with stage.ground() as ground:
        return footprint.measure(ground, stage.material, stage.progress)


BENCHES = (
    Bench(
        name="recall",
        tells="recall beside the plain vector query in a tribe of 100,000: time, growth, round trips, what it finds",
        minutes=1.5,
        shares=TOWN,
        measure=lambda stage: recall.measure(stage.town, stage.progress),
    ),
    Bench(
        name="learn",
        tells="learn without a model: round trips, work under the gate, a tribe of 100,000 beside one of 1,000",
        minutes=0.3,
        shares=TOWN,
        measure=lambda stage: learn.measure(stage.town.ground, stage.town.material, stage.town.large, stage.progress),
    ),
    Bench(
        name="pages",
        tells="every page of the dashboard in a tribe of 100,000",
        minutes=1,
        shares=TOWN,
        full=True,
        measure=lambda stage: pages.measure(stage.town, stage.progress),
    ),
    Bench(
        name="narrowed",
        tells="recall under filters, as of the past, and of 32 readers at once",
        minutes=2,
        shares=TOWN,
        full=True,
        measure=lambda stage: narrowed.measure(stage.town, stage.progress),
    ),
    Bench(
        name="growth",
        tells="recall and learn beside plain SQL while one tribe grows: to 100,000 lessons, with --full to a million",
        minutes=2,
        shares=GROWN,
        measure=lambda stage: growth.measure(stage.grown, stage.most, stage.progress),
    ),
    Bench(
        name="million",
        tells="recall in one tribe of a million, what its index finds and takes to build",
        needs="8 GB of memory",
        minutes=25,
        shares=GROWN,
        full=True,
        measure=lambda stage: million.measure(stage.grown, stage.most, stage.progress),
    ),
    Bench(
        name="contention",
        tells="1 to 64 writers in one tribe, over many, and beside 32 readers",
        minutes=2.5,
        measure=writers.measure,
    ),
    Bench(
        name="serializable",
        tells="learn under the gate beside the first generation's SERIALIZABLE transactions, and what each lets through",
        minutes=2.5,
        measure=serializable.measure,
    ),
    Bench(name="memory", tells="resident memory of the server, a function and the SDK", minutes=0.7, measure=_apart("memory")),
    Bench(name="import", tells="CPU time of importing the functions' handlers", minutes=0.5, measure=_apart("handler_import")),
    Bench(
        name="coldstart",
        tells="cold and warm times of recall in Lambda's own runtime",
        needs="PgBouncer (make system-deps), a package index",
        minutes=3,
        full=True,
        measure=_apart("coldstart"),
    ),
    Bench(
        name="embedding",
        tells="a sentence's embedding beside the bare model, and memory over 1,000 of them",
        minutes=0.5,
        measure=_apart("embedding"),
    ),
    Bench(name="judging", tells="the local screen and judge", minutes=0.3, measure=_apart("models")),
    Bench(
        name="peers",
        tells="the same work by other memories on PostgreSQL (benchmarks/peers)",
        needs="what make bench-peers installs",
        minutes=5,
        full=True,
        measure=_apart("peers"),
    ),
    Bench(
        name="footprint",
        tells="bytes of a lesson and of a tribe, table by table; other tribes' indexes beside a small tribe",
        minutes=3,
        full=True,
        measure=_footprint,
    ),
)
