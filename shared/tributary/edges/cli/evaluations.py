"""`tributary evaluations`: what evals found of the code and the models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.contract.limits import EVALUATION_RUNS
from tributary.edges.cli.doors import session
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.output import Output
from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from tributary.client import Evaluation
    from tributary.contract.activity import ConfusionReply, GenerationReply, MetricReply

_METRICS = (("suite", "left"), ("metric", "left"), ("value", "right"), ("95 % interval", "left"), ("cases", "right"))
_GENERATIONS = (("generation", "right"), ("tasks", "right"), ("steps with memory", "right"), ("without", "right"))


def evaluations(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=EVALUATION_RUNS, help="How many runs.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Show what evals found of the code and the models, newest run first.

    \b
    Example: tributary evaluations --limit 5
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        runs = memory.evaluations(limit=limit)
    if as_json:
        output.json({"runs": [one.model_dump(mode="json") for one in runs]})
        return
    if not runs:
        output.lines(["This database keeps no run of the evals (docs/evals.md)."])
    for run in runs:
        output.lines(list(_lines(run)))
        output.table(_METRICS, [_metric(one) for one in run.metrics])
        _show_more(output, run.confusion, run.generations)


def _lines(run: Evaluation) -> Iterator[str]:
    yield f"{moment(run.at)}, commit {shown(run.commit)}, {run.tier} tier"
    yield from (f"{shown(part)}: {shown(model or 'none')}" for part, model in sorted(run.models.items()))
    if run.tiers is not None:
        settled = f"{run.tiers.settled_by_cheap} of {run.tiers.pairs} pairs"
        yield f"settled by the cheap judge: {settled}; the strong one was asked about {run.tiers.strong_calls}"


def _metric(one: MetricReply) -> tuple[str, ...]:
    interval = "" if one.lower is None or one.upper is None else f"{one.lower:.3f} to {one.upper:.3f}"
    return (shown(one.suite), shown(one.metric), f"{one.value:.4f}", interval, str(one.n))


def _show_more(output: Output, confusion: ConfusionReply | None, generations: list[GenerationReply]) -> None:
    if confusion is not None:
        heads = [("label, answer:", "left"), *((shown(answer), "right") for answer in confusion.answers)]
        rows = zip(confusion.labels, confusion.counts, strict=True)
        output.table(heads, [(shown(label), *map(str, counts)) for label, counts in rows])
    if generations:
        output.table(
            _GENERATIONS,
            [
                (str(one.number), str(one.tasks), f"{one.steps_with_memory:.1f}", f"{one.steps_without:.1f}")
                for one in generations
            ],
        )
