"""The recall function in Lambda's own runtime, from the built layer: its cold start and its warm answers.

Starts are told by the emulator's own report, and take turns: the function, and one that only imports what it stands on. A warm
answer is timed from outside, over HTTP, and what its receipt says of the database is taken off; the query's vector is kept from
an earlier one, since what a model over a wire takes is not the function's. Needs PgBouncer (make system-deps).
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure, Measured, Samples, Target
from benchmarks.handler_import import BASELINE
from benchmarks.progress import Progress
from tests.contract.event_tribe import settle
from tests.contract.samples import LEARN, event_of
from tests.contract.test_events import EVENTS, load
from tests.infra.lambda_kit import built_layer, described
from tests.infra.lambda_runtime import Emulated
from tests.infra.lambda_surroundings import Environment, behind_pooler, hosted_models, owner
from tributary.edges.lambda_http.port import Event
from tributary.service import Settings
from tributary.store import Target as Database
from tributary.store.embedded import EmbeddedPostgres
from tributary.store.migrate import migrate

STARTS = 7
RECALLS = 200
LESSONS = 100
WARM_UP = 20
LONGEST_START = Target(bound=1.5)
MOST_OVER_DATABASE = Target(bound=20.0)


def measure(progress: Progress) -> Measured:
    progress.step("building the layer")
    with tempfile.TemporaryDirectory(prefix="coldstart") as name, _place(Path(name) / "home") as place:
        bare, plain = Path(name) / "bare", Path(name) / "plain"
        bare.mkdir()
        (bare / "handler.py").write_text(f"{BASELINE}\n\ndef handler(event, context):\n    return {{}}\n")
        Path(name).chmod(0o755)
        shutil.copytree(built_layer(), plain, ignore=shutil.ignore_patterns("__pycache__"))
        progress.step("starting functions")
        started: dict[str, list[float]] = {"recall": [], "bare": [], "plain": [], "first": []}
        for _ in range(STARTS):
            with Emulated("bare", {}, task=bare) as function:
                function({})
                started["bare"].append(function.init_ms)
            with Emulated("recall", place.environment, layer=plain) as function:
                function(event_of("GET", "/openapi.json"))
                started["plain"].append(function.init_ms)
            with Emulated("recall", place.environment) as function:
                began = time.perf_counter()
                function(event_of("GET", "/health"))
                started["first"].append((time.perf_counter() - began) * 1000)
                started["recall"].append(function.init_ms)
        progress.step("asking a warm function")
        with _asked(place) as (function, event):
            warm = [_over_database(function, event) for _ in range(WARM_UP + RECALLS)][WARM_UP:]
    return Measured(figures=_figures({name: Samples(values=values) for name, values in started.items()}, Samples(values=warm)))


def _figures(started: Mapping[str, Samples], warm: Samples) -> tuple[Figure, ...]:
    recall, bare, plain, first = (started[name] for name in ("recall", "bare", "plain", "first"))
    starts = f"{STARTS} starts; {described()}"
    return (
        Figure(
            name="cold start: init of recall",
            value=recall.median,
            p95=recall.p95,
            unit="ms",
            reference=bare.median,
            beside="init that imports psycopg, pydantic and the event handler alone",
            target=LONGEST_START,
            note=starts,
            details={"samples": recall.document(), "baseline": bare.document()},
        ),
        Figure(
            name="cold start: first answer",
            value=first.median,
            p95=first.p95,
            unit="ms",
            reference=recall.median,
            beside="its init; the rest connects and opens the memory",
            note=starts,
            details={"samples": first.document()},
        ),
        Figure(
            name="cold start: init without byte code",
            value=plain.median,
            p95=plain.p95,
            unit="ms",
            reference=recall.median,
            beside="init of recall as it is shipped",
            note=starts,
            details={"samples": plain.document()},
        ),
        Figure(
            name="warm recall, over its database time",
            value=warm.median,
            p95=warm.p95,
            unit="ms",
            target=MOST_OVER_DATABASE,
            note=f"{RECALLS} answers, over HTTP through the emulator, the query's vector kept",
            details={"samples": warm.document()},
        ),
    )


def _over_database(function: Emulated, event: Event) -> float:
    began = time.perf_counter()
    answer = function(event)
    took = (time.perf_counter() - began) * 1000
    return took - float(json.loads(answer["body"])["receipt"]["ms"]["database"])


@dataclass(frozen=True, kw_only=True)
class _Place:
    """`environment` is the function's, `owner` has the settings of the operator's side."""

    environment: Environment
    owner: Settings


@contextmanager
def _place(home: Path) -> Iterator[_Place]:
    with hosted_models() as models, EmbeddedPostgres.join(home) as server:
        migrate(Database(url=server.url()))
        with behind_pooler(server.url()) as pooler:
            yield _Place(environment={**models, **pooler}, owner=owner(server.url(), models))


@contextmanager
def _asked(place: _Place) -> Iterator[tuple[Emulated, Event]]:
    """Gives a running recall function, and a question to it of a tribe that has learned."""
    with (
        Emulated("authorizer", place.environment) as authorizer,
        Emulated("learn", place.environment) as learn,
        Emulated("recall", place.environment) as recall,
    ):
        tribe = settle(place.owner, authorizer=authorizer, learn=learn)
        for number in range(LESSONS):
            event = tribe.of(load(EVENTS / "learn" / "learn.json"))
            event["headers"].pop("idempotency-key")
            text = f"service-{number} listens on port {5000 + number}"
            event["body"] = json.dumps({**LEARN, "text": text, "situation": f"calling service-{number}"})
            learn(event)
        event = tribe.of(load(EVENTS / "recall" / "recall.json"))
        event["body"] = json.dumps({"query": "on which port does service-7 listen?"})
        yield recall, event
