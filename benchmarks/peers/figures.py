"""What a run means: each line a measure, each contender's figure beside plain SQL's in the same run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.figures import Figure, Measured, Samples
from benchmarks.peers.bench import ALONE, FILTERS, LIMIT, MANY, ROUNDS, UPDATES, WRITERS, Run, Seen

REFERENCE = "sql"
TITLES = {"sql": "plain SQL", "tributary": "Tributary", "mem0": "mem0", "langgraph": "langgraph PostgresStore"}
BY = ("its author", "another")


@dataclass(frozen=True, kw_only=True)
class Line:
    """One measure. `note` tells of one contender what a reader must know to trust its figure."""

    name: str
    value: Callable[[Seen], float]
    unit: str = ""
    p95: Callable[[Seen], float] | None = None
    note: Callable[[Seen], str] = lambda _: ""


def lines(run: Run) -> list[Line]:
    """Returns the measures in the order of the table."""
    return [
        Line(
            name="adds, 1 writer",
            value=lambda seen: max(seen.alone),
            unit="/s",
            note=lambda seen: f"{ALONE} a round, best of {ROUNDS}; {outcomes(seen)}",
        ),
        Line(name=f"adds, {WRITERS} writers at once", value=lambda seen: max(seen.together), unit="/s", note=outcomes),
        *(_timed(name) for name in FILTERS),
        Line(name=f"searches, {WRITERS} readers at once", value=lambda seen: max(seen.reads), unit="/s"),
        *(_found(f"recall@{LIMIT}", name, "found") for name in FILTERS),
        *(_found(f"recall@{LIMIT} of those at least {run.floor:g} similar", name, "found_of_alike") for name in FILTERS),
        *(_found(f"the {LIMIT} nearest among {MANY} answers", name, "found_among_many") for name in FILTERS),
        Line(
            name=f"rows left of {WRITERS} equal adds at once",
            value=lambda seen: sum(seen.rows_of_equal) / len(seen.rows_of_equal),
            note=lambda seen: (
                f"mean over {len(seen.rows_of_equal)} texts, {min(seen.rows_of_equal)} to {max(seen.rows_of_equal)}"
            ),
        ),
        *(_updates(by) for by in BY),
    ]


def measured(run: Run) -> Measured:
    """Returns every measure of Tributary and the peers with plain SQL's as the reference."""
    plain = run.of(REFERENCE)
    figures = [
        Figure(
            name=f"{TITLES[seen.name]}: {line.name}",
            value=line.value(seen),
            unit=line.unit,
            p95=None if line.p95 is None else line.p95(seen),
            reference=line.value(plain),
            beside="plain SQL",
            note=line.note(seen),
        )
        for line in lines(run)
        for seen in run.seen
        if seen.name != REFERENCE
    ]
    return Measured(figures=tuple(figures), distributions=dict(_distributions(run)))


def outcomes(seen: Seen) -> str:
    """Says what became of all that was added alone and together."""
    return ", ".join(f"{count:,} {outcome}" for outcome, count in seen.outcomes.most_common())


def _distributions(run: Run) -> Iterator[tuple[str, list[float]]]:
    for name in FILTERS:
        for seen in run.seen:
            yield f"{TITLES[seen.name]}, filter: {name}", seen.searched[name].ms


def _timed(name: str) -> Line:
    def samples(seen: Seen) -> Samples:
        return Samples(values=seen.searched[name].ms)

    return Line(
        name=f"search, filter: {name}",
        value=lambda seen: samples(seen).median,
        unit="ms",
        p95=lambda seen: samples(seen).p95,
        note=lambda seen: f"every call; {seen.searched[name].through_hnsw:.2f} HNSW scans a search",
    )


def _found(what: str, name: str, share: str) -> Line:
    return Line(name=f"{what}, filter: {name}", value=lambda seen: float(getattr(seen.searched[name], share)))


def _updates(by: str) -> Line:
    def note(seen: Seen) -> str:
        left = seen.updated[by]
        if left.both == UPDATES:
            return "nobody is asked to judge: both sides stay"
        return f"only the newer {left.newer}, only the older {left.older}, neither {left.neither}; {left.marked} of both marked"

    return Line(
        name=f"{UPDATES} contradicting updates by {by}: both sides believed", value=lambda seen: seen.updated[by].both, note=note
    )
