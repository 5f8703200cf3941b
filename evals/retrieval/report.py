"""From a report to what a reader gets: tables for the terminal, one JSON document, and the questions that went wrong."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from evals.retrieval.measures import FIRST, Figures, figures
from evals.retrieval.questions import SPLITS
from evals.retrieval.suite import HYBRID, Changed, Emptiness, Report
from tributary.core.ranking import VERSION

KINDS = {"answerable": "answerable", "near": "not answerable, from operations", "far": "not answerable, from elsewhere"}


def tables(report: Report) -> list[RenderableType]:
    """Returns the tables: searches, rankings, what came back empty, other floors, answers that were superseded."""
    return [_compared(report), _rankings(report), _emptiness(report), _floors(report), _changed(report)]


def _compared(report: Report) -> Table:
    drawn = _table(f"{report.sections} sections, ranking {VERSION}")
    drawn.add_column("search", no_wrap=True)
    for split in SPLITS:
        drawn.add_column(f"{split}: questions", justify="right")
        drawn.add_column(f"recall@{FIRST}", justify="right")
        drawn.add_column("MRR", justify="right")
    for name in report.compared.places:
        cells: list[str | Text] = []
        for split in SPLITS:
            found = report.compared.of(name, split)
            cells += [str(found.questions), _bold(found.recall, name), _bold(found.mrr, name)]
        drawn.add_row(name, *cells)
    return drawn


def _rankings(report: Report) -> Table:
    drawn = _table("the same hits, ranked")
    for name in ("split", "ranking"):
        drawn.add_column(name, no_wrap=True)
    for name in (f"lessons of one day: recall@{FIRST}", "MRR", f"of mixed ages: recall@{FIRST}", "MRR"):
        drawn.add_column(name, justify="right")
    for one in report.rankings:
        shown = (one.new.recall, one.new.mrr, one.mixed.recall, one.mixed.mrr)
        drawn.add_row(one.split, one.name, *(f"{value:.3f}" for value in shown))
    return drawn


def _emptiness(report: Report) -> Table:
    drawn = _table(f"came back empty, floor {report.floor:.2f}")
    drawn.add_column("questions", no_wrap=True)
    for split in SPLITS:
        drawn.add_column(split, justify="right")
    for kind, said in KINDS.items():
        of = {one.split: one for one in report.emptiness if one.kind == kind}
        drawn.add_row(said, *(f"{of[split].empty} of {of[split].questions}" if split in of else "" for split in SPLITS))
    return drawn


def _floors(report: Report) -> Table:
    drawn = _table("what another floor would do")
    drawn.add_column("split")
    for name in ("floor", "empty: answerable", "from operations", "from elsewhere", f"recall@{FIRST}", "MRR"):
        drawn.add_column(name, justify="right")
    for one in report.floors:
        shares = (f"{one.empty[kind]:.1%}" if kind in one.empty else "" for kind in KINDS)
        drawn.add_row(one.split, f"{one.floor:.2f}", *shares, f"{one.answerable.recall:.3f}", f"{one.answerable.mrr:.3f}")
    return drawn


def _changed(report: Report) -> Table:
    drawn = _table("answers that a curator replaced")
    for name in ("split", "asked", "expected", f"recall@{FIRST}", "MRR", "the other one shown"):
        drawn.add_column(name, justify="left" if name in ("split", "asked", "expected") else "right")
    for split in SPLITS:
        of = [one for one in report.changed if one.asked.split == split]
        for said, expected, found, wrong in (
            ("now", "the new one", _now(of), sum(one.old_now is not None for one in of)),
            ("as of before", "the old one", _before(of), sum(one.new_before is not None for one in of)),
        ):
            drawn.add_row(split, said, expected, f"{found.recall:.3f}", f"{found.mrr:.3f}", f"{wrong} of {len(of)}")
    return drawn


def document(report: Report) -> dict[str, object]:
    """Returns all figures, and for each question where its answer stood."""
    compared = report.compared
    return {
        "sections": report.sections,
        "ranking": VERSION,
        "space": report.space,
        "floor": report.floor,
        "searches": {name: {split: compared.of(name, split).document() for split in SPLITS} for name in compared.places},
        "rankings": [
            {"ranking": one.name, "split": one.split, "one_day": one.new.document(), "mixed_ages": one.mixed.document()}
            for one in report.rankings
        ],
        "empty": [_empty(one) for one in report.emptiness],
        "floors": [
            {"floor": one.floor, "split": one.split, "empty": one.empty} | one.answerable.document() for one in report.floors
        ],
        "superseded": {
            split: {
                "now": _now(of).document() | {"old_shown": sum(one.old_now is not None for one in of)},
                "before": _before(of).document() | {"new_shown": sum(one.new_before is not None for one in of)},
            }
            for split in SPLITS
            for of in [[one for one in report.changed if one.asked.split == split]]
        },
        "places": {
            asked.id: {name: places[number] for name, places in compared.places.items()}
            for number, asked in enumerate(compared.asked)
        },
        "holds": report.holds,
    }


def errors(report: Report, split: str) -> list[str]:
    """Returns a line for each question of the split whose right answer recall did not show among the first FIRST."""
    return [
        f"{asked.id} at {found or '-'}: {asked.question}  [{', '.join(asked.right)}]"
        for asked, found in zip(report.compared.asked, report.compared.places[HYBRID], strict=True)
        if asked.split == split and (found is None or found > FIRST)
    ]


def _now(of: Sequence[Changed]) -> Figures:
    return figures([one.new_now for one in of])


def _before(of: Sequence[Changed]) -> Figures:
    return figures([one.old_before for one in of])


def _empty(one: Emptiness) -> dict[str, object]:
    return {"kind": one.kind, "split": one.split, "questions": one.questions, "empty": one.empty}


def _bold(value: float, name: str) -> Text:
    return Text(f"{value:.3f}", style="bold" if name == HYBRID else "")


def _table(title: str) -> Table:
    return Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
