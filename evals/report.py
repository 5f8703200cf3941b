"""A run as a reader gets it: a Markdown page with a picture, one JSON document, and tables for the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.baseline import Compared, Standing
from evals.bench import Tier
from evals.figures import Confusion, Measured, Metric, Sheet
from evals.purse import Bill

GUIDE = "[evals.md](../evals.md)"
METRIC_HEADS = ("metric", "value", "95 % interval", "n", "better")


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What ran: of which code, when, by which command and with which models."""

    tier: Tier
    at: datetime
    commit: str
    command: str
    models: Mapping[str, str | None]
    measured: tuple[Measured, ...]
    stopped: tuple[str, ...] = ()
    spent: str = ""
    bills: tuple[Bill, ...] = ()
    """What each model cost; none offline, where nothing is paid for."""


def written(value: float) -> str:
    """Returns a figure as every table has it."""
    return f"{value:.4f}"


def write(ran: Ran, folder: Path) -> Path:
    """Writes <tier>.md with its pictures into the folder, and returns the page."""
    from evals.pictures import draw  # noqa: PLC0415  (matplotlib is for whoever draws)

    folder.mkdir(parents=True, exist_ok=True)
    draw(ran.measured, folder / f"{ran.tier}.png", title=f"{ran.tier} evals at {ran.commit}")
    extra = {name: f"{ran.tier}-{name}.png" for one in ran.measured for name in one.pictures}
    for one in ran.measured:
        for name, drawn in one.pictures.items():
            drawn(folder / extra[name])
    page = folder / f"{ran.tier}.md"
    page.write_text(
        "\n".join(_page(ran, extra, guide=GUIDE if (folder.parent / "evals.md").is_file() else "docs/evals.md")) + "\n",
        encoding="utf-8",
    )
    return page


def document(ran: Ran) -> str:
    """Returns all figures as JSON."""
    suites = {
        one.suite: {
            "seconds": round(one.seconds, 1),
            "metrics": {metric.name: asdict(metric) for metric in one.metrics},
            "confusions": {
                of.title: {label: {answer: of.counts.get((label, answer), 0) for answer in of.answers} for label in of.labels}
                for of in one.confusions
            },
            "tables": {of.title: {"heads": of.heads, "rows": of.rows} for of in one.sheets},
            "wrong": [asdict(of) for of in one.wrong],
            "not_measured": dict(one.not_measured),
            "notes": one.notes,
        }
        for one in ran.measured
    }
    about = {"tier": ran.tier, "at": ran.at.isoformat(), "commit": ran.commit, "command": ran.command}
    bills = [_billed(one) for one in ran.bills]
    more = {"models": dict(ran.models), "spent": ran.spent, "bills": bills, "stopped": ran.stopped}
    return json.dumps(about | more | {"suites": suites}, indent=1) + "\n"


def _billed(bill: Bill) -> dict[str, object]:
    spent = bill.spent
    about = {"purpose": bill.purpose, "model": bill.model, "calls": spent.calls, "failed": spent.failed}
    tokens = {"input_tokens": bill.input_tokens, "output_tokens": bill.output_tokens}
    return about | tokens | {"usd": float(spent.cost_usd), "unpriced": spent.unpriced}


def _page(ran: Ran, extra: Mapping[str, str], *, guide: str) -> Iterator[str]:
    yield f"# Evals, {ran.tier} tier"
    yield ""
    yield f"Of commit `{ran.commit}`, at {ran.at:%Y-%m-%d %H:%M} UTC. Not written by hand, but by"
    yield ""
    yield "<!-- not run: takes long, and has a target of its own -->"
    yield from ("```sh", ran.command, "```")
    yield ""
    yield f"What each suite measures and how to read this: {guide}."
    yield ""
    yield from _table(model_sheet(ran))
    yield ""
    times = tuple((one.suite, "skipped" if not one.metrics else f"{one.seconds:.1f}") for one in ran.measured)
    total = ("all", f"{sum(one.seconds for one in ran.measured):.1f}")
    yield from _table(Sheet(title="", heads=("suite", "seconds"), rows=(*times, total)))
    yield ""
    for line in (*ran.stopped, *([ran.spent] if ran.spent else [])):
        yield line
        yield ""
    if ran.bills:
        yield from _table(bill_sheet(ran.bills))
        yield ""
    yield f"![Metrics with their intervals, and confusion matrices]({ran.tier}.png)"
    for one in ran.measured:
        yield from _suite(one, extra)


