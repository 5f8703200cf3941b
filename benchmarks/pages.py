"""What a page of the dashboard costs in a large tribe: the server's time, the statements that it waits for, and its weight."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.testclient import TestClient

from benchmarks.figures import Figure, Measured, Samples, Target
from benchmarks.ground import Tribe
from benchmarks.listening import overheard_memory
from benchmarks.progress import Progress
from benchmarks.recall import Town
from tributary.core import ids
from tributary.core.agent import Role
from tributary.core.status import Observation
from tributary.edges.dashboard.app import make_app
from tributary.edges.dashboard.port import Setup
from tributary.edges.dashboard.table import PAGES
from tributary.service import Memory

CALLS = 15
MOST_MS = 100.0
MOST_STATEMENTS = 5
FIRST_LOAD_BYTES = 150_000


@dataclass(frozen=True, kw_only=True)
class _Found:
    """One page as it was answered again and again."""

    times: Samples
    page_bytes: int


class _NoProber:
    """Sees nothing: how the database stands is looked at once in some seconds, beside the pages."""

    def databases(self) -> tuple[Observation, ...]:
        return ()


def measure(town: Town, progress: Progress) -> Measured:
    """Asks for every page of the menu, a lesson and a search, as a curator of the large tribe and of a small one."""
    progress.step("timing the dashboard's pages")
    large, small = town.large, town.small[0]
    tokens = {tribe.name: town.ground.operator.create_agent(tribe.name, "pages", Role.CURATOR).secret for tribe in (large, small)}
    with town.ground.memory(town.stock()) as memory:
        taken = {tribe.name: _timed(memory, tokens[tribe.name], _paths(town, tribe, memory)) for tribe in (large, small)}
        assets = _assets(memory, tokens[large.name])
    statements = _statements(town, tokens[large.name])
    lessons = town.ground.vectors_of(large)
    figures = [
        Figure(
            name=f"page: {name}",
            value=found.times.median,
            p95=found.times.p95,
            unit="ms",
            reference=taken[small.name][name].times.median,
            beside=f"the same of a tribe of {town.ground.vectors_of(small):,}",
            note=f"{statements[name]} statements, {found.page_bytes / 1000:.0f} KB",
            details={"samples": found.times.document()},
        )
        for name, found in taken[large.name].items()
    ]
    slowest = max(taken[large.name].items(), key=lambda one: one[1].times.median)
    busiest = max(statements.items(), key=lambda one: one[1])
    heaviest = max(found.page_bytes for found in taken[large.name].values())
    return Measured(
        figures=(
            *figures,
            Figure(
                name=f"pages: the slowest at {lessons:,} lessons",
                value=slowest[1].times.median,
                p95=slowest[1].times.p95,
                unit="ms",
                target=Target(bound=MOST_MS),
                note=f"{slowest[0]}; the server's whole time, as a browser without scripts waits for it",
            ),
            Figure(
                name="pages: the most statements that one waits for",
                value=float(busiest[1]),
                target=Target(bound=MOST_STATEMENTS),
                note=f"{busiest[0]}; whose session it is among them",
            ),
            Figure(
                name="pages: the first load",
                value=(heaviest + assets) / 1000,
                unit="KB",
                target=Target(bound=FIRST_LOAD_BYTES / 1000),
                note=f"the heaviest page with style, script and icon of {assets / 1000:.0f} KB, not compressed",
            ),
        ),
        distributions={f"page: {name}": found.times.values for name, found in taken[large.name].items()},
    )


def _paths(town: Town, tribe: Tribe, memory: Memory) -> dict[str, str]:
    """Returns what is asked for by what it is called: the menu, a lesson, and a search."""
    (newest, *_) = memory.lessons(tribe.curator, limit=1).lessons
    query = town.material.queries[0].replace(" ", "+")
    menu = {str(page.title): page.path for page in PAGES if page.title is not None}
    return menu | {
        "a lesson": f"/lessons/{ids.show(ids.Prefix.LESSON, newest.lesson_id)}",
        "a search": f"/lessons?query={query}",
        "a search as of then": f"/time-travel?query={query}&at=1",
        "what changed in 100 ticks": f"/time-travel?from={max(0, newest.learned.tick - 100)}&at={newest.learned.tick}",
    }


@contextmanager
def _signed_in(memory: Memory, token: str) -> Iterator[TestClient]:
    app = make_app(_NoProber, lambda: memory, Setup(secure=False))
    with TestClient(app, follow_redirects=False) as client:
        if client.post("/sign-in", data={"token": token}).status_code != 303:
            raise RuntimeError("the curator cannot sign in")
        yield client


def _got(client: TestClient, path: str) -> int:
    """Returns the bytes of a page; raises RuntimeError when it is none."""
    response = client.get(path)
    if response.status_code != 200:
        raise RuntimeError(f"{path} answers {response.status_code}")
    return len(response.content)


def _timed(memory: Memory, token: str, paths: dict[str, str]) -> dict[str, _Found]:
    found: dict[str, _Found] = {}
    with _signed_in(memory, token) as client:
        for name, path in paths.items():
            page_bytes = _got(client, path)
            times: list[float] = []
            for _ in range(CALLS):
                began = time.perf_counter()
                _got(client, path)
                times.append((time.perf_counter() - began) * 1000)
            found[name] = _Found(times=Samples(values=times), page_bytes=page_bytes)
    return found


def _statements(town: Town, token: str) -> dict[str, int]:
    """Returns how often each page of the large tribe waits for the database, heard on the wire."""
    counted: dict[str, int] = {}
    with overheard_memory(town.ground, town.stock()) as (memory, spoken), _signed_in(memory, token) as client:
        for name, path in _paths(town, town.large, memory).items():
            _got(client, path)
            spoken.clear()
            _got(client, path)
            counted[name] = spoken.round_trips
    return counted


def _assets(memory: Memory, token: str) -> int:
    with _signed_in(memory, token) as client:
        page = client.get("/status").text
        names = {part.partition('"')[0] for part in page.split('="')[1:] if part.startswith("/assets/")}
        return sum(len(client.get(name).content) for name in names)