def _suite(one: Measured, extra: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield f"## {one.suite}"
    for prefix, why in one.not_measured.items():
        yield ""
        yield f"Not measured{f' ({prefix})' if prefix else ''}: {why}."
    for note in one.notes:
        yield ""
        yield note
    if one.metrics:
        yield ""
        yield from _table(_metric_sheet(one.metrics))
    for name in one.pictures:
        yield ""
        yield f"![{one.suite}]({extra[name]})"
    for confusion in one.confusions:
        yield ""
        yield from _titled(confusion_sheet(confusion))
    for sheet in one.sheets:
        yield ""
        yield from _titled(sheet)


def _titled(sheet: Sheet) -> Iterator[str]:
    yield f"### {sheet.title[:1].upper()}{sheet.title[1:]}"
    yield ""
    yield from _table(sheet)


def _table(sheet: Sheet) -> Iterator[str]:
    yield f"| {' | '.join(sheet.heads)} |"
    yield f"| {' | '.join('---' if at < sheet.numbers else '---:' for at in range(len(sheet.heads)))} |"
    for row in sheet.rows:
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |"


def _metric_sheet(metrics: Sequence[Metric]) -> Sheet:
    rows = tuple((f"`{one.name}`", written(one.value), _interval(one), str(one.n), one.better.value) for one in metrics)
    return Sheet(title="Metrics", heads=METRIC_HEADS, rows=rows)


def _interval(metric: Metric) -> str:
    return "" if metric.lower is None or metric.upper is None else f"{metric.lower:.3f} to {metric.upper:.3f}"


def confusion_sheet(confusion: Confusion) -> Sheet:
    """Returns the counts as a table: a row for each label, a column for each answer."""
    rows = tuple(
        (label, *(str(confusion.counts.get((label, answer), 0)) for answer in confusion.answers)) for label in confusion.labels
    )
    return Sheet(title=f"Confusion: {confusion.title}", heads=("label \\ answer", *confusion.answers), rows=rows)


def model_sheet(ran: Ran) -> Sheet:
    """Returns a table of what each part was."""
    rows = tuple((part.replace("_", " "), f"`{version}`") for part, version in ran.models.items() if version)
    return Sheet(title=f"The {ran.tier} tier at {ran.commit}", heads=("model", "version"), rows=rows, numbers=2)


def bill_sheet(bills: Sequence[Bill]) -> Sheet:
    """Returns a table of what each model cost, for which purpose."""
    heads = ("purpose", "model", "calls", "failed", "tokens in", "tokens out", "cost")
    rows = tuple(
        (
            one.purpose.replace("_", " "),
            f"`{one.model}`",
            *(f"{count:,}" for count in (one.spent.calls, one.spent.failed, one.input_tokens, one.output_tokens)),
            _cost(one),
        )
        for one in bills
    )
    return Sheet(title="What the models cost", heads=heads, rows=rows, numbers=2)


def _cost(bill: Bill) -> str:
    spent = bill.spent
    if spent.unpriced == spent.calls:
        return "price unknown"
    return f"${spent.cost_usd:.4f}" + (f" and {spent.unpriced} of unknown price" if spent.unpriced else "")


def show(console: Console, ran: Ran) -> None:
    """Prints which models ran, the metrics of every suite and its confusion matrices, and what the models cost."""
    _draw(console, model_sheet(ran))
    for one in ran.measured:
        for prefix, why in one.not_measured.items():
            console.print(f"{one.suite}{f' ({prefix})' if prefix else ''}: not measured, {why}", style="yellow", markup=False)
        if one.metrics:
            _draw(console, _metric_sheet(one.metrics), f"{one.suite}, {one.seconds:.1f} s")
        for confusion in one.confusions:
            _draw(console, confusion_sheet(confusion))
    if ran.bills:
        _draw(console, bill_sheet(ran.bills))
    for line in (*ran.stopped, *([ran.spent] if ran.spent else [])):
        console.print(line, markup=False)


def show_compared(console: Console, compared: Sequence[Compared]) -> None:
    """Prints what differs from the baseline, the worst last, and how much holds."""
    order = [Standing.NOT_MEASURED, Standing.NEW, Standing.IMPROVED, Standing.FEWER, Standing.MISSING, Standing.FELL]
    table = Table(box=box.SIMPLE_HEAD, title="Beside the baseline", title_justify="left", title_style="bold")
    for head in ("metric", "", "baseline", "found", "tolerance", "cases"):
        table.add_column(head, justify="left" if head in ("metric", "") else "right")
    for one in sorted((one for one in compared if one.standing in order), key=lambda one: order.index(one.standing)):
        expected, found = one.expected, one.found
        table.add_row(
            one.name,
            Text(one.standing + (f": {one.why}" if one.why else ""), style="bold red" if one.standing.fails else ""),
            written(expected.value) if expected else "",
            written(found.value) if found else "",
            f"{expected.tolerance:g}" if expected else "",
            f"{expected.n if expected else '-'} -> {found.n if found else '-'}",
        )
    if table.row_count:
        console.print(table)
    failed = sum(one.standing.fails for one in compared)
    console.print(f"{len(compared) - failed} of {len(compared)} metrics hold", style="bold red" if failed else "green")


def _draw(console: Console, sheet: Sheet, title: str | None = None) -> None:
    # a line of its own: the table's own title would be broken to the table's width
    console.print(Text(title or sheet.title, style="bold"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for at, head in enumerate(sheet.heads):
        table.add_column(head, justify="left" if at < sheet.numbers else "right", no_wrap=at == 0)
    for row in sheet.rows:
        table.add_row(*(Text(cell.strip("`")) for cell in row))
    console.print(table)
